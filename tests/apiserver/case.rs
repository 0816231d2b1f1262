//! One row: a request, and what a server must answer.

use std::collections::BTreeMap;

use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use crate::support::apiserver::Rule;
use crate::support::server::Server;

/// Where Events of the new group are posted.
pub(crate) const STRICT: &str = "/apis/events.k8s.io/v1/namespaces/default/events";
/// Where those of the old group are.
pub(crate) const CORE: &str = "/api/v1/namespaces/default/events";

pub(crate) const DNS: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
     characters, '-' or '.', and must \
     start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
pub(crate) const NAME_PART: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start \
     and end with an \
     alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// A row of the table. In its texts `{name}` stands for the name of its Event.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) title: String,
    method: &'static str,
    path: String,
    content_type: &'static str,
    accept: Option<&'static str>,
    user: Who,
    name: String,
    body: Sent,
    status: u16,
    reason: &'static str,
    message: Option<String>,
    warnings: Vec<String>,
    stored: Vec<(&'static str, Stored)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    Admin,
    Anonymous,
    Stranger,
    /// One of those who may do little: see [`Desk::new`].
    Named(&'static str),
}

#[derive(Debug, Clone)]
enum Sent {
    Nothing,
    Json(Value),
    Raw(Vec<u8>),
}

/// What an answer holds at some place.
#[derive(Debug, Clone)]
enum Stored {
    Is(Value),
    Missing,
    /// A text that begins so and is so long.
    Like(String, usize),
    Count(usize),
}

/// A POST of a valid Event to the new group.
pub(crate) fn strict(title: impl Into<String>) -> Case {
    Case::new(title, "POST", STRICT).json(json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": { "name": "{name}" },
        "eventTime": "2026-12-02T06:51:29.003852Z", "reportingController": "example.com/probe",
        "reportingInstance": "probe-1",
        "action": "Probing", "reason": "Probed", "note": "a note", "type": "Normal",
        "regarding": {
            "apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "cm1",
            "uid": "4453b96d-914b-4361-817a-746253b20b3e",
        },
    }))
}

/// A POST of a valid Event of the old style to the old group.
pub(crate) fn old(title: impl Into<String>) -> Case {
    Case::new(title, "POST", CORE).json(json!({
        "apiVersion": "v1", "kind": "Event", "metadata": { "name": "{name}" },
        "involvedObject": {
            "apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "cm1",
            "uid": "4453b96d-914b-4361-817a-746253b20b3e",
        },
        "reason": "Probed", "message": "a message", "type": "Normal", "source": { "component": "probe", "host": "h" },
        "firstTimestamp": "2026-12-02T06:51:29Z", "lastTimestamp": "2026-12-02T06:51:29Z", "count": 1,
    }))
}

/// A POST of a valid Event of the new style to the old group.
pub(crate) fn modern(title: impl Into<String>) -> Case {
    let unset = json!({ "source": null, "firstTimestamp": null, "lastTimestamp": null, "count": null });
    old(title).with(unset).with(json!({
        "eventTime": "2026-12-02T06:51:29.003852Z", "action": "Probing", "reportingComponent": "example.com/probe",
        "reportingInstance": "probe-1",
    }))
}

impl Case {
    pub(crate) fn new(title: impl Into<String>, method: &'static str, path: impl Into<String>) -> Case {
        Case {
            title: title.into(),
            method,
            path: path.into(),
            content_type: "application/json",
            accept: None,
            user: Who::Admin,
            name: String::new(),
            body: Sent::Nothing,
            status: 0,
            reason: "",
            message: None,
            warnings: Vec::new(),
            stored: Vec::new(),
        }
    }

    /// A merge-patch of an Event that an earlier row has made.
    pub(crate) fn merge(title: impl Into<String>, path: &str, name: &str, patch: Value) -> Case {
        Case::new(title, "PATCH", format!("{path}/{{name}}"))
            .named(name)
            .json(patch)
            .typed("application/merge-patch+json")
    }

    pub(crate) fn json(self, body: Value) -> Case {
        Case { body: Sent::Json(body), ..self }
    }

    pub(crate) fn raw(self, body: impl Into<Vec<u8>>) -> Case {
        Case { body: Sent::Raw(body.into()), ..self }
    }

    pub(crate) fn typed(self, content_type: &'static str) -> Case {
        Case { content_type, ..self }
    }

    pub(crate) fn accepting(self, accept: &'static str) -> Case {
        Case { accept: Some(accept), ..self }
    }

    pub(crate) fn at(self, path: &str) -> Case {
        Case { path: path.to_owned(), ..self }
    }

    pub(crate) fn query(self, query: &str) -> Case {
        Case { path: format!("{}?{query}", self.path), ..self }
    }

    pub(crate) fn by(self, user: Who) -> Case {
        Case { user, ..self }
    }

    /// Otherwise each row has a name of its own.
    pub(crate) fn named(self, name: &str) -> Case {
        Case { name: name.to_owned(), ..self }
    }

    /// Posted to another namespace.
    pub(crate) fn into_namespace(self, namespace: &str) -> Case {
        let path = self.path.replace("/namespaces/default/", &format!("/namespaces/{namespace}/"));
        Case { path, ..self }
    }

    /// The body merged with this, as a merge-patch would: null takes a field out.
    pub(crate) fn with(mut self, patch: Value) -> Case {
        if let Sent::Json(body) = &mut self.body {
            merge(body, patch);
        }
        self
    }

    /// The body with just this in that place, null included.
    pub(crate) fn set(mut self, key: &str, value: Value) -> Case {
        if let Sent::Json(body) = &mut self.body {
            body[key] = value;
        }
        self
    }

    /// The body of a create, sent as a patch of the object itself.
    pub(crate) fn patched(self) -> Case {
        Case { method: "PATCH", path: format!("{}/{{name}}", self.path), ..self }
    }

    /// The body of a create, sent in place of the object itself.
    pub(crate) fn replaced(self) -> Case {
        Case { method: "PUT", path: format!("{}/{{name}}", self.path), ..self }
    }

    /// It succeeds.
    pub(crate) fn gives(self, status: u16) -> Case {
        Case { status, ..self }
    }

    pub(crate) fn fails(self, status: u16, reason: &'static str, message: impl Into<String>) -> Case {
        Case { status, reason, message: Some(message.into()), ..self }
    }

    /// The answer is no JSON.
    pub(crate) fn plain(self, status: u16, text: &str) -> Case {
        self.fails(status, "", text)
    }

    /// 422: the Event is invalid, and this is why.
    pub(crate) fn invalid(self, why: impl AsRef<str>) -> Case {
        self.fails(422, "Invalid", format!("Event \"{{name}}\" is invalid: {}", why.as_ref()))
    }

    /// 400: the body cannot be read as an Event, and this is why.
    pub(crate) fn undecodable(self, why: impl AsRef<str>) -> Case {
        self.fails(400, "BadRequest", format!("Event in version \"v1\" cannot be handled as a Event: {}", why.as_ref()))
    }

    pub(crate) fn warned(mut self, warning: &str) -> Case {
        self.warnings.push(warning.to_owned());
        self
    }

    /// The answer holds this value there.
    pub(crate) fn stored(mut self, at: &'static str, value: Value) -> Case {
        self.stored.push((at, Stored::Is(value)));
        self
    }

    /// The answer holds nothing there.
    pub(crate) fn without(mut self, at: &'static str) -> Case {
        self.stored.push((at, Stored::Missing));
        self
    }

    /// The answer holds a text there that begins so and is so long.
    pub(crate) fn like(mut self, at: &'static str, start: &str, length: usize) -> Case {
        self.stored.push((at, Stored::Like(start.to_owned(), length)));
        self
    }

    /// The answer is a list of so many.
    pub(crate) fn items(mut self, count: usize) -> Case {
        self.stored.push(("/items", Stored::Count(count)));
        self
    }
}

/// Where the rows are asked: a client for everybody who asks.
pub(crate) struct Desk {
    clients: BTreeMap<Who, Client>,
}

impl Desk {
    /// Makes the namespaces and the users that the table speaks of.
    pub(crate) async fn new(server: &Server) -> Desk {
        server.add_namespace("other").await;
        server.add_namespace("dying").await;
        let rule = |group: &str, verbs: &[&str]| Rule::new(group, "events", verbs).in_namespace("default");
        let users = [
            ("no-rights", vec![]),
            ("core-only", vec![rule("", &["create", "patch"])]),
            ("new-only", vec![rule("events.k8s.io", &["create", "patch"])]),
            ("create-only", vec![rule("events.k8s.io", &["create"])]),
            ("patch-only", vec![rule("events.k8s.io", &["patch"])]),
            ("update-only", vec![rule("events.k8s.io", &["update"])]),
        ];
        let client = |config| Client::try_from(config).expect("a configuration of a server that runs");
        let mut clients = BTreeMap::from([
            (Who::Admin, server.client()),
            (Who::Anonymous, client(server.config_without_token())),
            (Who::Stranger, client(server.config_with("nobody-has-this"))),
        ]);
        for (name, rules) in users {
            clients.insert(Who::Named(name), client(server.grant_as(name, &rules).await));
        }
        Desk { clients }
    }

    /// Asks, and compares. The error says what differs.
    pub(crate) async fn ask(&self, case: &Case) -> Result<(), String> {
        let name = match case.name.as_str() {
            "" => crate::support::server::fresh("ev"),
            name => name.to_owned(),
        };
        let body = match &case.body {
            Sent::Nothing => Vec::new(),
            Sent::Json(body) => filled(body, &name).to_string().into_bytes(),
            Sent::Raw(body) => body.clone(),
        };
        let request = http::Request::builder()
            .method(case.method)
            .uri(case.path.replace("{name}", &name))
            .header("content-type", case.content_type)
            .header("accept", case.accept.unwrap_or("application/json"))
            .body(Body::from(body))
            .map_err(|error| error.to_string())?;
        let response = self.clients[&case.user].send(request).await.map_err(|error| format!("no answer: {error}"))?;
        let status = response.status().as_u16();
        let headers = response.headers().get_all("warning").iter();
        let warnings: Vec<String> = headers.map(|it| it.to_str().unwrap_or_default().to_owned()).collect();
        let body = response.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
        let text = String::from_utf8_lossy(&body).into_owned();
        let answer: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        case.compare(status, &name, &warnings, &answer, &text)
    }
}

impl Case {
    fn compare(&self, status: u16, name: &str, warnings: &[String], answer: &Value, text: &str) -> Result<(), String> {
        if status != self.status {
            return Err(format!("wanted {}, got {status}: {:.600}", self.status, text));
        }
        // A name that the server has made up is known from its answer alone.
        let told = answer["details"]["name"].as_str().filter(|_| self.reason == "Invalid").unwrap_or(name);
        if let Some(message) = &self.message {
            let (wanted, got) = (message.replace("{name}", told), answer["message"].as_str().unwrap_or(text));
            // What stands after an ellipsis differs between builds of a server.
            let same = match wanted.strip_suffix('…') {
                Some(start) => got.starts_with(start),
                None => got == wanted,
            };
            if !same {
                return Err(format!("\n  wanted {wanted}\n  got    {got}"));
            }
            let reason = answer["reason"].as_str().unwrap_or_default();
            if reason != self.reason && answer.is_object() {
                return Err(format!("wanted {}, got {reason}", self.reason));
            }
        }
        let wanted: Vec<String> = self.warnings.iter().map(|it| format!("299 - {it:?}")).collect();
        if wanted != warnings {
            return Err(format!("wanted the warnings {wanted:?}, got {warnings:?}"));
        }
        for (at, wanted) in &self.stored {
            let got = answer.pointer(at);
            let fits = match wanted {
                Stored::Is(value) => got == Some(&filled(value, name)),
                Stored::Missing => got.is_none(),
                Stored::Like(start, length) => {
                    got.and_then(Value::as_str).is_some_and(|it| it.starts_with(start) && it.chars().count() == *length)
                }
                Stored::Count(count) => got.and_then(Value::as_array).is_some_and(|it| it.len() == *count),
            };
            if !fits {
                let got = got.map_or("nothing".to_owned(), |it| format!("{:.300}", it.to_string()));
                return Err(format!("at {at}: wanted {wanted:?}, got {got}"));
            }
        }
        Ok(())
    }
}

/// The same with the name where `{name}` stands.
fn filled(value: &Value, name: &str) -> Value {
    match value {
        Value::String(text) => Value::from(text.replace("{name}", name)),
        Value::Array(items) => items.iter().map(|it| filled(it, name)).collect(),
        Value::Object(fields) => fields.iter().map(|(key, it)| (key.clone(), filled(it, name))).collect(),
        other => other.clone(),
    }
}

fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in patch {
        match (value, target.as_object_mut()) {
            (Value::Null, Some(fields)) => drop(fields.remove(&key)),
            (value, Some(fields)) => merge(fields.entry(key).or_insert(Value::Null), value),
            (_, None) => {}
        }
    }
}
