//! The rows that a server prints for `kubectl get`: of Events as the real one does, of everything else name and age.

use k8s_openapi::api::core::v1::Event;
use serde_json::{Map, Value, json};

use super::super::kubectl;
use super::message::Kind;
use super::validate::text;
use super::view::{View, whole};

/// A `Table` of these objects.
pub(super) fn of(kind: &Kind, objects: &[&Map<String, Value>], meta: &Value) -> Value {
    let now = jiff::Timestamp::now();
    let core = Kind::new("", "v1", "Event", "events", "ev", true);
    let events = kind.plural == "events";
    let columns: Vec<Value> = if events {
        let columns = kubectl::COLUMNS.iter();
        columns.map(|(name, priority)| column(name, *priority)).collect()
    } else {
        vec![column("Name", 0), column("Age", 0)]
    };
    let row = |object: &Map<String, Value>| {
        let event = serde_json::from_value::<Event>(whole(&core, object)).ok().filter(|_| events);
        let cells: Vec<Value> = match event {
            Some(event) => kubectl::cells(&event, now).into_iter().map(Value::from).collect(),
            None => {
                let created = text(object, &["metadata", "creationTimestamp"]).parse::<jiff::Timestamp>();
                let age = created.map_or("<unknown>".to_owned(), |it| kubectl::human(now.duration_since(it)));
                vec![json!(text(object, &["metadata", "name"])), json!(age)]
            }
        };
        json!({ "cells": cells, "object": View::Metadata.one(kind, object) })
    };
    let rows: Vec<Value> = objects.iter().map(|it| row(it)).collect();
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "columnDefinitions": columns, "rows": rows,
    })
}

fn column(name: &str, priority: i32) -> Value {
    let format = if name == "Name" { "name" } else { "" };
    json!({ "name": name, "type": "string", "format": format, "description": "", "priority": priority })
}
