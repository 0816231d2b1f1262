//! The operator itself: a resource, its reconcile, and what becomes of failures. It logs, and nothing else.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{self, finalizer};
use kube::runtime::wait::{await_condition, conditions::is_crd_established};
use kube::runtime::watcher;
use kube::{Api, Client, CustomResource, CustomResourceExt, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tracing::{Span, info, warn};
use tracing_k8s_events::SpanExt;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Website", namespaced, status = "WebsiteStatus")]
pub(crate) struct WebsiteSpec {
    pub(crate) image: String,
    pub(crate) replicas: u32,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub(crate) struct WebsiteStatus {
    pub(crate) replicas: u32,
}

#[derive(Debug)]
pub(crate) enum Failure {
    Image(String),
    Status(kube::Error),
}

async fn reconcile(site: Arc<Website>, sites: Arc<Api<Website>>) -> Result<Action, finalizer::Error<Failure>> {
    // Under kube's own span this line may go: the poster then looks up the uid, and records with a `k8s.reason` post all
    // the same.
    Span::current().set_regarding(&site.object_ref(&()));
    finalizer(&sites, "example.com/cleanup", site, async |event| match event {
        finalizer::Event::Apply(site) => apply(&site, &sites).await,
        finalizer::Event::Cleanup(_) => {
            info!(k8s.reason = "Removed", "took the website down");
            Ok(Action::await_change())
        }
    })
    .await
}

async fn apply(site: &Website, sites: &Api<Website>) -> Result<Action, Failure> {
    if !site.spec.image.contains(':') {
        return Err(Failure::Image(site.spec.image.clone()));
    }
    let (now, wanted) = (site.status.as_ref().map_or(0, |it| it.replicas), site.spec.replicas);
    if now != wanted {
        let status = Patch::Merge(json!({ "status": WebsiteStatus { replicas: wanted } }));
        sites.patch_status(&site.name_any(), &PatchParams::default(), &status).await.map_err(Failure::Status)?;
        info!(k8s.reason = "Scaled", from = now, to = wanted, "scaled");
    }
    Ok(Action::await_change())
}

fn error_policy(_: Arc<Website>, error: &finalizer::Error<Failure>, _: Arc<Api<Website>>) -> Action {
    warn!(name: "ReconcileFailed", error = error as &dyn Error, "cannot reconcile");
    Action::requeue(Duration::from_secs(1))
}

pub(crate) async fn run(sites: Api<Website>, end: impl Future<Output = ()> + Send + Sync + 'static) {
    let context = Arc::new(sites.clone());
    let controller = Controller::new(sites, watcher::Config::default()).graceful_shutdown_on(end);
    controller.run(reconcile, error_policy, context).for_each(async |_| {}).await;
}

/// Makes the resource known to the cluster.
pub(crate) async fn define(client: Client) -> Result<(), Box<dyn Error>> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    let apply = PatchParams::apply("website-operator");
    definitions.patch(Website::crd_name(), &apply, &Patch::Apply(Website::crd())).await?;
    await_condition(definitions, Website::crd_name(), is_crd_established()).await?;
    Ok(())
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Image(image) => write!(f, "the image `{image}` has no tag"),
            Failure::Status(_) => f.write_str("cannot write the status"),
        }
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Failure::Image(_) => None,
            Failure::Status(error) => Some(error),
        }
    }
}
