//! How do the Events of a kube-rs controller come about? By two lines in `main`; see `operator.rs` for what it logs.
//!
//! With a cluster configured it defines its resource there and runs until Ctrl-C; else it runs for a moment on an API
//! server of its own, with two websites of which one goes well.

mod operator;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::error::Error;
use std::time::Duration;

use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client, Config, Resource};
use operator::{Website, WebsiteSpec};
use support::apiserver::ApiServer;
use tracing_subscriber::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (layer, poster) = tracing_k8s_events::builder("website-operator.example.com").build()?;
    tracing_subscriber::registry().with(layer).init();
    let Ok(config) = Config::infer().await else { return alone(poster).await };

    let guard = poster.spawn(config.clone())?;
    let client = Client::try_from(config)?;
    operator::define(client.clone()).await?;
    println!("{TRY}");
    let interrupted = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
    operator::run(Api::default_namespaced(client), interrupted).await;
    println!("{:?}", guard.shutdown(Duration::from_secs(5)));
    Ok(())
}

const TRY: &str = "kubectl apply -f examples/controller/websites.yaml
kubectl describe websites
kubectl delete -f examples/controller/websites.yaml   # while this runs: it has a finalizer";

/// With no cluster: the same operator, and somebody who uses it.
async fn alone(poster: tracing_k8s_events::Poster) -> Result<(), Box<dyn Error>> {
    let server = ApiServer::start();
    server.add_kind("example.com", "v1", "Website", "websites", true);
    let guard = poster.spawn(server.config())?;
    let client = server.client();
    let sites: Api<Website> = Api::default_namespaced(client.clone());
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(operator::run(sites.clone(), async { ended.await.unwrap_or_default() }));

    let mut references = Vec::new();
    for (name, image) in [("blog", "nginx:1"), ("shop", "nginx")] {
        let site = Website::new(name, WebsiteSpec { image: image.into(), replicas: 3 });
        references.push(sites.create(&PostParams::default(), &site).await?.object_ref(&()));
    }
    let has = |reason: &'static str| move |it: &ApiServer| it.events().iter().any(|it| it["reason"] == reason);
    server.until(has("Scaled")).await;
    server.until(has("ReconcileFailed")).await;
    sites.delete("blog", &DeleteParams::default()).await?;
    server.until(has("Removed")).await;
    drop(end);
    running.await?;
    println!("{:?}\n", guard.shutdown(Duration::from_secs(5)));
    for object in references {
        let name = object.name.as_deref().unwrap_or_default();
        println!(
            "$ kubectl describe website {name}\n...\n{}",
            support::kubectl::describe_events(&client, &object).await?
        );
    }
    Ok(())
}
