//! The hand-over from any thread to the poster: bounded, never waits, counts what it drops.

mod switches;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crossbeam_queue::ArrayQueue;
use tokio::sync::Notify;
use tracing::Metadata;

use crate::message::{EventType, Loss, Occurrence};

pub(crate) use switches::Switches;

/// The end that any thread holds. Sending neither waits nor fails; what finds no room is counted.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    shared: Arc<Shared>,
}

/// The poster's end.
#[derive(Debug)]
pub(crate) struct Receiver {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Neither end ever waits in it, so it is a queue and not a channel.
    places: ArrayQueue<Box<Occurrence>>,
    /// Boxes that were read and may be written again. An occurrence has some 330 bytes: it is written where it stays,
    /// and never copied; the thread that logs finds its box made, and mostly in the processor's cache.
    blanks: ArrayQueue<Box<Occurrence>>,
    /// What was dropped before it reached the poster, by cause.
    dropped: [AtomicU64; Loss::COUNT],
    /// The callsite of the first that was dropped, by cause.
    dropped_at: [OnceLock<&'static Metadata<'static>>; Loss::COUNT],
    ended: AtomicBool,
    switches: Switches,
    /// Wakes the poster. Told when the queue is half full, and by `flush`.
    wake: Notify,
    /// Whether the poster was woken since it last found the queue empty: once is enough.
    woken: AtomicBool,
    wake_always: bool,
    half_full: usize,
    /// From this length on, Normal gives way to Warning.
    nearly_full: usize,
}

/// A place in the queue that was free a moment ago.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// How many were taken then.
    taken: usize,
}

/// An occurrence that was fetched. When it was read its box goes back.
#[derive(Debug)]
pub(crate) struct Received<'a> {
    occurrence: Option<Box<Occurrence>>,
    shared: &'a Shared,
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

/// So many boxes are made in advance, and kept: the records of 5 ms, the poster's shortest pause, from a thread that does
/// nothing but log. More are made when more wait, and unmade when they were read.
const BLANKS: usize = 4096;

/// A queue of so many places. `wake_always` wakes the poster at every record, which costs the thread that logs a
/// futex call, some 2.6 µs; otherwise the poster looks by itself and is woken only when the queue crosses half full.
pub(crate) fn queue(capacity: usize, wake_always: bool) -> (Sender, Receiver) {
    let blanks = ArrayQueue::new(capacity.min(BLANKS));
    while blanks.push(Box::default()).is_ok() {}
    let shared = Arc::new(Shared {
        places: ArrayQueue::new(capacity),
        blanks,
        dropped: Default::default(),
        dropped_at: Default::default(),
        ended: AtomicBool::new(false),
        switches: Switches::default(),
        wake: Notify::new(),
        woken: AtomicBool::new(false),
        wake_always,
        half_full: capacity.div_ceil(2),
        nearly_full: capacity - capacity / 8,
    });
    (Sender { shared: shared.clone() }, Receiver { shared })
}

impl Sender {
    /// The place that an occurrence of this type would take, if there is one: asked before anything is formatted.
    ///
    /// The last eighth of the places is kept for warnings.
    #[inline]
    pub(crate) fn place_for(&self, kind: EventType) -> Option<Place> {
        let taken = self.shared.places.len();
        let places = match kind {
            EventType::Warning => self.shared.places.capacity(),
            EventType::Normal => self.shared.nearly_full,
        };
        (taken < places).then_some(Place { taken })
    }

    pub(crate) fn is_full_for(&self, kind: EventType) -> bool {
        self.place_for(kind).is_none()
    }

    /// A box to write an occurrence into. What it says of its own is what it said before, but its text is empty.
    #[inline]
    pub(crate) fn blank(&self) -> Box<Occurrence> {
        self.shared.blanks.pop().unwrap_or_default()
    }

    /// Gives a box back that is not to be sent.
    pub(crate) fn give_back(&self, blank: Box<Occurrence>) {
        self.shared.recycle(blank);
    }

    /// Sends, where there is a place, or counts the loss.
    pub(crate) fn send(&self, occurrence: Occurrence) {
        match self.place_for(occurrence.kind) {
            Some(place) => self.send_to(place, Box::new(occurrence)),
            None => self.count(Loss::QueueFull),
        }
    }

    #[inline]
    pub(crate) fn send_to(&self, place: Place, occurrence: Box<Occurrence>) {
        if self.shared.ended.load(Ordering::Relaxed) {
            self.give_back(occurrence);
            return self.count(Loss::Ended);
        }
        if let Err(occurrence) = self.shared.places.push(occurrence) {
            self.give_back(occurrence);
            return self.count(Loss::QueueFull);
        }
        // Whoever comes just as the end does takes back what nobody will fetch: it is counted by one of the two.
        match self.shared.ended.load(Ordering::SeqCst) {
            true => self.take_back(),
            false => self.wake_if_due(place),
        }
    }

    #[cold]
    fn take_back(&self) {
        while self.shared.places.pop().is_some() {
            self.count(Loss::Ended);
        }
    }

    pub(crate) fn count(&self, loss: Loss) {
        self.shared.dropped[loss as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the loss of a record of this callsite.
    #[cold]
    pub(crate) fn count_at(&self, loss: Loss, callsite: &'static Metadata<'static>) {
        self.shared.dropped_at[loss as usize].get_or_init(|| callsite);
        self.count(loss);
    }

    pub(crate) fn wake(&self) {
        self.shared.wake.notify_one();
    }

    pub(crate) fn len(&self) -> usize {
        self.shared.places.len()
    }

    pub(crate) fn dropped(&self) -> [u64; Loss::COUNT] {
        self.shared.dropped()
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
    pub(crate) fn try_recv(&self) -> Option<Received<'_>> {
        match self.shared.places.pop() {
            Some(occurrence) => Some(Received { occurrence: Some(occurrence), shared: &self.shared }),
            None => {
                self.shared.woken.store(false, Ordering::Relaxed);
                None
            }
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.shared.places.len()
    }

    /// What was dropped before it came here.
    pub(crate) fn dropped(&self) -> [u64; Loss::COUNT] {
        self.shared.dropped()
    }

    /// Where the first record was logged that was dropped so.
    pub(crate) fn dropped_at(&self, loss: Loss) -> Option<&'static Metadata<'static>> {
        self.shared.dropped_at[loss as usize].get().copied()
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

impl Shared {
    fn dropped(&self) -> [u64; Loss::COUNT] {
        self.dropped.each_ref().map(|it| it.load(Ordering::Relaxed))
    }

    /// What the box holds is freed here, by the poster, and not by the thread that logs next.
    fn recycle(&self, mut read: Box<Occurrence>) {
        read.blank();
        let _ = self.blanks.push(read);
    }
}

impl Deref for Received<'_> {
    type Target = Occurrence;

    fn deref(&self) -> &Occurrence {
        self.occurrence.as_deref().expect("it is taken only when this is dropped")
    }
}

impl Drop for Received<'_> {
    fn drop(&mut self) {
        if let Some(read) = self.occurrence.take() {
            self.shared.recycle(read);
        }
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
