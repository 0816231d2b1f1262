//! What moves through the house: an [`Occurrence`] comes in, a [`Request`] goes out, a [`Reply`] comes back, and
//! [`Now`] says when.

mod account;
mod fit;
mod text;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::regarding::{Own, Part, Regarding};

pub(crate) use account::{Account, Loss};
use fit::{ELLIPSIS, keep_end};
pub(crate) use fit::{cut_end, cut_middle, event_name, qualified_name, without_controls};
pub(crate) use text::{Tag, Text};

/// The server's limits, in bytes. `pkg/apis/core/validation/events.go`; it counts bytes and says "characters".
pub(crate) const NOTE_LIMIT: usize = 1024;
/// The server's limit of reason, action and reporting instance, in bytes; the same file.
pub(crate) const WORD_LIMIT: usize = 128;

/// Microseconds since the Unix epoch by the wall clock: the grain of Kubernetes' `MicroTime`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Wall(pub(crate) i64);

/// What the clocks say: handed in, never read, by everything that decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Now {
    /// Since the poster was made, by the monotonic clock. Every window, gap and deadline is measured in it.
    pub(crate) mono: Duration,
    /// For stamps only: it may stand still, and jump.
    pub(crate) wall: Wall,
}

/// The two sorts of Event that Kubernetes knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventType {
    /// What goes as it should.
    #[default]
    Normal,
    /// What somebody should look at.
    Warning,
}

/// What was seen: one log record about an object, or one call of the explicit door.
///
/// It is made on the thread that logs, so it holds what was cheap to take along; [`Occurrence::open`] reads it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occurrence {
    /// When it was logged.
    pub(crate) time: Wall,
    /// Which line of the program logged it: the address of the callsite's metadata. What comes from one callsite with
    /// other notes is `Similar`. The explicit door has no callsite of its own, and is 0.
    pub(crate) callsite: usize,
    pub(crate) kind: EventType,
    /// The record's own `name:`, where it was given one: the reason, unless a field names one.
    pub(crate) name: Option<&'static str>,
    /// The innermost span's name: in PascalCase it is the action, unless a field names one.
    pub(crate) span: Option<&'static str>,
    /// What the enclosing spans say, already merged; shared by all records of one span.
    pub(crate) scope: Option<Arc<Scope>>,
    /// How old it may grow untold; `None` is the setting's.
    pub(crate) patience: Option<Duration>,
    /// Everything of its own: note, reason, action, parts of a reference, annotations.
    pub(crate) text: Text,
}

/// What the spans around a record say of objects, innermost first and merged.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) regarding: Arc<Regarding>,
    pub(crate) related: Option<Arc<Regarding>>,
    /// Whether somebody wrote it for Events; else it is ambient (kube's own span, OpenTelemetry's names).
    pub(crate) declared: bool,
}

/// An [`Occurrence`], read: everything that it says, borrowed from it where it can be.
#[derive(Debug)]
pub(crate) struct Opened<'a> {
    pub(crate) regarding: Cow<'a, Arc<Regarding>>,
    pub(crate) related: Option<Cow<'a, Arc<Regarding>>>,
    pub(crate) reason: Option<&'a str>,
    pub(crate) action: Option<&'a str>,
    pub(crate) note: Cow<'a, str>,
    pub(crate) annotations: Vec<(&'a str, &'a str)>,
}

/// Everything of a Kubernetes Event that does not change while it counts, made to fit the server's limits.
///
/// [`Sink`](crate::Sink)s receive it inside a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KubeEvent {
    /// The Event's own name: the object's, cut, and a number that no other Event of this process has.
    pub name: Box<str>,
    /// The namespace that the Event lives in: the object's, or the builder's choice for cluster-scoped objects.
    pub namespace: Box<str>,
    /// What it is about.
    pub regarding: Arc<Regarding>,
    /// The secondary object.
    pub related: Option<Arc<Regarding>>,
    /// Normal or Warning.
    pub kind: EventType,
    /// Why, in one word for machines. At most 128 bytes, never empty.
    pub reason: Box<str>,
    /// What was done. At most 128 bytes, never empty.
    pub action: Box<str>,
    /// What happened, for people. At most 1,024 bytes.
    pub note: Box<str>,
    pub(crate) time: Wall,
    /// Key and value, in the order they were given.
    pub annotations: Vec<(Box<str>, Box<str>)>,
    /// Who reports it.
    pub reporter: Arc<Reporter>,
}

/// Who reports: the controller's name, and which of its instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reporter {
    /// A qualified name such as `foo-operator.example.com`: what `kubectl describe` shows under `From`.
    pub controller: Box<str>,
    /// The pod or host. At most 128 bytes, never empty.
    pub instance: Box<str>,
}

/// What is sent: one call to the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request {
    /// Make a new Event. With a count above 1 it is born as a series: it was held back, or it had expired.
    Create(Telling),
    /// Tell an Event that exists its new count, and where the API allows it its newest note.
    Patch(Telling),
    /// Which resources an API version has: asked once per kind, to find an object's URL.
    Discover {
        /// `apps/v1`, or `v1` for the core group.
        api_version: Arc<str>,
    },
    /// The uid of an object that was named without it.
    LookUp {
        /// The object.
        regarding: Arc<Regarding>,
        /// Its resource's name in URLs, as discovery said: `configmaps`.
        plural: Arc<str>,
    },
}

/// An Event and how often it has happened by now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Telling {
    /// The Event.
    pub event: Arc<KubeEvent>,
    /// How often it happened, this included. The server takes 2³¹ − 1 at most.
    pub count: u32,
    pub(crate) last: Wall,
    /// The newest note, where it is to replace the one that the Event was made with.
    pub note: Option<Arc<str>>,
    /// Whether this very request was sent before and its reply was lost: then 409 on our own name is success.
    pub(crate) again: bool,
}

/// What came back for a [`Request`].
///
/// A [`Sink`](crate::Sink) says what happened; what to do about it is decided elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// It is written.
    Done,
    /// A new Event was refused because its name exists (409 `AlreadyExists`).
    AlreadyExists,
    /// The object or Event of that name does not exist (404).
    NotFound,
    /// The namespace does not exist (404 on a create).
    NamespaceMissing,
    /// The namespace is being deleted (403 with the cause `NamespaceTerminating`).
    NamespaceTerminating,
    /// Not allowed (403); the server's own words.
    Forbidden(Box<str>),
    /// The credentials were refused (401): they may be renewed soon.
    Unauthorized,
    /// Too many requests (429); the server may say how long to wait.
    Throttled(Option<Duration>),
    /// No answer that says anything: 5xx, a broken connection, a time-out, garbage. In truth it may be written.
    Unavailable {
        /// The server's `Retry-After`, where it sent one.
        retry_after: Option<Duration>,
        /// What happened, for a diagnostic; never a header or a body.
        why: Box<str>,
    },
    /// The request itself is wrong (400, 413, 422, ..): it will never be taken.
    Invalid(Box<str>),
    /// The answer to [`Request::LookUp`].
    Found {
        /// The object's uid.
        uid: Box<str>,
    },
    /// The answer to [`Request::Discover`].
    Resources(Vec<Resource>),
}

/// A kind that an API version serves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource {
    /// `ConfigMap`.
    pub kind: Box<str>,
    /// `configmaps`.
    pub plural: Box<str>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// Something that went wrong and that a person should hear of, once per cause and minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnosis {
    /// In whole words, with what to do about it; without tokens, headers or bodies.
    pub(crate) text: String,
    /// How many were left out since the last one of this cause.
    pub(crate) times: u64,
}

impl Resource {
    /// For a [`Sink`](crate::Sink) of one's own that answers [`Request::Discover`].
    pub fn new(kind: &str, plural: &str, namespaced: bool) -> Self {
        Self { kind: kind.into(), plural: plural.into(), namespaced }
    }
}

impl EventType {
    /// As the API spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            EventType::Normal => "Normal",
            EventType::Warning => "Warning",
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Now {
    #[cfg(test)]
    pub(crate) fn at(mono: Duration) -> Self {
        let epoch = 1_764_000_000_000_000;
        Self { mono, wall: Wall(epoch + mono.as_micros() as i64) }
    }
}

impl From<Wall> for SystemTime {
    fn from(it: Wall) -> Self {
        let distance = Duration::from_micros(it.0.unsigned_abs());
        let moment =
            if it.0 < 0 { Self::UNIX_EPOCH.checked_sub(distance) } else { Self::UNIX_EPOCH.checked_add(distance) };
        moment.unwrap_or(Self::UNIX_EPOCH)
    }
}

impl KubeEvent {
    /// When the first of it was logged.
    pub fn time(&self) -> SystemTime {
        self.time.into()
    }
}

impl Telling {
    /// When the newest of it was logged.
    pub fn last(&self) -> SystemTime {
        self.last.into()
    }
}

impl Occurrence {
    /// An occurrence about one object, as tests, benchmarks and the simulated day make them.
    #[cfg_attr(not(test), allow(dead_code, reason = "the pure modules are taken in by path where this is used"))]
    pub(crate) fn about(time: Wall, kind: EventType, regarding: Arc<Regarding>) -> Self {
        let scope = Scope { regarding, related: None, declared: true };
        Self {
            time,
            callsite: 0,
            kind,
            name: None,
            span: None,
            scope: Some(Arc::new(scope)),
            patience: None,
            text: Text::default(),
        }
    }

    /// Makes it say nothing, and frees what it held.
    pub(crate) fn blank(&mut self) {
        self.scope = None;
        self.patience = None;
        self.text.blank();
    }

    /// Reads it, in one pass over its text. Nothing is made to fit yet: who shows a note cuts it and takes out its
    /// control characters.
    pub(crate) fn open(&self) -> Opened<'_> {
        self.open_about(None)
    }

    /// Reads it, where what it is about was read before from the same words.
    pub(crate) fn open_about(&self, known: Option<Arc<Regarding>>) -> Opened<'_> {
        let (mut reason, mut action) = (None, None);
        let mut note = Cow::Borrowed("");
        let mut annotations = Vec::new();
        let mut key = "";
        let (mut own, mut own_related) = (None::<Own>, None::<Own>);
        for (tag, text) in self.text.parts() {
            match tag {
                Tag::Note if note.is_empty() => note = Cow::Borrowed(text),
                Tag::Note => note.to_mut().push_str(text),
                Tag::Reason => reason = Some(text),
                Tag::Action => action = Some(text),
                Tag::AnnotationKey => key = text,
                Tag::AnnotationValue => annotations.push((key, text)),
                Tag::Regarding(_) if known.is_some() => {}
                Tag::Regarding(part) => own.get_or_insert_default().say(part, text),
                Tag::Related(part) => own_related.get_or_insert_default().say(part, text),
            }
        }
        let scope = self.scope.as_deref();
        let read = || merged(own, scope.map(|it| &it.regarding)).unwrap_or_default();
        let regarding = known.map_or_else(read, Cow::Owned);
        let related = merged(own_related, scope.and_then(|it| it.related.as_ref()));
        Opened { regarding, related, reason, action, note, annotations }
    }

    /// Its own words for what it is about; those of its scope are not among them.
    pub(crate) fn own_reference(&self) -> impl Iterator<Item = (Part, &str)> {
        self.text.parts().filter_map(|(tag, text)| match tag {
            Tag::Regarding(part) => Some((part, text)),
            _ => None,
        })
    }

    /// Its reason: the field, else the record's own name.
    pub(crate) fn reason<'a>(&self, opened: &Opened<'a>) -> Option<&'a str> {
        opened.reason.or(self.name)
    }
}

/// What a record says itself, completed by what the spans around it say; borrowed where the record says nothing.
fn merged(own: Option<Own>, outer: Option<&Arc<Regarding>>) -> Option<Cow<'_, Arc<Regarding>>> {
    match (own, outer) {
        (None, outer) => outer.map(Cow::Borrowed),
        (Some(own), None) => Some(Cow::Owned(own.parts)),
        (Some(own), Some(outer)) => Some(Cow::Owned(Arc::new(own.within(outer)))),
    }
}
