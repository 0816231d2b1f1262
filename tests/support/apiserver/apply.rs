//! Server-side apply of Events: who owns which field, and when two disagree.
//!
//! Only appliers own fields here. A real server counts every other writer as an owner too; no test of ours asks for
//! that.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::access::User;
use super::decode;
use super::message::{Answer, Kind, Request};
use super::state::State;
use super::status::Refusal;
use super::view::{View, whole};

impl State {
    pub(super) fn apply_event(
        &mut self,
        request: &Request,
        kind: &Kind,
        user: &User,
        namespace: &str,
        name: &str,
    ) -> Result<Answer, Refusal> {
        let manager = request.asked("fieldManager").unwrap_or_default();
        if manager.is_empty() {
            return Err(Refusal::apply_without_manager());
        }
        let body = decode::parse(request)?;
        let said = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
        if said("kind").is_empty() || said("apiVersion").is_empty() {
            return Err(Refusal::bad_request("invalid object type: /, Kind="));
        }
        let mine = leaves(&body);
        let existing = self.events.get(&(namespace.to_owned(), name.to_owned())).cloned();
        let Some(existing) = existing else {
            user.may("create", kind, Some(namespace), name)?;
            let (mut object, warnings) = self.redecode(kind, request, &body)?;
            let meta = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
            meta["name"] = Value::from(name);
            let stored = self.create_event_from(request, kind, namespace, object)?;
            self.own(namespace, name, manager, mine);
            return Ok(Answer::json(201, &View::of(request).one(kind, &stored)).warned(&warnings));
        };
        let mut live = whole(kind, &existing.object);
        let mut conflicts = Vec::new();
        for path in &mine {
            let differs = at(&live, path) != at(&body, path);
            let owners = existing.owners.iter().filter(|(owner, paths)| *owner != manager && paths.contains(path));
            conflicts
                .extend(owners.filter(|_| differs).map(|(owner, _)| (owner.clone(), format!(".{}", path.join(".")))));
        }
        let force = request.asked("force") == Some("true");
        if !conflicts.is_empty() && !force {
            return Err(Refusal::apply_conflicts(&conflicts));
        }
        for path in existing.owners.get(manager).into_iter().flatten().filter(|it| !mine.contains(*it)) {
            let shared = existing.owners.iter().any(|(owner, paths)| owner != manager && paths.contains(path));
            if !shared {
                remove(&mut live, path);
            }
        }
        for path in &mine {
            if let Some(value) = at(&body, path) {
                insert(&mut live, path, value.clone());
            }
        }
        let (new, warnings) = self.redecode(kind, request, &live)?;
        let (code, stored) = self.change_event(request, kind, namespace, name, existing.object, new)?;
        self.own(namespace, name, manager, mine);
        Ok(Answer::json(code, &View::of(request).one(kind, &stored)).warned(&warnings))
    }

    /// From now on these fields are the manager's; those that were forced from others are no longer theirs.
    fn own(&mut self, namespace: &str, name: &str, manager: &str, mine: BTreeSet<Vec<String>>) {
        let Some(stored) = self.events.get_mut(&(namespace.to_owned(), name.to_owned())) else { return };
        for (_, paths) in stored.owners.iter_mut().filter(|(owner, _)| *owner != manager) {
            paths.retain(|it| !mine.contains(it));
        }
        stored.owners.insert(manager.to_owned(), mine);
    }
}

/// The fields that a body speaks of. References are of one piece; series, labels and annotations are not.
fn leaves(body: &Value) -> BTreeSet<Vec<String>> {
    let mut paths = BTreeSet::new();
    let Value::Object(fields) = body else { return paths };
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("kind" | "apiVersion", _) => {}
            ("metadata", Value::Object(meta)) => {
                for (field, pairs) in meta {
                    let ("labels" | "annotations", Value::Object(pairs)) = (field.as_str(), pairs) else { continue };
                    paths.extend(pairs.keys().map(|it| vec![key.clone(), field.clone(), it.clone()]));
                }
            }
            ("series" | "deprecatedSource" | "source", Value::Object(inner)) => {
                paths.extend(inner.keys().map(|it| vec![key.clone(), it.clone()]));
            }
            _ => {
                paths.insert(vec![key.clone()]);
            }
        }
    }
    paths
}

fn at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |at, key| at.get(key)).filter(|it| !it.is_null())
}

fn insert(target: &mut Value, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *target = value;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    insert(&mut target[first.as_str()], rest, value);
}

/// Takes a field out, and what is empty without it.
fn remove(target: &mut Value, path: &[String]) {
    let (Value::Object(fields), Some((first, rest))) = (target, path.split_first()) else { return };
    if let (false, Some(inner)) = (rest.is_empty(), fields.get_mut(first)) {
        remove(inner, rest);
        if !inner.as_object().is_some_and(Map::is_empty) {
            return;
        }
    }
    fields.remove(first);
}
