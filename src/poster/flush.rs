//! Flushing: an order to the poster, and what came of it.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::{Handle, Stats};

/// What came of a flush or of the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "it says what was not told"]
pub struct Outcome {
    /// Occurrences told while it lasted.
    pub told: u64,
    /// Occurrences still waiting when the time was over. After a flush they go on waiting; after the end they are lost.
    pub untold: u64,
    /// Occurrences dropped while it lasted, for whatever cause.
    pub dropped: u64,
}

/// A flush that waits to be begun: by `.await`, or by [`wait`](Self::wait) where there is no async.
#[derive(Debug)]
#[must_use = "a flush begins when it is awaited, or waited for"]
pub struct Flush {
    handle: Handle,
    deadline: Duration,
}

/// What a handle asks of the poster.
pub(super) struct Order {
    pub(super) kind: OrderKind,
    pub(super) deadline: Duration,
    /// Called once. Where nobody listens any more it does nothing.
    pub(super) answer: Box<dyn FnOnce(Outcome) + Send>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OrderKind {
    Flush,
    End,
}

/// How much later than its deadline an answer may come before it is taken for lost. The poster answers at the deadline
/// itself; this is for a poster that is not polled at all, as when `wait` blocks the only thread of its runtime, or a
/// sink blocks the poster's.
/// A twentieth of it, between these two.
const GRACE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(250));

impl Outcome {
    /// Whether everything was told that was logged before.
    pub fn is_complete(&self) -> bool {
        self.untold == 0 && self.dropped == 0
    }
}

impl Flush {
    pub(super) fn new(handle: Handle, deadline: Duration) -> Self {
        Self { handle, deadline }
    }

    /// Blocks this thread until everything is told, or the deadline has passed.
    ///
    /// Where the poster lives on this very thread (`tokio::spawn(poster.run(..))` on a current-thread runtime) nothing
    /// can be told while it blocks, and the outcome says so at the deadline: `.await` it there.
    pub fn wait(self) -> Outcome {
        self.handle.order_and_wait(OrderKind::Flush, self.deadline)
    }
}

impl IntoFuture for Flush {
    type Output = Outcome;
    type IntoFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { handle, deadline } = self;
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let asking = handle.clone();
            // A thread waits, as it can everywhere: the executor may be any, and a tokio runtime may have no timers.
            let ask = move || {
                let _ = answer.send(asking.order_and_wait(OrderKind::Flush, deadline));
            };
            match thread::Builder::new().name("k8s-events-flush".into()).spawn(ask) {
                Ok(_) => answered.await.unwrap_or_else(|_| handle.told_since(&handle.stats())),
                Err(_) => handle.told_since(&handle.stats()),
            }
        })
    }
}

impl Handle {
    pub(super) fn order_and_wait(&self, kind: OrderKind, deadline: Duration) -> Outcome {
        let before = self.stats();
        let (answer, answered) = crossbeam_channel::bounded(1);
        let answer = move |it| {
            let _ = answer.send(it);
        };
        let sent = self.order(kind, deadline, Box::new(answer));
        let grace = (deadline / 20).clamp(GRACE.0, GRACE.1);
        let outcome = if sent { answered.recv_timeout(deadline.saturating_add(grace)).ok() } else { None };
        outcome.unwrap_or_else(|| self.told_since(&before))
    }

    /// What can be said where no poster answers.
    fn told_since(&self, before: &Stats) -> Outcome {
        let stats = self.stats();
        Outcome {
            told: stats.told.saturating_sub(before.told),
            untold: stats.held + stats.in_flight + stats.queue_length,
            dropped: stats.dropped().saturating_sub(before.dropped()),
        }
    }
}
