//! An operator on kube 3: every reconcile of its ConfigMaps fails, and their Events say so.
//!
//! Nothing of the layer is asked for but the two lines that install it. The poster finds the cluster by itself, with a
//! client of its own; kube's own span says which object a failure is about. It ends when its standard input does.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use kube::{Api, Client};
use tokio::io::AsyncReadExt;
use tracing::{info, warn};
use tracing_subscriber::prelude::*;

#[derive(Debug)]
struct NotReady;

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the database is not ready")
    }
}

impl Error for NotReady {}

async fn reconcile(_: Arc<ConfigMap>, _: Arc<()>) -> Result<Action, NotReady> {
    info!("not for Events: nobody declared this object"); // posts from WARN up, under kube's own span
    info!(k8s.reason = "Checked", tables = 3, "looked at the tables"); // a field of ours: posts
    Err(NotReady)
}

fn error_policy(_: Arc<ConfigMap>, error: &NotReady, _: Arc<()>) -> Action {
    warn!(name: "ReconcileFailed", error = error as &dyn Error, "cannot reconcile");
    Action::requeue(Duration::from_secs(3600))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (layer, poster) = tracing_k8s_events::builder("older-kube.example.com").build()?;
    tracing_subscriber::registry().with(layer).init();
    let guard = poster.spawn_inferred()?;

    let client = Client::try_default().await?;
    let end = async {
        let _ = tokio::io::stdin().read_to_end(&mut Vec::new()).await;
    };
    Controller::new(Api::<ConfigMap>::default_namespaced(client), watcher::Config::default())
        .graceful_shutdown_on(end)
        .run(reconcile, error_policy, Arc::new(()))
        .for_each(|_| async {})
        .await;

    let outcome = guard.shutdown(Duration::from_secs(30));
    match outcome.is_complete() {
        true => Ok(()),
        false => Err(format!("{outcome:?}").into()),
    }
}
