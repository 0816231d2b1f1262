//! When to look again at what.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::cache::Id;

/// Moments at which something is to be looked at. One that is no longer wanted stays in and finds nothing to do.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Duration, Alarm)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alarm {
    Series(Id),
    Object(Id),
}

impl Timers {
    pub(super) fn set(&mut self, at: Duration, alarm: Alarm) {
        self.heap.push(Reverse((at, alarm)));
    }

    pub(super) fn next(&self) -> Option<Duration> {
        self.heap.peek().map(|it| it.0.0)
    }

    pub(super) fn pop_due(&mut self, now: Duration) -> Option<(Duration, Alarm)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|it| it.0)
    }

    /// Sweeps out what is no longer wanted once it is the greater part; `wanted` are at most so many.
    pub(super) fn sweep(&mut self, most: usize, wanted: impl Fn(Duration, Alarm) -> bool) {
        if self.heap.len() > 2 * most + 64 {
            self.heap.retain(|it| wanted(it.0.0, it.0.1));
        }
    }
}
