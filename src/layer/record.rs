//! What a record says: its fields, visited once, become the pieces of an occurrence.

use std::error::Error;
use std::fmt::{self, Write};

use tracing::Event;
use tracing::field::{Field, Visit};

use super::names::{ANNOTATION, Role};
use super::plan::Plan;
use super::span::{Listening, Told, unquoted};
use super::{Redact, Redaction};
use crate::message::{EventType, Tag, Text};
use crate::regarding::{Own, Part, Regarding};

/// A record that is being read.
pub(super) struct Reading<'a> {
    redact: Option<&'a Redact>,
    text: &'a mut Text,
    /// What the fields are in this pass, by their index.
    roles: &'a [Role],
    /// Where the note's newest piece has its head, once the note has begun.
    note: Option<usize>,
    kind: Option<EventType>,
    is_skipped: bool,
    is_malformed: bool,
    parts: Parts,
}

/// What was read, beside the text.
pub(super) struct Read {
    pub(super) kind: EventType,
    pub(super) is_skipped: bool,
    pub(super) is_malformed: bool,
    pub(super) parts: Parts,
}

/// Which parts of references the record says itself, one bit each, and which it says to be empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    said: u16,
    empty: u16,
}

impl Parts {
    #[inline]
    fn say(&mut self, tag: Tag, is_empty: bool) {
        let bit = Self::bit(tag);
        // Where a name is given twice the last counts.
        (self.said, self.empty) = match is_empty {
            false => (self.said | bit, self.empty & !bit),
            true => (self.said & !bit, self.empty | bit),
        };
    }

    #[inline]
    fn bit(tag: Tag) -> u16 {
        match tag {
            Tag::Regarding(part) => 1 << part as u16,
            Tag::Related(part) => 1 << (part as u16 + 8),
            Tag::Note | Tag::Reason | Tag::Action | Tag::AnnotationKey | Tag::AnnotationValue => 0,
        }
    }

    fn is_said(self, part: Part) -> bool {
        self.said & Self::bit(Tag::Regarding(part)) != 0
    }

    /// Whether a part is empty that no object lacks.
    fn are_malformed(self) -> bool {
        let of_both = |part| Self::bit(Tag::Regarding(part)) | Self::bit(Tag::Related(part));
        self.empty & (of_both(Part::Kind) | of_both(Part::Name)) != 0
    }

    /// Whether an Event can be posted about what the record names, completed by what the spans around it name.
    pub(super) fn are_enough(self, outer: Option<&Regarding>) -> bool {
        match (self.is_said(Part::Kind), self.is_said(Part::Name), self.is_said(Part::Uid)) {
            (true, true, _) | (.., true) => true,
            // Another kind forgets the outer name; the same keeps it. The poster reads the words.
            (true, false, false) | (false, false, false) => outer.is_some_and(Regarding::is_enough),
            (false, true, false) => outer.is_some_and(|it| !it.kind.is_empty()),
        }
    }
}

/// A chain of errors that goes on for longer than this goes on for ever.
const SOURCES: usize = 32;

/// Stands where a value was masked.
const MASK: &str = "***";

/// Reads a record. Its message comes first in the note, whatever stands before it.
#[inline(always)]
pub(super) fn read(event: &Event<'_>, plan: &Plan, redact: Option<&Redact>, text: &mut Text) -> Read {
    let (roles, then) = plan.passes();
    let parts = Parts::default();
    let mut reading =
        Reading { redact, text, roles, note: None, kind: None, is_skipped: false, is_malformed: false, parts };
    if plan.is_ambient {
        reading.take_ambient(event, plan);
    }
    event.record(&mut reading);
    if let Some(then) = then {
        reading.roles = then;
        event.record(&mut reading);
    }
    Read {
        kind: reading.kind.unwrap_or(plan.kind),
        is_skipped: reading.is_skipped,
        is_malformed: reading.is_malformed || reading.parts.are_malformed() || reading.text.is_overlong(),
        parts: reading.parts,
    }
}

impl Reading<'_> {
    /// A record that names its object by others' words is read as a span is: it is rare, and may cost.
    #[cold]
    fn take_ambient(&mut self, event: &Event<'_>, plan: &Plan) {
        let mut listening = Listening { plan, said: Vec::new() };
        event.record(&mut listening);
        let mut told = Told::default();
        told.take(listening.said);
        self.is_malformed |= told.is_malformed();
        if let Some(own) = told.regarding(None) {
            self.take_own(&own, Tag::Regarding);
        }
        if let Some(own) = told.related() {
            self.take_own(own, Tag::Related);
        }
    }

    fn take_own(&mut self, own: &Own, tag: fn(Part) -> Tag) {
        for (part, words) in own.parts.parts() {
            if !words.is_empty() || (part == Part::Namespace && own.namespace_is_said) {
                self.take_part(tag(part), words);
            }
        }
    }

    #[inline]
    fn role(&self, field: &Field) -> Role {
        self.roles.get(field.index()).copied().unwrap_or(Role::LeftOut)
    }

    #[inline]
    fn take_part(&mut self, tag: Tag, words: &str) {
        self.text.push(tag, words);
        self.parts.say(tag, words.is_empty());
    }

    #[inline]
    fn go_on_with_the_note(&mut self) {
        if self.note != Some(self.text.newest()) {
            self.text.begin(Tag::Note);
            self.note = Some(self.text.newest());
        }
    }

    #[inline]
    fn begin_field(&mut self, field: &Field) {
        let is_first = self.note.is_none();
        self.go_on_with_the_note();
        if !is_first {
            self.text.write(" ");
        }
        self.text.write(field.name());
        self.text.write("=");
    }

    /// Any field, with a value that must be formatted.
    #[inline(never)]
    fn take(&mut self, role: Role, field: &Field, value: &dyn fmt::Debug) {
        match role {
            Role::Message => {
                self.go_on_with_the_note();
                let _ = write!(self.text, "{value:?}");
            }
            Role::Note => self.take_field(field, value),
            Role::LeftOut => {}
            Role::Regarding(part) => self.format_part(Tag::Regarding(part), value),
            Role::Related(part) => self.format_part(Tag::Related(part), value),
            Role::Reason => drop(self.format_word(Tag::Reason, value)),
            Role::Action => drop(self.format_word(Tag::Action, value)),
            Role::Type => match unquoted(&format!("{value:?}")) {
                "Normal" => self.kind = Some(EventType::Normal),
                "Warning" => self.kind = Some(EventType::Warning),
                _ => self.is_malformed = true,
            },
            Role::Skip => match unquoted(&format!("{value:?}")) {
                "true" => self.is_skipped = true,
                "false" => self.is_skipped = false,
                _ => self.is_malformed = true,
            },
            Role::Annotation => self.take_annotation(field, value),
            // They were taken before all others.
            Role::ObjectRef | Role::OtelName(_) | Role::OtelUid(_) | Role::OtelNamespace => {}
        }
    }

    /// A value that no part of a reference can have.
    fn take_odd(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match self.role(field) {
            Role::Regarding(_) | Role::Related(_) => self.is_malformed = true,
            role => self.take(role, field, value),
        }
    }

    fn take_field(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if let Some(redact) = self.redact {
            let whole = format!("{value:?}");
            let words = match redact(field.name(), &whole) {
                Redaction::Keep => &*whole,
                Redaction::Mask => MASK,
                Redaction::Drop => return,
            };
            self.begin_field(field);
            return self.text.write(words);
        }
        self.begin_field(field);
        let _ = write!(self.text, "{value:?}");
    }

    fn format_part(&mut self, tag: Tag, value: &dyn fmt::Debug) {
        let is_empty = self.format_word(tag, value);
        self.parts.say(tag, is_empty);
    }

    /// Writes a word, and says whether it is empty.
    fn format_word(&mut self, tag: Tag, value: &dyn fmt::Debug) -> bool {
        self.text.begin(tag);
        let place = self.text.len();
        let _ = write!(self.text, "{value:?}");
        let words = self.text.since(place);
        if words.starts_with('"') {
            let words = unquoted(words).to_owned();
            self.text.take_back(place);
            self.text.write(&words);
        }
        self.text.len() == place
    }

    fn take_annotation(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let key = field.name().strip_prefix(ANNOTATION).unwrap_or_default();
        let is_masked = match self.redact.map(|it| it(field.name(), &format!("{value:?}"))) {
            Some(Redaction::Drop) => return,
            Some(Redaction::Mask) => true,
            Some(Redaction::Keep) | None => false,
        };
        self.text.push(Tag::AnnotationKey, key);
        self.text.begin(Tag::AnnotationValue);
        let _ = match is_masked {
            true => self.text.write_str(MASK),
            false => write!(self.text, "{value:?}"),
        };
    }
}

impl Visit for Reading<'_> {
    // Every record has a message.
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match self.role(field) {
            Role::Message => {
                self.go_on_with_the_note();
                let _ = self.text.write_fmt(format_args!("{value:?}"));
            }
            role => self.take(role, field, value),
        }
    }

    // Strings need no formatting, and most fields of ours are strings.
    fn record_str(&mut self, field: &Field, value: &str) {
        match self.role(field) {
            Role::Regarding(part) => self.take_part(Tag::Regarding(part), value),
            Role::Reason => self.text.push(Tag::Reason, value),
            Role::Note if self.redact.is_none() => {
                self.begin_field(field);
                self.text.write(value);
            }
            role => self.take(role, field, &format_args!("{value}")),
        }
    }

    /// An error is told with all that caused it.
    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.take_odd(field, &Chain(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.take_odd(field, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.take_odd(field, &value);
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.take_odd(field, &value);
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.take_odd(field, &value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.take_odd(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.take_odd(field, &value);
    }

    fn record_bytes(&mut self, field: &Field, value: &[u8]) {
        self.take_odd(field, &Bytes(value));
    }
}

/// An error and its sources, `what: why: why`. A source whose words end those before it is not said again: many errors
/// tell their source themselves.
struct Chain<'a>(&'a (dyn Error + 'static));

impl fmt::Debug for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.0.to_string();
        f.write_str(&said)?;
        let mut source = self.0.source();
        for _ in 0..SOURCES {
            let Some(error) = source else { break };
            source = error.source();
            let words = error.to_string();
            if !said.ends_with(&words) {
                write!(f, ": {words}")?;
                said = words;
            }
        }
        Ok(())
    }
}

/// Bytes as text, where they are text, as `Debug` shows them where not.
struct Bytes<'a>(&'a [u8]);

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::str::from_utf8(self.0) {
            Ok(words) => f.write_str(words),
            Err(_) => write!(f, "{:?}", self.0),
        }
    }
}
