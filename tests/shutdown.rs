//! SIGTERM: the example is run, told to end, and says what became of its Events.

#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Runs the example, ends it with SIGTERM as soon as it is at work, and returns its last line and how long that took.
fn ended(argument: &str) -> (String, Duration) {
    let mut child = example(argument);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with("at work"), "{first}");
    let begin = Instant::now();
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let last = lines.map(Result::unwrap).last().unwrap();
    assert!(child.wait().unwrap().success());
    (last, begin.elapsed())
}

/// Built anew when it is stale: `cargo test --test shutdown` alone does not build it.
fn example(argument: &str) -> Child {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let program = BUILT.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let features = if cfg!(feature = "metrics") { "metrics" } else { "" };
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--example", "shutdown", "--features", features, "--profile", profile]);
        assert!(build.status().unwrap().success());
        let tests = std::env::current_exe().unwrap();
        tests.parent().and_then(|it| it.parent()).unwrap().join("examples/shutdown")
    });
    let mut command = Command::new(program);
    // On its embedded default: whatever cluster this machine knows is none of its.
    command.arg(argument).env("KUBECONFIG", "/nonexistent").env_remove("KUBERNETES_SERVICE_HOST");
    command.stdout(Stdio::piped()).spawn().unwrap()
}

#[test]
fn sigterm_flushes_what_is_held() {
    assert_eq!(ended("").0, "told 1000 of 1000, lost 0");
}

#[test]
fn sigterm_says_what_is_lost_when_the_api_server_hangs() {
    let (last, took) = ended("away");
    assert_eq!(last, "told 0 of 1000, lost 1000");
    assert!(took < Duration::from_secs(4), "two seconds were asked for, and {took:?} taken");
}
