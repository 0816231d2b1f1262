//! The example's operator on both servers: a real kube-rs Controller, with status, finalizer and failing reconciles.

#[path = "../../examples/controller/operator.rs"]
pub(crate) mod operator;

use k8s_openapi::api::core::v1::Event;
use kube::api::{DeleteParams, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, Client};
use operator::{Website, WebsiteSpec};

use crate::kit::Program;
use crate::support::server::Server;

fn has(events: &[Event], name: &str, reason: &str, count: i32) -> bool {
    events.iter().any(|it| {
        let counted = it.count.unwrap_or(1) >= count;
        it.involved_object.name.as_deref() == Some(name) && it.reason.as_deref() == Some(reason) && counted
    })
}

/// Lets the operator live through creation, failure and deletion. The client is the operator's.
pub(crate) async fn live(server: &Server, client: Client, namespace: &str) {
    let own: Api<Website> = Api::namespaced(client, namespace);
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(operator::run(own, async { ended.await.unwrap_or_default() }));

    let sites: Api<Website> = Api::namespaced(server.client(), namespace);
    let mut uid = String::new();
    for (name, image) in [("shop", "nginx"), ("blog", "nginx:1")] {
        let site = Website::new(name, WebsiteSpec { image: image.into(), replicas: 3 });
        uid = sites.create(&PostParams::default(), &site).await.unwrap().metadata.uid.unwrap();
    }
    server.until(namespace, |it| has(it, "blog", "Scaled", 1) && has(it, "shop", "ReconcileFailed", 2)).await;
    let scaled = |site: Option<&Website>| site.is_some_and(|it| it.status.as_ref().is_some_and(|it| it.replicas == 3));
    await_condition(sites.clone(), "blog", scaled).await.unwrap();
    sites.delete("blog", &DeleteParams::default()).await.unwrap();
    await_condition(sites.clone(), "blog", conditions::is_deleted(&uid)).await.unwrap();
    server.until(namespace, |it| has(it, "blog", "Removed", 1)).await;
    drop(end);
    running.await.unwrap();
}

#[test]
fn a_controllers_life_shows_in_describe() {
    for server in Server::all() {
        let program = Program::on_a_thread(server.config(), |it| it);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let namespace = runtime.block_on(async {
            match &server {
                Server::Real(_) => operator::define(server.client()).await.unwrap(),
                Server::InProcess(server) => server.add_kind("example.com", "v1", "Website", "websites", true),
            }
            server.fresh_namespace().await
        });
        program.log(|| runtime.block_on(async { live(&server, server.client(), &namespace).await }));
        assert!(program.flush().is_complete(), "{:?}", program.handle().stats());
        program.assert_account_closes();
        let Server::Real(real) = &server else { continue };

        let described = real.kubectl(&["--namespace", &namespace, "describe", "website", "shop"]);
        let row = described.lines().find(|it| it.contains("ReconcileFailed")).unwrap_or_else(|| panic!("{described}"));
        assert!(row.trim_start().starts_with("Warning") && row.contains("(x"), "{row}");
        assert!(row.contains("the image `nginx` has no tag"), "{row}");
        // What is gone cannot be described, but its Events stay.
        let told = real.kubectl(&["--namespace", &namespace, "events", "--for", "website.v1.example.com/blog"]);
        let reasons: Vec<&str> = told.lines().skip(1).filter_map(|it| it.split_whitespace().nth(2)).collect();
        assert_eq!(reasons, ["Scaled", "Removed"], "{told}");
        println!("{described}\n{told}");
    }
}
