//! What a test tells the server: what is there, who may do what, what time it is, and what goes wrong.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use serde_json::Value;

use super::ApiServer;
use super::access::Rule;
use super::fault::{Fault, Injection, Placed, When};
use super::message::Kind;
use super::shared::lock;

impl ApiServer {
    pub fn add_namespace(&self, name: &str) {
        self.with(|state| state.add_namespace(name));
    }

    /// From now on nothing can be created in it.
    pub fn terminate_namespace(&self, name: &str) {
        self.with(|state| state.terminate(name));
    }

    /// Another kind of object that the server knows, as from a CustomResourceDefinition.
    pub fn add_kind(&self, group: &str, version: &str, kind: &str, plural: &str, namespaced: bool) {
        let kind = Kind::new(group, version, kind, plural, "", namespaced);
        self.with(|state| {
            if !state.kinds.contains(&kind) {
                state.kinds.push(kind);
            }
        });
    }

    /// An object of a kind that the server knows, and the reference to it, with the uid that it was given.
    pub fn add_object(&self, api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> ObjectReference {
        self.with(|state| {
            let named = |it: &&Kind| it.api_version() == api_version && it.kind == kind;
            let found = state.kinds.iter().find(named).cloned();
            let found =
                found.unwrap_or_else(|| panic!("the server knows no {kind} of {api_version}: add_kind comes first"));
            let object = state.keep_object(&found, namespace.unwrap_or_default(), name, serde_json::Map::new());
            let text = |value: &Value| value.as_str().map(str::to_owned);
            ObjectReference {
                api_version: Some(api_version.to_owned()),
                kind: Some(kind.to_owned()),
                namespace: namespace.map(str::to_owned),
                name: Some(name.to_owned()),
                uid: text(&object["metadata"]["uid"]),
                ..ObjectReference::default()
            }
        })
    }

    /// A user who may do just this; answers its configuration. Granting anew replaces the rules while the token stays.
    pub fn grant(&self, name: &str, rules: impl IntoIterator<Item = Rule>) -> kube::Config {
        let (user, token) = (format!("system:serviceaccount:default:{name}"), format!("token-of-{name}"));
        self.with(|state| state.access.grant(&token, &user, rules.into_iter().collect()));
        self.config_with(&token)
    }

    /// The token of a granted user is no longer one.
    pub fn revoke(&self, name: &str) {
        self.with(|state| state.access.revoke(&format!("token-of-{name}")));
    }

    /// How long an Event lives after its last write. One hour at first.
    pub fn set_event_ttl(&self, ttl: Duration) {
        self.with(|state| state.ttl = ttl);
    }

    /// Moves the server's clock on: Events whose time is over are gone. Nothing else lets that clock go.
    pub fn advance(&self, by: Duration) {
        self.with(|state| state.advance(by));
    }

    /// The time of this Event is over. Whether there was one.
    pub fn expire(&self, namespace: &str, name: &str) -> bool {
        self.with(|state| state.forget_event(namespace, name))
    }

    /// The time of every Event is over. How many there were.
    pub fn expire_all(&self) -> usize {
        self.with(|state| {
            let names: Vec<(String, String)> = state.events.keys().cloned().collect();
            names.iter().filter(|(namespace, name)| state.forget_event(namespace, name)).count()
        })
    }

    /// Puts a fault in place, until it is removed. Of several that take one request, the one put first strikes.
    pub fn fail(&self, when: When, fault: Fault) -> Injection {
        let placed = Arc::new(Placed::new(when, fault));
        lock(&self.shared.faults).push(placed.clone());
        Injection(placed)
    }

    /// Takes every fault away, and lets go of what they hold.
    pub fn heal(&self) {
        for placed in lock(&self.shared.faults).drain(..) {
            Injection(placed).end();
        }
    }

    /// Closes every connection, and listens no more: who connects is refused. The port stays this server's.
    pub fn go_away(&mut self) {
        self.away.send_replace(true);
        self.settle(false);
    }

    /// Listens again, on the same port.
    pub fn come_back(&mut self) {
        self.away.send_replace(false);
        self.settle(true);
    }
}
