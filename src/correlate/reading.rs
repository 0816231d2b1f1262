//! What an occurrence says, ready to be told apart from others and to be made an Event.

use std::borrow::Cow;
use std::sync::Arc;

use super::annotations::fitting;
use super::cache::{Fingerprint, Printer};
use super::memo::Memo;
use super::series::Body;
use super::settings::Settings;
use super::similar::COMBINED;
use crate::message::{EventType, NOTE_LIMIT, Occurrence, Opened, WORD_LIMIT, cut_end, cut_middle, without_controls};
use crate::regarding::Regarding;

/// An occurrence, read.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    pub(super) occurrence: &'a Occurrence,
    opened: Opened<'a>,
}

impl<'a> Reading<'a> {
    pub(super) fn of(occurrence: &'a Occurrence, printer: &Printer, memo: &mut Memo) -> Self {
        let opened = match memo.find(printer, occurrence) {
            None => occurrence.open(),
            Some((_, Some(known))) => occurrence.open_about(Some(known)),
            Some((print, None)) => {
                let opened = occurrence.open();
                memo.keep(print, &opened.regarding);
                opened
            }
        };
        Self { occurrence, opened }
    }

    fn reason<'s>(&'s self, settings: &'s Settings) -> &'s str {
        let default = match self.occurrence.kind {
            EventType::Normal => &settings.normal_reason,
            EventType::Warning => &settings.warning_reason,
        };
        self.occurrence.reason(&self.opened).filter(|it| !it.is_empty()).unwrap_or(default)
    }

    pub(super) fn regarding(&self) -> &Arc<Regarding> {
        &self.opened.regarding
    }

    /// It is about this.
    pub(super) fn is_about(&mut self, regarding: Arc<Regarding>) {
        self.opened.regarding = Cow::Owned(regarding);
    }

    /// Whether its object could be one: it has kind and name, or a uid, and it is no Event itself (kopf's guard: an
    /// Event about an Event would have one of its own, and so on).
    pub(super) fn is_well_formed(&self, settings: &Settings) -> bool {
        let it = self.regarding();
        let size = it.api_version.len() + it.kind.len() + it.namespace.len() + it.name.len() + it.uid.len();
        let is_event = &*it.kind == "Event"
            && (it.api_version.is_empty() || &*it.api_version == "v1" || it.api_version.starts_with("events.k8s.io/"));
        it.is_enough() && !is_event && size + it.field_path.len() <= settings.reference
    }

    /// The object, by name, so that references with and without a uid are one; by uid where there is no name.
    pub(super) fn object_print(&self, printer: &Printer) -> Fingerprint {
        let it = self.regarding();
        match &*it.name {
            "" => printer.print((&it.uid, 1)),
            name => printer.print((&it.api_version, &it.kind, &it.namespace, name)),
        }
    }

    /// What its series and its kin have in common. `epoch` tells objects of one name apart whose uid is not given.
    pub(super) fn kin_print(
        &self,
        printer: &Printer,
        object: Fingerprint,
        epoch: u32,
        settings: &Settings,
    ) -> Fingerprint {
        let it = self.regarding();
        printer.print((object, epoch, &it.uid, &it.field_path, self.occurrence.kind, self.reason(settings)))
    }

    /// The series: its kin's with this action and note.
    pub(super) fn series_print(&self, printer: &Printer, kin: Fingerprint) -> Fingerprint {
        // An action that comes from the span's name is told by the name; one that is the reason, by the reason.
        let action = self.opened.action.or(self.occurrence.span);
        printer.print((kin, action, &self.opened.note))
    }

    /// Its words as the server takes them; says how many annotations were left out, too.
    pub(super) fn body(&self, combined: bool, annotations: usize, settings: &Settings) -> (Box<Body>, usize) {
        let reason = word(self.reason(settings), &settings.normal_reason);
        let action = match (self.opened.action, self.occurrence.span) {
            (Some(action), _) if !action.is_empty() => word(action, &reason),
            (_, Some(span)) => word(&pascal_case(span), &reason),
            _ => reason.clone(),
        };
        let mut note = String::new();
        self.write_note(combined, &mut note);
        let (annotations, left_out) = match &*self.opened.annotations {
            [] => (Vec::new(), 0),
            given => fitting(given, annotations),
        };
        let related = self.opened.related.as_deref().cloned();
        let regarding = self.regarding().clone();
        (Box::new(Body { regarding, related, reason, action, note, annotations }), left_out)
    }

    /// Its note, made to fit, in the place of whatever stands there.
    pub(super) fn write_note(&self, combined: bool, note: &mut String) {
        note.clear();
        let prefix = if combined { COMBINED } else { "" };
        note.push_str(prefix);
        note.push_str(&cut_middle(&without_controls(&self.opened.note), NOTE_LIMIT - prefix.len()));
    }
}

fn word(text: &str, otherwise: &str) -> Box<str> {
    match cut_end(&without_controls(text), WORD_LIMIT) {
        "" => otherwise.into(),
        it => it.into(),
    }
}

/// `scale up` and `scale_up` are `ScaleUp`.
fn pascal_case(name: &str) -> String {
    let words = name.split(|it: char| !it.is_alphanumeric());
    let mut pascal = String::with_capacity(name.len());
    for word in words {
        let mut letters = word.chars();
        pascal.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        pascal.push_str(letters.as_str());
    }
    pascal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_names_become_pascal_case() {
        for (name, pascal) in
            [("reconciling object", "ReconcilingObject"), ("scale_up", "ScaleUp"), ("Apply", "Apply"), ("--", "")]
        {
            assert_eq!(pascal_case(name), pascal);
        }
    }
}
