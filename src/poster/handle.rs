//! What any thread may ask of the poster: to publish, to flush, and to say its counters.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use k8s_openapi::api::core::v1::ObjectReference;
use tokio::sync::mpsc;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

use super::flush::{Order, OrderKind};
use super::stats::Tally;
use super::{Flush, Outcome, Stats};
use crate::message::{EventType, Loss, Occurrence, Scope, Tag, Text, Wall};
use crate::queue::Sender;
use crate::regarding::Regarding;

/// A way to the poster from any thread. Cheap to clone.
///
/// It works before the poster has a home (what is published waits in the queue) and after its end (then it is a counted
/// drop).
#[derive(Clone)]
pub struct Handle {
    sender: Sender,
    orders: mpsc::UnboundedSender<Order>,
    tally: Arc<Tally>,
}

/// An Event for the explicit door, [`Handle::publish`]. Shaped like kube's own `Event` for its `Recorder`.
///
/// What does not fit the server's limits is made to fit: reason and action are cut at 128 bytes, the middle of a note
/// is cut out at 1,024.
#[derive(Clone, Debug)]
#[must_use = "nothing is published until it is given to `Handle::publish`"]
pub struct Publish {
    kind: EventType,
    text: Text,
    related: Option<Arc<Regarding>>,
    patience: Option<Duration>,
}

impl Handle {
    pub(super) fn new(sender: Sender, orders: mpsc::UnboundedSender<Order>, tally: Arc<Tally>) -> Self {
        Self { sender, orders, tally }
    }

    /// Publishes an Event about an object: at once counted and queued, never waiting, never failing.
    ///
    /// Neither levels nor targets apply. When the queue is full it is dropped, and counted in
    /// [`Stats::dropped_queue_full`]; a reference with neither kind and name nor uid in [`Stats::dropped_malformed`].
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::ObjectReference;
    /// use std::time::Duration;
    /// use tracing_k8s_events::{MemorySink, Publish};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let reference = ObjectReference {
    /// #     kind: Some("Foo".into()), name: Some("a".into()), uid: Some("1".into()), ..Default::default()
    /// # };
    /// # let sink = MemorySink::new();
    /// let (_layer, poster) = tracing_k8s_events::builder("foo.example.com").build::<tracing_subscriber::Registry>()?;
    /// let guard = poster.spawn_sink(sink.clone())?;
    /// guard.handle().publish(&reference, Publish::normal("Scaled", "scaled to 3").action("Scale"));
    /// assert!(guard.shutdown(Duration::from_secs(5)).is_complete());
    /// assert_eq!(&*sink.events()[0].event.note, "scaled to 3");
    /// # Ok(())
    /// # }
    /// ```
    pub fn publish(&self, regarding: &ObjectReference, what: Publish) {
        let regarding = Regarding::from(regarding);
        if !regarding.is_enough() {
            return self.sender.count(Loss::Malformed);
        }
        if self.sender.is_full_for(what.kind) {
            return self.sender.count(Loss::QueueFull);
        }
        let scope = Scope { regarding: Arc::new(regarding), related: what.related, declared: true };
        self.sender.send(Occurrence {
            time: wall_now(),
            callsite: 0,
            kind: what.kind,
            name: None,
            span: None,
            scope: Some(Arc::new(scope)),
            patience: what.patience,
            text: what.text,
        });
    }

    /// Has everything told that was logged before: held counts are written at once, only the budgets still bind.
    ///
    /// It begins when it is awaited, or by [`Flush::wait`], and ends when all is told or the deadline has passed; the
    /// [`Outcome`] says what was told and what was not. A poster without a home tells nothing, and it says so at once.
    pub fn flush(&self, deadline: Duration) -> Flush {
        Flush::new(self.clone(), deadline)
    }

    /// From which level on records post whose object somebody declared for Events, from now on: `OFF` while another
    /// instance leads, say. What is in the queue already is told all the same. See [`Builder::level`](crate::Builder).
    pub fn set_level(&self, level: impl Into<LevelFilter>) {
        self.sender.switches().set_declared(level.into());
    }

    /// The same for records whose object nobody declared. See [`Builder::ambient_level`](crate::Builder).
    pub fn set_ambient_level(&self, level: impl Into<LevelFilter>) {
        self.sender.switches().set_ambient(level.into());
    }

    /// Which targets post from now on, and from which level on; `None` is all of them.
    pub fn set_targets(&self, targets: impl Into<Option<Targets>>) {
        self.sender.switches().set_targets(targets.into());
    }

    /// Every counter, as of the poster's last turn: a handful of atomic loads.
    pub fn stats(&self) -> Stats {
        self.tally.read(self.sender.len(), self.sender.dropped())
    }

    pub(super) fn into_tally(self) -> Arc<Tally> {
        self.tally
    }

    /// Whether there is a poster to hear it.
    pub(super) fn order(&self, kind: OrderKind, deadline: Duration, answer: Box<dyn FnOnce(Outcome) + Send>) -> bool {
        let sent = self.tally.has_a_home() && self.orders.send(Order { kind, deadline, answer }).is_ok();
        if sent {
            self.sender.wake();
        }
        sent
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl Publish {
    /// What goes as it should.
    pub fn normal(reason: &str, note: &str) -> Self {
        Self::new(EventType::Normal, reason, note)
    }

    /// What somebody should look at.
    pub fn warning(reason: &str, note: &str) -> Self {
        Self::new(EventType::Warning, reason, note)
    }

    fn new(kind: EventType, reason: &str, note: &str) -> Self {
        let mut text = Text::default();
        text.push(Tag::Reason, reason);
        text.push(Tag::Note, note);
        Self { kind, text, related: None, patience: None }
    }

    /// What was done, in one word for machines. Default: the reason.
    pub fn action(mut self, action: &str) -> Self {
        self.text.push(Tag::Action, action);
        self
    }

    /// The secondary object.
    pub fn related(mut self, related: &ObjectReference) -> Self {
        self.related = Some(Arc::new(related.into()));
        self
    }

    /// An annotation on the Event. A key that is no qualified name, and what is beyond 256 KiB in all, is left out and
    /// counted in [`Stats::annotations_left_out`].
    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        self.text.push(Tag::AnnotationKey, key);
        self.text.push(Tag::AnnotationValue, value);
        self
    }

    /// How old it may grow before it is given up. Default: the builder's, 10 min.
    pub fn give_up_after(mut self, age: Duration) -> Self {
        self.patience = Some(age);
        self
    }
}

/// The explicit door's own stamp: the call's time is the Event's time.
fn wall_now() -> Wall {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Wall(since.as_micros() as i64)
}
