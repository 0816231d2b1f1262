//! How does a program end without losing Events? On SIGTERM it stops its work, flushes, and says what became of them.
//!
//! Kubernetes sends SIGTERM, and SIGKILL 30 s later: the flush has its own, shorter deadline.
//!
//! With a cluster configured, by kubeconfig or service account, it posts there; else to an API server of its own. With
//! `away` as its argument that one never answers, and the outcome says so.

#[path = "../tests/support/mod.rs"]
mod support;

use std::error::Error;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Config;
use support::apiserver::{ApiServer, Fault, When};
use tokio::signal::unix::{SignalKind, signal};
use tracing::info;
use tracing_k8s_events::object_span;
use tracing_subscriber::prelude::*;

/// Less than the 30 s of `terminationGracePeriodSeconds`.
const DEADLINE: Duration = Duration::from_secs(2);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (layer, poster) = tracing_k8s_events::builder("shutdown.example.com").build()?;
    tracing_subscriber::registry().with(layer).init();

    let cluster = Config::infer().await.ok();
    let embedded = cluster.is_none().then(ApiServer::start);
    if let Some(server) = embedded.as_ref().filter(|_| std::env::args().nth(1).as_deref() == Some("away")) {
        server.fail(When::any(), Fault::hang());
    }
    let config = cluster.or_else(|| embedded.as_ref().map(ApiServer::config)).ok_or("no API server")?;
    let guard = poster.spawn(config)?;

    let mut terminate = signal(SignalKind::terminate())?;
    let object = ObjectReference {
        api_version: Some("v1".into()),
        kind: Some("Namespace".into()),
        name: Some("default".into()),
        uid: Some("00000000-0000-0000-0000-000000000000".into()),
        ..ObjectReference::default()
    };
    // A repeat a moment before the end is held back for its series' next write: the flush tells it at once.
    object_span(&object).in_scope(|| (0..1000).for_each(|_| info!(k8s.reason = "Working", "at work")));
    println!("at work: send SIGTERM to {}", std::process::id());
    terminate.recv().await;

    let handle = guard.handle();
    let outcome = guard.shutdown(DEADLINE);
    let stats = handle.stats();
    println!("told {} of {}, lost {}", stats.told, stats.seen, stats.dropped());
    if !outcome.is_complete() {
        eprintln!("not everything could be told: {outcome:?}");
    }
    Ok(())
}
