//! How do I test what my reconcile tells people? With a `MemorySink`: `cargo test --example testing` runs these tests.

use k8s_openapi::api::core::v1::ObjectReference;
use tracing::{Instrument, info, warn};
use tracing_k8s_events::object_span;

fn reconcile(web: &ObjectReference, ready: u32) {
    let _span = object_span(web).entered();
    match ready {
        3 => info!(k8s.reason = "Ready", "all replicas are ready"),
        _ => warn!(k8s.reason = "NotReady", ready, "waiting for replicas"),
    }
}

/// As under kube's `Controller`: the object is that of the span around it.
async fn check() {
    warn!(k8s.reason = "Unreachable", "no answer");
}

async fn check_about(web: &ObjectReference) {
    check().instrument(object_span(web)).await;
}

fn main() {
    println!("cargo test --example testing");
    reconcile(&ObjectReference::default(), 3);
    drop(check_about(&ObjectReference::default()));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tracing_k8s_events::MemorySink;
    use tracing_subscriber::prelude::*;

    use super::*;

    fn web() -> ObjectReference {
        ObjectReference {
            kind: Some("Foo".into()),
            name: Some("web".into()),
            uid: Some("1".into()),
            ..ObjectReference::default()
        }
    }

    /// What is told of this: heard on this thread only, so that tests run side by side.
    fn events_of(act: impl FnOnce()) -> MemorySink {
        let (layer, poster) = tracing_k8s_events::builder("foo-operator.example.com").build().unwrap();
        let sink = MemorySink::new();
        let guard = poster.spawn_sink(sink.clone()).unwrap();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), act);
        assert!(guard.handle().flush(Duration::from_secs(5)).wait().is_complete());
        sink
    }

    #[test]
    fn nobody_is_warned_when_all_goes_well() {
        let events = events_of(|| reconcile(&web(), 3));
        events.event("Ready").about(&web()).with_note("all replicas are ready").once();
        events.any_event().warning().never();
    }

    #[test]
    fn waiting_is_one_event_that_counts() {
        let events = events_of(|| (0..5).for_each(|_| reconcile(&web(), 1)));
        events.event("NotReady").warning().with_text("ready=1").times(5);
        assert_eq!(events.events().len(), 1);
    }

    #[tokio::test]
    async fn an_async_check_is_about_its_span() {
        let (layer, poster) = tracing_k8s_events::builder("foo-operator.example.com").build().unwrap();
        let sink = MemorySink::new();
        let guard = poster.spawn_sink(sink.clone()).unwrap();
        let _default = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        check_about(&web()).await;
        assert!(guard.handle().flush(Duration::from_secs(5)).await.is_complete());
        sink.event("Unreachable").about(&web()).once();
    }

    #[test]
    #[should_panic = "there should be 1 of `Ready` about `Foo/web`, there are 0; all Events:"]
    fn a_failed_assertion_shows_what_was_told() {
        events_of(|| reconcile(&web(), 2)).event("Ready").about(&web()).once();
    }
}
