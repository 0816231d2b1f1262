//! Records of the `log` crate: its logger is one for the process, so they have one of their own.

use std::time::Duration;

use tracing::{info, info_span};
use tracing_k8s_events::{EventType, MemorySink, builder};
use tracing_subscriber::prelude::*;

#[test]
fn records_of_the_log_crate_are_heard_like_native_ones() {
    let (layer, poster) = builder("log.example.com").build().unwrap();
    let sink = MemorySink::new();
    let guard = poster.spawn_sink(sink.clone()).unwrap();
    // It installs the bridge from `log` as well.
    tracing_subscriber::registry().with(layer).init();

    info_span!("reconcile", k8s.kind = "Foo", k8s.name = "a").in_scope(|| {
        log::warn!(target: "my_app", "disk is {}", "full");
        log::info!("by its module's target");
        log::debug!("below the level");
        log::error!(target: "hyper::client", "of a denied target");
        let _ = log::log_enabled!(target: "rustls", log::Level::Error);
        info!("after a question");
    });
    log::error!("about no object");
    info_span!("reconciling object", "object.ref" = "Foo.v1.example.com/b.ns").in_scope(|| {
        log::info!("not from info on");
        log::warn!("ambient");
    });

    let stats = guard.handle().stats();
    assert!(guard.shutdown(Duration::from_secs(30)).is_complete());
    // Order is kept per object.
    let events = sink.events();
    let of = |name: &str| -> Vec<_> {
        let events = events.iter().filter(|it| &*it.event.regarding.name == name);
        events.map(|it| (it.event.kind, it.event.note.to_string())).collect()
    };
    let normal = |note: &str| (EventType::Normal, note.to_owned());
    let warning = |note: &str| (EventType::Warning, note.to_owned());
    let want = [warning("disk is full"), normal("by its module's target"), normal("after a question")];
    assert_eq!(of("a"), want);
    assert_eq!(of("b"), [warning("ambient")]);
    assert!(events.iter().all(|it| &*it.event.reason == "Logging"));
    assert_eq!(stats.dropped(), 0);
}
