//! A [`Request`] as an HTTP call with JSON, for core/v1 or events.k8s.io/v1.

use std::fmt::Write;

use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::message::{KubeEvent, Request, Telling, Wall};
use crate::regarding::Regarding;

/// Through which of its two API groups an Event is written. One storage holds both, and each shows the other's.
///
/// The default is [`Api::CoreV1`]. The rights are separate: a rule for `events` in the group `""` says nothing about
/// `events.k8s.io`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Api {
    /// `v1`, with `eventTime`, `series` and the older `count`, `firstTimestamp` and `lastTimestamp` all set.
    ///
    /// The one form that every viewer sorts and counts right, and the only one in which a note can be renewed.
    #[default]
    CoreV1,
    /// `events.k8s.io/v1`, for clusters where only that group is granted. What differs:
    ///
    /// - `kubectl describe` and `kubectl get events --sort-by=.lastTimestamp` sort by `lastTimestamp`, which this group
    ///   does not let anyone set. They show all such Events first, those of an object in the order in which they were
    ///   made, and after them those of other reporters, whatever their times.
    /// - The note of an Event cannot be changed: a combined Event counts, but keeps its first note.
    /// - Viewers that know only the older fields see neither a count nor when it was seen last.
    ///
    /// `kubectl events`, and the columns of `kubectl get events`, are the same for both. The repository holds transcripts
    /// of the real kubectl for either, in `tests/snapshots/`.
    EventsV1,
}

/// One HTTP call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) method: http::Method,
    pub(crate) path: String,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) accept: &'static str,
    pub(crate) body: Vec<u8>,
}

impl Api {
    /// The group's name in RBAC rules: `""` or `events.k8s.io`.
    pub fn group(self) -> &'static str {
        match self {
            Api::CoreV1 => "",
            Api::EventsV1 => "events.k8s.io",
        }
    }

    fn version(self) -> &'static str {
        match self {
            Api::CoreV1 => "v1",
            Api::EventsV1 => "events.k8s.io/v1",
        }
    }
}

impl Telling {
    /// The whole Event as the JSON that a create sends, for sinks that write it elsewhere.
    pub fn to_json(&self, api: Api) -> String {
        whole(self, api).to_string()
    }
}

/// The call that a request is.
pub(crate) fn call(request: &Request, api: Api) -> Call {
    match request {
        Request::Create(telling) => Call {
            method: http::Method::POST,
            path: events_path(&telling.event, api),
            content_type: Some("application/json"),
            accept: "application/json",
            body: whole(telling, api).to_string().into_bytes(),
        },
        Request::Patch(telling) => Call {
            method: http::Method::PATCH,
            path: format!("{}/{}", events_path(&telling.event, api), segment(&telling.event.name)),
            content_type: Some("application/merge-patch+json"),
            accept: "application/json",
            body: change(telling, api).to_string().into_bytes(),
        },
        Request::Discover { api_version } => get(version_path(api_version), "application/json"),
        Request::LookUp { regarding, plural } => get(object_path(regarding, plural), METADATA_ONLY),
    }
}

/// Only an object's metadata: what a look-up needs, and all that its right should have to cover.
const METADATA_ONLY: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

fn get(path: String, accept: &'static str) -> Call {
    Call { method: http::Method::GET, path, content_type: None, accept, body: Vec::new() }
}

fn whole(telling: &Telling, api: Api) -> Value {
    let event = &*telling.event;
    let count = shown(telling.count);
    let note: &str = telling.note.as_deref().unwrap_or(&event.note);
    let mut metadata = json!({ "name": event.name, "namespace": event.namespace });
    if !event.annotations.is_empty() {
        metadata["annotations"] =
            event.annotations.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
    }
    let mut body = json!({
        "apiVersion": api.version(),
        "kind": "Event",
        "metadata": metadata,
        "type": event.kind.as_str(),
        "reason": event.reason,
        "action": event.action,
        "eventTime": micro_time(event.time),
        "reportingInstance": event.reporter.instance,
    });
    if count > 1 {
        body["series"] = series(telling);
    }
    if let Some(related) = &event.related {
        body["related"] = reference(related);
    }
    match api {
        Api::CoreV1 => {
            body["involvedObject"] = reference(&event.regarding);
            body["message"] = json!(note);
            body["reportingComponent"] = json!(event.reporter.controller);
            body["source"] = json!({ "component": event.reporter.controller, "host": event.reporter.instance });
            body["firstTimestamp"] = json!(time(event.time));
            body["lastTimestamp"] = json!(time(telling.last));
            body["count"] = json!(count);
        }
        Api::EventsV1 => {
            body["regarding"] = reference(&event.regarding);
            body["note"] = json!(note);
            body["reportingController"] = json!(event.reporter.controller);
        }
    }
    body
}

/// What a patch sends: through events.k8s.io/v1 nothing but the series may change.
fn change(telling: &Telling, api: Api) -> Value {
    let mut body = json!({ "series": series(telling) });
    if api == Api::CoreV1 {
        body["count"] = json!(shown(telling.count));
        body["lastTimestamp"] = json!(time(telling.last));
        if let Some(note) = telling.note.as_deref() {
            body["message"] = json!(note);
        }
    }
    body
}

/// The server refuses a series of less than two.
fn series(telling: &Telling) -> Value {
    json!({ "count": shown(telling.count).max(2), "lastObservedTime": micro_time(telling.last) })
}

/// The API's counts are `int32`; a larger one would be refused, so it is shown as the largest.
fn shown(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn reference(it: &Regarding) -> Value {
    let parts = [
        ("apiVersion", &it.api_version),
        ("kind", &it.kind),
        ("namespace", &it.namespace),
        ("name", &it.name),
        ("uid", &it.uid),
        ("fieldPath", &it.field_path),
    ];
    let present = parts.into_iter().filter(|(_, text)| !text.is_empty());
    present.map(|(key, text)| (key.to_owned(), json!(text))).collect()
}

/// Exactly six digits of a second: with fewer or more the server answers 400.
fn micro_time(it: Wall) -> String {
    moment(it).strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

fn time(it: Wall) -> String {
    moment(it).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A clock that says a time before 1970, or past the year 9999, is shown as 1970: the server reads neither.
fn moment(it: Wall) -> Timestamp {
    Timestamp::from_microsecond(it.0.max(0)).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn events_path(event: &KubeEvent, api: Api) -> String {
    format!("{}/namespaces/{}/events", version_path(api.version()), segment(&event.namespace))
}

fn object_path(regarding: &Regarding, plural: &str) -> String {
    let mut path = version_path(&regarding.api_version);
    if !regarding.namespace.is_empty() {
        let _ = write!(path, "/namespaces/{}", segment(&regarding.namespace));
    }
    let _ = write!(path, "/{}/{}", segment(plural), segment(&regarding.name));
    path
}

/// `/api/v1` for the core group, `/apis/GROUP/VERSION` for the others.
fn version_path(api_version: &str) -> String {
    match api_version.split_once('/') {
        Some((group, version)) => format!("/apis/{}/{}", segment(group), segment(version)),
        None => format!("/api/{}", segment(api_version)),
    }
}

/// A name as one segment of a path. Only `.` would be read by somebody on the way, alone or doubled.
fn segment(name: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    match name {
        "." | ".." => name.replace('.', "%2E"),
        name => utf8_percent_encode(name, KEPT).to_string(),
    }
}

#[cfg(test)]
mod tests;
