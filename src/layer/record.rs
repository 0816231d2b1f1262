//! What a record says: its fields, visited once, become the pieces of an occurrence.

use std::error::Error;
use std::fmt::{self, Write};

use tracing::Event;
use tracing::field::{Field, Visit};

use super::names::{ANNOTATION, Role};
use super::plan::Plan;
use super::span::{Listening, Told, may_be, unquoted};
use super::{Redact, Redaction};
use crate::message::{EventType, Tag, Text};
use crate::regarding::{Own, Part, Regarding};

/// A record that is being read.
pub(super) struct Reading<'a> {
    plan: &'a Plan,
    redact: Option<&'a Redact>,
    text: &'a mut Text,
    /// What the fields are in this pass, by their index.
    roles: &'a [Role],
    /// Whether the note has begun, and whether the newest piece is the note's.
    note: Note,
    kind: Option<EventType>,
    is_skipped: bool,
    is_malformed: bool,
    named: Named,
}

/// What was read, beside the text.
pub(super) struct Read {
    pub(super) kind: EventType,
    pub(super) is_skipped: bool,
    pub(super) is_malformed: bool,
    pub(super) named: Named,
}

/// Which of the parts that make a reference enough the record says itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Named {
    pub(super) kind: bool,
    pub(super) name: bool,
    pub(super) uid: bool,
}

impl Named {
    /// Whether an Event can be posted about what the record names, completed by what the spans around it name.
    pub(super) fn is_enough(self, outer: Option<&Regarding>) -> bool {
        match (self.kind, self.name, self.uid) {
            (true, true, _) | (.., true) => true,
            // Another kind forgets the outer name; the same keeps it. The poster reads the words.
            (true, false, false) | (false, false, false) => outer.is_some_and(Regarding::is_enough),
            (false, true, false) => outer.is_some_and(|it| !it.kind.is_empty()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Note {
    None,
    /// Begun, but something else was written since.
    Left,
    Open,
}

/// A chain of errors that goes on for longer than this goes on for ever.
const SOURCES: usize = 32;

/// Stands where a value was masked.
const MASK: &str = "***";

/// Reads a record. Its message comes first in the note, whatever stands before it.
#[inline]
pub(super) fn read(event: &Event<'_>, plan: &Plan, redact: Option<&Redact>, text: &mut Text) -> Read {
    let (roles, then) = plan.passes();
    let mut reading = Reading {
        plan,
        redact,
        text,
        roles,
        note: Note::None,
        kind: None,
        is_skipped: false,
        is_malformed: false,
        named: Named::default(),
    };
    if plan.is_ambient {
        reading.take_ambient(event);
    }
    event.record(&mut reading);
    if let Some(then) = then {
        reading.roles = then;
        event.record(&mut reading);
    }
    Read {
        kind: reading.kind.unwrap_or(plan.kind),
        is_skipped: reading.is_skipped,
        is_malformed: reading.is_malformed,
        named: reading.named,
    }
}

impl Reading<'_> {
    /// A record that names its object by others' words is read as a span is: it is rare, and may cost.
    #[cold]
    fn take_ambient(&mut self, event: &Event<'_>) {
        let mut listening = Listening { plan: self.plan, said: Vec::new() };
        event.record(&mut listening);
        let mut told = Told::default();
        told.take(listening.said);
        self.is_malformed |= told.is_malformed();
        for (own, tag) in
            [(told.regarding(None), Tag::Regarding as fn(Part) -> Tag), (told.related().cloned(), Tag::Related)]
        {
            let Some(Own { parts, namespace_is_said }) = own else { continue };
            let Regarding { api_version, kind, namespace, name, uid, field_path, .. } = &parts;
            if matches!(tag(Part::Name), Tag::Regarding(_)) {
                self.named = Named { kind: !kind.is_empty(), name: !name.is_empty(), uid: !uid.is_empty() };
            }
            for (part, words) in [
                (Part::ApiVersion, api_version),
                (Part::Kind, kind),
                (Part::Namespace, namespace),
                (Part::Name, name),
                (Part::Uid, uid),
                (Part::FieldPath, field_path),
            ] {
                if !words.is_empty() || (part == Part::Namespace && namespace_is_said) {
                    self.text.push(tag(part), words);
                }
            }
        }
    }

    #[inline]
    fn role(&self, field: &Field) -> Role {
        self.roles.get(field.index()).copied().unwrap_or(Role::LeftOut)
    }

    /// A value that is words, or can be written as such.
    #[inline]
    fn take(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match self.role(field) {
            Role::Message => {
                self.go_on_with_the_note();
                let _ = write!(self.text, "{value:?}");
            }
            Role::Note => self.take_field(field, value),
            Role::LeftOut => {}
            Role::Regarding(part) => self.take_part(Tag::Regarding(part), value),
            Role::Related(part) => self.take_part(Tag::Related(part), value),
            role => self.take_other(role, field, value),
        }
    }

    /// The same for plain strings, which need no formatting.
    #[inline]
    fn take_str(&mut self, field: &Field, value: &str) {
        match self.role(field) {
            Role::Message => {
                self.go_on_with_the_note();
                self.text.write(value);
            }
            Role::Note if self.redact.is_none() => {
                self.begin_field(field);
                self.text.write(value);
            }
            Role::LeftOut => {}
            Role::Regarding(part) => self.take_part_str(Tag::Regarding(part), value),
            Role::Related(part) => self.take_part_str(Tag::Related(part), value),
            Role::Reason if !value.is_empty() => {
                self.note = self.note.left();
                self.text.push(Tag::Reason, value);
            }
            _ => self.take(field, &format_args!("{value}")),
        }
    }

    /// A value that no part of a reference can have.
    #[inline]
    fn take_odd(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match self.role(field) {
            Role::Regarding(_) | Role::Related(_) => self.is_malformed = true,
            _ => self.take(field, value),
        }
    }

    fn go_on_with_the_note(&mut self) {
        if self.note != Note::Open {
            self.text.begin(Tag::Note);
            self.note = Note::Open;
        }
    }

    #[inline]
    fn begin_field(&mut self, field: &Field) {
        let is_first = self.note == Note::None;
        self.go_on_with_the_note();
        if !is_first {
            self.text.write(" ");
        }
        self.text.write(field.name());
        self.text.write("=");
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

    fn take_part(&mut self, tag: Tag, value: &dyn fmt::Debug) {
        if self.plan.is_ambient {
            return;
        }
        self.note = self.note.left();
        self.text.begin(tag);
        let place = self.text.len();
        let _ = write!(self.text, "{value:?}");
        let words = self.text.since(place);
        if words.starts_with('"') {
            let words = unquoted(words).to_owned();
            self.text.take_back(place);
            self.text.write(&words);
        }
        self.check_part(tag, self.text.len() - place);
    }

    #[inline]
    fn take_part_str(&mut self, tag: Tag, value: &str) {
        if self.plan.is_ambient {
            return;
        }
        self.note = self.note.left();
        self.text.push(tag, value);
        self.check_part(tag, value.len());
    }

    #[inline]
    fn check_part(&mut self, tag: Tag, length: usize) {
        let (Tag::Regarding(part) | Tag::Related(part)) = tag else { return };
        let is_empty = length == 0;
        self.is_malformed |= self.text.is_overlong() || (is_empty && !may_be(part, ""));
        if let Tag::Regarding(part) = tag {
            match part {
                Part::Kind => self.named.kind = !is_empty,
                Part::Name => self.named.name = !is_empty,
                Part::Uid => self.named.uid = !is_empty,
                Part::ApiVersion | Part::Namespace | Part::FieldPath => {}
            }
        }
    }

    fn take_other(&mut self, role: Role, field: &Field, value: &dyn fmt::Debug) {
        match role {
            Role::Reason => self.take_word(Tag::Reason, value),
            Role::Action => self.take_word(Tag::Action, value),
            Role::Type => {
                let words = format!("{value:?}");
                match unquoted(&words) {
                    "Normal" => self.kind = Some(EventType::Normal),
                    "Warning" => self.kind = Some(EventType::Warning),
                    _ => self.is_malformed = true,
                }
            }
            Role::Skip => match unquoted(&format!("{value:?}")) {
                "true" => self.is_skipped = true,
                "false" => self.is_skipped = false,
                _ => self.is_malformed = true,
            },
            Role::Annotation => self.take_annotation(field, value),
            _ => {}
        }
    }

    fn take_word(&mut self, tag: Tag, value: &dyn fmt::Debug) {
        self.note = self.note.left();
        self.text.begin(tag);
        let words = self.text.len();
        let _ = write!(self.text, "{value:?}");
        let written = self.text.since(words);
        if written.starts_with('"') {
            let word = unquoted(written).to_owned();
            self.text.take_back(words);
            self.text.write(&word);
        }
    }

    fn take_annotation(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let key = field.name().strip_prefix(ANNOTATION).unwrap_or_default();
        let masked = match self.redact.map(|it| it(field.name(), &format!("{value:?}"))) {
            Some(Redaction::Drop) => return,
            Some(Redaction::Mask) => true,
            Some(Redaction::Keep) | None => false,
        };
        self.note = self.note.left();
        self.text.push(Tag::AnnotationKey, key);
        self.text.begin(Tag::AnnotationValue);
        let _ = match masked {
            true => self.text.write_str(MASK),
            false => write!(self.text, "{value:?}"),
        };
    }
}

impl Note {
    fn left(self) -> Self {
        if self == Note::Open { Note::Left } else { self }
    }
}

impl Visit for Reading<'_> {
    #[inline]
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.take(field, value);
    }

    #[inline]
    fn record_str(&mut self, field: &Field, value: &str) {
        self.take_str(field, value);
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
