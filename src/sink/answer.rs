//! What an HTTP answer means: pure, and wary of whoever else may answer on the way.

use std::time::Duration;

use serde::Deserialize;

use crate::message::{Reply, Request, Resource};

/// An answer, read whole.
pub(super) struct Answer {
    pub(super) status: u16,
    /// The header, in seconds; its other form, a date, no API server sends.
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Vec<u8>,
}

/// As much of a `Status` as a decision needs.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    kind: String,
    message: String,
    reason: String,
    details: Option<Details>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Details {
    kind: String,
    causes: Vec<Cause>,
    retry_after_seconds: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cause {
    reason: String,
    field: String,
}

#[derive(Deserialize)]
struct Named {
    kind: String,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    uid: Box<str>,
}

#[derive(Deserialize)]
struct ResourceList {
    resources: Vec<ListedResource>,
}

#[derive(Deserialize)]
struct ListedResource {
    name: Box<str>,
    kind: Box<str>,
    namespaced: bool,
}

/// What an answer means.
///
/// Only the API server itself, which speaks in `Status` objects, may have something dropped or made anew. Anybody else
/// (a proxy's error page, a sign-in form, a server that is just starting) is taken for an API server that is away.
pub(super) fn reply(request: &Request, answer: &Answer) -> Reply {
    let status: Option<Status> = serde_json::from_slice(&answer.body).ok().filter(|it: &Status| it.kind == "Status");
    let is_its_own = status.is_some();
    let status = status.unwrap_or_default();
    let details = status.details.as_ref();
    let retry_after = answer.retry_after.or_else(|| match details?.retry_after_seconds {
        0 => None,
        seconds => Some(Duration::from_secs(seconds)),
    });
    let unavailable = |why: String| Reply::Unavailable { retry_after, why: why.into() };
    let is_terminating = || details.is_some_and(|it| it.causes.iter().any(|it| it.reason == "NamespaceTerminating"));
    let is_no_namespace = || details.is_some_and(|it| it.kind == "namespaces");
    let code = answer.status;
    match (code, request) {
        (200..300, _) => success(request, answer),
        (401, _) => Reply::Unauthorized,
        (429, _) => Reply::Throttled(retry_after),
        // A body that is too large is refused by whoever reads it first.
        (413, _) => Reply::Invalid(refusal(code, &status).into()),
        // The API server's own word about a group or version that it does not serve is plain text.
        (404, Request::Discover { .. } | Request::LookUp { .. }) => Reply::NotFound,
        (408 | 500.., _) => unavailable(format!("HTTP {code}")),
        _ if !is_its_own => unavailable(format!("HTTP {code} with a body that is not the API server's")),
        (403, _) if is_terminating() => Reply::NamespaceTerminating,
        (403, _) => Reply::Forbidden(without_quotations(&status).into()),
        (404, Request::Create(_)) if is_no_namespace() => Reply::NamespaceMissing,
        (404, Request::Patch(_)) => Reply::NotFound,
        (409, Request::Create(_)) if status.reason == "AlreadyExists" => Reply::AlreadyExists,
        (409, _) => unavailable(format!("HTTP {code}")),
        _ => Reply::Invalid(refusal(code, &status).into()),
    }
}

/// Not every 200 is the API server's either.
fn success(request: &Request, answer: &Answer) -> Reply {
    let body = &answer.body;
    let read = match request {
        Request::Create(_) | Request::Patch(_) => {
            serde_json::from_slice(body).ok().and_then(|it: Named| (it.kind == "Event").then_some(Reply::Done))
        }
        Request::LookUp { .. } => {
            serde_json::from_slice(body).ok().map(|it: Object| Reply::Found { uid: it.metadata.uid })
        }
        Request::Discover { .. } => serde_json::from_slice(body).ok().map(|it: ResourceList| resources(it)),
    };
    read.unwrap_or_else(|| Reply::Unavailable {
        retry_after: None,
        why: format!("HTTP {} with a body that is not the API server's", answer.status).into(),
    })
}

/// A name with a slash is a subresource (`pods/status`), which has no object of its own.
fn resources(list: ResourceList) -> Reply {
    let whole = list.resources.into_iter().filter(|it| !it.name.contains('/'));
    let plain = whole.map(|it| Resource { kind: it.kind, plural: it.name, namespaced: it.namespaced });
    Reply::Resources(plain.collect())
}

/// Which fields were refused, and why. The server's message would quote what stood in them.
fn refusal(code: u16, status: &Status) -> String {
    let causes = status.details.iter().flat_map(|it| &it.causes);
    let causes: Vec<String> = causes.map(|it| format!("{} {}", it.field, it.reason)).collect();
    match (&*status.reason, causes.is_empty()) {
        ("", _) => format!("HTTP {code}"),
        (reason, true) => format!("HTTP {code} {reason}"),
        (reason, false) => format!("HTTP {code} {reason}: {}", causes.join(", ")),
    }
}

/// Who was refused what, in the authorizer's own words. An admission plug-in's may quote the request, and are left out.
fn without_quotations(status: &Status) -> String {
    let message = &status.message;
    let is_the_authorizers = message.contains(" is forbidden: User ") && message.contains(" cannot ");
    match message.find(" denied the request") {
        _ if is_the_authorizers => message.clone(),
        Some(end) if message.starts_with("admission webhook ") => {
            message[..end + " denied the request".len()].to_owned()
        }
        _ => refusal(403, status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::message::{EventType, KubeEvent, Reporter, Telling, Wall};

    const NO_NAMESPACE: &str =
        r#"{"kind":"Status","reason":"NotFound","details":{"name":"nope","kind":"namespaces"},"code":404}"#;
    const NO_EVENT: &str = r#"{"kind":"Status","reason":"NotFound","details":{"name":"x","kind":"events"},"code":404}"#;
    const TERMINATING: &str = r#"{"kind":"Status","reason":"Forbidden","message":"being terminated",
        "details":{"causes":[{"reason":"NamespaceTerminating"}]},"code":403}"#;

    fn look_up() -> Request {
        Request::LookUp { regarding: Arc::default(), plural: "configmaps".into() }
    }

    fn telling() -> Telling {
        let event = KubeEvent {
            name: "a.1".into(),
            namespace: "default".into(),
            regarding: Arc::default(),
            related: None,
            kind: EventType::Normal,
            reason: "R".into(),
            action: "A".into(),
            note: "n".into(),
            time: Wall(0),
            annotations: Vec::new(),
            reporter: Arc::new(Reporter { controller: "c".into(), instance: "i".into() }),
        };
        Telling { event: Arc::new(event), count: 1, last: Wall(0), note: None, again: false }
    }

    #[track_caller]
    fn assert_reply(request: &Request, status: u16, body: &str, expected: &Reply) {
        let answer = Answer { status, retry_after: None, body: body.into() };
        assert_eq!(&reply(request, &answer), expected);
    }

    fn unavailable(why: &str) -> Reply {
        Reply::Unavailable { retry_after: None, why: why.into() }
    }

    #[test]
    fn an_answer_to_a_look_up_is_read() {
        assert_reply(&look_up(), 200, r#"{"metadata":{"uid":"u-1"}}"#, &Reply::Found { uid: "u-1".into() });
        assert_reply(&look_up(), 404, NO_EVENT, &Reply::NotFound);
    }

    #[test]
    fn a_group_that_is_not_served_is_not_found_in_plain_text() {
        let discover = Request::Discover { api_version: "nope.example.com/v1".into() };
        assert_reply(&discover, 404, "404 page not found\n", &Reply::NotFound);
    }

    #[test]
    fn subresources_are_no_resources() {
        let discover = Request::Discover { api_version: "v1".into() };
        let body = r#"{"resources":[{"name":"pods","kind":"Pod","namespaced":true},
            {"name":"pods/status","kind":"Pod","namespaced":true}]}"#;
        let pods = Resource { kind: "Pod".into(), plural: "pods".into(), namespaced: true };
        assert_reply(&discover, 200, body, &Reply::Resources(vec![pods]));
    }

    #[test]
    fn a_success_that_is_not_the_api_servers_is_none() {
        let why = "HTTP 200 with a body that is not the API server's";
        for body in ["<html>sign in</html>", "", "[]", r#"{"metadata":{}}"#] {
            assert_reply(&look_up(), 200, body, &unavailable(why));
            assert_reply(&Request::Create(telling()), 200, body, &unavailable(why));
        }
    }

    #[test]
    fn nobody_but_the_api_server_has_an_event_dropped_or_made_anew() {
        for code in [302, 400, 403, 404, 405, 409, 422] {
            let why = format!("HTTP {code} with a body that is not the API server's");
            for body in ["<html>gateway</html>", r#"{"error":"no route"}"#] {
                assert_reply(&Request::Create(telling()), code, body, &unavailable(&why));
                assert_reply(&Request::Patch(telling()), code, body, &unavailable(&why));
            }
        }
    }

    #[test]
    fn failures_are_told_apart_by_what_can_be_done_about_them() {
        let create = Request::Create(telling());
        for (status, body, expected) in [
            (401, "", Reply::Unauthorized),
            (403, TERMINATING, Reply::NamespaceTerminating),
            (404, NO_NAMESPACE, Reply::NamespaceMissing),
            (409, r#"{"kind":"Status","reason":"AlreadyExists"}"#, Reply::AlreadyExists),
            (409, r#"{"kind":"Status","reason":"Conflict"}"#, unavailable("HTTP 409")),
            (413, "<html>too large</html>", Reply::Invalid("HTTP 413".into())),
            (429, "Too many requests, please try again later.", Reply::Throttled(None)),
            (500, "", unavailable("HTTP 500")),
            (504, "garbage", unavailable("HTTP 504")),
        ] {
            assert_reply(&create, status, body, &expected);
        }
        assert_reply(&Request::Patch(telling()), 404, NO_EVENT, &Reply::NotFound);
    }

    #[test]
    fn a_retry_after_is_read_from_the_header_else_from_the_body() {
        let body = r#"{"kind":"Status","details":{"retryAfterSeconds":7}}"#;
        assert_reply(&look_up(), 429, body, &Reply::Throttled(Some(Duration::from_secs(7))));
        let answer = Answer { status: 429, retry_after: Some(Duration::from_secs(3)), body: body.into() };
        assert_eq!(reply(&look_up(), &answer), Reply::Throttled(Some(Duration::from_secs(3))));
    }

    #[test]
    fn a_refusal_names_fields_and_quotes_nothing() {
        let body = r#"{"kind":"Status","reason":"Invalid","message":"Event is invalid: message: Invalid value: \"the note\"",
            "details":{"causes":[{"reason":"FieldValueTooLong","field":"message","message":"Too long: \"the note\""}]}}"#;
        let expected = Reply::Invalid("HTTP 422 Invalid: message FieldValueTooLong".into());
        assert_reply(&Request::Create(telling()), 422, body, &expected);
    }

    #[test]
    fn a_missing_right_is_told_in_the_authorizers_words_and_no_others() {
        let rbac =
            r#"events is forbidden: User "u" cannot create resource "events" in API group "" in the namespace "a""#;
        let hook = r#"admission webhook "w" denied the request"#;
        for (message, told) in [
            (rbac.to_owned(), rbac),
            (format!("{hook}: the note was bad"), hook),
            ("events is forbidden: exceeded quota: the note".to_owned(), "HTTP 403 Forbidden"),
        ] {
            let body = serde_json::json!({ "kind": "Status", "reason": "Forbidden", "message": message });
            assert_reply(&Request::Create(telling()), 403, &body.to_string(), &Reply::Forbidden(told.into()));
        }
    }
}
