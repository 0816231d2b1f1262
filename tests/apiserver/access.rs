//! L: who may do what.

use serde_json::json;

use crate::case::{CORE, Case, STRICT, Who, old, strict};
use crate::create::series;

pub(crate) fn users() -> Vec<Case> {
    let made = |user: &'static str, title: &str| strict(format!("L {user}: {title}")).by(Who::Named(user));
    let made_core = |user: &'static str, title: &str| old(format!("L {user}: {title}")).by(Who::Named(user));
    let patched = |user: &'static str, path: &str, name: &str| {
        Case::merge(format!("L {user}: merge-patch of {name} at {path}"), path, name, series(2)).by(Who::Named(user))
    };
    let no = |case: Case, user: &str, verb: &str, group: &str, namespace: &str, name: &str| {
        let resource = if group.is_empty() { "events".to_owned() } else { format!("events.{group}") };
        let about = if name.is_empty() { resource } else { format!("{resource} \"{name}\"") };
        let user =
            if user.starts_with("system:") { user.to_owned() } else { format!("system:serviceaccount:default:{user}") };
        case.fails(
            403,
            "Forbidden",
            format!(
                "{about} is forbidden: User \"{user}\" cannot {verb} resource \"events\" in API group \
                \"{group}\" in the namespace \
                 \"{namespace}\""
            ),
        )
    };
    let new = "events.k8s.io";
    let yaml = "application/apply-patch+yaml";
    vec![
        no(strict("L no token").by(Who::Anonymous), "system:anonymous", "create", new, "default", ""),
        strict("L a token that nobody has").by(Who::Stranger).fails(401, "Unauthorized", "Unauthorized"),
        no(made("no-rights", "create"), "no-rights", "create", new, "default", "")
            .stored("/details", json!({ "group": new, "kind": "events" })),
        no(made_core("no-rights", "core create"), "no-rights", "create", "", "default", ""),
        no(made("core-only", "create"), "core-only", "create", new, "default", ""),
        made_core("core-only", "core create").gives(201),
        strict("L an event").named("l").gives(201),
        patched("core-only", CORE, "l").gives(200),
        no(patched("core-only", STRICT, "l"), "core-only", "patch", new, "default", "l"),
        made("new-only", "create").gives(201),
        no(made_core("new-only", "core create"), "new-only", "create", "", "default", ""),
        patched("new-only", STRICT, "l").gives(200),
        no(made("new-only", "create in other").into_namespace("other"), "new-only", "create", new, "other", ""),
        no(
            made("new-only", "create in no namespace").into_namespace("no-such-ns"),
            "new-only",
            "create",
            new,
            "no-such-ns",
            "",
        ),
        no(
            made("new-only", "create in the Terminating one").into_namespace("dying"),
            "new-only",
            "create",
            new,
            "dying",
            "",
        ),
        no(
            made("new-only", "an invalid event in other").with(json!({ "action": null })).into_namespace("other"),
            "new-only",
            "create",
            new,
            "other",
            "",
        ),
        made("create-only", "create").named("l-dup").gives(201),
        no(patched("create-only", STRICT, "l"), "create-only", "patch", new, "default", "l"),
        no(
            Case::new("L create-only: GET", "GET", format!("{STRICT}/l")).by(Who::Named("create-only")),
            "create-only",
            "get",
            new,
            "default",
            "l",
        ),
        made("create-only", "a name that is taken").named("l-dup").fails(
            409,
            "AlreadyExists",
            "events.events.k8s.io \"l-dup\" already exists",
        ),
        patched("patch-only", STRICT, "l").gives(200),
        patched("patch-only", STRICT, "nope").fails(404, "NotFound", "events.events.k8s.io \"nope\" not found"),
        no(
            made("patch-only", "apply that would create").named("l2").typed(yaml).patched().query("fieldManager=probe"),
            "patch-only",
            "create",
            new,
            "default",
            "l2",
        ),
        made("new-only", "apply that creates").named("l3").typed(yaml).patched().query("fieldManager=probe").gives(201),
        made("patch-only", "apply to what is there")
            .named("l3")
            .typed(yaml)
            .patched()
            .query("fieldManager=probe")
            .gives(200),
        no(
            made("update-only", "PUT that would create").named("l4").replaced(),
            "update-only",
            "create",
            new,
            "default",
            "l4",
        ),
    ]
}
