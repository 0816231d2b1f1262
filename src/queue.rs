//! The hand-over from any thread to the poster: bounded, never waits, counts what it drops.

mod switches;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam_channel::TrySendError;
use tokio::sync::Notify;

use crate::message::{EventType, Loss, Occurrence};

pub(crate) use switches::Switches;

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
    switches: Switches,
    /// Wakes the poster. Told when the queue is half full, and by `flush`.
    wake: Notify,
    /// Whether the poster was woken since it last found the queue empty: once is enough.
    woken: AtomicBool,
    wake_always: bool,
    half_full: usize,
    capacity: usize,
    /// From this length on, Normal gives way to Warning.
    nearly_full: usize,
}

/// A place in the queue that was free a moment ago.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// How many were taken then.
    taken: usize,
}

/// While it lives, whatever this thread logs is the poster's own, and is not heard.
///
/// The poster holds one during each of its polls; another layer still sees what its client logs.
#[derive(Debug)]
pub(crate) struct PosterGuard {
    before: bool,
}

thread_local! {
    static IS_THE_POSTER: Cell<bool> = const { Cell::new(false) };
}

/// A queue of so many places. `wake_always` wakes the poster at every record, which costs the thread that logs a
/// futex call, some 2.6 µs; otherwise the poster looks by itself and is woken only when the queue crosses half full.
pub(crate) fn queue(capacity: usize, wake_always: bool) -> (Sender, Receiver) {
    let (sender, receiver) = crossbeam_channel::bounded(capacity);
    let shared = Arc::new(Shared {
        dropped: Default::default(),
        ended: AtomicBool::new(false),
        switches: Switches::default(),
        wake: Notify::new(),
        woken: AtomicBool::new(false),
        wake_always,
        half_full: capacity.div_ceil(2),
        capacity,
        nearly_full: capacity - capacity / 8,
    });
    (Sender { channel: sender, shared: shared.clone() }, Receiver { channel: receiver, shared })
}

impl Sender {
    /// The place that an occurrence of this type would take, if there is one: asked before anything is formatted.
    ///
    /// The last eighth of the places is kept for warnings.
    pub(crate) fn place_for(&self, kind: EventType) -> Option<Place> {
        let taken = self.channel.len();
        let places = match kind {
            EventType::Warning => self.shared.capacity,
            EventType::Normal => self.shared.nearly_full,
        };
        (taken < places).then_some(Place { taken })
    }

    pub(crate) fn is_full_for(&self, kind: EventType) -> bool {
        self.place_for(kind).is_none()
    }

    /// Sends, where there is a place, or counts the loss.
    pub(crate) fn send(&self, occurrence: Occurrence) {
        match self.place_for(occurrence.kind) {
            Some(place) => self.send_to(place, occurrence),
            None => self.count(Loss::QueueFull),
        }
    }

    pub(crate) fn send_to(&self, place: Place, occurrence: Occurrence) {
        if self.shared.ended.load(Ordering::Relaxed) {
            return self.count(Loss::Ended);
        }
        match self.channel.try_send(occurrence) {
            Ok(()) => self.wake_if_due(place),
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

    pub(crate) fn switches(&self) -> &Switches {
        &self.shared.switches
    }

    /// Whoever finds the queue half full wakes the poster, unless somebody did; nobody else does.
    fn wake_if_due(&self, place: Place) {
        let due = place.taken + 1 >= self.shared.half_full && !self.shared.woken.load(Ordering::Relaxed);
        if self.shared.wake_always || (due && !self.shared.woken.swap(true, Ordering::Relaxed)) {
            self.wake();
        }
    }
}

impl Receiver {
    pub(crate) fn try_recv(&self) -> Option<Occurrence> {
        let received = self.channel.try_recv().ok();
        if received.is_none() {
            self.shared.woken.store(false, Ordering::Relaxed);
        }
        received
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.channel.len()
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

impl PosterGuard {
    pub(crate) fn enter() -> Self {
        Self { before: IS_THE_POSTER.try_with(|it| it.replace(true)).unwrap_or(false) }
    }

    /// Whether this thread is the poster's at this moment.
    pub(crate) fn is_held() -> bool {
        IS_THE_POSTER.try_with(Cell::get).unwrap_or(false)
    }
}

impl Drop for PosterGuard {
    fn drop(&mut self) {
        let _ = IS_THE_POSTER.try_with(|it| it.set(self.before));
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
