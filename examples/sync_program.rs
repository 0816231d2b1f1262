//! Can a program without any async post Events? Yes: here a backup reports about its own Pod.
//!
//! In a Pod the poster finds the cluster by itself, on a thread of its own. Elsewhere the Events stay in memory, and are
//! printed at the end.

use std::env;
use std::error::Error;
use std::thread;
use std::time::Duration;

use tracing::{error, info, info_span};
use tracing_k8s_events::MemorySink;
use tracing_subscriber::prelude::*;

fn back_up(database: &str) {
    let _span = info_span!("back_up", database).entered();
    match database {
        "orders" => error!(name: "BackupFailed", database, error = "the disk is full", "no backup was made"),
        _ => info!(k8s.reason = "BackupMade", database, size = "2.3 GiB", "made a backup"),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (layer, poster) = tracing_k8s_events::builder("backup.example.com").build()?;
    tracing_subscriber::registry().with(layer).init();
    let memory = MemorySink::new();
    let is_in_a_pod = env::var_os("KUBERNETES_SERVICE_HOST").is_some();
    let guard = if is_in_a_pod { poster.spawn_inferred()? } else { poster.spawn_sink(memory.clone())? };

    // As the downward API tells them: examples/manifests/operator.yaml. Without the uid, it would be looked up.
    let told = |name, otherwise: &str| env::var(name).unwrap_or_else(|_| otherwise.to_owned());
    let (name, namespace) = (told("POD_NAME", "backup-0"), told("POD_NAMESPACE", "default"));
    let uid = told("POD_UID", "");
    let pod = info_span!(
        "backup",
        k8s.api_version = "v1",
        k8s.kind = "Pod",
        k8s.name = name,
        k8s.namespace = namespace,
        k8s.uid = uid
    );
    thread::scope(|scope| {
        for database in ["customers", "orders", "stock"] {
            let pod = &pod;
            scope.spawn(move || pod.in_scope(|| back_up(database)));
        }
    });

    let outcome = guard.shutdown(Duration::from_secs(5));
    print!("{outcome:?}\n{memory}");
    Ok(())
}
