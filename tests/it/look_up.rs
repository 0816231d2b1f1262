//! The uid of an object that was named without one: asked of the server, cheaply, and once.

use k8s_openapi::api::core::v1::{Event, ObjectReference};
use tracing::{info_span, warn};
use tracing_k8s_events::Builder;

use crate::kit::{Loud, PATIENCE, Program};
use crate::support::apiserver::{ApiServer, Fault, Logged, Rule, When};

/// Logs as a failing reconcile does under kube's own span.
fn reconcile(program: &Program, object_ref: &str) {
    program.log(|| {
        let span = info_span!(target: "kube_runtime::controller", "reconciling object", "object.ref" = %object_ref);
        span.in_scope(|| warn!("not ready"));
    });
}

fn program(server: &ApiServer) -> Program {
    Program::on_a_thread(server.config(), |it: Builder| it)
}

/// The uids of all Events' objects.
fn uids(server: &ApiServer) -> Vec<String> {
    let uid = |it: Event| it.involved_object.uid.unwrap_or_default();
    server.typed_events().into_iter().map(uid).collect()
}

fn discoveries(server: &ApiServer) -> usize {
    server.count(|it| it.method == "GET" && it.resource.is_empty())
}

fn look_ups(server: &ApiServer) -> Vec<Logged> {
    server.requests().into_iter().filter(|it| it.method == "GET" && !it.resource.is_empty()).collect()
}

fn uid(it: &ObjectReference) -> String {
    it.uid.clone().unwrap_or_default()
}

#[test]
fn an_object_named_by_kubes_span_is_shown_with_its_uid() {
    let server = ApiServer::start();
    let object = server.add_object("v1", "ConfigMap", Some("default"), "a");
    let program = program(&server);
    reconcile(&program, "ConfigMap.v1./a.default");
    assert!(program.flush().is_complete());
    let event = server.typed_events().remove(0);
    assert_eq!(event.involved_object, object);
    program.assert_account_closes();
}

#[test]
fn a_kind_is_discovered_once_and_an_object_looked_up_once() {
    let server = ApiServer::start();
    let objects: Vec<_> =
        (0..50).map(|it| server.add_object("v1", "ConfigMap", Some("default"), &format!("a-{it}"))).collect();
    let program = program(&server);
    for _ in 0..3 {
        (0..50).for_each(|it| reconcile(&program, &format!("ConfigMap.v1./a-{it}.default")));
        assert!(program.flush().is_complete());
    }
    assert_eq!((discoveries(&server), look_ups(&server).len()), (1, 50));
    let mut expected: Vec<String> = objects.iter().map(uid).collect();
    let mut shown = uids(&server);
    expected.sort();
    shown.sort();
    assert_eq!(shown, expected);
    assert_eq!(server.occurrences(), 150);
}

#[test]
fn a_look_up_asks_for_metadata_only() {
    let server = ApiServer::start();
    server.add_kind("example.com", "v1", "Foo", "foos", true);
    server.add_object("example.com/v1", "Foo", Some("default"), "a");
    let program = program(&server);
    reconcile(&program, "Foo.v1.example.com/a.default");
    assert!(program.flush().is_complete());
    let look_ups = look_ups(&server);
    assert_eq!(look_ups[0].path, "/apis/example.com/v1/namespaces/default/foos/a");
    assert_eq!(look_ups.len(), 1);
}

#[test]
fn a_cluster_scoped_name_with_dots_is_split_by_its_kinds_scope() {
    let server = ApiServer::start();
    server.add_kind("example.com", "v1", "Zone", "zones", false);
    let object = server.add_object("example.com/v1", "Zone", None, "a.b.example.com");
    let program = program(&server);
    reconcile(&program, "Zone.v1.example.com/a.b.example.com");
    assert!(program.flush().is_complete());
    let event = server.typed_events().remove(0);
    assert_eq!(event.involved_object, object);
    assert_eq!(event.metadata.namespace.as_deref(), Some("default"));
}

#[test]
fn a_forbidden_look_up_is_told_once_and_the_event_goes_without() {
    let server = ApiServer::start();
    for it in 0..5 {
        server.add_object("v1", "ConfigMap", Some("default"), &format!("a-{it}"));
    }
    let loud = Loud::new(server.grant("reporter", [Rule::new("", "events", &["create", "patch"])]), |it| it);
    for it in 0..5 {
        let bare = ObjectReference { uid: None, ..crate::kit::object("ConfigMap", &format!("a-{it}")) };
        loud.log_about(&bare, || (0..10).for_each(|_| warn!("not ready")));
    }
    assert!(loud.flush_within(PATIENCE).is_complete());
    assert_eq!(uids(&server), [""; 5]);
    assert_eq!(look_ups(&server).len(), 5);
    let told = loud.log.diagnostics("get");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("configmaps"), "{told:?}");
}

#[test]
fn an_object_that_is_gone_goes_without_a_uid() {
    let server = ApiServer::start();
    let program = program(&server);
    reconcile(&program, "ConfigMap.v1./gone.default");
    assert!(program.flush().is_complete());
    assert_eq!(uids(&server), [""]);
    assert_eq!(look_ups(&server).len(), 1);
}

#[test]
fn a_kind_that_no_api_serves_goes_without_a_uid() {
    let server = ApiServer::start();
    let program = program(&server);
    reconcile(&program, "Foo.v1.nobody.example.com/a.default");
    (0..3).for_each(|_| reconcile(&program, "Bar.v1.nobody.example.com/a.default"));
    assert!(program.flush().is_complete());
    assert_eq!(uids(&server), ["", ""]);
    assert_eq!(server.count(|it| it.method == "GET"), 1);
}

#[test]
fn look_ups_that_fail_cost_no_event() {
    for fault in [Fault::reset(), Fault::internal_error(), Fault::garbage(), Fault::too_many_requests(None)] {
        let server = ApiServer::start();
        let object = server.add_object("v1", "ConfigMap", Some("default"), "a");
        server.fail(When::read().first(1), fault);
        let program = program(&server);
        reconcile(&program, "ConfigMap.v1./a.default");
        assert!(program.flush().is_complete());
        assert_eq!(uids(&server), [uid(&object)]);
        assert!(server.count(|it| it.method == "GET") <= 4);
        program.assert_account_closes();
    }
}

#[test]
fn look_ups_that_always_fail_are_given_up_and_the_event_goes_without() {
    let server = ApiServer::start();
    server.add_object("v1", "ConfigMap", Some("default"), "a");
    server.fail(When::read(), Fault::internal_error());
    let program = program(&server);
    reconcile(&program, "ConfigMap.v1./a.default");
    assert!(program.flush().is_complete());
    assert_eq!(uids(&server), [""]);
    assert!(server.count(|it| it.method == "GET") <= 4);
}

#[test]
fn look_ups_can_be_switched_off() {
    let server = ApiServer::start();
    server.add_object("v1", "ConfigMap", Some("default"), "a");
    let program = Program::on_a_thread(server.config(), |it| it.without_look_ups());
    reconcile(&program, "ConfigMap.v1./a.default");
    assert!(program.flush().is_complete());
    assert_eq!((uids(&server), server.count(|it| it.method == "GET")), (vec![String::new()], 0));
}
