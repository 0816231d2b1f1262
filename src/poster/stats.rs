//! The counters: written by the poster after each turn, readable from any thread at any time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::message::{Account, Loss};

/// Every counter of one poster and its layer, at one moment.
///
/// Nothing is lost without standing here. Once the poster has come round,
/// `seen = told + held + in_flight + queue_length + dropped()`; while records are being logged the parts are read one
/// after the other and may differ by those in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Records and explicit calls that were to become Events.
    pub seen: u64,
    /// Waiting in the queue for the poster.
    pub queue_length: u64,
    /// The sum of the counts that the sink is known to have taken.
    pub told: u64,
    /// Waiting for their time, their budget or their turn.
    pub held: u64,
    /// In requests that have no reply yet.
    pub in_flight: u64,
    /// Counted into an Event that was told before, instead of having one of their own.
    pub folded: u64,
    /// Events made.
    pub created: u64,
    /// Events told a new count.
    pub patched: u64,
    /// Requests sent again after they failed.
    pub retried: u64,
    /// Look-ups of a uid, and of the resources that they need.
    pub look_ups: u64,
    /// Series that are remembered.
    pub series: u64,
    /// Requests that have no reply yet.
    pub requests_in_flight: u64,
    /// How long the oldest of what is held has waited.
    pub oldest_waiting: Option<Duration>,
    /// Times that the poster panicked, was caught, and went on.
    pub restarts: u64,
    /// Annotations left out because they do not fit the server's limits.
    pub annotations_left_out: u64,
    /// Dropped because the queue was full.
    pub dropped_queue_full: u64,
    /// Dropped because they were logged after the end.
    pub dropped_after_end: u64,
    /// Dropped because the reference was of the wrong shape: an empty name, a kind without a name, a number for a name.
    pub dropped_malformed: u64,
    /// Dropped because they were about no object: a record with a `k8s.reason`, say, in no object's span. The span may be
    /// missing, or a global filter may have switched it off.
    pub dropped_no_object: u64,
    /// Dropped because a bound on memory was reached.
    pub dropped_bounds: u64,
    /// Given up after the time that an Event may wait; 10 min by default.
    pub dropped_too_old: u64,
    /// Given up because the right to write them was missing (403).
    pub dropped_forbidden: u64,
    /// Dropped because their namespace is missing or is being deleted.
    pub dropped_namespace_gone: u64,
    /// Refused by the server as wrong (400, 413, 422): must not happen, please report it.
    pub dropped_invalid: u64,
    /// Not told when the poster ended.
    pub dropped_at_shutdown: u64,
}

impl Stats {
    /// Everything that was seen and will never be told.
    pub fn dropped(&self) -> u64 {
        let Self {
            dropped_queue_full,
            dropped_after_end,
            dropped_malformed,
            dropped_no_object,
            dropped_bounds,
            dropped_too_old,
            dropped_forbidden,
            dropped_namespace_gone,
            dropped_invalid,
            dropped_at_shutdown,
            ..
        } = self;
        dropped_queue_full
            + dropped_after_end
            + dropped_malformed
            + dropped_no_object
            + dropped_bounds
            + dropped_too_old
            + dropped_forbidden
            + dropped_namespace_gone
            + dropped_invalid
            + dropped_at_shutdown
    }
}

/// The correlator's books, as the poster last published them.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Whether a poster is at work.
    home: AtomicBool,
    seen: AtomicU64,
    told: AtomicU64,
    held: AtomicU64,
    in_flight: AtomicU64,
    folded: AtomicU64,
    created: AtomicU64,
    patched: AtomicU64,
    retried: AtomicU64,
    look_ups: AtomicU64,
    series: AtomicU64,
    requests_in_flight: AtomicU64,
    /// In microseconds, and one more; 0 is none.
    oldest_waiting: AtomicU64,
    restarts: AtomicU64,
    annotations_left_out: AtomicU64,
    dropped: [AtomicU64; Loss::COUNT],
}

impl Tally {
    pub(super) fn set_home(&self, home: bool) {
        self.home.store(home, Ordering::SeqCst);
    }

    pub(super) fn has_a_home(&self) -> bool {
        self.home.load(Ordering::SeqCst)
    }

    pub(super) fn publish(&self, account: &Account, mono: Duration) {
        let waiting = account.oldest_held.map_or(0, |it| mono.saturating_sub(it).as_micros() as u64 + 1);
        let pairs = [
            (&self.seen, account.seen),
            (&self.told, account.told),
            (&self.held, account.held),
            (&self.in_flight, account.in_flight),
            (&self.folded, account.folded),
            (&self.created, account.created),
            (&self.patched, account.patched),
            (&self.retried, account.retried),
            (&self.look_ups, account.look_ups),
            (&self.series, account.series),
            (&self.requests_in_flight, account.requests_in_flight),
            (&self.oldest_waiting, waiting),
            (&self.annotations_left_out, account.annotations_left_out),
        ];
        for (counter, value) in pairs.into_iter().chain(self.dropped.iter().zip(account.dropped)) {
            counter.store(value, Ordering::Relaxed);
        }
    }

    pub(super) fn count_restart(&self) {
        self.restarts.fetch_add(1, Ordering::Relaxed);
    }

    /// Both halves together: what the poster counted, and what was dropped on the way to it.
    pub(super) fn read(&self, queue_length: usize, dropped_before: [u64; Loss::COUNT]) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let dropped = |loss: Loss| read(&self.dropped[loss as usize]) + dropped_before[loss as usize];
        let waiting = read(&self.oldest_waiting).checked_sub(1).map(Duration::from_micros);
        Stats {
            seen: read(&self.seen) + queue_length as u64 + dropped_before.iter().sum::<u64>(),
            queue_length: queue_length as u64,
            told: read(&self.told),
            held: read(&self.held),
            in_flight: read(&self.in_flight),
            folded: read(&self.folded),
            created: read(&self.created),
            patched: read(&self.patched),
            retried: read(&self.retried),
            look_ups: read(&self.look_ups),
            series: read(&self.series),
            requests_in_flight: read(&self.requests_in_flight),
            oldest_waiting: waiting,
            restarts: read(&self.restarts),
            annotations_left_out: read(&self.annotations_left_out),
            dropped_queue_full: dropped(Loss::QueueFull),
            dropped_after_end: dropped(Loss::Ended),
            dropped_malformed: dropped(Loss::Malformed),
            dropped_no_object: dropped(Loss::NoObject),
            dropped_bounds: dropped(Loss::Bounds),
            dropped_too_old: dropped(Loss::TooOld),
            dropped_forbidden: dropped(Loss::Forbidden),
            dropped_namespace_gone: dropped(Loss::NamespaceGone),
            dropped_invalid: dropped(Loss::Invalid),
            dropped_at_shutdown: dropped(Loss::Shutdown),
        }
    }
}
