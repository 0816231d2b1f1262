//! What a program logs: how often, about which objects, how fast.

use std::time::Duration;

use kube::runtime::events::{Event, EventType};
use tracing::{info, warn};

/// One workload, the same for every recorder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) name: &'static str,
    pub(crate) records: usize,
    pub(crate) objects: usize,
    pub(crate) threads: usize,
    /// Between two records; nothing is flat out.
    pub(crate) every: Option<Duration>,
    text: Text,
    /// The object of the nth record.
    about: fn(usize) -> usize,
}

/// What a record says.
#[derive(Clone, Copy, Debug)]
enum Text {
    Same,
    /// Differs by a number, as by a request's id.
    Note,
    Reason,
}

const MOMENT: Duration = Duration::from_micros(50);
const TENTH: Duration = Duration::from_millis(100);
const FIFTH: Duration = Duration::from_millis(200);
const SECOND: Duration = Duration::from_secs(1);

/// W6 is a minute shorter with `--quick`.
const LONG: usize = 900;
const SHORT: usize = 300;

const ALL: [Load; 14] = [
    Load::new("W1", 10_000, 1, Text::Same).from(4),
    Load::new("W2", 60, 1, Text::Note),
    Load::new("W3", 60, 1, Text::Reason),
    Load::new("W4", 10_000, 200, Text::Same).about(|it| it % 200),
    Load::new("W5", 2_000, 2_000, Text::Same).about(|it| it),
    Load::new("W6", LONG, 1, Text::Same).every(TENTH),
    Load::new("W6 quick", SHORT, 1, Text::Same).every(TENTH),
    Load::new("W7", 100, 1, Text::Note).every(FIFTH),
    Load::new("W8", 30, 30, Text::Same).about(|it| it).every(SECOND),
    // The first hundred are about one object, the rest about one each.
    Load::new("F1", 200, 101, Text::Same).about(|it| it.saturating_sub(99)),
    Load::new("F2", 10, 10, Text::Same).about(|it| it),
    Load::new("F3", 20, 1, Text::Same),
    Load::new("opened", 5_000, 5_000, Text::Same).about(|it| it),
    Load::new("hanging", 100_000, 200, Text::Same).about(|it| it % 200).from(4).every(MOMENT),
];

impl Load {
    const fn new(name: &'static str, records: usize, objects: usize, text: Text) -> Self {
        Self { name, records, objects, threads: 1, every: None, text, about: |_| 0 }
    }

    const fn about(self, about: fn(usize) -> usize) -> Self {
        Self { about, ..self }
    }

    const fn every(self, every: Duration) -> Self {
        Self { every: Some(every), ..self }
    }

    const fn from(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    pub(crate) fn named(name: &str) -> Self {
        ALL.into_iter().find(|it| it.name == name).unwrap_or_else(|| panic!("no workload is called {name}"))
    }

    pub(crate) fn object_of(&self, record: usize) -> usize {
        (self.about)(record)
    }

    /// The record as an operator's author writes it. The object is that of the span around it.
    pub(crate) fn log(&self, record: usize) {
        match self.text {
            Text::Same => info!(k8s.reason = "NotReady", "the object is not ready yet"),
            Text::Note => warn!(k8s.reason = "Failed", "request {record} failed"),
            Text::Reason => info!(k8s.reason = %format_args!("Reason{record}"), "one of many things happened"),
        }
    }

    /// The same for kube's recorder.
    pub(crate) fn event(&self, record: usize) -> Event {
        let (type_, reason, note) = match self.text {
            Text::Same => (EventType::Normal, "NotReady".to_owned(), "the object is not ready yet".to_owned()),
            Text::Note => (EventType::Warning, "Failed".to_owned(), format!("request {record} failed")),
            Text::Reason => (EventType::Normal, format!("Reason{record}"), "one of many things happened".to_owned()),
        };
        Event { type_, action: reason.clone(), reason, note: Some(note), secondary: None }
    }

    /// What the newest record's note holds.
    pub(crate) fn newest(&self) -> String {
        match self.text {
            Text::Note => format!("request {} failed", self.records - 1),
            Text::Same | Text::Reason => String::new(),
        }
    }
}
