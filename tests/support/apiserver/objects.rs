//! Objects that are no Events: enough of an API server to have something for Events to be about.

use serde_json::{Map, Value, json};

use super::events::{STORAGE, deleted, json_only, same_name, same_namespace, set_version};
use super::message::{Answer, Kind, Request};
use super::names;
use super::patch;
use super::select::Selector;
use super::state::{Key, State};
use super::status::Refusal;
use super::validate::{self, text};
use super::view::{View, whole};
use super::watch::Watching;

impl State {
    pub(super) fn add_namespace(&mut self, name: &str) {
        let home = Kind::new("", "v1", "Namespace", "namespaces", "ns", false);
        let labels = json!({ "kubernetes.io/metadata.name": name });
        let body = json!({ "metadata": { "labels": labels }, "spec": { "finalizers": ["kubernetes"] } });
        if let (Value::Object(body), false) = (body, self.objects.contains_key(&key(&home, "", name))) {
            self.keep_object(&home, "", name, body);
        }
    }

    /// As a namespace that somebody deletes: nothing new may come into it, and what stands there goes on.
    pub(super) fn terminate(&mut self, namespace: &str) -> bool {
        let deleted = super::moment::seconds(self.now());
        let key = ("namespaces".to_owned(), String::new(), namespace.to_owned());
        let Some(mut object) = self.objects.get(&key).cloned() else { return false };
        object.insert("status".to_owned(), json!({ "phase": "Terminating" }));
        if let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            meta.insert("deletionTimestamp".to_owned(), json!(deleted));
        }
        self.rewrite(key, object);
        true
    }

    /// Creates an object, as a client would. Answers the whole of it.
    pub(super) fn keep_object(
        &mut self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        mut object: Map<String, Value>,
    ) -> Value {
        self.stamp(&mut object, namespace, name);
        if kind.plural == "namespaces" {
            object.insert("status".to_owned(), json!({ "phase": "Active" }));
        }
        let revision = self.write();
        set_version(&mut object, revision);
        self.objects.insert(key(kind, namespace, name), object.clone());
        self.changed("ADDED", &kind.resource(), object.clone());
        whole(kind, &object)
    }

    pub(super) fn create_object(&mut self, request: &Request, kind: &Kind, namespace: &str) -> Result<Answer, Refusal> {
        json_only(request)?;
        let Value::Object(mut object) = super::decode::parse(request)? else {
            return Err(Refusal::bad_request("the object provided is unrecognized"));
        };
        object.remove("kind");
        object.remove("apiVersion");
        if !matches!(object.get("metadata"), None | Some(Value::Object(_))) {
            return Err(Refusal::bad_request(
                "json: cannot unmarshal into Go struct field .metadata of type v1.ObjectMeta",
            ));
        }
        let name = self.name_for(&object);
        if kind.namespaced {
            same_namespace(&object, namespace)?;
            self.enter(kind, namespace, &name)?;
        }
        self.stamp(&mut object, namespace, &name);
        let faults = validate::meta(&object, names::generate_name, names::dns_subdomain);
        if !faults.is_empty() {
            return Err(Refusal::invalid(kind, &name, &faults));
        }
        if self.objects.contains_key(&key(kind, namespace, &name)) {
            return Err(Refusal::already_exists(kind, &name));
        }
        if request.dry_run() {
            return Ok(Answer::json(201, &View::of(request).one(kind, &object)));
        }
        self.keep_object(kind, namespace, &name, object);
        let kept = self.object(kind, namespace, &name)?;
        Ok(Answer::json(201, &View::of(request).one(kind, &kept)))
    }

    pub(super) fn patch_object(
        &mut self,
        request: &Request,
        kind: &Kind,
        namespace: &str,
        name: &str,
    ) -> Result<Answer, Refusal> {
        let old = self.object(kind, namespace, name)?;
        let new = patch::apply(request, whole(kind, &old))?;
        self.change_object(request, kind, namespace, name, &old, new)
    }

    pub(super) fn replace_object(
        &mut self,
        request: &Request,
        kind: &Kind,
        namespace: &str,
        name: &str,
    ) -> Result<Answer, Refusal> {
        json_only(request)?;
        let old = self.object(kind, namespace, name)?;
        let new = super::decode::parse(request)?;
        self.change_object(request, kind, namespace, name, &old, new)
    }

    fn change_object(
        &mut self,
        request: &Request,
        kind: &Kind,
        namespace: &str,
        name: &str,
        old: &Map<String, Value>,
        new: Value,
    ) -> Result<Answer, Refusal> {
        let Value::Object(mut new) = new else {
            return Err(Refusal::bad_request("the object provided is unrecognized"));
        };
        new.remove("kind");
        new.remove("apiVersion");
        same_name(&new, name)?;
        let version = text(&new, &["metadata", "resourceVersion"]);
        if !version.is_empty() && version != text(old, &["metadata", "resourceVersion"]) {
            return Err(Refusal::conflict(kind, name));
        }
        let meta = new.entry("metadata").or_insert_with(|| json!({}));
        if !meta.is_object() {
            *meta = json!({});
        }
        for field in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "resourceVersion"] {
            if let Some(value) = old.get("metadata").and_then(|it| it.get(field)) {
                meta[field] = value.clone();
            }
        }
        if new != *old && !request.dry_run() {
            if !text(&new, &["metadata", "deletionTimestamp"]).is_empty() && !has_finalizers(&new) {
                self.remove(kind, namespace, name, new.clone());
                return Ok(Answer::json(200, &View::of(request).one(kind, &new)));
            }
            self.rewrite(key(kind, namespace, name), new);
            new = self.object(kind, namespace, name)?;
        }
        Ok(Answer::json(200, &View::of(request).one(kind, &new)))
    }

    pub(super) fn delete_object(&mut self, kind: &Kind, namespace: &str, name: &str) -> Result<Answer, Refusal> {
        let object = self.object(kind, namespace, name)?;
        if kind.plural == "namespaces" {
            // No namespace controller runs here: it stays like this.
            self.terminate(name);
            return Ok(Answer::json(200, &whole(kind, &self.object(kind, namespace, name)?)));
        }
        if has_finalizers(&object) {
            let mut ending = object;
            let now = super::moment::seconds(self.now());
            if let Some(Value::Object(meta)) = ending.get_mut("metadata") {
                meta.entry("deletionTimestamp").or_insert(json!(now));
            }
            self.rewrite(key(kind, namespace, name), ending);
            return Ok(Answer::json(200, &whole(kind, &self.object(kind, namespace, name)?)));
        }
        self.remove(kind, namespace, name, object.clone());
        Ok(deleted(kind, name, &object))
    }

    pub(super) fn get(&self, request: &Request, kind: &Kind, namespace: &str, name: &str) -> Result<Answer, Refusal> {
        let object = match kind.plural.as_str() {
            "events" => self.event(kind, namespace, name)?,
            _ => self.object(kind, namespace, name)?,
        };
        Ok(Answer::json(200, &View::of(request).one(kind, &object)))
    }

    pub(super) fn list(
        &self,
        request: &Request,
        kind: &Kind,
        namespace: Option<&str>,
        watch: bool,
    ) -> Result<Answer, Refusal> {
        let selector = Selector::of(kind, request)?;
        let view = View::of(request);
        let here = |home: &str| namespace.is_none_or(|it| it == home);
        let storage = if kind.plural == "events" { STORAGE.to_owned() } else { kind.resource() };
        let chosen: Vec<&Map<String, Value>> = match kind.plural.as_str() {
            "events" => self.events.iter().filter(|((home, _), _)| here(home)).map(|(_, it)| &it.object).collect(),
            _ => {
                let own = self.objects.iter().filter(|((kept, home, _), _)| *kept == storage && here(home));
                own.map(|(_, it)| it).collect()
            }
        };
        let chosen: Vec<&Map<String, Value>> = chosen.into_iter().filter(|it| selector.takes(it)).collect();
        if !watch {
            return Ok(Answer::json(200, &view.list(kind, &chosen, self.revision)));
        }
        let from = request.asked("resourceVersion").and_then(|it| it.parse().ok()).filter(|it| *it != 0u64);
        let whole_first = from.is_none() || request.asked("sendInitialEvents") == Some("true");
        let mut first = Vec::new();
        if whole_first {
            first.extend(chosen.iter().map(|it| json!({ "type": "ADDED", "object": view.one(kind, it) })));
        }
        if request.asked("sendInitialEvents") == Some("true") {
            let meta = json!({
                "resourceVersion": self.revision.to_string(), "annotations": { "k8s.io/initial-events-end": "true" },
            });
            let bookmark = json!({ "kind": kind.kind, "apiVersion": kind.api_version(), "metadata": meta });
            first.push(json!({ "type": "BOOKMARK", "object": bookmark }));
        }
        let seen = if whole_first { self.revision } else { from.unwrap_or(self.revision) };
        let namespace = namespace.map(str::to_owned);
        let watching = Watching { kind: kind.clone(), storage, namespace, selector, view, seen, first, ended: false };
        let mut answer = Answer::json(200, &Value::Null);
        answer.body = bytes::Bytes::new();
        answer.watching = Some(Box::new(watching));
        Ok(answer)
    }

    fn object(&self, kind: &Kind, namespace: &str, name: &str) -> Result<Map<String, Value>, Refusal> {
        self.objects.get(&key(kind, namespace, name)).cloned().ok_or_else(|| Refusal::not_found(kind, name))
    }

    fn remove(&mut self, kind: &Kind, namespace: &str, name: &str, mut gone: Map<String, Value>) {
        let revision = self.write();
        set_version(&mut gone, revision);
        self.objects.remove(&key(kind, namespace, name));
        self.changed("DELETED", &kind.resource(), gone);
    }

    fn rewrite(&mut self, key: Key, mut object: Map<String, Value>) {
        let revision = self.write();
        set_version(&mut object, revision);
        let storage = key.0.clone();
        self.objects.insert(key, object.clone());
        self.changed("MODIFIED", &storage, object);
    }
}

/// Who asked to be heard before it goes.
fn has_finalizers(object: &Map<String, Value>) -> bool {
    let finalizers = object.get("metadata").and_then(|it| it.get("finalizers")).and_then(Value::as_array);
    finalizers.is_some_and(|it| !it.is_empty())
}

fn key(kind: &Kind, namespace: &str, name: &str) -> Key {
    (kind.resource(), namespace.to_owned(), name.to_owned())
}
