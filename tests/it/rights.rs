//! Rights that are missing, credentials that are renewed, and namespaces that are not there.

use std::fs;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use tracing::warn;
use tracing_k8s_events::Api;

use crate::kit::{Loud, Program, assert_closes};
use crate::support::apiserver::{ApiServer, Rule};
use crate::support::envtest::{EnvTest, Identity};

const MOMENT: Duration = Duration::from_millis(300);

fn in_namespace(server: &ApiServer, namespace: &str) -> ObjectReference {
    server.add_namespace(namespace);
    server.add_object("v1", "ConfigMap", Some(namespace), "a")
}

fn may_write_in(namespace: &str) -> Rule {
    Rule::new("", "events", &["create", "patch"]).in_namespace(namespace)
}

#[test]
fn a_missing_right_is_told_once_with_the_rule_and_its_namespace_rests() {
    let server = ApiServer::start();
    let (allowed, refused) = (in_namespace(&server, "allowed"), in_namespace(&server, "refused"));
    let config = server.grant("reporter", [may_write_in("allowed")]);
    let loud = Loud::new(config, |it| it);
    for reason in ["A", "B", "C"] {
        loud.log_about(&refused, || warn!(k8s.reason = reason, "not ready"));
        loud.log_about(&allowed, || warn!(k8s.reason = reason, "not ready"));
    }
    let outcome = loud.flush_within(MOMENT);
    assert_eq!((outcome.untold, outcome.dropped), (3, 0));
    assert_eq!(server.occurrences(), 3);
    assert_eq!(server.count(|it| it.is_write() && it.namespace == "refused"), 1);
    let told = loud.log.diagnostics("RBAC");
    assert_eq!(told.len(), 1, "{told:?}");
    let rule = r#"{apiGroups: [""], resources: ["events"], verbs: ["create", "patch"]}"#;
    assert!(told[0].contains(rule) && told[0].contains("namespace `refused`"), "{told:?}");
    assert_closes(&loud.handle().stats());
}

#[test]
fn the_rule_names_the_group_that_is_written_to() {
    let server = ApiServer::start();
    let refused = in_namespace(&server, "refused");
    let loud = Loud::new(server.grant("reporter", []), |it| it.api(Api::EventsV1));
    loud.log_about(&refused, || warn!("not ready"));
    let _ = loud.flush_within(MOMENT);
    assert_eq!(loud.log.diagnostics(r#"apiGroups: ["events.k8s.io"]"#).len(), 1);
}

#[test]
fn the_right_to_patch_is_missed_apart_and_told_once() {
    let server = ApiServer::start();
    let object = in_namespace(&server, "ns");
    let loud = Loud::new(server.grant("reporter", [Rule::new("", "events", &["create"])]), |it| it);
    loud.log_about(&object, || (0..20).for_each(|_| warn!("not ready")));
    let _ = loud.flush_within(MOMENT);
    assert_eq!(server.event_count(), 1);
    loud.log_about(&object, || (0..20).for_each(|_| warn!("not ready")));
    let _ = loud.flush_within(MOMENT);
    assert_eq!(loud.log.diagnostics("not allowed to patch Events in namespace `ns`").len(), 1);
    assert!(server.count(|it| it.is_patch()) <= 1);
    let stats = loud.handle().stats();
    assert_eq!((stats.told + stats.held, stats.dropped()), (40, 0));
    assert_closes(&stats);
}

/// A person who writes a reason in no object's span, or half a reference, hears of it, and where it is written.
#[test]
fn what_is_dropped_before_the_poster_is_told_once_by_cause_with_its_place() {
    let server = ApiServer::start();
    let object = in_namespace(&server, "ns");
    let loud = Loud::new(server.config(), |it| it);
    loud.log(|| {
        (0..20).for_each(|_| warn!(k8s.reason = "NotReady", "in no object's span"));
        (0..20).for_each(|_| warn!(k8s.kind = "Foo", k8s.name = "", "half a reference"));
    });
    loud.log_about(&object, || warn!("not ready"));
    assert!(loud.flush_within(crate::kit::PATIENCE).is_complete());
    for cause in ["about no object", "in the wrong shape"] {
        let told = loud.log.diagnostics(cause);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(concat!("the first at ", file!(), ":")), "{told:?}");
    }
    let stats = loud.handle().stats();
    assert_eq!((stats.dropped_no_object, stats.dropped_malformed, stats.told), (20, 20, 1));
    assert_closes(&stats);
}

#[test]
fn a_namespace_that_goes_or_is_gone_is_a_quiet_counted_drop() {
    let server = ApiServer::start();
    let terminating = in_namespace(&server, "terminating");
    server.terminate_namespace("terminating");
    let missing = ObjectReference { namespace: Some("missing".into()), ..terminating.clone() };
    let loud = Loud::new(server.config(), |it| it);
    for object in [&terminating, &missing] {
        loud.log_about(object, || (0..20).for_each(|_| warn!("not ready")));
    }
    let outcome = loud.flush_within(crate::kit::PATIENCE);
    assert_eq!((outcome.told, outcome.untold), (0, 0));
    let stats = loud.handle().stats();
    assert_eq!(stats.dropped_namespace_gone, 40);
    assert_eq!(server.writes().len(), 2);
    assert_eq!(loud.log.diagnostics(""), [""; 0]);
    assert_closes(&stats);
}

#[test]
fn a_token_renewed_on_disk_is_taken_up() {
    let server = ApiServer::start();
    let object = in_namespace(&server, "ns");
    let _ = server.grant("reporter", [may_write_in("ns")]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "token-of-yesterday").unwrap();
    let mut config = server.config_without_token();
    config.auth_info.token_file = Some(file.to_string_lossy().into_owned());
    let program = Program::on_a_thread(config, |it| it);
    program.log_about(&object, || (0..20).for_each(|_| warn!("not ready")));
    let outcome = program.handle().flush(MOMENT).wait();
    assert_eq!((outcome.told, outcome.untold, outcome.dropped), (0, 20, 0));
    fs::write(&file, "token-of-reporter").unwrap();
    assert!(program.flush().is_complete());
    assert_eq!(server.occurrences(), 20);
    assert!(server.writes().len() <= 6, "{} writes", server.writes().len());
    program.assert_account_closes();
}

#[test]
fn a_certificate_renewed_on_disk_is_taken_up() {
    let Some(server) = EnvTest::shared() else { return };
    let created = server.kubectl(&["create", "configmap", "certified", "--output=jsonpath={.metadata.uid}"]);
    let object = ObjectReference {
        kind: Some("ConfigMap".into()),
        namespace: Some("default".into()),
        name: Some("certified".into()),
        uid: Some(created),
        ..ObjectReference::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["tls.crt", "tls.key"].map(|it| folder.path().join(it));
    let write = |it: Identity| {
        fs::write(&certificate, it.certificate).unwrap();
        fs::write(&key, it.key).unwrap();
    };
    write(server.identity("reporter", "system:masters", true));
    let mut config = server.config_without_token();
    config.auth_info.client_certificate = Some(certificate.to_string_lossy().into_owned());
    config.auth_info.client_key = Some(key.to_string_lossy().into_owned());
    let program = Program::on_a_thread(config, |it| it);
    program.log_about(&object, || (0..20).for_each(|_| warn!("not ready")));
    let outcome = program.handle().flush(MOMENT).wait();
    assert_eq!((outcome.told, outcome.untold, outcome.dropped), (0, 20, 0));
    assert!(server.audit().iter().any(|it| it.resource == "events" && it.code == 401));
    write(server.identity("reporter", "system:masters", false));
    assert!(program.flush().is_complete());
    let described = server.kubectl(&["describe", "configmap", "certified"]);
    assert!(described.contains("(x20 over"), "{described}");
    program.assert_account_closes();
}

#[test]
fn a_token_that_is_known_again_heals() {
    let server = ApiServer::start();
    let object = in_namespace(&server, "ns");
    let config = server.grant("reporter", [may_write_in("ns")]);
    server.revoke("reporter");
    let loud = Loud::new(config, |it| it);
    loud.log_about(&object, || warn!("not ready"));
    let outcome = loud.flush_within(MOMENT);
    assert_eq!((outcome.told, outcome.untold, outcome.dropped), (0, 1, 0));
    let _ = server.grant("reporter", [may_write_in("ns")]);
    assert!(loud.flush_within(crate::kit::PATIENCE).is_complete());
    assert_eq!(loud.log.diagnostics("401").len(), 1);
    assert_closes(&loud.handle().stats());
}
