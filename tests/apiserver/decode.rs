//! K: how bodies are read, and what stands in the metadata of every object.

use serde_json::{Value, json};

use crate::case::{Case, NAME_PART, old, strict};

pub(crate) fn bodies() -> Vec<Case> {
    let extra = |title: &str| strict(format!("K {title}")).with(json!({ "foo": "bar" }));
    let unreadable =
        "the object provided is unrecognized (must be of type Event): couldn't get version/kind; json parse error";
    let type_error = |what: &str| format!("json: cannot unmarshal {what}");
    let other_version = |said: &str| {
        format!("the API version in the data ({said}) does not match the expected API version (events.k8s.io/v1)")
    };
    let mut rows = vec![
        extra("unknown field").gives(201).warned("unknown field \"foo\""),
        extra("unknown field, Strict")
            .query("fieldValidation=Strict")
            .undecodable("strict decoding error: unknown field \"foo\""),
        extra("unknown field, Warn").query("fieldValidation=Warn").gives(201).warned("unknown field \"foo\""),
        extra("unknown field, Ignore").query("fieldValidation=Ignore").gives(201),
        strict("K unknown field of a reference")
            .with(json!({ "regarding": { "foo": 1 } }))
            .gives(201)
            .warned("unknown field \"regarding.foo\""),
        strict("K message in events.k8s.io/v1")
            .with(json!({ "message": "x" }))
            .gives(201)
            .warned("unknown field \"message\""),
        strict("K note is a number")
            .with(json!({ "note": 5 }))
            .undecodable(type_error("number into Go struct field Event.note of type string")),
        strict("K name of a reference is a number")
            .with(json!({ "regarding": { "name": 5 } }))
            .undecodable(type_error("number into Go struct field ObjectReference.regarding.name of type string")),
        strict("K series.count is a text")
            .with(json!({ "series": { "count": "2", "lastObservedTime": "2026-12-02T06:51:28.236458Z" } }))
            .undecodable(type_error("string into Go struct field EventSeries.series.count of type int32")),
        strict("K half a body").raw(r#"{"metadata":"#).fails(
            400,
            "BadRequest",
            format!("{unreadable}: unexpected end of JSON input ({{\"metadata\":)"),
        ),
        strict("K no body").raw("").fails(
            400,
            "BadRequest",
            format!(
                "{unreadable}: unexpected end of JSON \
             input (<empty>)"
            ),
        ),
        strict("K no kind, no apiVersion").with(json!({ "kind": null, "apiVersion": null })).gives(201),
        strict("K apiVersion v1")
            .with(json!({ "apiVersion": "v1" }))
            .fails(400, "BadRequest", other_version("v1"))
            .warned("unknown field \"note\"")
            .warned("unknown field \"regarding\"")
            .warned("unknown field \"reportingController\""),
        strict("K kind Pod").with(json!({ "kind": "Pod" })).fails(
            400,
            "BadRequest",
            "Pod in version \"v1\" cannot be handled as a Event: no kind \"Pod\" is registered for version \
            \"events.k8s.io/v1\" in \
             scheme…",
        ),
        strict("K apiVersion events.k8s.io/v1beta1").with(json!({ "apiVersion": "events.k8s.io/v1beta1" })).fails(
            400,
            "BadRequest",
            other_version("events.k8s.io/v1beta1"),
        ),
        strict("K POST to v1beta1").at("/apis/events.k8s.io/v1beta1/namespaces/default/events").fails(
            404,
            "NotFound",
            "the server could not find the requested resource",
        ),
        strict("K dry run").named("dry").query("dryRun=All").gives(201),
        Case::new("K what was only tried is not there", "GET", format!("{}/dry", crate::case::STRICT))
            .named("dry")
            .fails(404, "NotFound", "events.events.k8s.io \"dry\" not found"),
        strict("K dry run, no action")
            .query("dryRun=All")
            .with(json!({ "action": null }))
            .invalid("action: Required value"),
        strict("K text/plain").typed("text/plain").fails(
            415,
            "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types include: application/json, \
            application/yaml, \
             application/vnd.kubernetes.protobuf",
        ),
        strict("K note of 3 200 000 bytes").with(json!({ "note": "a".repeat(3_200_000) })).fails(
            413,
            "RequestEntityTooLarge",
            "Request entity too large: limit is 3145728",
        ),
    ];
    rows.extend(metadata());
    rows
}

fn metadata() -> Vec<Case> {
    let annotations = |length: usize| {
        let value = json!({ "metadata": { "annotations": { "a": "a".repeat(length) } } });
        strict(format!("K annotations of {length} bytes")).with(value)
    };
    let too_long = "metadata.annotations: Too long: may not be more than 262144 bytes";
    let label = "metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of \
    alphanumeric \
                 characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
                 'MyValue',  or \
                 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let labelled: Value = json!({ "metadata": { "labels": { "a": "b c" } } });
    let uid = "4453b96d-914b-4361-817a-746253b20b3e";
    let owner = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "cm1", "uid": uid });
    vec![
        annotations(1_600_000).invalid(too_long),
        annotations(200_000).gives(201),
        annotations(300_000).invalid(too_long),
        strict("K label with a space").with(labelled.clone()).invalid(label),
        strict("K annotation key with a space")
            .with(json!({ "metadata": { "annotations": { "a b": "c" } } }))
            .invalid(format!("metadata.annotations: Invalid value: \"a b\": name part {NAME_PART}")),
        old("K core: label with a space").with(labelled).invalid(label),
        strict("K ownerReferences").with(json!({ "metadata": { "ownerReferences": [owner] } })).gives(201),
    ]
}
