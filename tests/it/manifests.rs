//! The manifests of `examples/manifests/`, applied to the real server: with these rights, and no others, Events come.

use std::path::Path;

use kube::Client;
use kube::api::{Api, PostParams};
use tracing::{info_span, warn};
use tracing_k8s_events::Api as EventsApi;

use crate::controller::{live, operator};
use crate::kit::Program;
use crate::support::envtest::EnvTest;
use crate::support::server::Server;

const NAMESPACE: &str = "website-operator";
const ACCOUNT: &str = "--as=system:serviceaccount:website-operator:website-operator";

fn apply(kubectl: &EnvTest, manifest: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/manifests");
    kubectl.kubectl(&["apply", "-f", folder.join(manifest).to_str().unwrap()]);
}

/// Whether the account may do this. Once it may: the server learns of a new right from a watch of its own.
fn may(kubectl: &EnvTest, verb: &str, what: &str, namespace: &str) -> bool {
    let asked = kubectl.try_kubectl(&["auth", "can-i", verb, what, ACCOUNT, "--namespace", namespace]);
    String::from_utf8_lossy(&asked.stdout).trim() == "yes"
}

/// A program of the account's, on a runtime of this thread.
fn as_the_account(server: &Server, api: EventsApi, act: impl AsyncFn(Client)) {
    let Server::Real(kubectl) = server else { return };
    let token = kubectl.kubectl(&["--namespace", NAMESPACE, "create", "token", "website-operator"]);
    let config = server.config_with(token.trim());
    let program = Program::on_a_thread(config.clone(), |it| it.api(api));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    program.log(|| runtime.block_on(async { act(Client::try_from(config).unwrap()).await }));
    assert!(program.flush().is_complete(), "{:?}", program.handle().stats());
    program.assert_account_closes();
}

#[test]
fn events_come_with_the_rights_of_the_manifests_and_no_others() {
    let (Some(server), Some(kubectl)) = (Server::real(), EnvTest::shared()) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { operator::define(server.client()).await }).unwrap();
    apply(kubectl, "operator.yaml");
    let pods = kubectl.kubectl(&["--namespace", NAMESPACE, "get", "deployment", "website-operator", "-o", "yaml"]);
    assert!(pods.contains("name: POD_NAME"));

    // One namespace: the example's operator works there, by either group.
    apply(kubectl, "events-role.yaml");
    let groups = ["events", "events.events.k8s.io"];
    while !groups.iter().all(|it| may(kubectl, "create", it, NAMESPACE) && may(kubectl, "patch", it, NAMESPACE)) {}
    while !may(kubectl, "watch", "websites.example.com", NAMESPACE) {}
    for (verb, what) in [("get", "events"), ("delete", "events"), ("update", "events"), ("get", "secrets")] {
        assert!(!may(kubectl, verb, what, NAMESPACE), "{verb} {what}");
    }
    assert!(!may(kubectl, "create", "events", "default"));
    as_the_account(&server, EventsApi::CoreV1, async |client| live(&server, client, NAMESPACE).await);
    as_the_account(&server, EventsApi::EventsV1, async |_| {
        let object = server.config_map(NAMESPACE, "settings").await;
        tracing_k8s_events::object_span(&object).in_scope(|| warn!(k8s.reason = "Outdated", "read again at the start"));
        server.until(NAMESPACE, |it| it.iter().any(|it| it.reason.as_deref() == Some("Outdated"))).await;
    });

    // All namespaces: a Node's Events in `default`, and a website's whose uid is looked up.
    apply(kubectl, "events-clusterrole.yaml");
    while !may(kubectl, "create", "events", "default") || !may(kubectl, "get", "websites.example.com", "default") {}
    as_the_account(&server, EventsApi::CoreV1, async |_| {
        let spec = operator::WebsiteSpec { image: "nginx:1".into(), replicas: 1 };
        let sites: Api<operator::Website> = Api::namespaced(server.client(), "default");
        let site = sites.create(&PostParams::default(), &operator::Website::new("manifests", spec)).await.unwrap();
        let node = server.node("manifests").await;
        tracing_k8s_events::object_span(&node).in_scope(|| warn!(k8s.reason = "DiskPressure", "the disk is full"));
        let span = info_span!("reconciling object", "object.ref" = "Website.v1.example.com/manifests.default");
        span.in_scope(|| warn!(k8s.reason = "Late", "not there yet"));
        let is_there = |reason: &'static str, uid: Option<String>| {
            move |it: &k8s_openapi::api::core::v1::Event| {
                it.reason.as_deref() == Some(reason) && it.involved_object.uid == uid
            }
        };
        let (of_node, of_site) = (is_there("DiskPressure", node.uid.clone()), is_there("Late", site.metadata.uid));
        server.until("default", |it| it.iter().any(&of_node) && it.iter().any(&of_site)).await;
    });
}
