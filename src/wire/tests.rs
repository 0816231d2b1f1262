use std::sync::Arc;

use super::*;
use crate::message::{EventType, Reporter};

fn telling(count: u32) -> Telling {
    let regarding = Regarding {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        namespace: "default".into(),
        name: "cm".into(),
        uid: "u-1".into(),
        ..Default::default()
    };
    let reporter = Reporter { controller: "example.com/probe".into(), instance: "probe-1".into() };
    let event = KubeEvent {
        name: "cm.000000000000002a".into(),
        namespace: "default".into(),
        regarding: Arc::new(regarding),
        related: None,
        kind: EventType::Warning,
        reason: "Failed".into(),
        action: "Reconcile".into(),
        note: "it failed".into(),
        time: Wall(1_764_000_000_123_456),
        annotations: vec![("example.com/trace".into(), "7".into())],
        reporter: Arc::new(reporter),
    };
    Telling { event: Arc::new(event), count, last: Wall(1_764_000_001_000_000), note: None, again: false }
}

fn body(call: &Call) -> Value {
    serde_json::from_slice(&call.body).unwrap()
}

#[test]
fn a_core_event_says_everything_that_any_viewer_reads() {
    let call = call(&Request::Create(telling(1)), Api::CoreV1);
    assert_eq!((call.method.as_str(), &*call.path), ("POST", "/api/v1/namespaces/default/events"));
    let expected = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": "cm.000000000000002a",
            "namespace": "default",
            "annotations": { "example.com/trace": "7" },
        },
        "involvedObject": { "apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "cm", "uid": "u-1" },
        "type": "Warning",
        "reason": "Failed",
        "action": "Reconcile",
        "message": "it failed",
        "eventTime": "2025-11-24T16:00:00.123456Z",
        "firstTimestamp": "2025-11-24T16:00:00Z",
        "lastTimestamp": "2025-11-24T16:00:01Z",
        "count": 1,
        "source": { "component": "example.com/probe", "host": "probe-1" },
        "reportingComponent": "example.com/probe",
        "reportingInstance": "probe-1",
    });
    assert_eq!(body(&call), expected);
}

#[test]
fn an_event_of_the_new_group_sets_no_deprecated_field() {
    let call = call(&Request::Create(telling(3)), Api::EventsV1);
    assert_eq!(call.path, "/apis/events.k8s.io/v1/namespaces/default/events");
    let body = body(&call);
    for field in ["deprecatedCount", "count", "source", "firstTimestamp", "message", "involvedObject"] {
        assert_eq!(body[field], Value::Null, "{field}");
    }
    assert_eq!(body["note"], "it failed");
    assert_eq!(body["series"], json!({ "count": 3, "lastObservedTime": "2025-11-24T16:00:01.000000Z" }));
}

#[test]
fn a_patch_of_the_new_group_changes_the_series_alone() {
    let renewed = Telling { note: Some("newer".into()), ..telling(5) };
    let call = call(&Request::Patch(renewed), Api::EventsV1);
    assert_eq!(call.content_type, Some("application/merge-patch+json"));
    assert_eq!(body(&call).as_object().unwrap().keys().collect::<Vec<_>>(), ["series"]);
}

#[test]
fn a_core_patch_renews_note_count_and_both_times() {
    let renewed = Telling { note: Some("newer".into()), ..telling(5) };
    let call = call(&Request::Patch(renewed), Api::CoreV1);
    assert_eq!(call.path, "/api/v1/namespaces/default/events/cm.000000000000002a");
    let expected = json!({
        "series": { "count": 5, "lastObservedTime": "2025-11-24T16:00:01.000000Z" },
        "count": 5,
        "lastTimestamp": "2025-11-24T16:00:01Z",
        "message": "newer",
    });
    assert_eq!(body(&call), expected);
}

#[test]
fn a_count_beyond_the_apis_int32_is_shown_as_the_largest() {
    let call = call(&Request::Patch(telling(u32::MAX)), Api::CoreV1);
    assert_eq!(body(&call)["count"], i32::MAX);
}

#[test]
fn times_have_six_digits_and_never_leave_the_range_that_the_server_reads() {
    for (wall, expected) in [
        (0, "1970-01-01T00:00:00.000000Z"),
        (-1, "1970-01-01T00:00:00.000000Z"),
        (1_000_000, "1970-01-01T00:00:01.000000Z"),
        (1_764_000_000_120_000, "2025-11-24T16:00:00.120000Z"),
        (i64::MAX, "1970-01-01T00:00:00.000000Z"),
    ] {
        assert_eq!(micro_time(Wall(wall)), expected);
    }
}

#[test]
fn names_cannot_leave_their_segment_of_a_path() {
    for (name, expected) in [("a/b", "a%2Fb"), ("..", "%2E%2E"), ("a?b#c d", "a%3Fb%23c%20d"), ("foo.v1", "foo.v1")] {
        assert_eq!(segment(name), expected);
    }
}

#[test]
fn a_look_up_asks_for_metadata_only() {
    let regarding =
        Regarding { api_version: "apps/v1".into(), namespace: "web".into(), name: "d".into(), ..Default::default() };
    let call = call(&Request::LookUp { regarding: Arc::new(regarding), plural: "deployments".into() }, Api::CoreV1);
    assert_eq!(call.path, "/apis/apps/v1/namespaces/web/deployments/d");
    assert!(call.accept.contains("PartialObjectMetadata"));
    assert!(call.body.is_empty());
}
