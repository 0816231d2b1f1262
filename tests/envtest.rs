//! The real server that the tests start, held to what it promises: ready when it is handed out, asked on the record,
//! and gone with whoever started it.

mod support;

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, path, thread};

use k8s_openapi::api::core::v1::{Event, Namespace, ObjectReference};
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use support::envtest::{self, EnvTest};
use support::server::Server;

/// Set for a test that is started by another, to be killed.
const VICTIM: &str = "ENVTEST_VICTIM";
/// Longer than any machine takes; nothing waits for so long.
const PATIENCE: Duration = Duration::from_secs(60);

fn event(namespace: &str) -> Event {
    let about = ObjectReference { namespace: Some(namespace.to_owned()), ..ObjectReference::default() };
    let metadata = ObjectMeta { generate_name: Some("e-".to_owned()), ..ObjectMeta::default() };
    Event { metadata, involved_object: about, ..Event::default() }
}

#[tokio::test]
async fn the_audit_log_tells_who_asked_for_what() {
    let Some(server) = EnvTest::shared() else { return };
    let namespace = Server::Real(server).fresh_namespace().await;
    let api: Api<Event> = Api::namespaced(server.client(), &namespace);
    api.create(&PostParams::default(), &event(&namespace)).await.expect("an Event");
    let creates = |it: &envtest::Audited| it.verb == "create" && it.resource == "events" && it.namespace == namespace;
    let told: Vec<_> = server.audit().into_iter().filter(creates).collect();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].user.as_str(), told[0].code), ("admin", 201));
}

#[tokio::test]
async fn tokens_and_flags_are_those_that_were_asked_for() {
    let options = EnvTest::options()
        .token("watcher-token", "watcher", "system:masters")
        .flag("--max-mutating-requests-inflight=7");
    let Some(server) = options.event_ttl(Duration::from_secs(7200)).start() else { return };
    let client = Client::try_from(server.config_with("watcher-token")).expect("a client");
    assert!(Api::<Namespace>::all(client).get("default").await.is_ok());
    let metrics = http::Request::get("/metrics").body(Vec::new()).expect("a request");
    assert!(server.client().request_text(metrics).await.is_ok());
}

#[tokio::test]
async fn nothing_is_left_of_a_server_that_is_dropped() {
    let Some(server) = EnvTest::options().start() else { return };
    let (folder, address) = (server.folder(), server.url().replace("https://", ""));
    drop(server);
    assert!(!folder.exists());
    assert!(TcpStream::connect(address).is_err());
}

/// The one that is killed by the next.
#[tokio::test]
async fn a_victim_starts_a_server_and_waits() {
    if env::var_os(VICTIM).is_none() {
        return;
    }
    let server = EnvTest::shared().expect("asked for only where it is");
    println!("\n{VICTIM} {} {}", server.url(), server.folder().display());
    std::future::pending::<()>().await;
}

#[test]
fn nothing_outlives_a_test_that_is_killed() {
    if envtest::available().is_none() {
        return;
    }
    let this = env::current_exe().expect("this program");
    let mut victim = Command::new(this)
        .args(["--exact", "a_victim_starts_a_server_and_waits", "--nocapture"])
        .env(VICTIM, "yes")
        .stdout(Stdio::piped())
        .spawn()
        .expect("a victim");
    let lines = BufReader::new(victim.stdout.take().expect("a pipe")).lines();
    let told = lines.map_while(Result::ok).find_map(|it| it.strip_prefix(VICTIM).map(str::to_owned)).expect("a server");
    let mut told = told.split_whitespace();
    let (url, folder) = (told.next().expect("a URL"), path::PathBuf::from(told.next().expect("a folder")));
    let mut stream = TcpStream::connect(url.trim_start_matches("https://")).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");

    // SIGKILL: no drop, no panic, no exit handler.
    victim.kill().expect("it was running");
    victim.wait().expect("it has ended");

    // The kernel closes what a process had open when it is gone; before that the server says nothing to who says
    // nothing.
    let end = stream.read(&mut [0; 1]);
    assert!(!matches!(&end, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock), "the server still runs");
    // The folder is removed right after, by a shell of which we know nothing more.
    let since = Instant::now();
    while folder.exists() && since.elapsed() < PATIENCE {
        thread::yield_now();
    }
    assert!(!folder.exists(), "{} is left, with {:?}", folder.display(), fs::read_dir(&folder).map(Iterator::count));
}
