//! Where else can Events go? Anywhere: this sink writes each as a line of JSON, and the poster does all the rest.
//!
//! Repeats are counted, floods are limited and failures are retried as they are with the API server. Here the first
//! attempt fails.

use std::error::Error;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use tracing::{info, warn};
use tracing_k8s_events::{Api, Reply, Request, Sink, object_span};
use tracing_subscriber::prelude::*;

/// A line for every new Event, and one for every count that is told later.
#[derive(Default)]
struct Lines {
    has_failed: AtomicBool,
}

impl Sink for Lines {
    async fn send(&self, request: Request) -> Reply {
        let line = match request {
            Request::Create(new) => new.to_json(Api::CoreV1),
            Request::Patch(known) => format!("{{\"name\":{:?},\"count\":{}}}", known.event.name, known.count),
            _ => return Reply::NotFound, // look-ups of uids: there is no cluster to ask
        };
        if !self.has_failed.swap(true, Ordering::Relaxed) {
            return Reply::Unavailable { retry_after: None, why: "the line is busy".into() };
        }
        match writeln!(std::io::stdout(), "{line}") {
            Ok(()) => Reply::Done,
            Err(error) => Reply::Unavailable { retry_after: None, why: error.to_string().into() },
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (layer, poster) = tracing_k8s_events::builder("own-sink.example.com").build()?;
    tracing_subscriber::registry().with(layer).init();
    let guard = poster.spawn_sink(Lines::default())?;

    let object = ObjectReference {
        api_version: Some("example.com/v1".into()),
        kind: Some("Foo".into()),
        namespace: Some("default".into()),
        name: Some("web".into()),
        uid: Some("4f3a".into()),
        ..ObjectReference::default()
    };
    object_span(&object).in_scope(|| {
        info!(k8s.reason = "Scaled", replicas = 3, "scaled up");
        (0..1000).for_each(|_| warn!(k8s.reason = "NotReady", "waiting for the database"));
    });

    let outcome = guard.shutdown(Duration::from_secs(10));
    assert!(outcome.is_complete(), "{outcome:?}");
    Ok(())
}
