//! Which objects a list asks for: field selectors by the labels that a group supports, and label selectors.

use serde_json::{Map, Value};

use super::message::{Kind, Request};
use super::status::Refusal;
use super::validate::text;

/// What `fieldSelector` and `labelSelector` ask for.
#[derive(Debug, Clone, Default)]
pub(super) struct Selector {
    fields: Vec<Term>,
    labels: Vec<Term>,
}

#[derive(Debug, Clone)]
struct Term {
    key: String,
    wanted: Wanted,
}

#[derive(Debug, Clone)]
enum Wanted {
    Is(String),
    IsNot(String),
    There,
    NotThere,
}

impl Selector {
    pub(super) fn of(kind: &Kind, request: &Request) -> Result<Selector, Refusal> {
        let mut fields = Vec::new();
        for term in terms(request.asked("fieldSelector").unwrap_or_default()) {
            let (Wanted::Is(_) | Wanted::IsNot(_)) = term.wanted else {
                let why = format!("invalid selector: '{}'; can't understand '{}'", term.key, term.key);
                return Err(Refusal::bad_request(why));
            };
            let Some(key) = internal(kind, &term.key) else {
                return Err(Refusal::bad_request(format!("field label not supported: {}", term.key)));
            };
            fields.push(Term { key, ..term });
        }
        Ok(Selector { fields, labels: terms(request.asked("labelSelector").unwrap_or_default()) })
    }

    pub(super) fn takes(&self, object: &Map<String, Value>) -> bool {
        let field = |term: &Term| {
            let path: Vec<&str> = term.key.split('.').collect();
            let value = match (term.key.as_str(), text(object, &["source", "component"])) {
                ("source", "") => text(object, &["reportingComponent"]),
                ("source", component) => component,
                _ => text(object, &path),
            };
            term.takes(Some(value))
        };
        let labels = object.get("metadata").and_then(|it| it.get("labels"));
        let label = |term: &Term| term.takes(labels.and_then(|it| it.get(&term.key)).and_then(Value::as_str));
        self.fields.iter().all(field) && self.labels.iter().all(label)
    }
}

impl Term {
    fn takes(&self, value: Option<&str>) -> bool {
        match &self.wanted {
            Wanted::Is(wanted) => value == Some(wanted),
            Wanted::IsNot(unwanted) => value != Some(unwanted),
            Wanted::There => value.is_some(),
            Wanted::NotThere => value.is_none(),
        }
    }
}

/// A group's label as the one form in which Events are kept names it. Nothing when the group does not have it.
fn internal(kind: &Kind, label: &str) -> Option<String> {
    let object = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];
    match (kind.plural.as_str(), kind.group.as_str(), label) {
        (_, _, "metadata.name" | "metadata.namespace") => Some(label.to_owned()),
        ("events", "" | "events.k8s.io", "reason" | "type") => Some(label.to_owned()),
        ("events", "", "reportingComponent" | "source") => Some(label.to_owned()),
        ("events", "events.k8s.io", "reportingController") => Some("reportingComponent".to_owned()),
        ("events", "", _) => {
            label.strip_prefix("involvedObject.").filter(|it| object.contains(it)).map(|_| label.to_owned())
        }
        ("events", "events.k8s.io", _) => {
            label.strip_prefix("regarding.").filter(|it| object.contains(it)).map(|it| format!("involvedObject.{it}"))
        }
        ("pods", "", "spec.nodeName" | "status.phase") => Some(label.to_owned()),
        _ => None,
    }
}

fn terms(selector: &str) -> Vec<Term> {
    let term = |it: &str| {
        let own = |it: &str| it.trim().to_owned();
        if let Some((key, value)) = it.split_once("!=") {
            return Term { key: own(key), wanted: Wanted::IsNot(own(value)) };
        }
        if let Some((key, value)) = it.split_once('=') {
            return Term { key: own(key), wanted: Wanted::Is(own(value.strip_prefix('=').unwrap_or(value))) };
        }
        match it.trim().strip_prefix('!') {
            Some(key) => Term { key: own(key), wanted: Wanted::NotThere },
            None => Term { key: own(it), wanted: Wanted::There },
        }
    };
    selector.split(',').filter(|it| !it.trim().is_empty()).map(term).collect()
}
