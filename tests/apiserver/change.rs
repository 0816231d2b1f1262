//! H and I: changing an Event, through either group.

use serde_json::{Value, json};

use crate::case::{CORE, Case, NAME_PART, STRICT, old, strict as create};
use crate::create::series;

const FEW: &str = "series.count: Invalid value: \"\": should be at least 2";
const NO_TIME: &str = "series.lastObservedTime: Required value";

/// H. Through events.k8s.io/v1 only series and metadata change.
pub(crate) fn strict() -> Vec<Case> {
    let merge = |title: &str, patch: Value| Case::merge(format!("H merge: {title}"), STRICT, "h", patch);
    let strategic = |title: &str, patch: Value| {
        Case::merge(format!("H strategic: {title}"), STRICT, "h", patch).typed("application/strategic-merge-patch+json")
    };
    let steps = |title: &str, patch: Value| {
        Case::merge(format!("H json-patch: {title}"), STRICT, "h", patch).typed("application/json-patch+json")
    };
    let immutable = |field: &str, value: &str| format!("{field}: Invalid value: {value}: field is immutable");
    let refused =
        |patch: Value, field: &str, value: &str| merge(&format!("{patch}"), patch).invalid(immutable(field, value));
    let reference = |kind: &str, namespace: &str, name: &str, uid: &str, version: &str| {
        format!(
            "{{\"Kind\":\"{kind}\",\"Namespace\":\"{namespace}\",\"Name\":\"{name}\",\"UID\":\"{uid}\",\
             \"APIVersion\":\"{version}\",\"ResourceVersion\":\"\",\"FieldPath\":\"\"}}"
        )
    };
    let regarding = reference("ConfigMap", "default", "other", "4453b96d-914b-4361-817a-746253b20b3e", "v1");
    let related = reference("Pod", "", "x", "", "");
    let missing = "events.events.k8s.io \"nope\" not found";
    let stale = "Operation cannot be fulfilled on events.events.k8s.io \"h\": the object has been modified; \
    please apply your \
                 changes to the latest version and try again";
    let zero = "00000000-0000-0000-0000-000000000000";
    let old_time = "2020-01-01T00:00:00.000000Z";
    vec![
        create("H an event").named("h").gives(201),
        merge("series", series(2)).gives(200).stored("/series", series(2)["series"].clone()),
        strategic("series", series(3)).gives(200).stored("/series", series(3)["series"].clone()),
        merge("count alone keeps the time", json!({ "series": { "count": 4 } }))
            .gives(200)
            .stored("/series", series(4)["series"].clone()),
        merge("count down to 2", json!({ "series": { "count": 2 } })).gives(200),
        merge("count 1", json!({ "series": { "count": 1 } })).invalid(FEW),
        merge("series null", json!({ "series": null })).gives(200).without("/series"),
        merge("count alone, without series", json!({ "series": { "count": 2 } })).invalid(NO_TIME),
        strategic("count 1, without series", series(1)).invalid(FEW),
        steps("add series", json!([{ "op": "add", "path": "/series", "value": series(2)["series"] }])).gives(200),
        steps(
            "test and replace",
            json!([
                { "op": "test", "path": "/series/count", "value": 2 },
                { "op": "replace", "path": "/series/count", "value": 3 },
            ]),
        )
        .gives(200)
        .stored("/series/count", json!(3)),
        steps("failed test", json!([{ "op": "test", "path": "/series/count", "value": 2 }])).fails(
            422,
            "Invalid",
            "the server rejected our request due to an error in our request",
        ),
        merge("nothing", json!({})).gives(200),
        refused(json!({ "note": "other" }), "message", "\"other\""),
        strategic("note", json!({ "note": "other" })).invalid(immutable("message", "\"other\"")),
        merge("the same note", json!({ "note": "a note" })).gives(200),
        refused(json!({ "reason": "Other" }), "reason", "\"Other\""),
        refused(json!({ "type": "Warning" }), "type", "\"Warning\""),
        refused(json!({ "action": "Other" }), "action", "\"Other\""),
        refused(json!({ "reportingController": "other.io/x" }), "reportingController", "\"other.io/x\""),
        refused(json!({ "reportingInstance": "other" }), "reportingInstance", "\"other\""),
        refused(json!({ "eventTime": old_time }), "eventTime", &format!("{old_time:?}")),
        refused(json!({ "deprecatedCount": 3 }), "count", "3"),
        refused(
            json!({ "deprecatedLastTimestamp": "2020-01-01T00:00:00Z" }),
            "lastTimestamp",
            "\"2020-01-01T00:00:00Z\"",
        ),
        refused(json!({ "deprecatedSource": { "component": "x" } }), "source", r#"{"Component":"x","Host":""}"#),
        refused(json!({ "related": { "kind": "Pod", "name": "x" } }), "related", &related),
        refused(json!({ "regarding": { "name": "other" } }), "involvedObject", &regarding),
        merge("note and series", json!({ "note": "x", "series": { "count": 9 } }))
            .invalid(immutable("message", "\"x\"")),
        merge(
            "labels and annotations",
            json!({ "metadata": { "labels": { "a": "b" }, "annotations": { "c": "d e" } } }),
        )
        .gives(200)
        .stored("/metadata/annotations/c", json!("d e")),
        merge("stale resourceVersion", json!({ "metadata": { "resourceVersion": "1" } })).fails(409, "Conflict", stale),
        merge("another uid", json!({ "metadata": { "uid": zero } }))
            .invalid(immutable("metadata.uid", &format!("{zero:?}"))),
        Case::merge("H merge: not there", STRICT, "nope", series(2))
            .fails(404, "NotFound", missing)
            .stored("/details", json!({ "name": "nope", "group": "events.k8s.io", "kind": "events" })),
        Case::merge("H strategic: not there", STRICT, "nope", series(2))
            .typed("application/strategic-merge-patch+json")
            .fails(404, "NotFound", missing),
        merge("application/json", series(2)).typed("application/json").fails(
            415,
            "UnsupportedMediaType",
            "415: Unsupported Media Type",
        ),
    ]
}

/// I. Through core/v1 anything may change.
pub(crate) fn core() -> Vec<Case> {
    let core = |title: &str, patch: Value| Case::merge(format!("I core: {title}"), CORE, "i", patch);
    let long = "a".repeat(1025);
    let added = "2026-12-02T06:51:28.532179Z";
    vec![
        create("I an event").named("i").gives(201),
        core("message", json!({ "message": "changed" })).gives(200).stored("/message", json!("changed")),
        core("reason, type, action", json!({ "reason": "Other", "type": "Error", "action": "Other" })).gives(200),
        core("message 1025 bytes", json!({ "message": long })).invalid(
            "message: Invalid value: \"\": can have \
             at most 1024 characters",
        ),
        core("series of 1", json!({ "series": { "count": 1 } })).gives(200),
        core(
            "old fields",
            json!({ "count": 5, "firstTimestamp": "2026-12-02T06:00:00Z", "lastTimestamp": "2026-12-02T06:00:05Z" }),
        )
        .gives(200),
        core("strategic: count 6", json!({ "count": 6 }))
            .typed("application/strategic-merge-patch+json")
            .gives(200)
            .stored("/count", json!(6)),
        core("involvedObject.name", json!({ "involvedObject": { "name": "other" } })).gives(200),
        core("eventTime null", json!({ "eventTime": null })).gives(200).stored("/eventTime", Value::Null),
        Case::merge("I events.k8s.io: series on what is now of the old style", STRICT, "i", series(2)).gives(200),
        old("I an event of the old style").named("i2").with(json!({ "message": "a".repeat(5000) })).gives(201),
        Case::merge("I events.k8s.io: series on a message of 5000 bytes", STRICT, "i2", series(2)).gives(200),
        old("I another").named("i3").gives(201),
        Case::merge("I events.k8s.io: eventTime added", STRICT, "i3", json!({ "eventTime": added })).invalid(format!(
            "[reportingController: Required value, reportingController: Invalid value: \"\": name part must be \
            non-empty, \
             reportingController: Invalid value: \"\": name part {NAME_PART}, reportingInstance: Required value, \
             action: Required value, eventTime: Invalid value: \"{added}\": field is immutable]"
        )),
        old("I one with a name for core alone").named("Upper_i4").gives(201),
        Case::merge("I events.k8s.io: series on it", STRICT, "Upper_i4", series(2)).gives(200),
    ]
}
