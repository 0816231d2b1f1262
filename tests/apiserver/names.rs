//! C and D: names.

use serde_json::json;

use crate::case::{CORE, Case, DNS, old, strict};

/// C. Through events.k8s.io/v1: a DNS subdomain.
pub(crate) fn strict_rows() -> Vec<Case> {
    let generated = |base: &str| {
        strict(format!("C generateName {base:?}")).with(json!({ "metadata": { "name": null, "generateName": base } }))
    };
    let bad_base = |base: &str| format!("metadata.generateName: Invalid value: {base:?}: {DNS}");
    let bad = |name: &str| {
        strict(format!("C name {name:?}")).named(name).invalid(format!("metadata.name: Invalid value: {name:?}: {DNS}"))
    };
    let a = |count: usize| "a".repeat(count);
    let long = a(254);
    let mut rows = vec![
        strict("C no name at all").with(json!({ "metadata": { "name": null } })).fails(
            422,
            "Invalid",
            "Event \"\" is invalid: metadata.name: Required value: name or generateName is required",
        ),
        generated("gen.").invalid(bad_base("gen.")),
        generated("gen-").gives(201).like("/metadata/name", "gen-", 9),
        generated("gen").gives(201).like("/metadata/name", "gen", 8),
        generated(&format!("{}-", a(80))).gives(201).like("/metadata/name", &a(58), 63),
        strict("C name and generateName")
            .with(json!({ "metadata": { "generateName": "gen." } }))
            .invalid(bad_base("gen.")),
        generated("Bad_Name.")
            .invalid(format!("[{}, metadata.name: Invalid value: \"{{name}}\": {DNS}]", bad_base("Bad_Name."))),
        strict("C name of 253").named(&a(253)).gives(201),
        strict("C name of 254")
            .named(&long)
            .invalid(format!("metadata.name: Invalid value: {long:?}: must be no more than 253 characters")),
    ];
    rows.extend(["Upper", "has_underscore", "has space", "a/b", "a:b", "a..b", "-a", "a-", ".", "..", "é"].map(bad));
    rows.extend([
        strict("C name a.18a2b3c4d5e6f708").named("a.18a2b3c4d5e6f708").gives(201),
        strict("C a name").named("dup").gives(201),
        strict("C the same name again")
            .named("dup")
            .fails(409, "AlreadyExists", "events.events.k8s.io \"dup\" already exists")
            .stored("/details", json!({ "name": "dup", "group": "events.k8s.io", "kind": "events" })),
        old("C the same name through core").named("dup").fails(409, "AlreadyExists", "events \"dup\" already exists"),
    ]);
    rows
}

/// D. Through core/v1: whatever a path can hold.
pub(crate) fn legacy_rows() -> Vec<Case> {
    let good = |name: &str| old(format!("D name {name:.20?}")).named(name).gives(201);
    let bad = |name: &str, what: char| {
        old(format!("D name {name:?}"))
            .named(name)
            .invalid(format!("metadata.name: Invalid value: {name:?}: may not contain '{what}'"))
    };
    let a = |count: usize| "a".repeat(count);
    let mut rows = vec![bad("a/b", '/'), bad("a%b", '%')];
    rows.extend(["Upper", "has_underscore", "has space", "a:b", "a..b", "é"].map(good));
    rows.extend([254, 1000, 3000].map(|it| good(&a(it))));
    rows.push(
        old("D generateName Gen_")
            .with(json!({ "metadata": { "name": null, "generateName": "Gen_" } }))
            .at(CORE)
            .gives(201)
            .like("/metadata/name", "Gen_", 9),
    );
    rows
}
