//! The books: what became of everything that was seen.

use std::time::Duration;

/// Why something that was seen will never be told. The order is that of the counters in [`Account::dropped`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub(crate) enum Loss {
    /// The queue was full.
    QueueFull,
    /// It was logged after the end.
    Ended,
    /// Its reference was of the wrong shape: an empty name, a kind without a name, a number for a name.
    Malformed,
    /// It was written for Events, but in no object's scope.
    NoObject,
    /// A bound was reached and it fell out.
    Bounds,
    /// It grew too old before it could be told.
    TooOld,
    /// 403: the right is missing.
    Forbidden,
    /// Its namespace is missing or is being deleted.
    NamespaceGone,
    /// 400, 413, 422: the server will never take it. Must not happen.
    Invalid,
    /// It was still held when the poster ended.
    Shutdown,
}

impl Loss {
    pub(crate) const COUNT: usize = Loss::Shutdown as usize + 1;
}

/// The correlator's books: at every moment `seen = told + held + in_flight + dropped`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) seen: u64,
    /// The sum of the counts that the server is known to have.
    pub(crate) told: u64,
    /// Waiting for their time, their budget or their turn.
    pub(crate) held: u64,
    /// In requests that have no reply yet.
    pub(crate) in_flight: u64,
    pub(crate) dropped: [u64; Loss::COUNT],
    /// Counted into an Event that was told before, instead of having one of their own.
    pub(crate) folded: u64,
    pub(crate) created: u64,
    pub(crate) patched: u64,
    pub(crate) retried: u64,
    pub(crate) look_ups: u64,
    /// Annotations left out because they do not fit the server's limits.
    pub(crate) annotations_left_out: u64,
    pub(crate) series: u64,
    /// Requests that have no reply yet.
    pub(crate) requests_in_flight: u64,
    /// When the oldest of what is held was seen.
    pub(crate) oldest_held: Option<Duration>,
}
