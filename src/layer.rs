//! From a callsite to an [`Occurrence`](crate::message::Occurrence): what is listened to, what spans remember, and what a record becomes.
//!
//! The order of work is that of the costs, so that nothing is formatted that is then thrown away: the callsite's plan,
//! the guards, the object, a place in the queue, one pass over the fields, the stamp, the queue.

mod filter;
mod names;
mod note;
mod plan;
mod record;
mod scope;
mod span;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_log::NormalizeEvent;
use tracing_subscriber::filter::{Filtered, Targets};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::message::{Loss, Wall};
use crate::queue::{PosterGuard, Sender};

pub use filter::ListenFilter;
pub(crate) use note::Redact;
pub use note::{NoteFields, Redaction};
use plan::{Plan, Plans, Wanted};
use record::Read;
use scope::{Around, Closed};
use span::{Listening, Told};
pub use span::{SpanExt, object_span};

/// The layer: it hears log records about Kubernetes objects and queues them for the poster.
///
/// It goes anywhere in a `tracing_subscriber` stack on a `Registry`, also in an `Option`, a `Vec` or a `Box`. It comes
/// with its own filter: the other layers see what they saw without it, and a callsite that posts nothing costs nothing.
/// A *global* filter (`registry().with(EnvFilter::from_default_env())`) is above all layers: what it silences nobody
/// hears, kube's own spans included. Give the filter to the layer it is meant for, `fmt::layer().with_filter(..)`.
///
/// The thread that logs never waits and never fails. A full queue, a reference of the wrong shape and a value whose
/// `Display` panics are counted drops.
pub type Layer<S> = Filtered<Listener, ListenFilter, S>;

/// The listening half of a [`Layer`].
pub struct Listener {
    shared: Arc<Shared>,
    /// Layers are told apart by it, where several are in one process.
    serial: usize,
}

/// What may be chosen of a layer.
#[derive(Clone)]
pub(crate) struct Choices {
    /// From which level on records post whose object somebody declared for Events.
    pub(crate) declared: LevelFilter,
    /// From which level on the others do.
    pub(crate) ambient: LevelFilter,
    pub(crate) targets: Option<Targets>,
    /// Targets that never post, with all below them.
    pub(crate) denied: Vec<String>,
    pub(crate) note_fields: NoteFields,
    pub(crate) redact: Option<Arc<Redact>>,
}

/// What filter and listener both know.
struct Shared {
    sender: Sender,
    plans: Plans,
    closed: Closed,
    denied: Box<[Box<str>]>,
    note_fields: NoteFields,
    redact: Option<Arc<Redact>>,
}

/// The Kubernetes client's own: what it logs while it makes a request in an object's span would be about the wrong thing.
const DENIED: [&str; 10] = [
    "kube_client",
    "kube_runtime",
    "tower",
    "tower_http",
    "hyper",
    "hyper_util",
    "h2",
    "rustls",
    "hyper_rustls",
    "reqwest",
];

/// The target of this crate's own diagnostics and of the poster's span: nothing of theirs is about an object.
const OWN: &str = "tracing_k8s_events";

impl Default for Choices {
    fn default() -> Self {
        Self {
            declared: LevelFilter::INFO,
            ambient: LevelFilter::WARN,
            targets: None,
            denied: DENIED.map(String::from).into(),
            note_fields: NoteFields::default(),
            redact: None,
        }
    }
}

/// A layer that sends what it hears. Its levels and targets may be switched afterwards, by the sender's switches.
pub(crate) fn new<S>(sender: Sender, choices: Choices) -> Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    static SERIAL: AtomicUsize = AtomicUsize::new(1);
    let Choices { declared, ambient, targets, denied, note_fields, redact } = choices;
    sender.switches().begin(declared, ambient, targets);
    let denied = denied.into_iter().map(Into::into).collect();
    let (plans, closed) = (Plans::new(), Closed::new());
    let shared = Arc::new(Shared { sender, plans, closed, denied, note_fields, redact });
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    Filtered::new(Listener { shared: shared.clone(), serial }, ListenFilter { shared })
}

impl<S> tracing_subscriber::Layer<S> for Listener
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let plan = self.shared.plan(attributes.metadata());
        if plan.is_of_objects {
            self.hear_of_span(plan, id, &context, |listening| attributes.record(listening));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(metadata) = context.metadata(id) else { return };
        let plan = self.shared.plan(metadata);
        if plan.is_of_objects {
            self.hear_of_span(plan, id, &context, |listening| values.record(listening));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let plan = self.shared.plan(event.metadata());
        if !plan.wanted().at_all() || PosterGuard::is_held() {
            return;
        }
        // A user's `Display` may panic, and so may the registry where another layer did: the thread that logs is not
        // to end by our reading. What was half read is not told.
        if catch_unwind(AssertUnwindSafe(|| self.hear(plan, event, &context))).is_err() {
            self.shared.sender.count_at(Loss::Malformed, plan.metadata);
        }
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.shared.closed.close(&id);
    }
}

impl Listener {
    #[inline]
    fn hear<S>(&self, plan: &Plan, event: &Event<'_>, context: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let sender = &self.shared.sender;
        let place = scope::place_of(self.serial, &self.shared.closed, event, context);
        let is_declared = plan.is_declared || place.around.is_declared();
        if !self.shared.is_wanted(plan, event, is_declared) {
            return;
        }
        let scope = match place.around {
            Around::Barrier => return,
            Around::Malformed => return sender.count_at(Loss::Malformed, plan.metadata),
            Around::Nothing => None,
            Around::Said(scope) => Some(scope),
        };
        let names_an_object = plan.names_an_object || plan.is_ambient;
        match &scope {
            Some(scope) if scope.regarding.is_enough() => {}
            _ if names_an_object => {}
            // Somebody wrote it for Events, but it is about nothing that could have one.
            Some(scope) if scope.declared && scope.regarding.is_half() => {
                return sender.count_at(Loss::Malformed, plan.metadata);
            }
            _ if plan.is_declared && !plan.may_skip => return sender.count_at(Loss::NoObject, plan.metadata),
            _ => return,
        }
        let Some(room) = sender.place_for(plan.kind) else { return sender.count(Loss::QueueFull) };
        let Some(_reading) = Reading::enter() else { return sender.count_at(Loss::Malformed, plan.metadata) };
        let mut occurrence = sender.blank();
        let Read { kind, is_skipped, is_malformed, parts } =
            record::read(event, plan, self.shared.redact.as_deref(), &mut occurrence.text);
        if is_skipped {
            return sender.give_back(occurrence);
        }
        let outer = scope.as_ref().map(|it| &*it.regarding);
        if is_malformed || (names_an_object && !parts.are_enough(outer)) {
            sender.give_back(occurrence);
            return sender.count_at(Loss::Malformed, plan.metadata);
        }
        occurrence.time = wall();
        occurrence.callsite = std::ptr::from_ref(plan.metadata).addr();
        occurrence.kind = kind;
        occurrence.name = plan.name;
        occurrence.span = place.name;
        occurrence.scope = scope;
        sender.send_to(room, occurrence);
    }

    fn hear_of_span<S>(&self, plan: &Plan, id: &Id, context: &Context<'_, S>, visit: impl FnOnce(&mut Listening<'_>))
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let Some(_reading) = Reading::enter() else { return };
        let mut listening = Listening { plan, said: Vec::new() };
        // Into a list first: what users' `Display`s do, panic or log, they do while nothing of the span is locked.
        let _ = catch_unwind(AssertUnwindSafe(|| visit(&mut listening)));
        if listening.said.is_empty() {
            return;
        }
        if let Some(span) = context.span(id) {
            let said = listening.said;
            Told::change(&mut span.extensions_mut(), |told| told.take(said));
        }
    }
}

impl Shared {
    #[inline]
    fn plan(&self, metadata: &'static Metadata<'static>) -> &Plan {
        match self.plans.find(metadata) {
            Some(plan) => plan,
            None => self.plans.add(metadata, || {
                let plan = Plan::new(metadata, &self.note_fields);
                plan.set_wanted(self.wants_callsite(&plan));
                plan
            }),
        }
    }

    /// Whether records of this callsite are wanted. Those of the `log` crate all come from five callsites, which are
    /// never asked about again: each record is.
    fn wants_callsite(&self, plan: &Plan) -> Wanted {
        match plan.is_log {
            true => Wanted { declared: true, ambient: true },
            false => {
                let wanted = self.wants(plan.metadata.target(), plan.metadata.level());
                Wanted { ambient: wanted.ambient && !plan.is_declared, ..wanted }
            }
        }
    }

    #[inline]
    fn is_wanted(&self, plan: &Plan, event: &Event<'_>, is_declared: bool) -> bool {
        let wanted = match plan.is_log {
            true => self.wants_log(event),
            false => plan.wanted(),
        };
        if is_declared { wanted.declared } else { wanted.ambient }
    }

    #[cold]
    fn wants_log(&self, event: &Event<'_>) -> Wanted {
        let metadata = event.normalized_metadata();
        metadata.map(|it| self.wants(it.target(), it.level())).unwrap_or_default()
    }
}

/// Held while a record or a span is read: what is logged meanwhile on this thread is logged by a `Display` that we are
/// calling. tracing itself guards against it only where a subscriber is scoped to a thread.
struct Reading(PhantomData<*const ()>);

thread_local! {
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

impl Reading {
    fn enter() -> Option<Self> {
        let was_reading = IS_READING.try_with(|it| it.replace(true)).ok()?;
        // Made only where it is held: its end would tell that nobody reads any more.
        (!was_reading).then(|| Self(PhantomData))
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let _ = IS_READING.try_with(|it| it.set(false));
    }
}

/// The kernel's coarse clock: 20 instructions in place of 90, and a grain of some 4 ms. What is stamped alike is told
/// in the order in which it was logged.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn wall() -> Wall {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    Wall(now.tv_sec * 1_000_000 + now.tv_nsec / 1_000)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn wall() -> Wall {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    Wall(since.map_or(0, |it| it.as_micros() as i64))
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("serial", &self.serial).finish_non_exhaustive()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("denied", &self.denied).finish_non_exhaustive()
    }
}
