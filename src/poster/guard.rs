//! The poster's life on its own thread.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use tracing::warn;

use super::flush::OrderKind;
use super::{Handle, Outcome};

/// How long a dropped guard flushes.
const FLUSH_ON_DROP: Duration = Duration::from_secs(5);

/// Keeps the poster's thread, and ends it: whatever waits is told first, for 5 s at most.
///
/// Hold it in `main`, by a name: `let _ = poster.spawn(..)` drops it at once, and a diagnostic says so.
/// `std::process::exit` and a panic that aborts run no drop: call [`shutdown`](Self::shutdown), or [`Handle::flush`],
/// before. What is logged after the end is counted in [`Stats::dropped_after_end`](super::Stats::dropped_after_end), and harms nothing.
#[derive(Debug)]
#[must_use = "dropping it ends the poster, as `let _ = ..` does at once: hold it by a name, `let _guard = ..`"]
pub struct Guard {
    handle: Handle,
    /// Taken when it has ended.
    thread: Option<JoinHandle<()>>,
    /// Closes as the thread's last act.
    end: Receiver<()>,
    begun: Instant,
}

/// Who drops the guard so soon, before anything was heard, did not mean to.
const AT_ONCE: Duration = Duration::from_secs(1);

/// How long a thread may take from its last answer to its end. One that needs longer is hung, and is left behind.
const LEAVE: Duration = Duration::from_millis(100);

impl Guard {
    pub(super) fn new(handle: Handle, thread: JoinHandle<()>, end: Receiver<()>) -> Self {
        Self { handle, thread: Some(thread), end, begun: Instant::now() }
    }

    /// A handle to publish by, to flush, and to read the counters.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Tells whatever waits, for as long as this at most, ends the thread, and says what was told and what was lost.
    pub fn shutdown(mut self, deadline: Duration) -> Outcome {
        self.end(deadline)
    }

    fn end(&mut self, deadline: Duration) -> Outcome {
        let Some(thread) = self.thread.take() else { return Outcome::default() };
        let outcome = self.handle.order_and_wait(OrderKind::End, deadline);
        // The guard's last owner may even be that thread: it cannot join itself.
        let is_itself = thread.thread().id() == std::thread::current().id();
        if !is_itself && self.end.recv_timeout(LEAVE) == Err(RecvTimeoutError::Disconnected) {
            let _ = thread.join();
        }
        outcome
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let is_at_once = self.thread.is_some() && self.begun.elapsed() < AT_ONCE;
        let _ = self.end(FLUSH_ON_DROP);
        if is_at_once && self.handle.stats().seen == 0 {
            warn!(
                target: "tracing_k8s_events",
                "the poster was ended as soon as it began, and posts nothing: its guard was dropped. \
                 Hold it by a name, `let _guard = ..`; `let _ = ..` drops it at once"
            );
        }
    }
}
