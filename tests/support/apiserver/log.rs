//! What was asked of the server: every request, in order, with its answer.

use std::time::Instant;

use bytes::Bytes;
use serde_json::Value;

use super::message::{Request, Route, decoded};

/// One request, as a test looks at it.
#[derive(Debug, Clone)]
pub struct Logged {
    /// From 0, in the order of arrival.
    pub number: usize,
    /// When it had been read.
    pub at: Instant,
    pub method: String,
    /// Percent-decoded.
    pub path: String,
    /// Decoded pairs, in order.
    pub query: Vec<(String, String)>,
    pub content_type: String,
    pub user_agent: String,
    pub token: Option<String>,
    pub body: Bytes,
    /// What the path names, each empty when it does not.
    pub group: String,
    pub namespace: String,
    pub resource: String,
    /// Of the path; of a create, that of the body.
    pub name: String,
    /// Nothing while it waits, and when it was never answered.
    pub status: Option<u16>,
    /// A fault answered in place of the server, or before it.
    pub faulted: bool,
    /// The server did what was asked, whatever it then answered.
    pub done: bool,
}

impl Logged {
    pub(super) fn of(request: &Request) -> Logged {
        let route = Route::of(&request.path);
        let mut logged = Logged {
            number: 0,
            at: Instant::now(),
            method: request.method.clone(),
            path: decoded(&request.path).into_owned(),
            query: request.query.clone(),
            content_type: request.content_type.clone(),
            user_agent: request.user_agent.clone(),
            token: request.token.clone(),
            body: request.body.clone(),
            group: String::new(),
            namespace: String::new(),
            resource: String::new(),
            name: String::new(),
            status: None,
            faulted: false,
            done: false,
        };
        if let Some(route) = route {
            logged.group = route.group;
            logged.namespace = route.namespace.unwrap_or_default();
            logged.resource = route.plural;
            logged.name = route.name.unwrap_or_default();
        }
        if logged.name.is_empty() && logged.method == "POST" {
            logged.name = logged.json()["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        }
        logged
    }

    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A create, patch or replace of an Event, by whichever group.
    pub fn is_write(&self) -> bool {
        self.resource == "events" && ["POST", "PATCH", "PUT"].contains(&self.method.as_str())
    }

    pub fn is_create(&self) -> bool {
        self.resource == "events" && self.method == "POST"
    }

    pub fn is_patch(&self) -> bool {
        self.resource == "events" && self.method == "PATCH"
    }

    /// One line, for a person who looks for what went wrong.
    pub fn line(&self) -> String {
        let status = self.status.map_or("unanswered".to_owned(), |it| it.to_string());
        let faulted = if self.faulted { " (a fault)" } else { "" };
        let name = if self.is_create() { format!(" [{}]", self.name) } else { String::new() };
        format!("{} {}{name}: {status}{faulted}", self.method, self.path)
    }
}
