//! What a person should hear of: once per cause and minute, however often it happens.

use std::time::Duration;

use super::settings::Settings;
use crate::message::{Diagnosis, cut_end, without_controls};

#[derive(Clone, Copy, Debug)]
pub(super) enum Cause {
    Forbidden,
    Unauthorized,
    Unavailable,
    Invalid,
    UidAlone,
    LookUp,
    Bounds,
    TooOld,
}

#[derive(Debug, Default)]
pub(super) struct Diagnoses {
    causes: [Told; Cause::TooOld as usize + 1],
}

#[derive(Debug, Default)]
struct Told {
    waiting: Option<String>,
    left_out: u64,
    not_before: Duration,
}

impl Diagnoses {
    /// The words are made only if they will be heard.
    pub(super) fn note(&mut self, now: Duration, cause: Cause, words: impl FnOnce() -> String) {
        let told = &mut self.causes[cause as usize];
        if told.waiting.is_some() || now < told.not_before {
            told.left_out += 1;
        } else {
            told.waiting = Some(words());
        }
    }

    pub(super) fn next(&mut self, now: Duration, settings: &Settings) -> Option<Diagnosis> {
        let told = self.causes.iter_mut().find(|it| it.waiting.is_some())?;
        told.not_before = now + settings.diagnosis;
        let times = std::mem::take(&mut told.left_out);
        told.waiting.take().map(|text| Diagnosis { text, times })
    }
}

/// The server's own words, as far as a line of a log should hold them.
pub(super) fn words(text: &str) -> String {
    cut_end(&without_controls(text), 512).to_owned()
}

pub(super) fn forbidden(words: &str, create: bool, namespace: &str, group: &str) -> String {
    let act = if create { "create" } else { "patch" };
    format!(
        "not allowed to {act} Events in namespace `{namespace}`; the missing RBAC rule is \
         {{apiGroups: [\"{group}\"], resources: [\"events\"], verbs: [\"create\", \"patch\"]}}; \
         the namespace rests and is tried again by itself ({words})"
    )
}
