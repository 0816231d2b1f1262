//! What is known of a callsite once and for all, so that a record need not be asked again.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use tracing::{Level, Metadata};

use super::NoteFields;
use super::names::Role;
use crate::message::EventType;

/// What is known of one callsite.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) metadata: &'static Metadata<'static>,
    roles: Box<[Role]>,
    /// What the fields are when a record is read: in one pass, or where fields stand before the message, which is to be
    /// the note's beginning, in one for the message and one for the fields.
    passes: (Box<[Role]>, Option<Box<[Role]>>),
    /// Whether spans of this callsite say anything of objects.
    pub(super) is_of_objects: bool,
    /// The record's own name, where its author gave it one.
    pub(super) name: Option<&'static str>,
    pub(super) kind: EventType,
    /// It has a field of ours.
    pub(super) is_declared: bool,
    /// It has a field of ours that names an object, or a part of one.
    pub(super) names_an_object: bool,
    /// It has a field that names an object by somebody else's words.
    pub(super) is_ambient: bool,
    /// Whether the record may take itself back.
    pub(super) may_skip: bool,
    /// It is of the `log` crate: its true target is in its fields.
    pub(super) is_log: bool,
    wanted: AtomicU8,
}

/// When a record is wanted, as far as level and target tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) declared: bool,
    pub(super) ambient: bool,
}

impl Plan {
    pub(super) fn new(metadata: &'static Metadata<'static>, notes: &NoteFields) -> Self {
        let is_log = metadata.target() == "log" && metadata.fields().field("log.target").is_some();
        let role = |name: &str| match Role::of(name) {
            Role::Note if is_log && name.starts_with("log.") => Role::LeftOut,
            Role::Note if !notes.take(name) => Role::LeftOut,
            role => role,
        };
        let roles: Box<[Role]> = metadata.fields().iter().map(|it| role(it.name())).collect();
        let any = |is: fn(Role) -> bool| roles.iter().any(|it| is(*it));
        let is_ambient = any(Role::is_ambient);
        let is_late = roles.iter().skip_while(|it| **it != Role::Note).any(|it| *it == Role::Message);
        // What names the object was read before, where others' words name it.
        let taken = |it: Role| is_ambient && it.is_of_an_object();
        let only = |take: fn(Role) -> bool| {
            let role = |it: &Role| if take(*it) && !taken(*it) { *it } else { Role::LeftOut };
            roles.iter().map(role).collect::<Box<[Role]>>()
        };
        let passes = match is_late {
            false => (only(|_| true), None),
            true => (only(|it| it == Role::Message), Some(only(|it| it != Role::Message))),
        };
        Self {
            metadata,
            name: own_name(metadata).filter(|_| !is_log),
            kind: if *metadata.level() <= Level::WARN { EventType::Warning } else { EventType::Normal },
            is_declared: any(Role::is_declared),
            names_an_object: any(|it| matches!(it, Role::Regarding(_))),
            is_ambient,
            passes,
            is_of_objects: any(Role::is_of_an_object),
            may_skip: any(|it| it == Role::Skip),
            is_log,
            wanted: AtomicU8::new(0),
            roles,
        }
    }

    /// What the fields are, by their index.
    pub(super) fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// What the fields are in the first pass over a record, and in the second where there is one.
    pub(super) fn passes(&self) -> (&[Role], Option<&[Role]>) {
        (&self.passes.0, self.passes.1.as_deref())
    }

    #[inline]
    pub(super) fn wanted(&self) -> Wanted {
        Wanted::of(self.wanted.load(Ordering::Relaxed))
    }

    pub(super) fn set_wanted(&self, to: Wanted) {
        self.wanted.store(u8::from(to.declared) | u8::from(to.ambient) << 1, Ordering::Relaxed);
    }
}

impl Wanted {
    fn of(byte: u8) -> Self {
        Self { declared: byte & 1 != 0, ambient: byte & 2 != 0 }
    }

    #[inline]
    pub(super) fn at_all(self) -> bool {
        self.declared || self.ambient
    }
}

/// The name that the author gave, told from the one that tracing's macros make of file and line.
fn own_name(metadata: &'static Metadata<'static>) -> Option<&'static str> {
    let name = metadata.name();
    let made = name.strip_prefix("event ").and_then(|it| it.rsplit_once(':'));
    let is_made = made.is_some_and(|(file, line)| {
        Some(file) == metadata.file() && line.parse().ok() == metadata.line() && metadata.line().is_some()
    });
    (!is_made && !name.is_empty()).then_some(name)
}

/// The plans of every callsite that was met, found by the address of its metadata.
///
/// Plans are only ever added, each at the end of its place's chain, so that finding one takes no lock.
#[derive(Debug)]
pub(super) struct Plans {
    chains: Box<[Link; CHAINS]>,
}

/// A large operator has some hundred callsites of spans, and of records from `INFO` up, with all its dependencies'.
const CHAINS: usize = 1024;

type Link = OnceLock<Box<Node>>;

#[derive(Debug)]
struct Node {
    plan: Plan,
    next: Link,
}

impl Plans {
    pub(super) fn new() -> Self {
        Self { chains: Box::new([const { Link::new() }; CHAINS]) }
    }

    /// The plan of a callsite, if it was met. Metadata that does not live for ever is nobody's.
    #[inline]
    pub(super) fn find(&self, metadata: &Metadata<'_>) -> Option<&Plan> {
        let mut link = self.chain_of(metadata);
        while let Some(node) = link.get() {
            if is_same(node.plan.metadata, metadata) {
                return Some(&node.plan);
            }
            link = &node.next;
        }
        None
    }

    /// Adds the plan of a callsite that was not met before.
    #[cold]
    pub(super) fn add(&self, metadata: &'static Metadata<'static>, make: impl Fn() -> Plan) -> &Plan {
        let mut link = self.chain_of(metadata);
        loop {
            // Another thread may be as fast, with the same callsite or another.
            let node = link.get_or_init(|| Box::new(Node { plan: make(), next: Link::new() }));
            if is_same(node.plan.metadata, metadata) {
                return &node.plan;
            }
            link = &node.next;
        }
    }

    #[inline]
    fn chain_of(&self, metadata: &Metadata<'_>) -> &Link {
        // Callsites are statics of some 100 to 150 bytes that lie side by side.
        &self.chains[(address(metadata) >> 5) % CHAINS]
    }
}

fn address(metadata: &Metadata<'_>) -> usize {
    ptr::from_ref(metadata).addr()
}

/// Whether two are one callsite's. Its metadata lives at one place for ever, and what lives there is nothing else.
fn is_same(known: &'static Metadata<'static>, metadata: &Metadata<'_>) -> bool {
    address(known) == address(metadata)
}
