//! Events: both groups' in one storage, each created, changed and deleted by its own group's rules.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::access::User;
use super::decode;
use super::message::{Answer, Kind, Request};
use super::names;
use super::patch;
use super::select::Selector;
use super::state::State;
use super::status::{FieldError, Refusal};
use super::validate::{self, text};
use super::view::{View, whole};

/// etcd takes no more in one request. Our JSON is not its protobuf: close to the limit the two may differ.
const ETCD_LIMIT: usize = 1_572_864;

/// The storage that both groups share.
pub(super) const STORAGE: &str = "events";

/// An Event as it is kept.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    /// In core/v1's form, without `kind` and `apiVersion`, what is empty left out.
    pub(super) object: Map<String, Value>,
    /// By the test's clock.
    pub(super) expires: Duration,
    /// Which fields each server-side applier owns. Those of other writers are not tracked.
    pub(super) owners: BTreeMap<String, BTreeSet<Vec<String>>>,
}

impl State {
    pub(super) fn create_event(&mut self, request: &Request, kind: &Kind, namespace: &str) -> Result<Answer, Refusal> {
        json_only(request)?;
        let (object, warnings) = decode::event(kind, request)?;
        let stored = self.create_event_from(request, kind, namespace, object)?;
        Ok(Answer::json(201, &View::of(request).one(kind, &stored)).warned(&warnings))
    }

    pub(super) fn create_event_from(
        &mut self,
        request: &Request,
        kind: &Kind,
        namespace: &str,
        mut object: Map<String, Value>,
    ) -> Result<Map<String, Value>, Refusal> {
        same_namespace(&object, namespace)?;
        let name = self.name_for(&object);
        self.enter(kind, namespace, text(&object, &["metadata", "name"]))?;
        let version = text(&object, &["metadata", "resourceVersion"]).to_owned();
        self.stamp(&mut object, namespace, &name);
        refuse(&name, &validate::create(&object, !kind.group.is_empty()))?;
        refuse(&name, &validate::meta(&object, names::path_segment, names::path_segment))?;
        fits_etcd(&object)?;
        if !version.is_empty() && version != "0" {
            return Err(Refusal::new(500, "", "resourceVersion should not be set on objects to be created"));
        }
        if self.events.contains_key(&(namespace.to_owned(), name.clone())) {
            return Err(Refusal::already_exists(kind, &name));
        }
        if !request.dry_run() {
            self.keep_event(&mut object, namespace, &name, "ADDED");
        }
        Ok(object)
    }

    pub(super) fn patch_event(
        &mut self,
        request: &Request,
        kind: &Kind,
        namespace: &str,
        name: &str,
    ) -> Result<Answer, Refusal> {
        if !patch::supported(request.media_type()) {
            // The router refuses it, before any code that knows of Status bodies.
            return Ok(Answer::text(415, "415: Unsupported Media Type"));
        }
        let old = self.event(kind, namespace, name)?;
        let patched = patch::apply(request, whole(kind, &old))?;
        let (new, warnings) = self.redecode(kind, request, &patched)?;
        let (code, stored) = self.change_event(request, kind, namespace, name, old, new)?;
        Ok(Answer::json(code, &View::of(request).one(kind, &stored)).warned(&warnings))
    }

    pub(super) fn replace_event(
        &mut self,
        request: &Request,
        kind: &Kind,
        user: &User,
        namespace: &str,
        name: &str,
    ) -> Result<Answer, Refusal> {
        json_only(request)?;
        let (mut new, warnings) = decode::event(kind, request)?;
        same_namespace(&new, namespace)?;
        if text(&new, &["metadata", "name"]).is_empty() {
            let why = format!("the name of the object ({name} based on URL) was undeterminable: name must be provided");
            return Err(Refusal::bad_request(why));
        }
        same_name(&new, name)?;
        let Ok(old) = self.event(kind, namespace, name) else {
            user.may("create", kind, Some(namespace), name)?;
            let stored = self.create_event_from(request, kind, namespace, new)?;
            return Ok(Answer::json(201, &View::of(request).one(kind, &stored)).warned(&warnings));
        };
        if let Some(meta) = new.get_mut("metadata").and_then(Value::as_object_mut) {
            meta.entry("namespace").or_insert_with(|| json!(namespace));
        }
        let (code, stored) = self.change_event(request, kind, namespace, name, old, new)?;
        Ok(Answer::json(code, &View::of(request).one(kind, &stored)).warned(&warnings))
    }

    pub(super) fn delete_event(&mut self, kind: &Kind, namespace: &str, name: &str) -> Result<Answer, Refusal> {
        let old = self.event(kind, namespace, name)?;
        self.forget_event(namespace, name);
        Ok(deleted(kind, name, &old))
    }

    pub(super) fn delete_events(&mut self, request: &Request, kind: &Kind, namespace: &str) -> Result<Answer, Refusal> {
        let selector = Selector::of(kind, request)?;
        let chosen = self.events.iter().filter(|((home, _), it)| home == namespace && selector.takes(&it.object));
        let names: Vec<String> = chosen.map(|((_, name), _)| name.clone()).collect();
        for name in &names {
            self.forget_event(namespace, name);
        }
        Ok(Answer::json(200, &View::of(request).list(kind, &[], self.revision)))
    }

    /// A changed Event, checked and kept. A change of nothing keeps the revision, and the time to live as well.
    pub(super) fn change_event(
        &mut self,
        request: &Request,
        kind: &Kind,
        namespace: &str,
        name: &str,
        old: Map<String, Value>,
        mut new: Map<String, Value>,
    ) -> Result<(u16, Map<String, Value>), Refusal> {
        same_namespace(&new, namespace)?;
        same_name(&new, name)?;
        let version = text(&new, &["metadata", "resourceVersion"]);
        if !version.is_empty() && version != text(&old, &["metadata", "resourceVersion"]) {
            return Err(Refusal::conflict(kind, name));
        }
        keep_identity(&mut new, &old);
        refuse(name, &validate::update(&new, &old, !kind.group.is_empty()))?;
        refuse(name, &validate::meta_update(&new, &old))?;
        fits_etcd(&new)?;
        if new != old && !request.dry_run() {
            self.keep_event(&mut new, namespace, name, "MODIFIED");
        }
        Ok((200, new))
    }

    pub(super) fn event(&self, kind: &Kind, namespace: &str, name: &str) -> Result<Map<String, Value>, Refusal> {
        let stored = self.events.get(&(namespace.to_owned(), name.to_owned()));
        stored.map(|it| it.object.clone()).ok_or_else(|| Refusal::not_found(kind, name))
    }

    pub(super) fn forget_event(&mut self, namespace: &str, name: &str) -> bool {
        let Some(stored) = self.events.remove(&(namespace.to_owned(), name.to_owned())) else { return false };
        let mut object = stored.object;
        let revision = self.write();
        set_version(&mut object, revision);
        self.changed("DELETED", STORAGE, object);
        true
    }

    /// Moves the clock on, and forgets the Events whose time is over.
    pub(super) fn advance(&mut self, by: Duration) {
        self.clock += by;
        let over = self.events.iter().filter(|(_, it)| it.expires <= self.clock);
        let over: Vec<(String, String)> = over.map(|(key, _)| key.clone()).collect();
        for (namespace, name) in over {
            self.forget_event(&namespace, &name);
        }
    }

    /// The result of a patch, read anew by the group's shape.
    pub(super) fn redecode(
        &self,
        kind: &Kind,
        request: &Request,
        patched: &Value,
    ) -> Result<(Map<String, Value>, Vec<String>), Refusal> {
        let decoded = decode::read(decode::shape(&kind.group), patched);
        // The server has forgotten by then what the patch was of.
        let nothing = Kind::new("", "", "", "", "", false);
        let refused = |why| Refusal::invalid(&nothing, "", &[FieldError::invalid("patch", &patched.to_string(), why)]);
        decoded.verdict(request).map_err(refused)
    }

    fn keep_event(&mut self, object: &mut Map<String, Value>, namespace: &str, name: &str, what: &'static str) {
        forget_zero_times(object);
        let revision = self.write();
        set_version(object, revision);
        let key = (namespace.to_owned(), name.to_owned());
        let owners = self.events.remove(&key).map(|it| it.owners).unwrap_or_default();
        let expires = self.clock + self.ttl;
        self.events.insert(key, Stored { object: object.clone(), expires, owners });
        self.changed(what, STORAGE, object.clone());
    }
}

fn forget_zero_times(object: &mut Map<String, Value>) {
    let zero = |it: &Value| it.as_str().is_some_and(super::moment::is_zero);
    object.retain(|_, value| !zero(value));
    if let Some(series) = object.get_mut("series").and_then(Value::as_object_mut) {
        series.retain(|_, value| !zero(value));
    }
}

/// What only the server decides stays as it was where the new object does not say otherwise.
fn keep_identity(new: &mut Map<String, Value>, old: &Map<String, Value>) {
    let Some(Value::Object(before)) = old.get("metadata") else { return };
    let meta = new.entry("metadata").or_insert_with(|| json!({}));
    let Value::Object(meta) = meta else { return };
    for field in ["name", "namespace", "uid", "creationTimestamp"] {
        if let (false, Some(value)) = (meta.contains_key(field), before.get(field)) {
            meta.insert(field.to_owned(), value.clone());
        }
    }
    if let Some(version) = before.get("resourceVersion") {
        meta.insert("resourceVersion".to_owned(), version.clone());
    }
}

/// What is answered of something that is no more.
pub(super) fn deleted(kind: &Kind, name: &str, object: &Map<String, Value>) -> Answer {
    let uid = text(object, &["metadata", "uid"]);
    let details = json!({ "name": name, "group": kind.group, "kind": kind.plural, "uid": uid });
    let body = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details });
    Answer::json(200, &body)
}

pub(super) fn set_version(object: &mut Map<String, Value>, revision: u64) {
    if let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.insert("resourceVersion".to_owned(), json!(revision.to_string()));
    }
}

/// A body in JSON. A server reads YAML and protobuf as well; no client of ours sends them.
pub(super) fn json_only(request: &Request) -> Result<(), Refusal> {
    match request.media_type() {
        "" | "application/json" => Ok(()),
        _ => Err(Refusal::unsupported_media_type(
            "the body of the request was in an unknown format - accepted media types include: application/json, \
             application/yaml, application/vnd.kubernetes.protobuf",
        )),
    }
}

pub(super) fn same_namespace(object: &Map<String, Value>, namespace: &str) -> Result<(), Refusal> {
    match text(object, &["metadata", "namespace"]) {
        said if said.is_empty() || said == namespace => Ok(()),
        _ => Err(Refusal::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        )),
    }
}

pub(super) fn same_name(object: &Map<String, Value>, name: &str) -> Result<(), Refusal> {
    match text(object, &["metadata", "name"]) {
        said if said.is_empty() || said == name => Ok(()),
        said => Err(Refusal::bad_request(format!(
            "the name of the object ({said}) does not match the name on the URL ({name})"
        ))),
    }
}

fn refuse(name: &str, faults: &[FieldError]) -> Result<(), Refusal> {
    let event = Kind::new("", "v1", "Event", "events", "ev", true);
    if faults.is_empty() { Ok(()) } else { Err(Refusal::invalid(&event, name, faults)) }
}

fn fits_etcd(object: &Map<String, Value>) -> Result<(), Refusal> {
    let size: usize = object.values().map(size).sum();
    if size <= ETCD_LIMIT { Ok(()) } else { Err(Refusal::too_large_for_etcd()) }
}

/// The bytes of all texts inside.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.iter().map(|(key, it)| key.len() + size(it)).sum(),
        _ => 8,
    }
}
