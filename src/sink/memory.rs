//! Memory as a [`Sink`]: Events as the server would show them, for tests and for running without a cluster.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use k8s_openapi::api::core::v1::ObjectReference;

use super::Sink;
use crate::message::{EventType, Reply, Request, Telling};
use crate::regarding::Regarding;

/// Keeps Events in memory, each as the API server would show it: counted, with its newest note.
///
/// For a program's own tests, and to run without a cluster. Clones share what they hold. It never refuses; references
/// without a uid stay without, as nothing can be looked up in it. It keeps everything for as long as it lives: a program
/// that runs for days without a cluster wants a [`Sink`] of its own.
///
/// Ask it what a test wants to know, and end the question with [`times`](Matching::times), [`once`](Matching::once) or
/// [`never`](Matching::never). Where the answer is another one it panics, at the line of the test, and shows all Events
/// that there are:
///
/// ```text
/// there should be 2 of `Scaled` about `Foo/default/web`, there are 1; all Events:
/// COUNT   TYPE      REASON   OBJECT            MESSAGE
/// 1       Normal    Scaled   Foo/default/web   scaled to 3
/// 7       Warning   Failed   Foo/default/web   cannot pull the image
/// ```
///
/// # Testing a reconcile's Events
/// The layer is installed for the test's own thread, so that tests run side by side; the poster gets this sink; a flush
/// puts everything in it that was logged before. Nothing sleeps.
///
/// ```
/// # use k8s_openapi::api::core::v1::ObjectReference;
/// use std::time::Duration;
/// use tracing::{info, warn};
/// use tracing_k8s_events::{MemorySink, object_span};
/// use tracing_subscriber::prelude::*;
///
/// fn reconcile(web: &ObjectReference) {
///     let _span = object_span(web).entered();
///     info!(k8s.reason = "Scaled", replicas = 3, "scaled up");
///     warn!(k8s.reason = "NotReady", "waiting for the database");
///     warn!(k8s.reason = "NotReady", "waiting for the database");
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let web = ObjectReference {
/// #     kind: Some("Foo".into()), name: Some("web".into()), uid: Some("1".into()), ..Default::default()
/// # };
/// let (layer, poster) = tracing_k8s_events::builder("foo-operator.example.com").build()?;
/// let sink = MemorySink::new();
/// let guard = poster.spawn_sink(sink.clone())?;
/// tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || reconcile(&web));
/// assert!(guard.handle().flush(Duration::from_secs(5)).wait().is_complete());
///
/// sink.event("Scaled").about(&web).with_note("scaled up replicas=3").once();
/// sink.event("NotReady").warning().times(2);
/// sink.event("Failed").never();
/// # Ok(())
/// # }
/// ```
///
/// An `async` reconcile on a current-thread runtime, `#[tokio::test]`'s default, is heard where the subscriber is that of
/// the thread. A reconcile that relies on kube's own span is given a span of its object; spans must be made after the
/// subscriber is there.
///
/// ```
/// # use k8s_openapi::api::core::v1::ObjectReference;
/// use std::time::Duration;
/// use tracing::{Instrument, warn};
/// use tracing_k8s_events::{MemorySink, object_span};
/// use tracing_subscriber::prelude::*;
///
/// async fn reconcile() {
///     warn!(k8s.reason = "NotReady", "waiting for the database");
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let web = ObjectReference { kind: Some("Foo".into()), name: Some("web".into()), ..Default::default() };
/// let (layer, poster) = tracing_k8s_events::builder("foo-operator.example.com").build()?;
/// let sink = MemorySink::new();
/// let guard = poster.spawn_sink(sink.clone())?;
/// let _default = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
/// reconcile().instrument(object_span(&web)).await;
/// assert!(guard.handle().flush(Duration::from_secs(5)).await.is_complete());
/// sink.event("NotReady").about(&web).once();
/// # Ok(())
/// # }
/// ```
///
/// On a runtime of several threads say which subscriber is meant, around the span too:
/// `async { reconcile().instrument(object_span(&web)).await }.with_subscriber(subscriber).await`.
#[derive(Clone, Debug, Default)]
pub struct MemorySink {
    events: Arc<Mutex<Vec<Telling>>>,
}

/// Those of a [`MemorySink`]'s Events that a test asks for: narrow them down, then say how often they should be.
#[derive(Clone, Debug)]
#[must_use = "it asserts nothing until `times`, `once` or `never`"]
pub struct Matching {
    all: Vec<Telling>,
    /// Places in `all`.
    chosen: Vec<usize>,
    /// What was asked for, for the message.
    asked: String,
}

impl MemorySink {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// All Events, in the order they were made.
    pub fn events(&self) -> Vec<Telling> {
        self.lock().clone()
    }

    /// Events of this reason, to be narrowed down and counted.
    pub fn event(&self, reason: &str) -> Matching {
        Matching::of(self.events(), format!("`{reason}`")).keep(|it| &*it.event.reason == reason)
    }

    /// Events of any reason, to be narrowed down and counted: `sink.any_event().warning().never()`.
    pub fn any_event(&self) -> Matching {
        Matching::of(self.events(), "any Event".into())
    }

    /// Nothing under the lock can panic half way, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, Vec<Telling>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Matching {
    fn of(all: Vec<Telling>, asked: String) -> Self {
        Self { chosen: (0..all.len()).collect(), all, asked }
    }

    fn keep(mut self, so: impl Fn(&Telling) -> bool) -> Self {
        self.chosen.retain(|it| so(&self.all[*it]));
        self
    }

    /// Only those about this object: of its kind, name and namespace; of its API version and uid where both say one.
    pub fn about(mut self, object: &ObjectReference) -> Self {
        let asked = Regarding::from(object);
        self.asked += &format!(" about `{asked}`");
        self.keep(|it| is_same(&it.event.regarding, &asked))
    }

    /// Only those with exactly this newest note.
    pub fn with_note(mut self, note: &str) -> Self {
        self.asked += &format!(" with the note `{note}`");
        self.keep(|it| &*it.event.note == note)
    }

    /// Only those whose newest note holds this text.
    pub fn with_text(mut self, text: &str) -> Self {
        self.asked += &format!(" with `{text}` in the note");
        self.keep(|it| it.event.note.contains(text))
    }

    /// Only those of type `Normal`.
    pub fn normal(mut self) -> Self {
        self.asked += " of type Normal";
        self.keep(|it| it.event.kind == EventType::Normal)
    }

    /// Only those of type `Warning`.
    pub fn warning(mut self) -> Self {
        self.asked += " of type Warning";
        self.keep(|it| it.event.kind == EventType::Warning)
    }

    /// How often it happened: the sum of the counts.
    pub fn count(&self) -> u32 {
        self.chosen.iter().map(|it| self.all[*it].count).sum()
    }

    /// The Events themselves, in the order they were made, for what else is to be asserted of them.
    pub fn all(&self) -> Vec<Telling> {
        self.chosen.iter().map(|it| self.all[*it].clone()).collect()
    }

    /// Asserts that it happened so often, in one Event or in several.
    ///
    /// # Panics
    /// When it happened more or less often, with all Events in the message.
    #[track_caller]
    pub fn times(self, expected: u32) {
        let count = self.count();
        assert!(count == expected, "there should be {expected} of {}, there are {count}; {}", self.asked, self.told());
    }

    /// Asserts that it happened exactly once, and answers its Event.
    ///
    /// # Panics
    /// When it happened more or less often, with all Events in the message.
    #[track_caller]
    pub fn once(self) -> Telling {
        let count = self.count();
        assert!(count == 1, "there should be 1 of {}, there are {count}; {}", self.asked, self.told());
        self.all[self.chosen[0]].clone()
    }

    /// Asserts that it did not happen.
    ///
    /// # Panics
    /// When it happened, with all Events in the message.
    #[track_caller]
    pub fn never(self) {
        self.times(0);
    }

    fn told(&self) -> String {
        match self.all.is_empty() {
            true => {
                "no Event has come so far: was the poster flushed, and the record logged in a span of its object that \
                     was made where the layer is installed? `handle.stats()` counts what was dropped, and why"
                    .into()
            }
            false => format!("all Events:\n{}", Table(&self.all)),
        }
    }
}

impl Sink for MemorySink {
    async fn send(&self, request: Request) -> Reply {
        let mut events = self.lock();
        let place = |telling: &Telling| {
            events
                .iter()
                .position(|it| it.event.namespace == telling.event.namespace && it.event.name == telling.event.name)
        };
        match request {
            Request::Create(telling) => match place(&telling) {
                Some(_) => Reply::AlreadyExists,
                None => {
                    events.push(renewed(telling));
                    Reply::Done
                }
            },
            Request::Patch(telling) => match place(&telling) {
                None => Reply::NotFound,
                Some(at) => {
                    let shown = &mut events[at];
                    shown.count = telling.count;
                    shown.last = telling.last;
                    shown.note = telling.note.or(shown.note.take());
                    *shown = renewed(shown.clone());
                    Reply::Done
                }
            },
            Request::Discover { .. } | Request::LookUp { .. } => Reply::NotFound,
        }
    }
}

/// All Events as a table, like that of `kubectl get events`; the count stands where kubectl has the age.
impl fmt::Display for MemorySink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Table(&self.lock()).fmt(f)
    }
}

/// The newest note is the Event's, as it is on the server.
fn renewed(mut telling: Telling) -> Telling {
    if let Some(note) = telling.note.clone().filter(|it| **it != *telling.event.note) {
        Arc::make_mut(&mut telling.event).note = (&*note).into();
    }
    telling
}

/// Whether two references mean one object, as far as both say it.
fn is_same(one: &Regarding, other: &Regarding) -> bool {
    let agree = |one: &str, other: &str| one.is_empty() || other.is_empty() || one == other;
    let named = one.kind == other.kind && one.name == other.name && one.namespace == other.namespace;
    let by_uid = one.name.is_empty() || other.name.is_empty();
    let uid_decides = by_uid && !one.uid.is_empty() && one.uid == other.uid;
    uid_decides || (named && agree(&one.uid, &other.uid) && agree(&one.api_version, &other.api_version))
}

struct Table<'a>(&'a [Telling]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![["COUNT", "TYPE", "REASON", "OBJECT", "MESSAGE"].map(String::from)];
        rows.extend(self.0.iter().map(|it| {
            let event = &*it.event;
            let (kind, reason, object) =
                (event.kind.to_string(), event.reason.to_string(), event.regarding.to_string());
            [it.count.to_string(), kind, reason, object, event.note.to_string()]
        }));
        let width = |column: usize| rows.iter().map(|it| it[column].chars().count()).max().unwrap_or_default();
        let widths: [usize; 4] = std::array::from_fn(width);
        for [count, kind, reason, object, note] in &rows {
            let [a, b, c, d] = widths;
            writeln!(f, "{count:a$}   {kind:b$}   {reason:c$}   {object:d$}   {note}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::message::{KubeEvent, Reporter, Wall};

    fn telling(name: &str, reason: &str, note: &str, count: u32) -> Telling {
        let regarding = Regarding { kind: "Foo".into(), name: "web".into(), uid: "1".into(), ..Regarding::default() };
        let event = KubeEvent {
            name: name.into(),
            namespace: "default".into(),
            regarding: Arc::new(regarding),
            related: None,
            kind: if reason == "Failed" { EventType::Warning } else { EventType::Normal },
            reason: reason.into(),
            action: reason.into(),
            note: note.into(),
            time: Wall(0),
            annotations: Vec::new(),
            reporter: Arc::new(Reporter::default()),
        };
        Telling { event: Arc::new(event), count, last: Wall(0), note: None, again: false }
    }

    fn sink(requests: impl IntoIterator<Item = Request>) -> MemorySink {
        let sink = MemorySink::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for request in requests {
            assert_eq!(runtime.block_on(sink.send(request)), Reply::Done);
        }
        sink
    }

    fn web(uid: &str) -> ObjectReference {
        let text = |it: &str| Some(it.to_owned());
        ObjectReference { kind: text("Foo"), name: text("web"), uid: text(uid), ..ObjectReference::default() }
    }

    fn complaint(act: impl FnOnce()) -> String {
        let panic = catch_unwind(AssertUnwindSafe(act)).unwrap_err();
        panic.downcast_ref::<String>().unwrap().clone()
    }

    #[test]
    fn questions_narrow_down() {
        let sink = sink([
            Request::Create(telling("a", "Scaled", "to 3", 2)),
            Request::Create(telling("b", "Scaled", "to 4", 1)),
            Request::Create(telling("c", "Failed", "to scale", 1)),
        ]);
        sink.event("Scaled").times(3);
        sink.event("Scaled").about(&web("1")).normal().with_note("to 4").once();
        sink.event("Scaled").about(&web("another")).never();
        sink.any_event().warning().with_text("scale").once();
        assert_eq!(sink.event("Scaled").all().len(), 2);
    }

    #[test]
    fn a_renewed_note_is_the_events() {
        let newest = Telling { note: Some("to 5".into()), ..telling("a", "Scaled", "to 3", 7) };
        let sink = sink([Request::Create(telling("a", "Scaled", "to 3", 1)), Request::Patch(newest)]);
        sink.event("Scaled").with_note("to 5").times(7);
    }

    #[test]
    fn a_failed_assertion_shows_every_event() {
        let sink = sink([
            Request::Create(telling("a", "Scaled", "to 3", 1)),
            Request::Create(telling("b", "Failed", "no room", 12)),
        ]);
        assert_eq!(
            complaint(|| sink.event("Scaled").about(&web("1")).times(2)),
            "there should be 2 of `Scaled` about `Foo/web`, there are 1; all Events:\n\
             COUNT   TYPE      REASON   OBJECT    MESSAGE\n\
             1       Normal    Scaled   Foo/web   to 3\n\
             12      Warning   Failed   Foo/web   no room\n"
        );
    }

    #[test]
    fn an_empty_sink_asks_whether_it_was_flushed() {
        let asked = complaint(|| drop(MemorySink::new().event("Scaled").once()));
        assert!(asked.contains("was the poster flushed, and the record logged in a span of its object"), "{asked}");
        assert!(asked.ends_with("`handle.stats()` counts what was dropped, and why"), "{asked}");
    }
}
