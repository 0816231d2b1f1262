//! No loop: what the poster's own client logs never becomes an Event, under a global default that hears everything.
//!
//! A process of its own, because a global default is for the whole process.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use support::apiserver::{ApiServer, Fault, When};
use tracing::level_filters::LevelFilter;
use tracing::{Instrument, info};
use tracing_k8s_events::{Builder, Handle, Layer, Poster, builder, object_span};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

const RECORDS: usize = 20;
const PATIENCE: Duration = Duration::from_secs(60);

/// Hears every record of every target, so that nothing is switched off, and counts what the client and its transport log.
#[derive(Clone, Default)]
struct Everything(Arc<AtomicUsize>);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Everything {
    fn on_event(&self, _: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Every level for every target, and in every sort of scope.
fn open<S: tracing::Subscriber + for<'a> LookupSpan<'a>>(controller: &str) -> (Layer<S>, Poster) {
    let choose = |it: Builder| {
        let budget = it.object_budget(10_000, Duration::from_secs(1));
        budget.level(LevelFilter::TRACE).ambient_level(LevelFilter::TRACE)
    };
    choose(builder(controller)).build().unwrap()
}

/// Logs some records about an object, and says how many requests and heard records came of it.
fn requests(server: &ApiServer, handle: &Handle, object: &ObjectReference) -> (usize, u64) {
    let before = handle.stats().seen;
    server.forget_requests();
    for it in 0..RECORDS {
        object_span(object).in_scope(|| info!(k8s.reason = it, "done"));
    }
    assert!(handle.flush(PATIENCE).wait().is_complete());
    (server.requests().len(), handle.stats().seen - before)
}

#[test]
fn requests_made_do_not_grow_with_responses_received() {
    let server = ApiServer::start();
    let object = server.add_object("v1", "ConfigMap", Some("default"), "a");
    let everything = Everything::default();
    let (own, own_poster) = open("own.example.com");
    let (plain, plain_poster) = open("plain.example.com");
    // Two layers and two posters, in both homes: neither may hear itself, nor the other.
    let handles = [own_poster.handle(), plain_poster.handle()];
    tracing_subscriber::registry().with(own).with(plain).with(everything.clone()).init();

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let guard = object_span(&object).in_scope(|| own_poster.spawn(server.config()).unwrap());
    let client = runtime.block_on(async { server.client() }.instrument(object_span(&object)));
    runtime.spawn(plain_poster.run(client).instrument(object_span(&object)));

    for fault in [Fault::internal_error(), Fault::reset(), Fault::garbage(), Fault::too_many_requests(None)] {
        for handle in &handles {
            let injection = server.fail(When::any().first(2), fault.clone());
            let (requests, seen) = requests(&server, handle, &object);
            injection.end();
            assert_eq!(seen as usize, RECORDS, "records of the client's own were heard");
            // Two posters, each with its records, and the two that failed.
            assert!(requests <= 2 * RECORDS + 2 + 2, "{requests} requests");
        }
    }
    assert!(everything.0.load(Ordering::SeqCst) > 10 * RECORDS, "the client was to be loud");

    // Nobody logs: nobody is asked either.
    assert!(handles.iter().all(|it| it.flush(PATIENCE).wait().is_complete()));
    server.forget_requests();
    let _ = handles.each_ref().map(|it| it.flush(PATIENCE).wait());
    assert_eq!(server.requests().len(), 0);
    drop(guard);
}
