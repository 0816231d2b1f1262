//! Whatever a record's fields hold, what is sent for it is JSON that the API server takes.

#![no_main]

#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "../../src"]
mod house {
    pub(crate) mod correlate;
    pub(crate) mod layer;
    pub(crate) mod message;
    pub(crate) mod queue;
    pub(crate) mod regarding;
    pub(crate) mod wire;
}

use std::sync::Arc;
use std::time::Duration;

use arbitrary::Arbitrary;
use correlate::{Correlator, Settings};
use house::{correlate, layer, message, queue, regarding, wire};
use libfuzzer_sys::fuzz_target;
use message::{EventType, Now, Reply, Reporter, Request, Wall};
use serde_json::Value;
use tracing::{Dispatch, info_span, warn};
use tracing_subscriber::prelude::*;
use wire::Api;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    records: Vec<Record<'a>>,
    strict: bool,
}

#[derive(Arbitrary, Debug)]
struct Record<'a> {
    callsite: u8,
    kind: &'a str,
    name: &'a str,
    namespace: &'a str,
    uid: &'a str,
    reason: &'a str,
    action: &'a str,
    note: &'a str,
    other: &'a str,
    number: f64,
    bytes: &'a [u8],
}

/// Through as many of the doors as there are.
fn log(it: &Record<'_>) {
    let Record { kind, name, namespace, uid, reason, action, note, other, number, .. } = *it;
    match it.callsite % 6 {
        0 => warn!(k8s.kind = kind, k8s.name = name, k8s.namespace = namespace, k8s.uid = uid, "{note}"),
        1 => {
            let span = info_span!("declared", k8s.kind = kind, k8s.name = name, k8s.namespace = namespace, k8s.uid = uid);
            let _entered = span.entered();
            warn!(k8s.reason = reason, k8s.action = action, other, number, bytes = it.bytes, "{note}");
        }
        2 => {
            let _entered = info_span!("reconciling object", "object.ref" = %name).entered();
            warn!(error = ?other, "{note}");
        }
        3 => {
            let _entered = info_span!("ambient", k8s.pod.name = name, k8s.namespace.name = namespace).entered();
            warn!(k8s.annotation.plain = other, k8s.related.kind = kind, k8s.related.name = other, message = note);
        }
        4 => warn!(k8s.kind = kind, k8s.name = name, k8s.reason = ?other, k8s.field_path = other, other = number),
        _ => warn!(k8s.uid = uid, k8s.api_version = other, k8s.type = reason, k8s.skip = false, "{note}"),
    }
}

thread_local! {
    /// Made once: a new subscriber would have every callsite asked about anew.
    static HOUSE: (Dispatch, queue::Receiver) = {
        let (sender, receiver) = queue::queue(1_024, false);
        let listening = layer::new(sender, layer::Choices::default());
        (Dispatch::new(tracing_subscriber::registry().with(listening)), receiver)
    };
}

fuzz_target!(|input: Input<'_>| HOUSE.with(|(dispatch, receiver)| post(&input, dispatch, receiver)));

fn post(input: &Input<'_>, dispatch: &Dispatch, receiver: &queue::Receiver) {
    tracing::dispatcher::with_default(dispatch, || input.records.iter().for_each(log));

    let api = if input.strict { Api::EventsV1 } else { Api::CoreV1 };
    let reporter = Arc::new(Reporter { controller: "fuzz.example.com".into(), instance: "fuzz-0".into() });
    let settings = Settings { notes_can_be_renewed: !input.strict, reporter, ..Settings::default() };
    let mut correlator = Correlator::new(settings);
    let now = |mono| Now { mono, wall: Wall(0) };
    while let Some(occurrence) = receiver.try_recv() {
        correlator.observe(now(Duration::ZERO), &occurrence);
    }
    for second in 0..5 {
        let now = now(Duration::from_secs(second));
        while let Some((ticket, request)) = correlator.next_request(now) {
            let reply = check(&request, api);
            correlator.settle(now, ticket, reply);
        }
    }
}

/// Holds a request to the server's rules, and answers it.
fn check(request: &Request, api: Api) -> Reply {
    let call = wire::call(request, api);
    assert!(call.path.parse::<http::Uri>().is_ok(), "{}", call.path);
    assert!(!call.path.contains("//") || matches!(request, Request::Discover { .. }), "{}", call.path);
    match request {
        Request::Create(_) => whole(&serde_json::from_slice(&call.body).unwrap(), api),
        Request::Patch(_) => change(&serde_json::from_slice(&call.body).unwrap()),
        _ => return Reply::NotFound,
    }
    Reply::Done
}

fn text<'a>(it: &'a Value, key: &str) -> &'a str {
    it[key].as_str().unwrap_or_default()
}

/// `pkg/apis/core/validation/events.go`, its strict half.
fn whole(it: &Value, api: Api) {
    let (about, note, by) = match api {
        Api::EventsV1 => ("regarding", "note", "reportingController"),
        _ => ("involvedObject", "message", "reportingComponent"),
    };
    assert!(text(it, note).len() <= 1024);
    for word in [text(it, "reason"), text(it, "action"), text(it, "reportingInstance")] {
        assert!((1..=128).contains(&word.len()), "{it}");
    }
    assert!(message::qualified_name(text(it, by)).is_ok());
    assert!(["Normal", "Warning"].contains(&text(it, "type")) && EventType::Normal.as_str() == "Normal");
    let (namespace, name) = (text(&it["metadata"], "namespace"), text(&it["metadata"], "name"));
    assert!(!namespace.is_empty());
    let about = text(&it[about], "namespace");
    assert!(!about.is_empty() || ["default", "kube-system"].contains(&namespace), "{it}");
    assert!(name.len() <= 253 && name.split('.').all(is_label), "{name:?} is no DNS subdomain");
    assert_eq!(text(it, "eventTime").len(), "2006-01-02T15:04:05.000000Z".len());
    assert!(it["series"].is_null() || it["series"]["count"].as_i64().unwrap() >= 2);
    for key in it["metadata"]["annotations"].as_object().into_iter().flat_map(|it| it.keys()) {
        assert!(message::qualified_name(key).is_ok(), "{key:?}");
    }
}

fn change(it: &Value) {
    assert!(it["series"]["count"].as_i64().unwrap() >= 2);
    assert!(text(it, "message").len() <= 1024);
}

fn is_label(it: &str) -> bool {
    let is_inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    !it.is_empty() && it.bytes().all(is_inner) && !it.starts_with('-') && !it.ends_with('-')
}
