//! What a person sees of an operator on an older kube: the same as of any other.

// The real server is asked with the version of kube that the library has.
extern crate kube_of_ours as kube;

#[allow(dead_code, unreachable_pub, reason = "this test uses a part")]
#[path = "../../support"]
mod support {
    pub mod envtest;
}

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::envtest::EnvTest;

/// How long the operator may take on a machine that has other work too. Where all is well it is never reached.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn failing_reconciles_of_an_older_kube_show_in_describe() {
    let Some(server) = EnvTest::shared() else { return };
    server.kubectl(&["create", "configmap", "web"]);
    let mut operator = Command::new(env!("CARGO_BIN_EXE_older-kube"))
        .env("KUBECONFIG", server.kubeconfig())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();

    let since = Instant::now();
    // kubectl itself is the pace.
    let described = loop {
        let told = server.kubectl(&["describe", "configmap", "web"]);
        if told.contains("ReconcileFailed") && told.contains("Checked") {
            break told;
        }
        if since.elapsed() > PATIENCE || operator.try_wait().unwrap().is_some() {
            let _ = operator.kill();
            panic!("waited in vain for the Events of the failure:\n{told}");
        }
    };
    drop(operator.stdin.take());
    assert!(operator.wait().unwrap().success());

    print!("{described}");
    let row = |reason: &str| {
        let row = described.lines().find(|it| it.contains(reason)).unwrap_or_default();
        row.split_whitespace().collect::<Vec<_>>()
    };
    let (failed, checked) = (row("ReconcileFailed"), row("Checked"));
    assert_eq!(failed[0], "Warning");
    assert_eq!(failed[3..].join(" "), "older-kube.example.com cannot reconcile error=the database is not ready");
    assert_eq!(checked[0], "Normal");
    assert_eq!(checked[3..].join(" "), "older-kube.example.com looked at the tables tables=3");
    assert!(!described.contains("not for Events"));
}
