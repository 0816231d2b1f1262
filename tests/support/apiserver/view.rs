//! How an object is shown: whole, by its metadata alone, or as rows of a table; an Event by either group.

use serde_json::{Map, Value, json};

use super::decode;
use super::message::{Kind, Request};
use super::table;

/// What the `Accept` header asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Whole,
    /// `PartialObjectMetadata`.
    Metadata,
    /// `Table`: what `kubectl get` prints.
    Table,
}

impl View {
    pub(super) fn of(request: &Request) -> View {
        // The first type that this server knows wins, as the weights that clients send agree with the order.
        let asked = request.accept.split(',').find_map(|it| match it {
            it if it.contains("as=Table") => Some(View::Table),
            it if it.contains("as=PartialObjectMetadata") => Some(View::Metadata),
            it if it.contains("application/json") || it.contains("*/*") => Some(View::Whole),
            _ => None,
        });
        asked.unwrap_or(View::Whole)
    }

    pub(super) fn one(self, kind: &Kind, object: &Map<String, Value>) -> Value {
        match self {
            View::Whole => whole(kind, object),
            View::Metadata => metadata(object),
            View::Table => table::of(
                kind,
                &[object],
                &json!({ "resourceVersion": object.get("metadata").map(|it| &it["resourceVersion"]) }),
            ),
        }
    }

    pub(super) fn list(self, kind: &Kind, objects: &[&Map<String, Value>], revision: u64) -> Value {
        let meta = json!({ "resourceVersion": revision.to_string() });
        let (named, version, items): (String, String, Vec<Value>) = match self {
            View::Table => return table::of(kind, objects, &meta),
            View::Whole => {
                (format!("{}List", kind.kind), kind.api_version(), objects.iter().map(|it| whole(kind, it)).collect())
            }
            View::Metadata => (
                "PartialObjectMetadataList".to_owned(),
                "meta.k8s.io/v1".to_owned(),
                objects.iter().map(|it| metadata(it)).collect(),
            ),
        };
        json!({ "kind": named, "apiVersion": version, "metadata": meta, "items": items })
    }
}

/// The object by its kind. Events are kept in core/v1's form; the other group's names are given back here.
pub(super) fn whole(kind: &Kind, object: &Map<String, Value>) -> Value {
    let mut out = Map::new();
    if kind.plural == "events" && ["", "events.k8s.io"].contains(&kind.group.as_str()) {
        for (wire, kept, _) in decode::shape(&kind.group).fields {
            let empty = match (kind.group.as_str(), *wire) {
                ("", "reportingComponent" | "reportingInstance") => Some(json!("")),
                ("", "involvedObject" | "source") | (_, "regarding" | "deprecatedSource") => Some(json!({})),
                ("", "firstTimestamp" | "lastTimestamp" | "eventTime") => Some(Value::Null),
                (_, "deprecatedFirstTimestamp" | "deprecatedLastTimestamp" | "eventTime") => Some(Value::Null),
                _ => None,
            };
            if let Some(value) = object.get(*kept).cloned().or(empty) {
                out.insert((*wire).to_owned(), value);
            }
        }
        if let Some(Value::Object(series)) = out.get_mut("series") {
            series.entry("lastObservedTime").or_insert(Value::Null);
        }
    } else {
        out = object.clone();
    }
    out.insert("kind".to_owned(), json!(kind.kind));
    out.insert("apiVersion".to_owned(), json!(kind.api_version()));
    Value::Object(out)
}

fn metadata(object: &Map<String, Value>) -> Value {
    let meta = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
    json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": meta })
}
