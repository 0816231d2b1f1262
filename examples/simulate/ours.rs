//! This crate's own correlator in the place of a recorder: the very code of the library, its clock handed in.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use hashbrown::DefaultHashBuilder;

use super::correlate::{Correlator, Settings, Ticket};
use super::message::{EventType, Now, Occurrence, Reply, Request, Tag, Telling, Wall};
use super::recorder::{Answer, Line, Record, Recorder, Verb, Write};
use super::regarding::Regarding;

/// What a record of these says before its number.
const NOTE: &str = "cannot reach the upstream, it refused request";

#[derive(Debug)]
pub(crate) struct Ours {
    correlator: Correlator,
    /// Sixteen at most.
    under_way: Vec<(u64, Ticket)>,
    tickets: u64,
    hash: DefaultHashBuilder,
}

impl Ours {
    pub(crate) fn new(seed: u64) -> Self {
        let correlator = Correlator::new(Settings { seed, ..Settings::default() });
        Self { correlator, under_way: Vec::new(), tickets: 0, hash: DefaultHashBuilder::default() }
    }
}

impl Recorder for Ours {
    fn observe(&mut self, now: Duration, record: Record) {
        let now = clocks(now);
        self.correlator.observe(now, &occurrence(now.wall, record));
    }

    fn next_write(&mut self, now: Duration) -> Option<Write> {
        let (ticket, request) = self.correlator.next_request(clocks(now))?;
        let (verb, telling) = match request {
            Request::Create(telling) => (Verb::Create, telling),
            Request::Patch(telling) => (Verb::Patch, telling),
            _ => unreachable!("every object has a uid, so nothing is looked up"),
        };
        self.tickets += 1;
        self.under_way.push((self.tickets, ticket));
        let mut hasher = self.hash.build_hasher();
        hasher.write(telling.event.name.as_bytes());
        let note = match verb {
            Verb::Create => Some(number(&telling.event.note)),
            Verb::Patch => telling.note.as_deref().map(number),
        };
        let (event, line, count) = (hasher.finish(), line(&telling), telling.count);
        Some(Write { ticket: self.tickets, event, verb, line, count, note })
    }

    fn settle(&mut self, now: Duration, ticket: u64, answer: Answer) {
        let reply = match answer {
            Answer::Done => Reply::Done,
            Answer::NotFound => Reply::NotFound,
            Answer::AlreadyExists => Reply::AlreadyExists,
            Answer::Throttled => Reply::Throttled(None),
            Answer::Unreachable => Reply::Unavailable { retry_after: None, why: "connection refused".into() },
        };
        let Some(place) = self.under_way.iter().position(|it| it.0 == ticket) else { return };
        let (_, ticket) = self.under_way.swap_remove(place);
        self.correlator.settle(clocks(now), ticket, reply);
        while self.correlator.next_diagnosis(clocks(now)).is_some() {}
    }

    fn wake_at(&self) -> Option<Duration> {
        self.correlator.wake_at()
    }

    fn entries(&self) -> usize {
        self.correlator.account().series as usize + self.under_way.len()
    }

    fn owned_up(&self) -> u64 {
        self.correlator.account().dropped.iter().sum()
    }
}

/// The wall clock starts at 2026-01-01 and keeps step.
fn clocks(mono: Duration) -> Now {
    Now { mono, wall: Wall(1_767_225_600_000_000 + mono.as_micros() as i64) }
}

/// Made as the layer makes it; the reference is not shared, so that whoever keeps it pays for it.
fn occurrence(time: Wall, record: Record) -> Occurrence {
    let Record { line: Line { object, reason }, warning, note } = record;
    let regarding = Regarding {
        api_version: "example.com/v1".into(),
        kind: "Backend".into(),
        namespace: "default".into(),
        name: format!("backend-{object}").into(),
        uid: format!("{object:08x}-7d9c-4d5b-9a51-2f3b8c0d1e4f").into(),
        ..Regarding::default()
    };
    let kind = if warning { EventType::Warning } else { EventType::Normal };
    let mut occurrence = Occurrence::about(time, kind, Arc::new(regarding));
    // A line of the program says one reason.
    occurrence.callsite = usize::from(reason) + 1;
    occurrence.text.push(Tag::Reason, &format!("Reason-{reason}"));
    occurrence.text.push(Tag::Note, &format!("{NOTE} {note}"));
    occurrence
}

fn line(telling: &Telling) -> Line {
    let object = telling.event.regarding.name.trim_start_matches("backend-").parse();
    let reason = telling.event.reason.trim_start_matches("Reason-").parse();
    match (object, reason) {
        (Ok(object), Ok(reason)) => Line { object, reason },
        _ => unreachable!("objects and reasons are named as `occurrence` does"),
    }
}

/// The number that a note ends in.
fn number(note: &str) -> u64 {
    note.rsplit(' ').next().and_then(|it| it.parse().ok()).unwrap_or_default()
}
