//! The layer on a queue of its own, read as the poster reads it.

mod content;
mod filter;
mod harm;
mod lineage;
mod merge;

use std::fmt;
use std::sync::Arc;

use k8s_openapi::api::core::v1::ObjectReference;
use tracing::Dispatch;
use tracing_subscriber::Registry;
use tracing_subscriber::prelude::*;

use super::Choices;
use crate::message::{EventType, Loss, NOTE_LIMIT, Occurrence, cut_middle, without_controls};
use crate::queue::{Receiver, Sender, queue};
use crate::regarding::Regarding;

/// An ear at the layer's other end.
struct Ear {
    sender: Sender,
    receiver: Receiver,
}

/// What was heard, as text: one line per fact.
#[derive(Debug, PartialEq, Eq)]
struct Heard {
    about: String,
    related: Option<String>,
    kind: EventType,
    reason: Option<String>,
    action: Option<String>,
    note: String,
    annotations: Vec<(String, String)>,
}

/// A subscriber with the layer alone, and an ear.
fn listening_with(choices: Choices) -> (Dispatch, Ear) {
    let (sender, receiver) = queue(64, false);
    let layer = super::new::<Registry>(sender.clone(), choices);
    (Dispatch::new(tracing_subscriber::registry().with(layer)), Ear { sender, receiver })
}

fn listening() -> (Dispatch, Ear) {
    listening_with(Choices::default())
}

/// Everything heard while this runs.
fn heard(run: impl FnOnce()) -> Vec<Heard> {
    let (dispatch, ear) = listening();
    tracing::dispatcher::with_default(&dispatch, run);
    ear.heard()
}

/// The one record heard while this runs.
#[track_caller]
fn heard_once(run: impl FnOnce()) -> Heard {
    let mut all = heard(run);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// How many were dropped as malformed while this runs; nothing is heard.
#[track_caller]
fn malformed(run: impl FnOnce()) -> u64 {
    let (dispatch, ear) = listening();
    tracing::dispatcher::with_default(&dispatch, run);
    assert_eq!(ear.heard(), []);
    ear.lost(Loss::Malformed)
}

impl Ear {
    fn heard(&self) -> Vec<Heard> {
        std::iter::from_fn(|| self.receiver.try_recv()).map(|it| Heard::of(&it)).collect()
    }

    fn notes(&self) -> Vec<String> {
        self.heard().into_iter().map(|it| it.note).collect()
    }

    fn lost(&self, loss: Loss) -> u64 {
        self.sender.dropped()[loss as usize]
    }
}

impl Heard {
    fn of(occurrence: &Occurrence) -> Self {
        let opened = occurrence.open();
        Self {
            about: Whole(&opened.regarding).to_string(),
            related: opened.related.as_ref().map(|it| Whole(it).to_string()),
            kind: occurrence.kind,
            reason: occurrence.reason(&opened).map(Into::into),
            action: opened.action.or(occurrence.span).map(Into::into),
            note: cut_middle(&without_controls(&opened.note), NOTE_LIMIT).into(),
            annotations: opened.annotations.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
        }
    }
}

/// Every part of a reference: `api_version Kind namespace/name uid=.. path=..`, without what is empty.
struct Whole<'a>(&'a Regarding);

impl fmt::Display for Whole<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let it = self.0;
        let name = match &*it.namespace {
            "" => it.name.to_string(),
            namespace => format!("{namespace}/{}", it.name),
        };
        let tail = |key: &str, value: &str| if value.is_empty() { String::new() } else { format!("{key}={value}") };
        let parts =
            [it.api_version.to_string(), it.kind.to_string(), name, tail("uid", &it.uid), tail("path", &it.field_path)];
        f.write_str(&parts.iter().filter(|it| !it.is_empty()).cloned().collect::<Vec<_>>().join(" "))
    }
}

fn reference(kind: &str, namespace: Option<&str>, name: &str, uid: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some("example.com/v1".into()),
        kind: Some(kind.into()),
        namespace: namespace.map(Into::into),
        name: Some(name.into()),
        uid: Some(uid.into()),
        ..Default::default()
    }
}

fn choices(change: impl FnOnce(&mut Choices)) -> Choices {
    let mut choices = Choices::default();
    change(&mut choices);
    choices
}
