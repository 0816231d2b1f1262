//! F and G: Events created through core/v1, of the old style and of the new.

use serde_json::json;

use crate::case::{Case, NAME_PART, modern, old};

const MISMATCH: &str = "does not match event.namespace";

/// F. Without `eventTime` hardly anything is checked.
pub(crate) fn old_style() -> Vec<Case> {
    let a = |count: usize| "a".repeat(count);
    let field = |title: &str, fields| old(format!("F {title}")).with(fields);
    let message = |length: usize| old(format!("F message of {length} bytes")).with(json!({ "message": a(length) }));
    let involved = |title: &str, namespace: serde_json::Value| {
        old(format!("F {title}")).with(json!({ "involvedObject": { "namespace": namespace } }))
    };
    let wrong = |namespace: &str| format!("involvedObject.namespace: Invalid value: {namespace:?}: {MISMATCH}");
    let null = serde_json::Value::Null;
    vec![
        old("F baseline").gives(201),
        message(1025).gives(201),
        message(100_000).gives(201),
        message(1_400_000).gives(201),
        message(1_600_000).fails(500, "", "etcdserver: request is too large"),
        message(3_200_000).fails(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728"),
        field("message absent", json!({ "message": null })).gives(201),
        field("reason 129 chars", json!({ "reason": a(129) })).gives(201),
        field("reason empty", json!({ "reason": "" })).gives(201),
        field("type Error", json!({ "type": "Error" })).gives(201),
        field("type absent", json!({ "type": null })).gives(201),
        field("action 129 chars", json!({ "action": a(129) })).gives(201),
        field("reportingComponent foo bar/x/y", json!({ "reportingComponent": "foo bar/x/y" })).gives(201),
        field("reportingInstance 129 chars", json!({ "reportingInstance": a(129) })).gives(201),
        field("no source, no reportingComponent", json!({ "source": null })).gives(201),
        field("no timestamps, no count", json!({ "firstTimestamp": null, "lastTimestamp": null, "count": null }))
            .gives(201),
        field("count -5", json!({ "count": -5 })).gives(201),
        old("F only a name and a namespace")
            .json(json!({ "metadata": { "name": "{name}" }, "involvedObject": { "namespace": "default" } }))
            .gives(201),
        old("F only a name").json(json!({ "metadata": { "name": "{name}" } })).gives(201),
        field("no involvedObject, in other", json!({ "involvedObject": null }))
            .into_namespace("other")
            .invalid(wrong("")),
        involved("involvedObject in other, event in default", json!("other")).invalid(wrong("other")),
        old("F involvedObject in default, event in other").into_namespace("other").invalid(wrong("default")),
        involved("cluster-scoped, event in default", null.clone()).gives(201),
        involved("cluster-scoped, event in kube-system", null.clone()).into_namespace("kube-system").invalid(wrong("")),
        involved("cluster-scoped, event in other", null.clone()).into_namespace("other").invalid(wrong("")),
        field("involvedObject without uid", json!({ "involvedObject": { "uid": null } })).gives(201),
        field("firstTimestamp with microseconds", json!({ "firstTimestamp": "2026-12-02T06:00:00.123456Z" }))
            .gives(201)
            .stored("/firstTimestamp", json!("2026-12-02T06:00:00Z")),
        field("firstTimestamp without T", json!({ "firstTimestamp": "2026-12-02 06:00" })).undecodable(
            "parsing time \"2026-12-02 06:00\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \" 06:00\" as \"T\"",
        ),
    ]
}

/// G. With `eventTime` the texts are, but not the type, the series, the names and the old fields.
pub(crate) fn new_style() -> Vec<Case> {
    let a = |count: usize| "a".repeat(count);
    let field = |title: &str, fields| modern(format!("G {title}")).with(fields);
    let word = "Invalid value: \"\": can have at most 128 characters";
    let part = format!("name part {NAME_PART}");
    let controller = |value: &str, why: &str| {
        field(&format!("reportingComponent {value:?}"), json!({ "reportingComponent": value }))
            .invalid(format!("reportingComponent: Invalid value: {value:?}: {why}"))
    };
    vec![
        modern("G baseline").gives(201),
        field("message 1024 bytes", json!({ "message": a(1024) })).gives(201),
        field("message 1025 bytes", json!({ "message": a(1025) })).invalid(
            "message: Invalid value: \"\": can \
             have at most 1024 characters",
        ),
        field("reason 129 chars", json!({ "reason": a(129) })).invalid(format!("reason: {word}")),
        field("reason empty", json!({ "reason": "" })).invalid("reason: Required value"),
        field("action absent", json!({ "action": null })).invalid("action: Required value"),
        field("action 129 chars", json!({ "action": a(129) })).invalid(format!("action: {word}")),
        field("type Error", json!({ "type": "Error" })).gives(201),
        field("type absent", json!({ "type": null })).gives(201),
        field("reportingComponent absent", json!({ "reportingComponent": null })).invalid(format!(
            "[reportingComponent: Required value, reportingComponent: Invalid value: \"\": name part must be \
            non-empty, \
             reportingComponent: Invalid value: \"\": {part}]"
        )),
        controller("foo bar", &part),
        controller(
            "my.io/controller/x",
            &format!(
                "a valid label key {NAME_PART} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
            ),
        ),
        field("reportingInstance absent", json!({ "reportingInstance": null }))
            .invalid("reportingInstance: Required value"),
        field("reportingInstance 129 chars", json!({ "reportingInstance": a(129) }))
            .invalid(format!("reportingInstance: {word}")),
        field("eventTime without fraction", json!({ "eventTime": "2026-12-02T06:00:00Z" })).undecodable(
            "parsing time \"2026-12-02T06:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" \
                 as \".000000\"",
        ),
        modern("G name Upper_").named("Upper_").gives(201),
        field(
            "count, firstTimestamp, source as well",
            json!({ "count": 1, "firstTimestamp": "2026-12-02T06:51:29Z", "source": { "component": "probe" } }),
        )
        .gives(201),
        field("involvedObject in other, event in default", json!({ "involvedObject": { "namespace": "other" } }))
            .gives(201),
        field("cluster-scoped, event in kube-system", json!({ "involvedObject": { "namespace": null } }))
            .into_namespace("kube-system")
            .gives(201),
        field("cluster-scoped, event in other", json!({ "involvedObject": { "namespace": null } }))
            .into_namespace("other")
            .invalid(format!("involvedObject.namespace: Invalid value: \"\": {MISMATCH}")),
    ]
}
