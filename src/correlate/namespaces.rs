//! Namespaces that do not take our Events for now: one that refuses us rests, one that is gone is left alone.

use std::time::Duration;

use hashbrown::HashMap;

use super::cache::Id;
use super::outbox::Ticket;
use super::settings::Settings;

/// Those that something is the matter with; usually none.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    resting: HashMap<Box<str>, Resting>,
}

/// The rights to create and to patch are granted apart, so they rest apart.
#[derive(Debug, Default)]
struct Resting {
    create: Option<Rest>,
    patch: Option<Rest>,
    gone_until: Duration,
}

/// After it one request looks whether the right is there now; the objects that meet it meanwhile wait.
#[derive(Debug)]
struct Rest {
    length: Duration,
    until: Duration,
    probe: Option<Ticket>,
    waiting: Vec<Id>,
}

/// What is to be done with a write into a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Speak,
    NotUntil(Duration),
    /// Somebody looks whether it may.
    Wait,
    /// The namespace is not there.
    Gone,
}

/// So many are remembered; beyond them each object's own distances must do.
const MOST: usize = 1_024;

impl Namespaces {
    pub(super) fn is_empty(&self) -> bool {
        self.resting.is_empty()
    }

    pub(super) fn ask(&self, now: Duration, namespace: &str, create: bool) -> Verdict {
        let Some(resting) = self.resting.get(namespace) else { return Verdict::Speak };
        if create && now < resting.gone_until {
            return Verdict::Gone;
        }
        match resting.rest(create) {
            None => Verdict::Speak,
            Some(it) if it.probe.is_some() => Verdict::Wait,
            Some(it) if now < it.until => Verdict::NotUntil(it.until),
            Some(_) => Verdict::Speak,
        }
    }

    pub(super) fn is_forbidden(&self, namespace: &str, create: bool) -> bool {
        self.resting.get(namespace).is_some_and(|it| it.rest(create).is_some())
    }

    /// The namespace refused a write. Returns who waited for that.
    pub(super) fn forbid(
        &mut self,
        now: Duration,
        namespace: &str,
        create: bool,
        ticket: Ticket,
        settings: &Settings,
    ) -> Vec<Id> {
        if !self.has_room(now, namespace) {
            return Vec::new();
        }
        let rest = self.resting.entry(namespace.into()).or_default().rest_mut(create);
        match rest {
            Some(it) if it.probe == Some(ticket) => {
                it.probe = None;
                it.length = (it.length * 2).min(settings.forbidden_most);
                it.until = now + it.length;
                std::mem::take(&mut it.waiting)
            }
            // It was sent before the rest began.
            Some(_) => Vec::new(),
            None => {
                let length = settings.forbidden_first;
                *rest = Some(Rest { length, until: now + length, probe: None, waiting: Vec::new() });
                Vec::new()
            }
        }
    }

    pub(super) fn gone(&mut self, now: Duration, namespace: &str, settings: &Settings) {
        if self.has_room(now, namespace) {
            self.resting.entry(namespace.into()).or_default().gone_until = now + settings.gone;
        }
    }

    /// A write goes; if the namespace rested, it is the one that looks.
    pub(super) fn sent(&mut self, namespace: &str, create: bool, ticket: Ticket) {
        if let Some(rest) = self.resting.get_mut(namespace).and_then(|it| it.rest_mut(create).as_mut()) {
            rest.probe = Some(ticket);
        }
    }

    pub(super) fn wait(&mut self, namespace: &str, create: bool, object: Id) {
        if let Some(rest) = self.resting.get_mut(namespace).and_then(|it| it.rest_mut(create).as_mut()) {
            rest.waiting.push(object);
        }
    }

    /// The reply was none of the namespace's: if it `allowed` the write the rest is over. Returns who waited for that.
    pub(super) fn answered(&mut self, namespace: &str, create: bool, ticket: Ticket, allowed: bool) -> Vec<Id> {
        let Some(resting) = self.resting.get_mut(namespace) else { return Vec::new() };
        let rest = resting.rest_mut(create);
        let waiting = match rest {
            Some(it) if it.probe == Some(ticket) => {
                it.probe = None;
                std::mem::take(&mut it.waiting)
            }
            _ => return Vec::new(),
        };
        if allowed {
            *rest = None;
            if resting.is_over() {
                self.resting.remove(namespace);
            }
        }
        waiting
    }

    /// Nobody waits for a reply any longer. Returns who did.
    pub(super) fn forget_probes(&mut self) -> Vec<Id> {
        let rests = self.resting.values_mut().flat_map(|it| [it.create.as_mut(), it.patch.as_mut()]).flatten();
        rests.flat_map(|it| (it.probe.take(), std::mem::take(&mut it.waiting)).1).collect()
    }

    fn has_room(&mut self, now: Duration, namespace: &str) -> bool {
        if self.resting.len() >= MOST && !self.resting.contains_key(namespace) {
            self.resting.retain(|_, it| !it.is_over() || now < it.gone_until);
        }
        self.resting.len() < MOST || self.resting.contains_key(namespace)
    }
}

impl Resting {
    fn rest(&self, create: bool) -> Option<&Rest> {
        if create { self.create.as_ref() } else { self.patch.as_ref() }
    }

    fn rest_mut(&mut self, create: bool) -> &mut Option<Rest> {
        if create { &mut self.create } else { &mut self.patch }
    }

    fn is_over(&self) -> bool {
        self.create.is_none() && self.patch.is_none()
    }
}
