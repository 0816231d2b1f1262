//! A server that keeps Events, and faults as servers have them; it sees to it that no law is broken meanwhile.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::correlate::{Correlator, Settings, Ticket};
use crate::message::{EventType, Now, Occurrence, Reply, Request, Resource, Scope, Tag, Text, Wall};
use crate::regarding::Regarding;

/// What may go wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No answer, and nothing came of it.
    Away,
    /// No answer, but it was done.
    Lost,
    Throttled(Option<u8>),
    Unauthorized,
    Forbidden,
    Invalid,
    Terminating,
    Missing,
    /// All Events expired just before.
    Expired,
    /// Another's Event has the name.
    NameTaken,
    /// The answer to another question.
    Nonsense,
}

/// What happens, step by step.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Hear {
        object: u8,
        warning: bool,
        reason: u8,
        note: u8,
        callsite: u8,
        times: u8,
        patience: Option<u8>,
    },
    Wait {
        milliseconds: u32,
    },
    /// So many requests may go out.
    Send {
        most: u8,
    },
    /// One of those under way is answered.
    Answer {
        which: u8,
        fault: Option<Fault>,
    },
    /// A reply that was given before comes once more.
    Again {
        which: u8,
    },
    ClockSet {
        seconds: i16,
    },
    Hurry,
    GiveUp,
}

pub(crate) struct World {
    pub(super) correlator: Correlator,
    settings: Settings,
    now: Duration,
    wall_offset: i64,
    under_way: Vec<(Ticket, Request)>,
    settled: Vec<Ticket>,
    /// Name and count.
    pub(super) events: HashMap<Box<str>, u64>,
    /// When, about which object, what.
    pub(super) requests: Vec<(Duration, String, Request)>,
    pub(super) has_expired: bool,
}

impl World {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            correlator: Correlator::new(settings.clone()),
            settings,
            now: Duration::ZERO,
            wall_offset: 0,
            under_way: Vec::new(),
            settled: Vec::new(),
            events: HashMap::new(),
            requests: Vec::new(),
            has_expired: false,
        }
    }

    pub(super) fn step(&mut self, step: &Step) {
        match step {
            Step::Hear { object, warning, reason, note, callsite, times, patience } => {
                let kind = if *warning { EventType::Warning } else { EventType::Normal };
                let mut text = Text::default();
                text.push(Tag::Reason, &format!("Reason{reason}"));
                text.push(Tag::Note, &format!("note {note}"));
                let scope = Scope { regarding: Arc::new(some_object(*object)), related: None, declared: true };
                let it = Occurrence {
                    time: self.clock().wall,
                    callsite: (*callsite).into(),
                    kind,
                    name: None,
                    span: None,
                    scope: Some(Arc::new(scope)),
                    patience: patience.map(|it| Duration::from_secs(it.into())),
                    text,
                };
                for _ in 0..*times {
                    self.correlator.observe(self.clock(), &it);
                }
            }
            Step::Wait { milliseconds } => self.now += Duration::from_millis((*milliseconds).into()),
            Step::Send { most } => {
                for _ in 0..*most {
                    if !self.send() {
                        break;
                    }
                }
            }
            Step::Answer { which, fault } => self.answer((*which).into(), *fault),
            Step::Again { which } => {
                if !self.settled.is_empty() {
                    let ticket = self.settled[usize::from(*which) % self.settled.len()];
                    let before = self.correlator.account();
                    self.correlator.settle(self.clock(), ticket, Reply::Done);
                    assert_eq!(self.correlator.account(), before, "a doubled reply changes nothing");
                }
            }
            Step::ClockSet { seconds } => self.wall_offset += i64::from(*seconds) * 1_000_000,
            Step::Hurry => self.correlator.hurry(self.clock()),
            Step::GiveUp => {
                self.correlator.give_up();
                self.settled.extend(self.under_way.drain(..).map(|it| it.0));
                assert!(self.correlator.idle(), "nothing is left after the end");
            }
        }
        self.check();
    }

    /// From now on everything goes well. Returns when all is told, or would never be.
    pub(super) fn all_goes_well(&mut self) {
        loop {
            while !self.under_way.is_empty() {
                self.answer(0, None);
            }
            if self.send() {
                continue;
            }
            match self.correlator.wake_at() {
                Some(at) if !self.correlator.idle() => self.now = self.now.max(at),
                _ => break,
            }
        }
        self.check();
        assert!(self.correlator.idle(), "something waits and nobody will wake it: {:?}", self.correlator.account());
    }

    fn send(&mut self) -> bool {
        let Some((ticket, request)) = self.correlator.next_request(self.clock()) else {
            let wake_at = self.correlator.wake_at();
            assert!(wake_at.is_none_or(|it| it > self.now), "nothing now, and woken at {wake_at:?}");
            if self.under_way.is_empty() {
                assert!(self.correlator.idle() || wake_at.is_some(), "something waits for nothing");
            }
            return false;
        };
        let object = object_of(&request);
        let rival = self.under_way.iter().find(|it| !object.is_empty() && object_of(&it.1) == object);
        assert!(rival.is_none(), "two requests at once about {object}");
        self.requests.push((self.now, object, request.clone()));
        self.under_way.push((ticket, request));
        assert!(self.under_way.len() <= self.settings.in_flight);
        self.check();
        true
    }

    fn answer(&mut self, which: usize, fault: Option<Fault>) {
        if self.under_way.is_empty() {
            return;
        }
        let (ticket, request) = self.under_way.swap_remove(which % self.under_way.len());
        self.settled.push(ticket);
        let reply = self.reply(&request, fault);
        self.correlator.settle(self.clock(), ticket, reply);
        self.check();
    }

    fn reply(&mut self, request: &Request, fault: Option<Fault>) -> Reply {
        let away = Reply::Unavailable { retry_after: None, why: "connection reset".into() };
        match fault {
            None => self.serve(request),
            Some(Fault::Lost) => {
                self.serve(request);
                away
            }
            Some(Fault::Away) => away,
            Some(Fault::Throttled(after)) => Reply::Throttled(after.map(|it| Duration::from_secs(it.into()))),
            Some(Fault::Unauthorized) => Reply::Unauthorized,
            Some(Fault::Forbidden) => Reply::Forbidden("no".into()),
            Some(Fault::Invalid) => Reply::Invalid("no".into()),
            Some(Fault::Terminating) => Reply::NamespaceTerminating,
            Some(Fault::Missing) => Reply::NamespaceMissing,
            Some(Fault::Nonsense) => Reply::Found { uid: "?".into() },
            Some(Fault::Expired) => {
                self.has_expired = true;
                self.events.clear();
                self.serve(request)
            }
            Some(Fault::NameTaken) => match request {
                Request::Create(it) if !it.again => {
                    self.events.insert(it.event.name.clone(), 0);
                    Reply::AlreadyExists
                }
                _ => self.serve(request),
            },
        }
    }

    fn serve(&mut self, request: &Request) -> Reply {
        match request {
            Request::Create(it) if self.events.contains_key(&it.event.name) => Reply::AlreadyExists,
            Request::Create(it) => {
                self.events.insert(it.event.name.clone(), it.count.into());
                Reply::Done
            }
            Request::Patch(it) => match self.events.get_mut(&it.event.name) {
                Some(count) => {
                    *count = it.count.into();
                    Reply::Done
                }
                None => Reply::NotFound,
            },
            Request::Discover { .. } => Reply::Resources(vec![resource("ConfigMap", "configmaps", true)]),
            Request::LookUp { regarding, .. } => Reply::Found { uid: format!("uid-of-{}", regarding.name).into() },
        }
    }

    pub(super) fn clock(&self) -> Now {
        let wall = 1_764_000_000_000_000 + self.now.as_micros() as i64 + self.wall_offset;
        Now { mono: self.now, wall: Wall(wall) }
    }

    fn check(&self) {
        let it = self.correlator.account();
        let dropped: u64 = it.dropped.iter().sum();
        assert_eq!(it.seen, it.told + it.held + it.in_flight + dropped, "{it:?}");
        assert!(it.series <= self.settings.series as u64);
        assert!(self.correlator.objects.len() <= self.settings.series + 4_096);
    }

    /// No window holds more writes than the budgets allow.
    pub(super) fn check_budgets(&self) {
        let writes = || self.requests.iter().filter(|it| matches!(it.2, Request::Create(_) | Request::Patch(_)));
        let all: Vec<_> = writes().map(|it| it.0).collect();
        check_budget(&all, self.settings.total_burst, self.settings.total_refill);
        let mut by_object: HashMap<&str, Vec<Duration>> = HashMap::new();
        for it in writes() {
            by_object.entry(&it.1).or_default().push(it.0);
        }
        for writes in by_object.values() {
            check_budget(writes, self.settings.object_burst, self.settings.object_refill);
        }
    }
}

/// Between any two writes lie so many others at most.
fn check_budget(writes: &[Duration], burst: u32, refill: Duration) {
    for (first, begin) in writes.iter().enumerate() {
        for (last, end) in writes.iter().enumerate().skip(first) {
            let allowed = f64::from(burst) + (*end - *begin).as_secs_f64() / refill.as_secs_f64();
            let made = (last - first + 1) as f64;
            assert!(made <= allowed + 1e-6, "{made} writes from {begin:?} to {end:?}");
        }
    }
}

pub(super) fn object(name: &str) -> Regarding {
    Regarding {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        namespace: "prod".into(),
        name: name.into(),
        uid: format!("uid-of-{name}").into(),
        ..Regarding::default()
    }
}

pub(super) fn resource(kind: &str, plural: &str, namespaced: bool) -> Resource {
    Resource { kind: kind.into(), plural: plural.into(), namespaced }
}

/// Half of them have a uid, one lives in another namespace.
fn some_object(which: u8) -> Regarding {
    let mut it = object(&format!("object-{which}"));
    if which % 2 == 1 {
        it.uid = "".into();
    }
    if which == 2 {
        it.namespace = "test".into();
    }
    it
}

pub(super) fn object_of(request: &Request) -> String {
    match request {
        Request::Create(it) | Request::Patch(it) => it.event.regarding.to_string(),
        Request::LookUp { regarding, .. } => regarding.to_string(),
        Request::Discover { .. } => String::new(),
    }
}
