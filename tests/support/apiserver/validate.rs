//! What an Event must hold. `pkg/apis/core/validation/events.go` and apimachinery's `objectmeta.go`, rule by rule and
//! in their order, on the one form in which both groups' Events are kept.

use serde_json::{Map, Value, json};

use super::decode::REFERENCE;
use super::names;
use super::status::FieldError;

const WORD_LIMIT: usize = 128;
const NOTE_LIMIT: usize = 1024;
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// The faults of a new Event. `strict`: it came through events.k8s.io/v1.
pub(super) fn create(event: &Map<String, Value>, strict: bool) -> Vec<FieldError> {
    let mut faults = legacy(event, strict);
    if !strict {
        return faults;
    }
    faults.extend(meta(event, names::generate_name, names::dns_subdomain));
    faults.extend(series(event));
    if !event.contains_key("eventTime") {
        faults.push(FieldError::required("eventTime", ""));
    }
    let sort = text(event, &["type"]);
    if sort != "Normal" && sort != "Warning" {
        faults.push(FieldError::invalid("type", "", format!("has invalid value: {sort}")));
    }
    for field in ["firstTimestamp", "lastTimestamp", "count", "source"] {
        if event.contains_key(field) {
            faults.push(FieldError::invalid(field, "", "needs to be unset"));
        }
    }
    faults
}

/// The faults of a changed Event. Through core/v1 anything may change; through events.k8s.io/v1 only series and
/// metadata.
pub(super) fn update(new: &Map<String, Value>, old: &Map<String, Value>, strict: bool) -> Vec<FieldError> {
    let mut faults = legacy(new, strict);
    if !strict {
        return faults;
    }
    faults.extend(meta_update(new, old));
    if new.get("series") != old.get("series") {
        faults.extend(series(new));
    }
    // "reason" stands twice on purpose: the server asks twice, so its causes name it twice.
    let fields = [
        "involvedObject",
        "reason",
        "message",
        "source",
        "firstTimestamp",
        "lastTimestamp",
        "count",
        "reason",
        "type",
        "eventTime",
        "action",
        "related",
        "reportingController",
        "reportingInstance",
    ];
    for field in fields {
        let kept = if field == "reportingController" { "reportingComponent" } else { field };
        if new.get(kept) != old.get(kept) {
            faults.push(FieldError::invalid_as(field, &shown(kept, new.get(kept)), "field is immutable"));
        }
    }
    faults
}

/// The metadata of a new object, by the rules that its kind has for names.
pub(super) fn meta(
    object: &Map<String, Value>,
    base: fn(&str) -> Vec<String>,
    name: fn(&str) -> Vec<String>,
) -> Vec<FieldError> {
    let mut faults = Vec::new();
    let (generate, own) = (text(object, &["metadata", "generateName"]), text(object, &["metadata", "name"]));
    if !generate.is_empty() {
        faults.extend(base(generate).iter().map(|it| FieldError::invalid("metadata.generateName", generate, it)));
    }
    match own {
        "" => faults.push(FieldError::required("metadata.name", "name or generateName is required")),
        own => faults.extend(name(own).iter().map(|it| FieldError::invalid("metadata.name", own, it))),
    }
    faults.extend(labels_and_annotations(object));
    faults
}

/// What of an object's metadata may not change.
pub(super) fn meta_update(new: &Map<String, Value>, old: &Map<String, Value>) -> Vec<FieldError> {
    let mut faults = Vec::new();
    for field in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"] {
        let (now, before) = (text(new, &["metadata", field]), text(old, &["metadata", field]));
        if now != before {
            faults.push(FieldError::invalid(format!("metadata.{field}"), now, "field is immutable"));
        }
    }
    faults.extend(labels_and_annotations(new));
    faults
}

/// A text inside an object, empty when it is not there.
pub(super) fn text<'a>(object: &'a Map<String, Value>, path: &[&str]) -> &'a str {
    let Some((first, rest)) = path.split_first() else { return "" };
    let inner = rest.iter().try_fold(object.get(*first), |at, key| at.map(|it| it.get(*key)));
    inner.flatten().and_then(Value::as_str).unwrap_or_default()
}

/// The rules for every Event: more of them once it has an `eventTime`, by which the server tells new from old.
fn legacy(event: &Map<String, Value>, strict: bool) -> Vec<FieldError> {
    let mut faults = Vec::new();
    let (own, involved) = (text(event, &["metadata", "namespace"]), text(event, &["involvedObject", "namespace"]));
    let new_style = event.contains_key("eventTime");
    let fits = match (new_style, involved) {
        (true, "") => ["default", "kube-system"].contains(&own),
        (true, _) => true,
        (false, "") => ["", "default"].contains(&own),
        (false, involved) => involved == own,
    };
    if !fits {
        faults.push(FieldError::invalid("involvedObject.namespace", involved, "does not match event.namespace"));
    }
    if new_style {
        let controller = text(event, &["reportingComponent"]);
        let field = if strict { "reportingController" } else { "reportingComponent" };
        if controller.is_empty() {
            faults.push(FieldError::required(field, ""));
        }
        faults.extend(names::qualified(controller).iter().map(|it| FieldError::invalid(field, controller, it)));
        for field in ["reportingInstance", "action", "reason"] {
            match text(event, &[field]).len() {
                0 => faults.push(FieldError::required(field, "")),
                length => faults.extend(too_long(field, length, WORD_LIMIT)),
            }
        }
        faults.extend(too_long("message", text(event, &["message"]).len(), NOTE_LIMIT));
    }
    faults.extend(names::dns_subdomain(own).iter().map(|it| FieldError::invalid("namespace", own, it)));
    faults
}

/// The limits count bytes; the words of the server say characters.
fn too_long(field: &str, length: usize, limit: usize) -> Option<FieldError> {
    (length > limit).then(|| FieldError::invalid(field, "", format!("can have at most {limit} characters")))
}

fn series(event: &Map<String, Value>) -> Vec<FieldError> {
    let Some(series) = event.get("series") else { return Vec::new() };
    let mut faults = Vec::new();
    if series.get("count").and_then(Value::as_i64).unwrap_or_default() < 2 {
        faults.push(FieldError::invalid("series.count", "", "should be at least 2"));
    }
    if series.get("lastObservedTime").is_none() {
        faults.push(FieldError::required("series.lastObservedTime", ""));
    }
    faults
}

fn labels_and_annotations(object: &Map<String, Value>) -> Vec<FieldError> {
    let pairs = |field: &str| {
        let pairs = object.get("metadata").and_then(|it| it.get(field)).and_then(Value::as_object);
        pairs.into_iter().flatten().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
    };
    let mut faults = Vec::new();
    for (key, value) in pairs("labels") {
        faults.extend(names::qualified(key).iter().map(|it| FieldError::invalid("metadata.labels", key, it)));
        faults.extend(names::label_value(value).iter().map(|it| FieldError::invalid("metadata.labels", value, it)));
    }
    for (key, _) in pairs("annotations") {
        let said = names::qualified(&key.to_lowercase());
        faults.extend(said.iter().map(|it| FieldError::invalid("metadata.annotations", key, it)));
    }
    if pairs("annotations").map(|(key, value)| key.len() + value.len()).sum::<usize>() > ANNOTATIONS_LIMIT {
        faults.push(FieldError::too_long("metadata.annotations", ANNOTATIONS_LIMIT));
    }
    faults
}

/// A value as the server prints it: structs by their Go names, with every field.
fn shown(field: &str, value: Option<&Value>) -> String {
    let part = |key: &str| value.and_then(|it| it.get(key)).and_then(Value::as_str).unwrap_or_default();
    let reference = || {
        let go = ["Kind", "Namespace", "Name", "UID", "APIVersion", "ResourceVersion", "FieldPath"];
        let pairs = REFERENCE.fields.iter().zip(go);
        let pairs: Vec<String> = pairs.map(|((wire, ..), go)| format!("\"{go}\":{}", json!(part(wire)))).collect();
        format!("{{{}}}", pairs.join(","))
    };
    match (field, value) {
        ("related", None) => "null".to_owned(),
        ("involvedObject" | "related", _) => reference(),
        ("source", _) => format!("{{\"Component\":{},\"Host\":{}}}", json!(part("component")), json!(part("host"))),
        ("count", None) => "0".to_owned(),
        ("firstTimestamp" | "lastTimestamp" | "eventTime", None) => "null".to_owned(),
        (_, None) => "\"\"".to_owned(),
        (_, Some(value)) => value.to_string(),
    }
}
