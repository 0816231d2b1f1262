//! Everything that the server holds, and how it answers: requests in, answers out, no clock but the one it is told, no
//! I/O.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::access::{Access, User};
use super::discovery;
use super::events::Stored;
use super::message::{Answer, Kind, Request, Route};
use super::moment;
use super::random::Random;
use super::status::Refusal;
use super::watch::{Change, Changes};

/// Where an object is kept: its storage, namespace and name.
pub(super) type Key = (String, String, String);

/// The server's memory.
#[derive(Debug)]
pub(super) struct State {
    /// Of the newest write. Every write takes the next.
    pub(super) revision: u64,
    /// How far tests have moved the clock on.
    pub(super) clock: Duration,
    /// How long an Event lives after its last write.
    pub(super) ttl: Duration,
    pub(super) random: Random,
    pub(super) access: Access,
    pub(super) kinds: Vec<Kind>,
    /// Both groups' Events, by namespace and name.
    pub(super) events: BTreeMap<(String, String), Stored>,
    /// Every other object.
    pub(super) objects: BTreeMap<Key, Map<String, Value>>,
    pub(super) changes: Changes,
}

impl State {
    pub(super) fn new() -> State {
        let mut state = State {
            revision: 1,
            clock: Duration::ZERO,
            ttl: Duration::from_secs(3600),
            random: Random::new(0x6b0f_bfef),
            access: Access::default(),
            kinds: discovery::built_in(),
            events: BTreeMap::new(),
            objects: BTreeMap::new(),
            changes: Changes::default(),
        };
        for namespace in ["default", "kube-system", "kube-public"] {
            state.add_namespace(namespace);
        }
        state
    }

    /// Who asks, may they, and what for: in the order in which a server finds out.
    pub(super) fn answer(&mut self, request: &Request) -> Answer {
        self.ask(request).unwrap_or_else(|refusal| refusal.answer())
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, Refusal> {
        let user = self.access.user(request.token.as_deref())?;
        if request.method == "GET"
            && let Some(answer) = discovery::answer(&self.kinds, &request.path)
        {
            return Ok(answer);
        }
        let Some(route) = Route::of(&request.path) else {
            return Ok(Answer::text(404, "404 page not found\n"));
        };
        let kind = self.kind(&route).ok_or_else(Refusal::no_such_path)?;
        let verb = verb(request, &route)?;
        let name = route.name.clone().unwrap_or_default();
        // A namespace is asked about in itself, as RBAC sees it.
        let place = if kind.plural == "namespaces" { route.name.clone() } else { route.namespace.clone() };
        user.may(verb, &kind, place.as_deref(), &name)?;
        if kind.namespaced && route.namespace.is_none() && !["list", "watch"].contains(&verb) {
            return Err(Refusal::method_not_allowed());
        }
        if request.too_large {
            return Err(Refusal::too_large());
        }
        self.dispatch(request, &route, &kind, &user, verb, &name)
    }

    fn dispatch(
        &mut self,
        request: &Request,
        route: &Route,
        kind: &Kind,
        user: &User,
        verb: &str,
        name: &str,
    ) -> Result<Answer, Refusal> {
        let namespace = route.namespace.as_deref().unwrap_or_default();
        let events = kind.plural == "events";
        match verb {
            "create" if events => self.create_event(request, kind, namespace),
            "create" => self.create_object(request, kind, namespace),
            "patch" if request.media_type() == "application/apply-patch+yaml" && events => {
                self.apply_event(request, kind, user, namespace, name)
            }
            "patch" if events => self.patch_event(request, kind, namespace, name),
            "patch" => self.patch_object(request, kind, namespace, name),
            "update" if events => self.replace_event(request, kind, user, namespace, name),
            "update" => self.replace_object(request, kind, namespace, name),
            "delete" if events => self.delete_event(kind, namespace, name),
            "delete" => self.delete_object(kind, namespace, name),
            "deletecollection" if events => self.delete_events(request, kind, namespace),
            "get" => self.get(request, kind, namespace, name),
            "list" | "watch" => self.list(request, kind, route.namespace.as_deref(), verb == "watch"),
            _ => Err(Refusal::method_not_allowed()),
        }
    }

    fn kind(&self, route: &Route) -> Option<Kind> {
        let named = |it: &&Kind| it.group == route.group && it.version == route.version && it.plural == route.plural;
        self.kinds.iter().find(named).cloned()
    }

    /// The server's own time: that of the machine, and what tests have added to it.
    pub(super) fn now(&self) -> Timestamp {
        Timestamp::now().checked_add(self.clock).unwrap_or(Timestamp::MAX)
    }

    /// The next revision, for a write.
    pub(super) fn write(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }

    pub(super) fn changed(&mut self, what: &'static str, storage: &str, object: Map<String, Value>) {
        self.changes.add(Change { revision: self.revision, what, storage: storage.to_owned(), object });
    }

    /// What a new object gets from the server.
    pub(super) fn stamp(&mut self, object: &mut Map<String, Value>, namespace: &str, name: &str) {
        let uid = self.random.uid();
        let created = moment::seconds(self.now());
        let meta = object.entry("metadata").or_insert_with(|| json!({}));
        if let Value::Object(meta) = meta {
            meta.insert("name".to_owned(), json!(name));
            if !namespace.is_empty() {
                meta.insert("namespace".to_owned(), json!(namespace));
            }
            meta.insert("uid".to_owned(), json!(uid));
            meta.insert("creationTimestamp".to_owned(), json!(created));
            meta.remove("resourceVersion");
            meta.remove("selfLink");
        }
    }

    /// The name that an object asks for, or one made from its `generateName`: 58 bytes of that, and five characters.
    pub(super) fn name_for(&mut self, object: &Map<String, Value>) -> String {
        let own = super::validate::text(object, &["metadata", "name"]);
        let base = super::validate::text(object, &["metadata", "generateName"]);
        if !own.is_empty() || base.is_empty() {
            return own.to_owned();
        }
        let cut = (0..=base.len().min(58)).rev().find(|at| base.is_char_boundary(*at)).unwrap_or_default();
        format!("{}{}", &base[..cut], self.random.suffix())
    }

    /// Whether something may be created in a namespace.
    pub(super) fn enter(&self, kind: &Kind, namespace: &str, name: &str) -> Result<(), Refusal> {
        let home = Kind::new("", "v1", "Namespace", "namespaces", "ns", false);
        match self.objects.get(&(home.resource(), String::new(), namespace.to_owned())) {
            None => Err(Refusal::not_found(&home, namespace)),
            Some(it) if super::validate::text(it, &["status", "phase"]) == "Terminating" => {
                Err(Refusal::terminating(kind, name, namespace))
            }
            Some(_) => Ok(()),
        }
    }
}

/// What a request does to the resource that its path names.
fn verb(request: &Request, route: &Route) -> Result<&'static str, Refusal> {
    let watch = matches!(request.asked("watch"), Some("true" | "1"));
    match (request.method.as_str(), &route.name) {
        ("GET", None) if watch => Ok("watch"),
        ("GET", None) => Ok("list"),
        ("GET", Some(_)) => Ok("get"),
        ("POST", None) => Ok("create"),
        ("PATCH", Some(_)) => Ok("patch"),
        ("PUT", Some(_)) => Ok("update"),
        ("DELETE", Some(_)) => Ok("delete"),
        ("DELETE", None) => Ok("deletecollection"),
        _ => Err(Refusal::method_not_allowed()),
    }
}
