//! What the spans around a record say of objects, found at the same cost at any depth.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::span::Id;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use super::OWN;
use super::span::{OBJECT_TARGET, Told};
use crate::message::Scope;

/// What the spans around a record come to.
#[derive(Clone, Debug, Default)]
pub(super) enum Around {
    /// No object.
    #[default]
    Nothing,
    /// Never an object.
    Barrier,
    /// A reference of the wrong shape.
    Malformed,
    Said(Arc<Scope>),
}

impl Around {
    /// Whether two are one and the same, not merely equal: what was made of the one holds for the other.
    pub(super) fn is_same(&self, other: &Around) -> bool {
        match (self, other) {
            (Around::Said(one), Around::Said(other)) => Arc::ptr_eq(one, other),
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }

    pub(super) fn is_declared(&self) -> bool {
        match self {
            Around::Said(scope) => scope.declared,
            // Only fields of ours can be of the wrong shape.
            Around::Malformed => true,
            Around::Nothing | Around::Barrier => false,
        }
    }
}

/// What a span comes to, and its name.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) around: Around,
    /// The innermost span's name, of those that somebody named.
    pub(super) name: Option<&'static str>,
}

/// A place that this thread met, and all that must still hold for it to be true.
#[derive(Debug, Default)]
struct Remembered {
    layer: usize,
    /// Span ids are never 0.
    span: u64,
    told: usize,
    closed: usize,
    place: Place,
}

/// How many spans a thread remembers: an async worker goes back and forth between its tasks.
const REMEMBERED: usize = 8;

thread_local! {
    static REMEMBERED_HERE: RefCell<[Remembered; REMEMBERED]> = RefCell::default();
}

/// Rises whenever a span says something new; whatever threads remember of any span is then asked anew. It is one for
/// the process, as the threads' memory is: a span does not know whose layers remember it.
static TOLD: AtomicUsize = AtomicUsize::new(0);

/// Has every thread ask anew.
pub(super) fn forget() {
    TOLD.fetch_add(1, Ordering::Release);
}

/// Which spans were closed, by their ids' last bits.
///
/// The registry gives an id away again when its span is closed: its slab tells them apart by a generation of 13 bits,
/// so that after 8,192 spans in one place an id comes back, and a thread that last logged in the old span must not take
/// the new one for it. A count is even as long as no thread remembers a span of that place, so that the closing of all
/// the others is one relaxed load. The ordering is the registry's own: a span is closed before its id is free, and the
/// id is free before a thread can be in the new span.
#[derive(Debug)]
pub(super) struct Closed([AtomicUsize; 256]);

impl Closed {
    pub(super) fn new() -> Self {
        Self([const { AtomicUsize::new(0) }; 256])
    }

    fn count(&self, span: u64) -> &AtomicUsize {
        // The thread that made the span stands in the upper bits.
        &self.0[((span ^ (span >> 38)) & 255) as usize]
    }

    /// The count, now odd: some thread remembers the span.
    fn remember(&self, span: u64) -> usize {
        self.count(span).fetch_or(1, Ordering::Relaxed) | 1
    }

    fn now(&self, span: u64) -> usize {
        self.count(span).load(Ordering::Relaxed)
    }

    pub(super) fn close(&self, span: &Id) {
        let count = self.count(span.into_u64());
        if count.load(Ordering::Relaxed) & 1 == 1 {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Where a record stands. The layer is known by its serial number.
#[inline]
pub(super) fn place_of<S>(layer: usize, closed: &Closed, event: &Event<'_>, context: &Context<'_, S>) -> Place
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    if event.is_root() {
        return Place::default();
    }
    // Where the thread is at its very end, the registry's own thread-locals may be gone too: no look at spans then.
    let found = REMEMBERED_HERE.try_with(|here| match event.parent() {
        Some(id) => Question::of(layer, id).answer(here, closed, || context.span(id)),
        None => match context.current_span().id() {
            Some(id) => Question::of(layer, id).answer(here, closed, || context.lookup_current()),
            None => Place::default(),
        },
    });
    found.unwrap_or_default()
}

/// What a layer asks of a span.
#[derive(Clone, Copy)]
struct Question {
    layer: usize,
    span: u64,
    told: usize,
}

impl Question {
    #[inline]
    fn of(layer: usize, span: &Id) -> Self {
        Self { layer, span: span.into_u64(), told: TOLD.load(Ordering::Acquire) }
    }

    #[inline]
    fn answer<'a, S>(
        self,
        here: &RefCell<[Remembered; REMEMBERED]>,
        closed: &Closed,
        look: impl FnOnce() -> Option<SpanRef<'a, S>>,
    ) -> Place
    where
        S: for<'b> LookupSpan<'b> + 'a,
    {
        if let Ok(here) = here.try_borrow() {
            let it = &here[self.shelf()];
            let is_it = it.span == self.span && it.layer == self.layer;
            if is_it && it.told == self.told && it.closed == closed.now(self.span) {
                return it.place.clone();
            }
        }
        self.ask(here, closed, look())
    }

    #[cold]
    fn ask<S>(
        self,
        here: &RefCell<[Remembered; REMEMBERED]>,
        closed: &Closed,
        innermost: Option<SpanRef<'_, S>>,
    ) -> Place
    where
        S: for<'a> LookupSpan<'a>,
    {
        let Some(innermost) = innermost else { return Place::default() };
        let place = walk(&innermost);
        let Self { layer, span, told } = self;
        // A filter around our layer may hide the current span: then the next that it does not hide was found, which on
        // another thread may be another one.
        let is_seen = innermost.id().into_u64() == span;
        if is_seen && let Ok(mut here) = here.try_borrow_mut() {
            let closed = closed.remember(span);
            here[self.shelf()] = Remembered { layer, span, told, closed, place: place.clone() };
        }
        place
    }

    fn shelf(self) -> usize {
        (self.span as usize ^ self.layer) % REMEMBERED
    }
}

/// Asks every span from here to the root.
fn walk<'a, S>(innermost: &SpanRef<'a, S>) -> Place
where
    S: for<'b> LookupSpan<'b>,
{
    let mut place = Place::default();
    // One span tells, mostly: the list of those around it is seldom made.
    let (mut teller, mut outer) = (None, Vec::new());
    for span in innermost.scope() {
        let target = span.metadata().target();
        // The poster's own span: what is logged under it, in whatever task took it along, is about no object. Else the
        // poster's requests would make Events, and those requests again.
        if target == OWN {
            return Place { around: Around::Barrier, name: None };
        }
        if place.name.is_none() && target != OBJECT_TARGET {
            place.name = Some(span.metadata().name());
        }
        if span.extensions().get::<Told>().is_some() {
            match teller {
                None => teller = Some(span),
                Some(_) => outer.push(span),
            }
        }
    }
    for span in outer.iter().rev().chain(&teller) {
        if let Some(told) = span.extensions().get::<Told>() {
            place.around = told.within(&place.around);
        }
    }
    place
}
