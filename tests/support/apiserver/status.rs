//! How a server says no: the `Status` bodies, word for word.

use serde_json::{Value, json};

use super::message::{Answer, Kind};
use super::moment::quote;

/// A request that is refused: what the `Status` body and the headers say.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) code: u16,
    reason: &'static str,
    message: String,
    details: Option<Value>,
    /// What was odd about the body. A refusal tells it as well, in `Warning` headers.
    pub(super) warnings: Vec<String>,
}

/// One fault of one field, as `field.Error` tells it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FieldError {
    field: String,
    reason: &'static str,
    body: String,
}

impl FieldError {
    pub(super) fn required(field: impl Into<String>, detail: &str) -> FieldError {
        let body = if detail.is_empty() { "Required value".to_owned() } else { format!("Required value: {detail}") };
        FieldError { field: field.into(), reason: "FieldValueRequired", body }
    }

    /// The bad value is quoted.
    pub(super) fn invalid(field: impl Into<String>, bad: &str, detail: impl AsRef<str>) -> FieldError {
        FieldError::invalid_as(field, &quote(bad), detail)
    }

    /// The bad value is written as it stands: a number, or JSON.
    pub(super) fn invalid_as(field: impl Into<String>, bad: &str, detail: impl AsRef<str>) -> FieldError {
        let body = format!("Invalid value: {bad}: {}", detail.as_ref());
        FieldError { field: field.into(), reason: "FieldValueInvalid", body }
    }

    pub(super) fn too_long(field: impl Into<String>, limit: usize) -> FieldError {
        let body = format!("Too long: may not be more than {limit} bytes");
        FieldError { field: field.into(), reason: "FieldValueTooLong", body }
    }
}

impl Refusal {
    pub(super) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { code, reason, message: message.into(), details: None, warnings: Vec::new() }
    }

    fn details(mut self, details: Value) -> Refusal {
        self.details = Some(details);
        self
    }

    pub(super) fn warned(mut self, warnings: Vec<String>) -> Refusal {
        self.warnings = warnings;
        self
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Refusal {
        Refusal::new(400, "BadRequest", message)
    }

    pub(super) fn undecodable(kind: &Kind, why: &str) -> Refusal {
        let (name, version) = (&kind.kind, &kind.version);
        Refusal::bad_request(format!("{name} in version \"{version}\" cannot be handled as a {name}: {why}"))
    }

    pub(super) fn unauthorized() -> Refusal {
        Refusal::new(401, "Unauthorized", "Unauthorized")
    }

    /// As RBAC says it: nothing but the message tells what is missing.
    pub(super) fn forbidden(kind: &Kind, name: &str, why: &str) -> Refusal {
        let about = if name.is_empty() { kind.resource() } else { format!("{} {}", kind.resource(), quote(name)) };
        Refusal::new(403, "Forbidden", format!("{about} is forbidden: {why}")).details(kind.details(name))
    }

    pub(super) fn terminating(kind: &Kind, name: &str, namespace: &str) -> Refusal {
        let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut refusal = Refusal::forbidden(kind, name, &why);
        let mut details = kind.details(name);
        details["causes"] = json!([{
            "reason": "NamespaceTerminating",
            "message": format!("namespace {namespace} is being terminated"),
            "field": "metadata.namespace",
        }]);
        refusal.details = Some(details);
        refusal
    }

    pub(super) fn not_found(kind: &Kind, name: &str) -> Refusal {
        let message = format!("{} {} not found", kind.resource(), quote(name));
        Refusal::new(404, "NotFound", message).details(kind.details(name))
    }

    /// The path itself leads nowhere.
    pub(super) fn no_such_path() -> Refusal {
        Refusal::new(404, "NotFound", "the server could not find the requested resource").details(json!({}))
    }

    pub(super) fn method_not_allowed() -> Refusal {
        let message = "the server does not allow this method on the requested resource";
        Refusal::new(405, "MethodNotAllowed", message).details(json!({}))
    }

    pub(super) fn already_exists(kind: &Kind, name: &str) -> Refusal {
        let message = format!("{} {} already exists", kind.resource(), quote(name));
        Refusal::new(409, "AlreadyExists", message).details(kind.details(name))
    }

    pub(super) fn conflict(kind: &Kind, name: &str) -> Refusal {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        let message = format!("Operation cannot be fulfilled on {} {}: {why}", kind.resource(), quote(name));
        Refusal::new(409, "Conflict", message).details(kind.details(name))
    }

    pub(super) fn apply_conflicts(causes: &[(String, String)]) -> Refusal {
        let plural = if causes.len() == 1 {
            "1 conflict: conflict with".to_owned()
        } else {
            format!("{} conflicts: conflicts with", causes.len())
        };
        let mut message = format!("Apply failed with {plural}");
        let mut told: Option<&str> = None;
        for (manager, field) in causes {
            match (told, causes.len()) {
                (_, 1) => message += &format!(" {}: {field}", quote(manager)),
                (Some(known), _) if known == manager => message += &format!("\n- {field}"),
                (None, _) => message += &format!(" {}:\n- {field}", quote(manager)),
                (Some(_), _) => message += &format!("\nconflicts with {}:\n- {field}", quote(manager)),
            }
            told = Some(manager);
        }
        let causes: Vec<Value> = causes
            .iter()
            .map(|(manager, field)| {
                let message = format!("conflict with {}", quote(manager));
                json!({ "reason": "FieldManagerConflict", "message": message, "field": field })
            })
            .collect();
        Refusal::new(409, "Conflict", message).details(json!({ "causes": causes }))
    }

    pub(super) fn too_large() -> Refusal {
        Refusal::new(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728")
    }

    pub(super) fn unsupported_media_type(message: &str) -> Refusal {
        Refusal::new(415, "UnsupportedMediaType", message)
    }

    /// Every fault is a cause; in the message the same words stand once.
    pub(super) fn invalid(kind: &Kind, name: &str, faults: &[FieldError]) -> Refusal {
        let mut said: Vec<String> = Vec::new();
        for fault in faults {
            let line = format!("{}: {}", fault.field, fault.body);
            if !said.contains(&line) {
                said.push(line);
            }
        }
        let said = match said.as_slice() {
            [only] => only.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let causes: Vec<Value> =
            faults.iter().map(|it| json!({ "reason": it.reason, "message": it.body, "field": it.field })).collect();
        // An Event is validated as the internal type, which has no group of its own; so has every built-in here.
        let mut details = json!({ "kind": kind.kind, "causes": causes });
        if !name.is_empty() {
            details["name"] = json!(name);
        }
        let message = format!("{} {} is invalid: {said}", kind.kind, quote(name));
        Refusal::new(422, "Invalid", message).details(details)
    }

    pub(super) fn apply_without_manager() -> Refusal {
        let field = "fieldManager: Required value: is required for apply patch";
        let details = json!({
            "group": "meta.k8s.io", "kind": "PatchOptions",
            "causes": [{
                "reason": "FieldValueRequired", "message": "Required value: is required for \
                     apply patch", "field": "fieldManager",
            }],
        });
        Refusal::new(422, "Invalid", format!("PatchOptions.meta.k8s.io \"\" is invalid: {field}")).details(details)
    }

    /// A JSON patch whose test failed, or that names what is not there.
    pub(super) fn unpatchable() -> Refusal {
        let said = "the server rejected our request due to an error in our request";
        Refusal::new(422, "Invalid", said).details(json!({}))
    }

    pub(super) fn too_many_requests(message: &str, retry_after: Option<u64>) -> Refusal {
        let refusal = Refusal::new(429, "TooManyRequests", message);
        match retry_after {
            Some(seconds) => refusal.details(json!({ "retryAfterSeconds": seconds })),
            None => refusal,
        }
    }

    /// etcd's own words, which the API server hands on without a reason.
    pub(super) fn too_large_for_etcd() -> Refusal {
        Refusal::new(500, "", "etcdserver: request is too large")
    }

    pub(super) fn internal_error(why: &str) -> Refusal {
        Refusal::new(500, "InternalError", format!("Internal error occurred: {why}"))
            .details(json!({ "causes": [{ "message": why }] }))
    }

    pub(super) fn unavailable() -> Refusal {
        Refusal::new(503, "ServiceUnavailable", "the server is currently unable to handle the request")
            .details(json!({}))
    }

    pub(super) fn timeout() -> Refusal {
        let why = "request did not complete within requested timeout - context deadline exceeded";
        Refusal::new(504, "Timeout", format!("Timeout: {why}")).details(json!({}))
    }

    pub(super) fn gone(message: &str) -> Refusal {
        Refusal::new(410, "Expired", message)
    }

    pub(super) fn body(&self) -> Value {
        let mut body = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": self.message,
            "code": self.code,
        });
        if !self.reason.is_empty() {
            body["reason"] = json!(self.reason);
        }
        if let Some(details) = &self.details {
            body["details"] = details.clone();
        }
        body
    }

    pub(super) fn answer(&self) -> Answer {
        Answer::json(self.code, &self.body()).warned(&self.warnings)
    }
}
