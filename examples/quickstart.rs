//! What becomes of my log lines? A small reconcile loop over three objects, and its Events as `kubectl` shows them.
//!
//! With a cluster configured, by kubeconfig or service account, it posts there and prints the commands that show it;
//! else to an API server of its own.

#[path = "../tests/support/mod.rs"]
mod support;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, ObjectReference};
use kube::api::{Api, ObjectMeta, PostParams};
use kube::{Client, Config, Resource};
use support::apiserver::ApiServer;
use tracing::{error, info, instrument, warn};
use tracing_k8s_events::object_span;
use tracing_subscriber::prelude::*;

#[derive(Debug)]
struct PullFailed(std::io::Error);

impl fmt::Display for PullFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pulling registry.example.com/web:2")
    }
}

impl Error for PullFailed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// Ordinary log lines: nothing in here knows of Events.
#[instrument(skip_all)]
fn reconcile(round: usize, name: &str) {
    match (round, name) {
        (0, _) => info!(k8s.reason = "Scaled", replicas = 3, "scaled up"),
        (1, "quickstart-b") => warn!(k8s.reason = "QuotaLow", left = "12%", "the quota is nearly used up"),
        (2, "quickstart-c") => {
            let failure = PullFailed(std::io::Error::from(std::io::ErrorKind::TimedOut));
            error!(name: "PullFailed", error = &failure as &dyn Error, "cannot pull the image");
        }
        (_, "quickstart-a") => warn!(k8s.reason = "NotReady", "waiting for the database"), // in every other round
        _ => {}
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (layer, poster) = tracing_k8s_events::builder("quickstart.example.com").build()?;
    tracing_subscriber::registry().with(layer).init();

    let cluster = Config::infer().await.ok();
    let embedded = cluster.is_none().then(ApiServer::start);
    let config = cluster.clone().or_else(|| embedded.as_ref().map(ApiServer::config)).ok_or("no API server")?;
    let client = Client::try_from(config.clone())?;
    let guard = poster.spawn(config)?;

    let objects = three_objects(&client).await?;
    for round in 0..1002 {
        for object in &objects {
            object_span(object).in_scope(|| reconcile(round, object.name.as_deref().unwrap_or_default()));
        }
    }
    let is_complete = guard.handle().flush(Duration::from_secs(10)).await.is_complete();
    let stats = guard.handle().stats();
    let all = if is_complete { "all" } else { "not all" };
    println!("seen {}, told {}: {all}, in {} writes\n", stats.seen, stats.told, stats.created + stats.patched);

    match cluster {
        // One by one: of several objects at once `kubectl describe` shows no Events.
        Some(_) => println!(
            "kubectl get events --field-selector reportingComponent=quickstart.example.com\n\
             kubectl describe configmap quickstart-a\n\
             kubectl describe configmap quickstart-b\n\
             kubectl describe configmap quickstart-c\n\
             kubectl delete configmap quickstart-a quickstart-b quickstart-c   # when you have seen enough"
        ),
        None => show(&client, &objects).await?,
    }
    Ok(())
}

async fn three_objects(client: &Client) -> kube::Result<Vec<ObjectReference>> {
    let api: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let mut references = Vec::new();
    for name in ["quickstart-a", "quickstart-b", "quickstart-c"] {
        let metadata = ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() };
        let new = ConfigMap { metadata, ..ConfigMap::default() };
        let object = match api.get_opt(name).await? {
            Some(object) => object,
            None => api.create(&PostParams::default(), &new).await?,
        };
        references.push(object.object_ref(&()));
    }
    Ok(references)
}

/// Read back from the server over HTTP, and printed as `kubectl get events` and `kubectl describe` would.
async fn show(client: &Client, objects: &[ObjectReference]) -> Result<(), Box<dyn Error>> {
    println!("$ kubectl get events\n{}", support::kubectl::get_events(client, Some("default"), false).await?);
    for object in objects {
        let name = object.name.as_deref().unwrap_or_default();
        println!(
            "$ kubectl describe configmap {name}\n...\n{}",
            support::kubectl::describe_events(client, object).await?
        );
    }
    Ok(())
}
