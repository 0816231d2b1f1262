//! What a person should hear of: once per cause and minute, however often it happens.

use std::time::Duration;

use tracing::Metadata;

use super::settings::Settings;
use crate::message::{Diagnosis, Loss, cut_end, without_controls};

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
    QueueFull,
    Malformed,
    NoObject,
}

#[derive(Debug, Default)]
pub(super) struct Diagnoses {
    /// What was dropped before it came here, as far as it was told.
    before: [u64; Loss::COUNT],
    causes: [Told; Cause::NoObject as usize + 1],
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

    /// Notes what was dropped before it came here: so much so far, and where the first was logged.
    pub(super) fn note_losses(
        &mut self,
        now: Duration,
        dropped: [u64; Loss::COUNT],
        at: impl Fn(Loss) -> Option<&'static Metadata<'static>>,
    ) {
        if dropped == self.before {
            return;
        }
        for (loss, cause) in [
            (Loss::QueueFull, Cause::QueueFull),
            (Loss::Malformed, Cause::Malformed),
            (Loss::NoObject, Cause::NoObject),
        ] {
            let times = dropped[loss as usize];
            if times > self.before[loss as usize] {
                self.note(now, cause, || lost(loss, times, at(loss)));
            }
        }
        self.before = dropped;
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

fn lost(loss: Loss, times: u64, first: Option<&'static Metadata<'static>>) -> String {
    let why = match loss {
        Loss::QueueFull => {
            return format!("the queue was full: {times} records were dropped so far, Normal ones before Warnings");
        }
        Loss::NoObject => {
            "are about no object: is each in a span of its object, which no global filter switches off \
             (`fmt::layer().with_filter(..)` in place of a filter on the registry)?"
        }
        _ => "name an object in the wrong shape: an empty name, a kind without a name, a number for a name",
    };
    let place = first.map_or_else(String::new, |it| match (it.file(), it.line()) {
        (Some(file), Some(line)) => format!(", the first at {file}:{line}"),
        _ => format!(", the first of target {}", it.target()),
    });
    format!("{times} records were dropped so far that {why}{place}")
}

pub(super) fn forbidden(words: &str, create: bool, namespace: &str, group: &str) -> String {
    let act = if create { "create" } else { "patch" };
    format!(
        "not allowed to {act} Events in namespace `{namespace}`; the missing RBAC rule is \
         {{apiGroups: [\"{group}\"], resources: [\"events\"], verbs: [\"create\", \"patch\"]}}; \
         the namespace rests and is tried again by itself ({words})"
    )
}
