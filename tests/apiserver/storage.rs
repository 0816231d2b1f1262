//! J: server-side apply, PUT and DELETE.

use serde_json::{Value, json};

use crate::case::{Case, STRICT, strict};
use crate::create::series;

pub(crate) fn apply_and_replace() -> Vec<Case> {
    let apply = |title: &str, name: &str, change: Value| {
        let case = strict(format!("J apply: {title}")).named(name).with(change).typed("application/apply-patch+yaml");
        case.patched()
    };
    let by = |case: Case, manager: &str| case.query(&format!("fieldManager={manager}"));
    let put = |title: &str, change: Value| strict(format!("J PUT: {title}")).named("j2").with(change).replaced();
    let (series_only, last) = (
        json!({ "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": { "name": "j" } }),
        "2026-12-02T07:00:00.000000Z",
    );
    let mut other = series_only;
    other["series"] = json!({ "count": 5, "lastObservedTime": last });
    let not_found = "events.events.k8s.io \"j2\" not found";
    vec![
        apply("without fieldManager", "j", json!({})).fails(
            422,
            "Invalid",
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch",
        ),
        by(apply("creates", "j", json!({})), "probe").gives(201),
        by(apply("again", "j", json!({})), "probe").gives(200),
        by(apply("with series", "j", series(2)), "probe").gives(200).stored("/series/count", json!(2)),
        by(apply("with another note", "j", json!({ "note": "changed" })), "probe")
            .invalid("message: Invalid value: \"changed\": field is immutable"),
        by(apply("series by another manager", "j", json!({})).json(other.clone()), "other").fails(
            409,
            "Conflict",
            "Apply failed with 2 conflicts: conflicts with \"probe\":\n- .series.count\n- .series.lastObservedTime",
        ),
        by(apply("the same with force", "j", json!({})).json(other), "other&force=true")
            .gives(200)
            .stored("/series/count", json!(5)),
        by(apply("by the first without series", "j", json!({})), "probe").gives(200).stored("/series/count", json!(5)),
        by(apply("without kind", "j", json!({ "apiVersion": null, "kind": null })), "probe").fails(
            400,
            "BadRequest",
            "invalid object type: /, Kind=",
        ),
        by(apply("would create, without eventTime", "j3", json!({ "eventTime": null })), "probe")
            .invalid("eventTime: Required value"),
        put("creates", json!({})).gives(201),
        put("with series", series(2)).gives(200).stored("/series/count", json!(2)),
        put("with another note", json!({ "note": "x" })).invalid("message: Invalid value: \"x\": field is immutable"),
        put("with a stale resourceVersion", json!({ "metadata": { "resourceVersion": "1" } })).fails(
            409,
            "Conflict",
            "Operation cannot be fulfilled on events.events.k8s.io \"j2\": the object has been modified; please \
            apply your changes \
             to the latest version and try again",
        ),
        Case::new("J DELETE", "DELETE", format!("{STRICT}/j2")).gives(200),
        Case::new("J DELETE again", "DELETE", format!("{STRICT}/j2")).fails(404, "NotFound", not_found),
        Case::new("J GET of what was deleted", "GET", format!("{STRICT}/j2")).fails(404, "NotFound", not_found),
    ]
}
