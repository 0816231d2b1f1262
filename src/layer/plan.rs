//! What is known of a callsite once and for all, so that a record need not be asked again.

use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use tracing::{Level, Metadata};

use super::NoteFields;
use super::names::Role;
use crate::message::EventType;

/// What is known of one callsite.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) metadata: &'static Metadata<'static>,
    /// By the field's index.
    roles: Box<[Role]>,
    /// The record's own name, where its author gave it one.
    pub(super) name: Option<&'static str>,
    pub(super) kind: EventType,
    /// It has a field of ours.
    pub(super) is_declared: bool,
    /// It has a field of ours that names an object, or a part of one.
    pub(super) names_an_object: bool,
    /// It has a field that names an object by somebody else's words.
    pub(super) is_ambient: bool,
    /// A field stands before the message, which is to be the note's beginning.
    pub(super) message_is_late: bool,
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
    fn new(metadata: &'static Metadata<'static>, notes: &NoteFields) -> Self {
        let is_log = metadata.target() == "log" && metadata.fields().field("log.target").is_some();
        let role = |name: &str| match Role::of(name) {
            Role::Note if is_log && name.starts_with("log.") => Role::LeftOut,
            Role::Note if !notes.take(name) => Role::LeftOut,
            role => role,
        };
        let roles: Box<[Role]> = metadata.fields().iter().map(|it| role(it.name())).collect();
        let any = |is: fn(Role) -> bool| roles.iter().any(|it| is(*it));
        let late = roles.iter().skip_while(|it| **it != Role::Note).any(|it| *it == Role::Message);
        Self {
            metadata,
            name: own_name(metadata).filter(|_| !is_log),
            kind: if *metadata.level() <= Level::WARN { EventType::Warning } else { EventType::Normal },
            is_declared: any(Role::is_declared),
            names_an_object: any(|it| matches!(it, Role::Regarding(_))),
            is_ambient: any(Role::is_ambient),
            message_is_late: late,
            may_skip: any(|it| it == Role::Skip),
            is_log,
            wanted: AtomicU8::new(0),
            roles,
        }
    }

    #[inline]
    pub(super) fn role(&self, index: usize) -> Role {
        self.roles.get(index).copied().unwrap_or(Role::LeftOut)
    }

    /// Whether spans of this callsite say anything of objects.
    pub(super) fn is_of_objects(&self) -> bool {
        self.roles.iter().any(|it| it.is_of_an_object())
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
/// Plans are only ever added, so that finding one takes no lock: a table of fixed size, and a map behind a lock for the
/// callsites of a program so large that they do not fit in.
#[derive(Debug)]
pub(super) struct Plans {
    table: Box<[OnceLock<Arc<Plan>>]>,
    others: RwLock<HashMap<usize, Arc<Plan>>>,
}

/// Callsites of events from `INFO` up, and of spans: a large operator has some hundred with all its dependencies.
const TABLE: usize = 2048;
/// How many neighbours are tried before a callsite goes into the map.
const PROBES: usize = 8;

impl Plans {
    pub(super) fn new() -> Self {
        Self::with_table_of(TABLE)
    }

    fn with_table_of(places: usize) -> Self {
        Self { table: (0..places).map(|_| OnceLock::new()).collect(), others: RwLock::default() }
    }

    /// The plan of a callsite, if it was met. Metadata that does not live for ever is nobody's.
    #[inline]
    pub(super) fn find(&self, metadata: &Metadata<'_>) -> Option<Found<'_>> {
        let first = self.first_place(metadata);
        match self.table[first].get() {
            Some(plan) if is_same(plan.metadata, metadata) => Some(Found::InTable(plan)),
            Some(_) => self.find_further(metadata, first),
            None => None,
        }
    }

    fn find_further(&self, metadata: &Metadata<'_>, first: usize) -> Option<Found<'_>> {
        for place in self.neighbours(first) {
            match self.table[place].get() {
                Some(plan) if is_same(plan.metadata, metadata) => return Some(Found::InTable(plan)),
                Some(_) => {}
                None => return None,
            }
        }
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
        others.get(&address(metadata)).cloned().map(Found::Elsewhere)
    }

    /// The plan of a callsite, made if it was not met before.
    pub(super) fn find_or_make(&self, metadata: &'static Metadata<'static>, notes: &NoteFields) -> Found<'_> {
        match self.find(metadata) {
            Some(plan) => plan,
            None => self.add(metadata, notes),
        }
    }

    #[cold]
    fn add(&self, metadata: &'static Metadata<'static>, notes: &NoteFields) -> Found<'_> {
        let new = Arc::new(Plan::new(metadata, notes));
        for place in self.neighbours(self.first_place(metadata)) {
            // Another thread may be as fast, with the same callsite or another.
            let plan = self.table[place].get_or_init(|| new.clone());
            if is_same(plan.metadata, metadata) {
                return Found::InTable(plan);
            }
        }
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        Found::Elsewhere(others.entry(address(metadata)).or_insert(new).clone())
    }

    fn first_place(&self, metadata: &Metadata<'_>) -> usize {
        // Callsites are statics of some 100 to 150 bytes that lie side by side.
        (address(metadata) >> 5) % self.table.len()
    }

    fn neighbours(&self, first: usize) -> impl Iterator<Item = usize> {
        let places = self.table.len();
        (first..first + PROBES).map(move |it| it % places)
    }
}

/// A plan that was found.
pub(super) enum Found<'a> {
    InTable(&'a Plan),
    Elsewhere(Arc<Plan>),
}

impl std::ops::Deref for Found<'_> {
    type Target = Plan;

    #[inline]
    fn deref(&self) -> &Plan {
        match self {
            Found::InTable(plan) => plan,
            Found::Elsewhere(plan) => plan,
        }
    }
}

fn address(metadata: &Metadata<'_>) -> usize {
    ptr::from_ref(metadata).addr()
}

/// Whether two are one callsite's. Its metadata lives at one place for ever, and what lives there is nothing else.
fn is_same(known: &'static Metadata<'static>, metadata: &Metadata<'_>) -> bool {
    address(known) == address(metadata)
}
