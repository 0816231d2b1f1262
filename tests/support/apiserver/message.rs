//! What goes in and comes out: a [`Request`] as the rooms read it, an [`Answer`] as they write it, and the [`Kind`]
//! that a path names.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::{Value, json};

use super::watch::Watching;

/// One request, read whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    pub(super) method: String,
    /// Before percent-decoding.
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) content_type: String,
    pub(super) accept: String,
    pub(super) token: Option<String>,
    pub(super) user_agent: String,
    pub(super) body: Bytes,
    /// The body was longer than the server reads.
    pub(super) too_large: bool,
}

/// What is written back: the whole of it, or a stream of changes.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Bytes,
    pub(super) watching: Option<Box<Watching>>,
}

/// A sort of object that the server knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) plural: String,
    pub(super) short: String,
    pub(super) namespaced: bool,
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) namespace: Option<String>,
    pub(super) plural: String,
    pub(super) name: Option<String>,
    pub(super) subresource: Option<String>,
}

impl Request {
    /// The last value that the query gives, as a server reads it.
    pub(super) fn asked(&self, key: &str) -> Option<&str> {
        self.query.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The media type alone, without its parameters.
    pub(super) fn media_type(&self) -> &str {
        self.content_type.split(';').next().unwrap_or_default().trim()
    }

    pub(super) fn dry_run(&self) -> bool {
        self.asked("dryRun") == Some("All")
    }
}

impl Answer {
    pub(super) fn json(code: u16, body: &Value) -> Answer {
        let mut text = body.to_string();
        text.push('\n');
        Answer {
            code,
            headers: vec![("content-type", "application/json".to_owned())],
            body: text.into(),
            watching: None,
        }
    }

    pub(super) fn text(code: u16, body: impl Into<Bytes>) -> Answer {
        let headers = vec![("content-type", "text/plain; charset=utf-8".to_owned())];
        Answer { code, headers, body: body.into(), watching: None }
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.headers.push((name, value.into()));
        self
    }

    /// One `Warning` header for each.
    pub(super) fn warned(self, warnings: &[String]) -> Answer {
        warnings.iter().fold(self, |answer, it| answer.header("warning", format!("299 - {}", super::moment::quote(it))))
    }
}

impl Kind {
    pub(super) fn new(group: &str, version: &str, kind: &str, plural: &str, short: &str, namespaced: bool) -> Kind {
        let own = str::to_owned;
        Kind {
            group: own(group),
            version: own(version),
            kind: own(kind),
            plural: own(plural),
            short: own(short),
            namespaced,
        }
    }

    /// `events`, or `events.events.k8s.io`.
    pub(super) fn resource(&self) -> String {
        match self.group.as_str() {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// `v1`, or `events.k8s.io/v1`.
    pub(super) fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The details of a `Status` about one such object.
    pub(super) fn details(&self, name: &str) -> Value {
        let mut details = json!({ "kind": self.plural });
        if !name.is_empty() {
            details["name"] = json!(name);
        }
        if !self.group.is_empty() {
            details["group"] = json!(self.group);
        }
        details
    }
}

impl Route {
    /// Nothing when the path is not one of resources.
    pub(super) fn of(path: &str) -> Option<Route> {
        let parts: Vec<Cow<'_, str>> = path.strip_prefix('/')?.split('/').map(decoded).collect();
        let parts: Vec<&str> = parts.iter().map(|it| &**it).collect();
        let (group, version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            // A namespace's own subresources look like the resources in it.
            ["namespaces", _, "status" | "finalize"] => (None, rest),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some((*namespace).to_owned()), rest),
            _ => (None, rest),
        };
        let mut rest = rest.iter().map(|it| (*it).to_owned());
        let route = Route {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace,
            plural: rest.next().filter(|it| !it.is_empty())?,
            name: rest.next().filter(|it| !it.is_empty()),
            subresource: rest.next(),
        };
        Some(route).filter(|_| rest.next().is_none())
    }
}

/// The pairs of a query.
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    let pair = |it: &str| {
        let it = it.replace('+', " ");
        let (key, value) = it.split_once('=').unwrap_or((&it, ""));
        (decoded(key).into_owned(), decoded(value).into_owned())
    };
    query.split('&').filter(|it| !it.is_empty()).map(pair).collect()
}

/// Percent-decoded. What is no escape stays as it stands.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let hex = |it: u8| (it as char).to_digit(16).map(|it| it as u8);
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let pair = (bytes.get(at + 1).copied().and_then(hex), bytes.get(at + 2).copied().and_then(hex));
        match (byte, pair) {
            (b'%', (Some(high), Some(low))) => {
                out.push(high * 16 + low);
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    Cow::Owned(lossy(&out))
}

/// As Go reads text: every byte that is no UTF-8 becomes one U+FFFD of its own.
pub(super) fn lossy(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    out
}
