//! What all recorders have in common: records go in, writes come out, answers come back, and somebody says the time.

use std::time::Duration;

/// One log record about an object, in numbers: notes are the same where their numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Record {
    pub(crate) line: Line,
    pub(crate) warning: bool,
    pub(crate) note: u64,
}

/// What a person counts: how often something happened to an object, whatever the words and in however many Events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Line {
    pub(crate) object: u32,
    pub(crate) reason: u16,
}

/// One request to the API server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    /// By which its answer is known.
    pub(crate) ticket: u64,
    /// The Event's name, as a number.
    pub(crate) event: u64,
    pub(crate) verb: Verb,
    pub(crate) line: Line,
    /// The count that a person sees from now on.
    pub(crate) count: u32,
    /// The note that a person sees from now on, where it changes.
    pub(crate) note: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Create,
    Patch,
}

/// What the API server says to a [`Write`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    NotFound,
    AlreadyExists,
    /// 429, without `Retry-After`.
    Throttled,
    /// Nobody is there: a refused connection.
    Unreachable,
}

/// A recorder of Events, asked and told, and never waited for.
pub(crate) trait Recorder {
    /// A program logs a record.
    fn observe(&mut self, now: Duration, record: Record);

    /// The next write that may go now.
    fn next_write(&mut self, now: Duration) -> Option<Write>;

    /// What came of a write.
    fn settle(&mut self, now: Duration, ticket: u64, answer: Answer);

    /// When to ask for writes again, if nothing is heard before.
    fn wake_at(&self) -> Option<Duration>;

    /// How many keys and waiting records it remembers.
    fn entries(&self) -> usize;

    /// How many records it knows it lost: counted, or told to the caller as an error. A line in a log is neither.
    fn owned_up(&self) -> u64 {
        0
    }
}
