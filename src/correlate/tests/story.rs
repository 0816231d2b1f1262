//! A story: what is heard at which moment, what the server answers, and what is written when.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::server::{object, resource};
use crate::correlate::{Correlator, Settings, Ticket};
use crate::message::{Account, EventType, Loss, Now, Occurrence, Reply, Request, Tag, Wall};
use crate::regarding::Regarding;

/// A world of one correlator and a server with which all is well, unless the story tells it otherwise.
pub(super) struct Story {
    pub(super) correlator: Correlator,
    now: Duration,
    wall_stands_still: bool,
    /// By how many microseconds the wall clock was set back.
    wall_set_back: i64,
    /// What the next occurrences are like.
    callsite: usize,
    object: Regarding,
    /// What the server answers next.
    answers: VecDeque<Option<Reply>>,
    /// What it answers otherwise.
    always: Option<Reply>,
    unanswered: Vec<(Ticket, Request)>,
    tickets: Vec<Ticket>,
    pub(super) requests: Vec<(f64, Request)>,
}

impl Story {
    pub(super) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(super) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        change(&mut settings);
        Self {
            correlator: Correlator::new(settings),
            now: Duration::ZERO,
            wall_stands_still: false,
            wall_set_back: 0,
            callsite: 1,
            object: object("web"),
            answers: VecDeque::new(),
            always: None,
            unanswered: Vec::new(),
            tickets: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// Time passes until this second, and whatever becomes due is sent.
    pub(super) fn at(&mut self, second: f64) -> &mut Self {
        let until = Duration::from_secs_f64(second);
        loop {
            self.send();
            match self.correlator.wake_at() {
                Some(at) if at <= until => {
                    assert!(at > self.now, "nothing is sent at {:?}, and it wants to be woken at {at:?}", self.now);
                    self.now = at;
                }
                _ => break,
            }
        }
        self.now = until;
        self.send();
        self
    }

    pub(super) fn about(&mut self, name: &str) -> &mut Self {
        self.object = object(name);
        self
    }

    pub(super) fn regarding(&mut self, regarding: Regarding) -> &mut Self {
        self.object = regarding;
        self
    }

    pub(super) fn callsite(&mut self, callsite: usize) -> &mut Self {
        self.callsite = callsite;
        self
    }

    pub(super) fn info(&mut self, reason: &str, note: &str) -> &mut Self {
        let occurrence = self.occurrence(EventType::Normal, reason, note);
        self.hear(occurrence)
    }

    pub(super) fn warn(&mut self, reason: &str, note: &str) -> &mut Self {
        let occurrence = self.occurrence(EventType::Warning, reason, note);
        self.hear(occurrence)
    }

    pub(super) fn occurrence(&self, kind: EventType, reason: &str, note: &str) -> Occurrence {
        let mut it = Occurrence::about(self.clock().wall, kind, Arc::new(self.object.clone()));
        it.callsite = self.callsite;
        it.text.push(Tag::Reason, reason);
        it.text.push(Tag::Note, note);
        it
    }

    /// Heard, but not yet acted upon: the poster takes in what waits before it sends.
    pub(super) fn hear(&mut self, occurrence: Occurrence) -> &mut Self {
        self.correlator.observe(self.clock(), &occurrence);
        self.check()
    }

    /// The next requests are answered so; `None` is not answered at all.
    pub(super) fn answers<const N: usize>(&mut self, answers: [Option<Reply>; N]) -> &mut Self {
        self.answers.extend(answers);
        self
    }

    /// Every request is answered so from now on.
    pub(super) fn always(&mut self, reply: Reply) -> &mut Self {
        self.always = Some(reply);
        self
    }

    pub(super) fn is_well(&mut self) -> &mut Self {
        self.always = None;
        self
    }

    /// The oldest request without an answer has one now.
    pub(super) fn late(&mut self, reply: Reply) -> &mut Self {
        let (ticket, _) = self.unanswered.remove(0);
        self.settle(ticket, reply);
        self
    }

    pub(super) fn tickets(&self) -> impl Iterator<Item = Ticket> + use<> {
        self.tickets.clone().into_iter()
    }

    /// These are answered once more.
    pub(super) fn doubled(&mut self, tickets: &[Ticket], reply: &Reply) -> &mut Self {
        for ticket in tickets {
            self.settle(*ticket, reply.clone());
        }
        self
    }

    pub(super) fn hurry(&mut self) -> &mut Self {
        self.correlator.hurry(self.clock());
        self.send();
        self
    }

    pub(super) fn stop_the_wall_clock(&mut self) -> &mut Self {
        self.wall_stands_still = true;
        self
    }

    pub(super) fn set_the_wall_clock_back(&mut self, by: Duration) -> &mut Self {
        self.wall_set_back += by.as_micros() as i64;
        self
    }

    pub(super) fn clock(&self) -> Now {
        let wall = Now::at(if self.wall_stands_still { Duration::ZERO } else { self.now }).wall;
        Now { mono: self.now, wall: Wall(wall.0 - self.wall_set_back) }
    }

    fn send(&mut self) {
        while let Some((ticket, request)) = self.correlator.next_request(self.clock()) {
            self.check();
            self.tickets.push(ticket);
            self.requests.push((self.now.as_secs_f64(), request.clone()));
            assert!(self.requests.len() < 100_000, "requests without end");
            let usual = || Some(self.always.clone().unwrap_or_else(|| well(&request)));
            let answer = self.answers.pop_front().unwrap_or_else(usual);
            match answer {
                Some(reply) => self.settle(ticket, reply),
                None => self.unanswered.push((ticket, request)),
            }
        }
        self.check();
    }

    fn settle(&mut self, ticket: Ticket, reply: Reply) {
        self.correlator.settle(self.clock(), ticket, reply);
        self.check();
    }

    #[track_caller]
    fn check(&mut self) -> &mut Self {
        let it = self.account();
        let dropped: u64 = it.dropped.iter().sum();
        assert_eq!(it.seen, it.told + it.held + it.in_flight + dropped, "{it:?}");
        self
    }

    pub(super) fn account(&self) -> Account {
        self.correlator.account()
    }

    #[track_caller]
    pub(super) fn told(&mut self, told: u64) -> &mut Self {
        assert_eq!(self.account().told, told, "{:?}", self.account());
        self
    }

    #[track_caller]
    pub(super) fn held(&mut self, held: u64) -> &mut Self {
        assert_eq!(self.account().held, held, "{:?}", self.account());
        self
    }

    #[track_caller]
    pub(super) fn lost(&mut self, loss: Loss, lost: u64) -> &mut Self {
        assert_eq!(self.account().dropped[loss as usize], lost, "{:?}", self.account());
        self
    }

    /// What was sent so far, a line each: when, what, about which object, why, how often, and the note shown.
    #[track_caller]
    pub(super) fn sent(&mut self, lines: &[&str]) -> &mut Self {
        assert_eq!(self.lines(), lines);
        self
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.requests.iter().map(|(at, request)| line(*at, request)).collect()
    }

    pub(super) fn diagnoses(&mut self) -> Vec<String> {
        let now = self.clock();
        std::iter::from_fn(|| self.correlator.next_diagnosis(now)).map(|it| it.text).collect()
    }
}

/// What a server says with which all is well.
pub(super) fn well(request: &Request) -> Reply {
    match request {
        Request::Create(_) | Request::Patch(_) => Reply::Done,
        Request::Discover { .. } => {
            Reply::Resources(vec![resource("ConfigMap", "configmaps", true), resource("Shelf", "shelves", false)])
        }
        Request::LookUp { regarding, .. } => Reply::Found { uid: format!("uid-of-{}", regarding.name).into() },
    }
}

pub(super) fn away() -> Option<Reply> {
    Some(Reply::Unavailable { retry_after: None, why: "connection refused".into() })
}

fn line(at: f64, request: &Request) -> String {
    let mut line = format!("{:.1} ", (at * 10.0).round() / 10.0);
    let written = match request {
        Request::Create(it) => {
            write!(line, "create {} {} x{} {}", name(&it.event.regarding), it.event.reason, it.count, it.event.note)
        }
        Request::Patch(it) => {
            let note = it.note.as_deref().map_or(String::new(), |it| format!(" {it}"));
            write!(line, "patch {} {} x{}{note}", name(&it.event.regarding), it.event.reason, it.count)
        }
        Request::Discover { api_version } => write!(line, "discover {api_version}"),
        Request::LookUp { regarding, plural } => write!(line, "look up {plural} {}", name(regarding)),
    };
    written.expect("a String takes everything");
    line
}

fn name(it: &Regarding) -> &str {
    if it.name.is_empty() { &it.uid } else { &it.name }
}
