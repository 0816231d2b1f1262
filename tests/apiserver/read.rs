//! M: reading, and one Event seen through both groups.

use serde_json::{Value, json};

use crate::case::{CORE, Case, STRICT, old, strict};
use crate::create::series;

const SPACE: &str = "m-space";

/// Lists. The counts are those of a namespace where nothing else stands.
pub(crate) fn lists() -> Vec<Case> {
    let base = |path: &str| path.replace("/namespaces/default/", &format!("/namespaces/{SPACE}/"));
    let list = |path: &str, selector: &str| {
        Case::new(format!("M {selector} of {path}"), "GET", base(path))
            .query(&format!("fieldSelector={}", selector.replace(',', "%2C")))
    };
    let refused = |path: &str, label: &str| {
        list(path, &format!("{label}=x")).fails(400, "BadRequest", format!("field label not supported: {label}"))
    };
    let here = json!({ "regarding": { "namespace": SPACE } });
    let uid = "4453b96d-914b-4361-817a-746253b20b3e";
    vec![
        Case::new("M a namespace", "POST", "/api/v1/namespaces")
            .json(json!({ "metadata": { "name": SPACE } }))
            .gives(201),
        strict("M new").named("m1").into_namespace(SPACE).with(here.clone()).gives(201),
        strict("M new, of a Pod")
            .named("m2")
            .into_namespace(SPACE)
            .with(here.clone())
            .with(json!({ "regarding": { "kind": "Pod" } }))
            .gives(201),
        strict("M new, a warning about cm2")
            .named("m3")
            .into_namespace(SPACE)
            .with(here)
            .with(json!({ "regarding": { "name": "cm2" }, "type": "Warning", "reason": "Other" }))
            .gives(201),
        old("M old")
            .named("m4")
            .into_namespace(SPACE)
            .with(json!({ "involvedObject": { "namespace": SPACE } }))
            .gives(201),
        list(STRICT, "regarding.name=cm1")
            .gives(200)
            .items(3)
            .stored("/kind", json!("EventList"))
            .stored("/apiVersion", json!("events.k8s.io/v1")),
        list(STRICT, "regarding.kind=ConfigMap,regarding.name=cm1").gives(200).items(2),
        list(STRICT, "reportingController=example.com/probe").gives(200).items(3),
        list(STRICT, "reason=Probed").gives(200).items(3),
        list(STRICT, "type=Warning").gives(200).items(1),
        list(STRICT, "type!=Warning").gives(200).items(3),
        list(STRICT, "metadata.name=m1").gives(200).items(1),
        refused(STRICT, "involvedObject.name"),
        refused(STRICT, "action"),
        list(CORE, "involvedObject.name=cm1").gives(200).items(3).stored("/apiVersion", json!("v1")),
        list(CORE, &format!("involvedObject.uid={uid}")).gives(200).items(4),
        list(CORE, "source=probe").gives(200).items(1),
        list(CORE, "source=example.com/probe").gives(200).items(3),
        list(CORE, "reportingComponent=example.com/probe").gives(200).items(3),
        list(CORE, "reason=Probed").gives(200).items(3),
        refused(CORE, "regarding.name"),
    ]
}

/// One object, two views of it, field by field.
pub(crate) fn bodies() -> Vec<Case> {
    let related = json!({ "kind": "Pod", "namespace": "default", "name": "p", "apiVersion": "v1" });
    let about = json!({
        "kind": "ConfigMap", "namespace": "default", "name": "cm1", "uid": "4453b96d-914b-4361-817a-746253b20b3e",
        "apiVersion": "v1",
    });
    let get = |title: &str, path: &str, name: &str| {
        Case::new(format!("M {title}"), "GET", format!("{path}/{name}")).named(name).gives(200)
    };
    let null = Value::Null;
    vec![
        strict("M the answer to a create")
            .named("both")
            .with(json!({ "related": related }))
            .with(series(2))
            .gives(201)
            .stored("/apiVersion", json!("events.k8s.io/v1"))
            .stored("/metadata/namespace", json!("default"))
            .like("/metadata/uid", "", 36)
            .like("/metadata/creationTimestamp", "20", 20)
            .stored("/regarding", about.clone())
            .stored("/deprecatedSource", json!({}))
            .stored("/deprecatedFirstTimestamp", null.clone())
            .stored("/deprecatedLastTimestamp", null.clone())
            .without("/deprecatedCount"),
        get("a new one through core", CORE, "both")
            .stored("/kind", json!("Event"))
            .stored("/apiVersion", json!("v1"))
            .stored("/involvedObject", about.clone())
            .stored("/message", json!("a note"))
            .stored("/source", json!({}))
            .stored("/firstTimestamp", null.clone())
            .stored("/lastTimestamp", null.clone())
            .stored("/eventTime", json!("2026-12-02T06:51:29.003852Z"))
            .stored("/series", series(2)["series"].clone())
            .stored("/related", related)
            .stored("/reportingComponent", json!("example.com/probe"))
            .without("/count"),
        old("M an old one")
            .named("both-old")
            .gives(201)
            .stored("/reportingComponent", json!(""))
            .stored("/eventTime", null.clone()),
        get("an old one through events.k8s.io", STRICT, "both-old")
            .stored("/eventTime", null)
            .stored("/regarding", about)
            .stored("/note", json!("a message"))
            .stored("/deprecatedSource", json!({ "component": "probe", "host": "h" }))
            .stored("/deprecatedFirstTimestamp", json!("2026-12-02T06:51:29Z"))
            .stored("/deprecatedCount", json!(1))
            .without("/reportingController")
            .without("/action")
            .without("/series"),
    ]
}
