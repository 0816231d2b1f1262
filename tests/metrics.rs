//! The `metrics` feature: the counters of `Stats`, through whatever recorder the application has.

#![cfg(feature = "metrics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit, with_local_recorder};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::runtime::{Builder, Runtime};
use tracing_k8s_events::{Handle, MemorySink, Poster, Publish, builder};

fn paused() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

fn poster() -> (Poster, Handle) {
    let (_layer, poster) = builder("metered.example.com").build::<tracing_subscriber::Registry>().unwrap();
    let handle = poster.handle();
    (poster, handle)
}

async fn pass(time: Duration) {
    let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
}

#[test]
fn every_counter_of_stats_is_published_under_the_controllers_name() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let shown = recorder.handle();
    with_local_recorder(&recorder, || {
        paused().block_on(async {
            let (poster, handle) = poster();
            let object =
                ObjectReference { kind: Some("Foo".into()), name: Some("a".into()), ..ObjectReference::default() };
            (0..20).for_each(|_| handle.publish(&object, Publish::warning("NotReady", "not ready")));
            handle.publish(&ObjectReference::default(), Publish::warning("NotReady", "about what?"));
            drop(tokio::spawn(poster.run_sink(MemorySink::new())));
            pass(Duration::from_secs(10)).await;
            assert_eq!(handle.stats().told, 20);
        });
    });
    let text = shown.render();
    for line in [
        r#"tracing_k8s_events_seen_total{controller="metered.example.com"} 21"#,
        r#"tracing_k8s_events_told_total{controller="metered.example.com"} 20"#,
        r#"tracing_k8s_events_dropped_total{controller="metered.example.com",cause="malformed"} 1"#,
        r#"tracing_k8s_events_held{controller="metered.example.com"} 0"#,
        "# TYPE tracing_k8s_events_created_total counter",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

/// Counts how often one counter is asked for.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl Recorder for Counting {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        if key.name() == "tracing_k8s_events_seen_total" {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

#[test]
fn they_are_published_once_a_second_at_most() {
    let counting = Counting::default();
    with_local_recorder(&counting, || {
        paused().block_on(async {
            let (poster, _handle) = poster();
            drop(tokio::spawn(poster.run_sink(MemorySink::new())));
            pass(Duration::from_secs(60)).await;
        });
    });
    let published = counting.0.load(Ordering::SeqCst);
    assert!((55..=62).contains(&published), "{published} times in a minute, and once at the end");
}
