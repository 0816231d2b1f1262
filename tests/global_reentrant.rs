//! Logging from within a `Display`, under a global subscriber: only a subscriber scoped to a thread is guarded against it
//! by tracing itself, so that a test under one would see nothing.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tracing::{info, info_span, warn};
use tracing_k8s_events::{MemorySink, builder};
use tracing_subscriber::prelude::*;

static SHOWN: AtomicUsize = AtomicUsize::new(0);

/// Logs itself whenever it is shown.
struct Endless;

impl fmt::Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SHOWN.fetch_add(1, Ordering::Relaxed);
        warn!(value = %Endless, "shown {}", Endless);
        let _span = info_span!("shown", k8s.kind = "Foo", k8s.name = %Endless).entered();
        f.write_str("endless")
    }
}

#[test]
fn a_display_that_logs_comes_to_an_end_and_nothing_else_is_lost() {
    let (layer, poster) = builder("reentrant.example.com").build().unwrap();
    let sink = MemorySink::new();
    let guard = poster.spawn_sink(sink.clone()).unwrap();
    tracing_subscriber::registry().with(layer).init();

    let span = info_span!("reconcile", k8s.kind = "Foo", k8s.name = "a");
    span.in_scope(|| {
        info!(value = %Endless, "before");
        info!("after");
    });

    let stats = guard.handle().stats();
    assert!(guard.shutdown(Duration::from_secs(30)).untold == 0);
    let notes: Vec<_> = sink.events().iter().map(|it| it.event.note.to_string()).collect();
    assert_eq!(notes, ["before value=endless", "after"]);
    assert_eq!(SHOWN.load(Ordering::Relaxed), 1);
    assert_eq!(stats.dropped_malformed, 1, "what the value logged itself is counted");
}
