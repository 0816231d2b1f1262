//! Whatever goes wrong, no token, header or body stands in anything that is logged.

use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use serde_json::json;
use tracing_k8s_events::Publish;

use crate::kit::{Loud, assert_closes};
use crate::support::apiserver::{ApiServer, Fault, When};

const TOKEN: &str = "planted-token";
/// Stands in what is sent, and in all that a server or a gateway says of it.
const BODY: &str = "planted-in-a-body";

/// The answers that quote what they were asked.
fn quoting(code: u16, reason: &str) -> Fault {
    let message = format!("Event is invalid: message: Invalid value: \"{BODY}\"; authorization: Bearer {TOKEN}");
    let causes = json!([{ "reason": "FieldValueInvalid", "field": "message", "message": message }]);
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
        "message": message, "details": { "kind": "events", "name": BODY, "causes": causes },
    });
    Fault::answer(code, "application/json", &body.to_string())
}

/// Says what was logged when the API server answers so.
fn logged(fault: Fault) -> String {
    let server = ApiServer::start();
    let object: ObjectReference = server.add_object("v1", "ConfigMap", Some("default"), "a");
    server.fail(When::any(), fault);
    let loud = Loud::new(server.config_with(TOKEN), |it| it.attempt_timeout(Duration::from_millis(100)));
    loud.handle().publish(&object, Publish::warning("Planted", BODY).annotation("example.com/planted", BODY));
    let _ = loud.flush_within(Duration::from_millis(300));
    assert_closes(&loud.handle().stats());
    loud.log.text()
}

/// At every level of every target but those of the client and its transport, which log as they please.
#[track_caller]
fn assert_keeps(text: &str) {
    let own: Vec<&str> = text.lines().filter(|it| it.contains("tracing_k8s_events")).collect();
    assert!(own.iter().any(|it| it.contains("WARN")), "it was to be told: {text}");
    for secret in [TOKEN, BODY] {
        assert!(!own.iter().any(|it| it.contains(secret)), "{own:#?}");
    }
}

#[test]
fn refusals_quote_neither_tokens_nor_bodies() {
    for (code, reason) in [(400, "BadRequest"), (403, "Forbidden"), (413, "RequestEntityTooLarge"), (422, "Invalid")] {
        assert_keeps(&logged(quoting(code, reason)));
    }
}

#[test]
fn failures_quote_neither_tokens_nor_bodies() {
    for (code, reason) in [(401, "Unauthorized"), (429, "TooManyRequests"), (500, "InternalError"), (504, "Timeout")] {
        assert_keeps(&logged(quoting(code, reason)));
    }
    assert_keeps(&logged(Fault::answer(200, "text/plain", BODY)));
    assert_keeps(&logged(Fault::answer(302, "text/plain", BODY)));
}

#[test]
fn broken_connections_quote_neither_tokens_nor_bodies() {
    for fault in [Fault::reset(), Fault::hang(), Fault::cut()] {
        assert_keeps(&logged(fault));
    }
}

#[test]
fn a_token_never_stands_in_any_line_at_any_level() {
    for fault in [quoting(403, "Forbidden"), Fault::reset(), Fault::internal_error()] {
        let text = logged(fault);
        assert!(text.contains("TRACE"), "{text}");
        let sent: Vec<&str> = text.lines().filter(|it| it.contains(TOKEN)).collect();
        assert!(sent.is_empty(), "{sent:#?}");
    }
}
