//! What has changed lately, for those who watch.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::message::Kind;
use super::select::Selector;
use super::status::Refusal;
use super::view::View;

/// So many changes are remembered. Who watches from an older revision is told to list anew, as etcd's compaction does
/// it.
const REMEMBERED: usize = 4096;

/// One object as it was after a change.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) revision: u64,
    /// `ADDED`, `MODIFIED`, `DELETED`.
    pub(super) what: &'static str,
    /// The storage: `events` for both groups' Events.
    pub(super) storage: String,
    pub(super) object: Map<String, Value>,
}

/// The changes, oldest first.
#[derive(Debug, Default)]
pub(super) struct Changes {
    kept: VecDeque<Change>,
    /// Of the newest change that was forgotten.
    forgotten: u64,
}

/// A watch: which changes, shown how, and how far it has read.
#[derive(Debug)]
pub(super) struct Watching {
    pub(super) kind: Kind,
    pub(super) storage: String,
    pub(super) namespace: Option<String>,
    pub(super) selector: Selector,
    pub(super) view: View,
    pub(super) seen: u64,
    /// Lines to write first: what stands already.
    pub(super) first: Vec<Value>,
    /// It has told that it fell behind, and has nothing more to tell.
    pub(super) ended: bool,
}

impl Changes {
    pub(super) fn add(&mut self, change: Change) {
        self.kept.push_back(change);
        if self.kept.len() > REMEMBERED
            && let Some(oldest) = self.kept.pop_front()
        {
            self.forgotten = oldest.revision;
        }
    }
}

impl Watching {
    /// The next lines of the stream, one JSON value each. Nothing at all: the watch ends. One that has fallen behind is
    /// told so before, and lists anew.
    pub(super) fn lines(&mut self, changes: &Changes) -> Option<Vec<Value>> {
        let mut lines = std::mem::take(&mut self.first);
        if self.ended {
            return None;
        }
        if self.seen < changes.forgotten {
            self.ended = true;
            let why = format!("too old resource version: {} ({})", self.seen, changes.forgotten);
            lines.push(json!({ "type": "ERROR", "object": Refusal::gone(&why).body() }));
            return Some(lines);
        }
        let start = changes.kept.partition_point(|it| it.revision <= self.seen);
        for change in changes.kept.range(start..) {
            self.seen = change.revision;
            let namespace = super::validate::text(&change.object, &["metadata", "namespace"]);
            let here = self.namespace.as_deref().is_none_or(|it| it == namespace);
            if here && change.storage == self.storage && self.selector.takes(&change.object) {
                lines.push(json!({ "type": change.what, "object": self.view.one(&self.kind, &change.object) }));
            }
        }
        Some(lines)
    }
}
