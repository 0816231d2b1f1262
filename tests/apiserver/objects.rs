//! N: what else a poster and its tests meet, asked of a live server after the protocol was written: metadata alone,
//! other kinds, and the rarer mistakes.

use serde_json::{Value, json};

use crate::case::{CORE, Case, STRICT, Who, old, strict};

const PARTIAL: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

pub(crate) fn rows() -> Vec<Case> {
    let get = |title: &str, path: &str| Case::new(format!("N {title}"), "GET", path);
    let patch = |title: &str, body: Value| Case::merge(format!("N {title}"), STRICT, "n", body);
    let no_path = "the server could not find the requested resource";
    let unfit = " \"\" is invalid: patch: Invalid value: …";
    let unreadable =
        "the object provided is unrecognized (must be of type Event): couldn't get version/kind; json parse error";
    let list = format!(
        "{unreadable}: json: cannot unmarshal array into Go value of type struct {{ APIVersion string \
         \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }} (5b315d)"
    );
    vec![
        Case::new("N a ConfigMap", "POST", MAPS)
            .json(json!({ "metadata": { "name": "n-map" }, "data": { "a": "b" } }))
            .gives(201),
        Case::new("N the same again", "POST", MAPS)
            .json(json!({ "metadata": { "name": "n-map" } }))
            .fails(409, "AlreadyExists", "configmaps \"n-map\" already exists")
            .stored("/details", json!({ "name": "n-map", "kind": "configmaps" })),
        get("its metadata alone", &format!("{MAPS}/n-map"))
            .accepting(PARTIAL)
            .gives(200)
            .stored("/kind", json!("PartialObjectMetadata"))
            .stored("/apiVersion", json!("meta.k8s.io/v1"))
            .stored("/metadata/name", json!("n-map"))
            .stored("/metadata/namespace", json!("default"))
            .like("/metadata/uid", "", 36)
            .without("/data"),
        get("metadata of what is not there", &format!("{MAPS}/nope"))
            .accepting(PARTIAL)
            .fails(404, "NotFound", "configmaps \"nope\" not found")
            .stored("/details", json!({ "name": "nope", "kind": "configmaps" })),
        get("an object in a namespace that is not there", "/api/v1/namespaces/no-such-ns/configmaps/x").fails(
            404,
            "NotFound",
            "configmaps \"x\" not found",
        ),
        get("a node that is not there", "/api/v1/nodes/nope").fails(404, "NotFound", "nodes \"nope\" not found"),
        get("a namespace", "/api/v1/namespaces/default").gives(200).stored("/status/phase", json!("Active")),
        get("a terminating one", "/api/v1/namespaces/dying").gives(200).stored("/status/phase", json!("Terminating")),
        get("a namespace that is not there", "/api/v1/namespaces/nope").fails(
            404,
            "NotFound",
            "namespaces \"nope\" not found",
        ),
        get("a resource that is not there", "/api/v1/namespaces/default/foos/x").fails(404, "NotFound", no_path),
        get("a group that is not there", "/apis/nope.example.com/v1").plain(404, "404 page not found\n"),
        get("no rights to an object", &format!("{MAPS}/n-map")).by(Who::Named("no-rights")).fails(
            403,
            "Forbidden",
            "configmaps \"n-map\" is forbidden: User \"system:serviceaccount:default:no-rights\" cannot get \
            resource \"configmaps\" \
             in API group \"\" in the namespace \"default\"",
        ),
        get("no rights to a node", "/api/v1/nodes/x").by(Who::Named("no-rights")).fails(
            403,
            "Forbidden",
            "nodes \"x\" is forbidden: User \"system:serviceaccount:default:no-rights\" cannot get resource \
            \"nodes\" in API group \
             \"\" at the cluster scope",
        ),
        get("no rights to a list everywhere", "/api/v1/events").by(Who::Named("core-only")).fails(
            403,
            "Forbidden",
            "events is forbidden: User \"system:serviceaccount:default:core-only\" cannot list resource \
            \"events\" in API group \"\" \
             at the cluster scope",
        ),
        get("the version", "/version").gives(200).stored("/major", json!("1")).stored("/minor", json!("36")),
        get("the group", "/apis/events.k8s.io/v1").gives(200).stored("/kind", json!("APIResourceList")),
        strict("N an event").named("n").gives(201),
        get("its metadata alone", &format!("{STRICT}/n"))
            .accepting(PARTIAL)
            .gives(200)
            .stored("/kind", json!("PartialObjectMetadata")),
        patch("name changed", json!({ "metadata": { "name": "m" } })).fails(
            400,
            "BadRequest",
            "the name of the object (m) does not match the name on the URL (n)",
        ),
        patch("namespace changed", json!({ "metadata": { "namespace": "other" } })).fails(
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        patch("unknown field", json!({ "foo": 1 })).gives(200).warned("unknown field \"foo\""),
        patch("unknown field, Strict", json!({ "foo": 1 }))
            .query("fieldValidation=Strict")
            .fails(422, "Invalid", unfit),
        patch("a field of a wrong type", json!({ "note": 5 })).fails(422, "Invalid", unfit),
        patch("series of a bad time", json!({ "series": { "count": 2, "lastObservedTime": "x" } }))
            .fails(422, "Invalid", unfit),
        Case::new("N no JSON", "PATCH", format!("{STRICT}/n")).raw("{").typed("application/merge-patch+json").fails(
            400,
            "BadRequest",
            "error decoding patch: unexpected end of JSON input",
        ),
        Case::new("N no object", "PATCH", format!("{STRICT}/n")).raw("[]").typed("application/merge-patch+json").fails(
            400,
            "BadRequest",
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        Case::new("N json-patch that is none", "PATCH", format!("{STRICT}/n"))
            .raw("{}")
            .typed("application/json-patch+json")
            .fails(
                400,
                "BadRequest",
                "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
            ),
        patch("json-patch of what is not there", json!([{ "op": "replace", "path": "/series/count", "value": 3 }]))
            .typed("application/json-patch+json")
            .fails(422, "Invalid", "the server rejected our request due to an error in our request"),
        patch("dry run", json!({ "metadata": { "labels": { "a": "b" } } })).query("dryRun=All").gives(200),
        get("nothing was done", &format!("{STRICT}/n")).gives(200).without("/metadata/labels"),
        strict("N resourceVersion on create").with(json!({ "metadata": { "resourceVersion": "1" } })).fails(
            500,
            "",
            "resourceVersion should not be set on objects to be created",
        ),
        strict("N a uid on create").with(json!({ "metadata": { "uid": "mine" } })).gives(201).like(
            "/metadata/uid",
            "",
            36,
        ),
        strict("N deprecatedFirstTimestamp of year 1")
            .with(json!({ "deprecatedFirstTimestamp": "0001-01-01T00:00:00Z" }))
            .invalid("firstTimestamp: Invalid value: \"\": needs to be unset"),
        strict("N an event time that is no date")
            .with(json!({ "eventTime": "2026-02-30T06:00:00.123456Z" }))
            .undecodable("parsing time \"2026-02-30T06:00:00.123456Z\": day out of range"),
        strict("N an event time in month 13")
            .with(json!({ "eventTime": "2026-13-02T06:00:00.123456Z" }))
            .undecodable("parsing time \"2026-13-02T06:00:00.123456Z\": month out of range"),
        strict("N an event time and more")
            .with(json!({ "eventTime": "2026-12-02T06:00:00.123456Z!" }))
            .undecodable("parsing time \"2026-12-02T06:00:00.123456Z!\": extra text: \"!\""),
        strict("N an event time that is a number")
            .with(json!({ "eventTime": 5 }))
            .undecodable("json: cannot unmarshal number into Go struct field Event.eventTime of type string"),
        strict("N a reference that is a text").with(json!({ "regarding": "x" })).undecodable(
            "json: cannot unmarshal string into Go struct field Event.regarding of type v1.ObjectReference",
        ),
        strict("N a uid that is a number").with(json!({ "regarding": { "uid": 5 } })).undecodable(
            "json: cannot unmarshal number into Go struct field ObjectReference.regarding.uid of type types.UID",
        ),
        strict("N labels that are no texts").with(json!({ "metadata": { "labels": { "a": 5 } } })).undecodable(
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        strict("N a body that is a list").raw("[1]").fails(400, "BadRequest", list),
        strict("N a body that is no JSON").raw("hello").fails(
            400,
            "BadRequest",
            format!(
                "{unreadable}: invalid \
             character 'h' looking for beginning of value (68656c6c6f)"
            ),
        ),
        old("N core: a name that is a dot").named(".").invalid("metadata.name: Invalid value: \".\": may not be '.'"),
        old("N core: an annotation of 300 000 bytes")
            .with(json!({ "metadata": { "annotations": { "a": "a".repeat(300_000) } } }))
            .invalid("metadata.annotations: Too long: may not be more than 262144 bytes"),
        Case::new("N PUT without a body name", "PUT", format!("{CORE}/n5"))
            .json(json!({ "involvedObject": { "namespace": "default" } }))
            .fails(
                400,
                "BadRequest",
                "the name of the object (n5 based on URL) was undeterminable: name must \
                 be provided",
            ),
        Case::new("N PUT by another name", "PUT", format!("{CORE}/n5"))
            .json(json!({ "metadata": { "name": "n6" }, "involvedObject": { "namespace": "default" } }))
            .fails(400, "BadRequest", "the name of the object (n6) does not match the name on the URL (n5)"),
        Case::new("N PATCH of all", "PATCH", STRICT).json(json!({})).typed("application/merge-patch+json").fails(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        ),
    ]
}
