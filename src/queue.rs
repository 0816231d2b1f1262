//! The hand-over from any thread to the poster: bounded, never waits, counts what it drops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam_channel::TrySendError;
use tokio::sync::Notify;

use crate::message::{EventType, Loss, Occurrence};

/// The end that any thread holds. Sending neither waits nor fails; what finds no room is counted.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    channel: crossbeam_channel::Sender<Occurrence>,
    shared: Arc<Shared>,
}

/// The poster's end.
#[derive(Debug)]
pub(crate) struct Receiver {
    channel: crossbeam_channel::Receiver<Occurrence>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// What was dropped before it reached the poster, by cause.
    dropped: [AtomicU64; Loss::COUNT],
    ended: AtomicBool,
    /// Wakes the poster. Told when the queue crosses half full, and by `flush`.
    wake: Notify,
    wake_always: bool,
    /// From this length on, Normal gives way to Warning.
    nearly_full: usize,
}

/// A queue of so many places. `wake_always` wakes the poster at every record, which costs the thread that logs a
/// futex call, some 2.6 µs; otherwise the poster looks by itself and is woken only when the queue crosses half full.
pub(crate) fn queue(capacity: usize, wake_always: bool) -> (Sender, Receiver) {
    let (sender, receiver) = crossbeam_channel::bounded(capacity);
    let shared = Arc::new(Shared {
        dropped: Default::default(),
        ended: AtomicBool::new(false),
        wake: Notify::new(),
        wake_always,
        nearly_full: capacity - capacity / 8,
    });
    (Sender { channel: sender, shared: shared.clone() }, Receiver { channel: receiver, shared })
}

impl Sender {
    /// Whether an occurrence of this type would be dropped now: asked before anything is formatted.
    ///
    /// The last eighth of the places is kept for warnings.
    pub(crate) fn is_full_for(&self, kind: EventType) -> bool {
        match kind {
            EventType::Warning => self.channel.is_full(),
            EventType::Normal => self.channel.len() >= self.shared.nearly_full,
        }
    }

    pub(crate) fn send(&self, occurrence: Occurrence) {
        if self.shared.ended.load(Ordering::Relaxed) {
            return self.count(Loss::Ended);
        }
        match self.channel.try_send(occurrence) {
            Ok(()) => self.wake_if_due(),
            Err(TrySendError::Full(_)) => self.count(Loss::QueueFull),
            Err(TrySendError::Disconnected(_)) => self.count(Loss::Ended),
        }
    }

    pub(crate) fn count(&self, loss: Loss) {
        self.shared.dropped[loss as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn wake(&self) {
        self.shared.wake.notify_one();
    }

    pub(crate) fn len(&self) -> usize {
        self.channel.len()
    }

    pub(crate) fn dropped(&self) -> [u64; Loss::COUNT] {
        self.shared.dropped.each_ref().map(|it| it.load(Ordering::Relaxed))
    }

    /// Whoever sends just as the queue passes half full wakes the poster; nobody else does.
    fn wake_if_due(&self) {
        let half = self.channel.capacity().map_or(1, |it| it / 2);
        if self.shared.wake_always || self.channel.len() == half {
            self.wake();
        }
    }
}

impl Receiver {
    pub(crate) fn try_recv(&self) -> Option<Occurrence> {
        self.channel.try_recv().ok()
    }

    pub(crate) fn is_half_full(&self) -> bool {
        self.channel.len() >= self.channel.capacity().unwrap_or(0) / 2
    }

    /// Returns when a sender wakes the poster; one call before is remembered.
    pub(crate) async fn woken(&self) {
        self.shared.wake.notified().await;
    }

    /// From now on whatever is sent is a counted drop.
    pub(crate) fn end(&self) {
        self.shared.ended.store(true, Ordering::SeqCst);
    }

    /// The poster is at work (again).
    pub(crate) fn begin(&self) {
        self.shared.ended.store(false, Ordering::SeqCst);
    }
}

/// What still waits when the poster's end goes will never be told.
impl Drop for Receiver {
    fn drop(&mut self) {
        self.end();
        while self.try_recv().is_some() {
            self.shared.dropped[Loss::Shutdown as usize].fetch_add(1, Ordering::Relaxed);
        }
    }
}
