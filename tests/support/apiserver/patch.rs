//! The three ways to change an object in part: merge (RFC 7386), strategic merge, and JSON patch (RFC 6902).

use serde_json::{Map, Value};

use super::decode::{misread, sort as kind_of};
use super::message::{Request, lossy};
use super::status::Refusal;

/// What a patch makes of an object.
pub(super) fn apply(request: &Request, mut target: Value) -> Result<Value, Refusal> {
    let sort = request.media_type();
    let bad = |why: &str| Refusal::bad_request(format!("error decoding patch: {why}"));
    let text = lossy(&request.body);
    let patch: Value = serde_json::from_str(&text).map_err(|error| bad(&misread(&text, &error)))?;
    let unfit = |named: &str| bad(&format!("json: cannot unmarshal {} into Go value of type {named}", kind_of(&patch)));
    match sort {
        "application/json-patch+json" => {
            if !patch.is_array() {
                return Err(unfit("[]handlers.jsonPatchOp"));
            }
            let operations: Vec<Operation> = serde_json::from_value(patch).map_err(|error| bad(&error.to_string()))?;
            for operation in operations {
                operation.apply(&mut target).ok_or_else(Refusal::unpatchable)?;
            }
        }
        // Nothing in an Event's own fields merges otherwise by strategy: lists stand in its metadata only.
        "application/merge-patch+json" | "application/strategic-merge-patch+json" => {
            if !patch.is_object() {
                return Err(unfit("map[string]interface {}"));
            }
            merge(&mut target, patch, sort.starts_with("application/strategic"));
        }
        _ => return Err(Refusal::unsupported_media_type("415: Unsupported Media Type")),
    }
    Ok(target)
}

/// Whether the server takes such a patch at all.
pub(super) fn supported(media_type: &str) -> bool {
    [
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    ]
    .contains(&media_type)
}

fn merge(target: &mut Value, patch: Value, strategic: bool) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else { return };
    if strategic && patch.get("$patch").and_then(Value::as_str) == Some("replace") {
        fields.clear();
    }
    for (key, value) in patch {
        match value {
            // Directives of the strategy, not fields.
            _ if strategic && key.starts_with('$') => {}
            Value::Null => {
                fields.remove(&key);
            }
            value => merge(fields.entry(key).or_insert(Value::Null), value, strategic),
        }
    }
}

/// One step of a JSON patch.
#[derive(Debug, serde::Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Operation {
    Add { path: String, value: Value },
    Remove { path: String },
    Replace { path: String, value: Value },
    Move { from: String, path: String },
    Copy { from: String, path: String },
    Test { path: String, value: Value },
}

impl Operation {
    /// Nothing when it cannot be done, or a test fails.
    fn apply(self, target: &mut Value) -> Option<()> {
        match self {
            Operation::Add { path, value } => add(target, &path, value),
            Operation::Remove { path } => remove(target, &path).map(drop),
            Operation::Replace { path, value } => {
                *target.pointer_mut(&path)? = value;
                Some(())
            }
            Operation::Move { from, path } => {
                let value = remove(target, &from)?;
                add(target, &path, value)
            }
            Operation::Copy { from, path } => {
                let value = target.pointer(&from)?.clone();
                add(target, &path, value)
            }
            // What is not there is null to the server: so kube's `finalizer` asks whether there are any.
            Operation::Test { path, value } => (target.pointer(&path).unwrap_or(&Value::Null) == &value).then_some(()),
        }
    }
}

fn add(target: &mut Value, path: &str, value: Value) -> Option<()> {
    if path.is_empty() {
        *target = value;
        return Some(());
    }
    let (parent, key) = split(path)?;
    match target.pointer_mut(parent)? {
        Value::Object(fields) => {
            fields.insert(key, value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let at: usize = key.parse().ok().filter(|at| *at <= items.len())?;
            items.insert(at, value);
        }
        _ => return None,
    }
    Some(())
}

fn remove(target: &mut Value, path: &str) -> Option<Value> {
    let (parent, key) = split(path)?;
    match target.pointer_mut(parent)? {
        Value::Object(fields) => fields.remove(&key),
        Value::Array(items) => {
            let at: usize = key.parse().ok().filter(|at| *at < items.len())?;
            Some(items.remove(at))
        }
        _ => None,
    }
}

fn split(path: &str) -> Option<(&str, String)> {
    let (parent, key) = path.rsplit_once('/')?;
    Some((parent, key.replace("~1", "/").replace("~0", "~")))
}
