//! The poster in both its homes, its flush and its end, on a sink in memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tracing::{Dispatch, info, warn};
use tracing_k8s_events::{MemorySink, Publish, Reply, Request, Sink, builder, object_span};
use tracing_subscriber::prelude::*;

use crate::kit::{Log, PATIENCE, Program, object};

/// Never answers.
struct Hung;

impl Sink for Hung {
    async fn send(&self, _: Request) -> Reply {
        std::future::pending().await
    }
}

/// Panics in its first three requests.
#[derive(Default)]
struct Jumpy {
    requests: AtomicUsize,
    memory: MemorySink,
}

impl Sink for Jumpy {
    async fn send(&self, request: Request) -> Reply {
        assert!(self.requests.fetch_add(1, Ordering::SeqCst) >= 3, "staged");
        self.memory.send(request).await
    }
}

#[test]
fn a_record_becomes_an_event() {
    let sink = MemorySink::new();
    let program = Program::with_sink(sink.clone(), |it| it);
    program.log_about(&object("Foo", "a"), || info!(k8s.reason = "Scaled", replicas = 3, "scaled up"));
    assert!(program.flush().is_complete());
    let events = sink.events();
    let event = &events[0].event;
    assert_eq!((&*event.reason, &*event.note), ("Scaled", "scaled up replicas=3"));
    assert_eq!(&*event.regarding.uid, "uid-of-a");
    assert_eq!((&*event.reporter.controller, &*event.reporter.instance), ("kit.example.com", "kit-0"));
}

#[test]
fn equal_records_are_one_event_with_a_count() {
    let sink = MemorySink::new();
    let program = Program::with_sink(sink.clone(), |it| it);
    program.log_about(&object("Foo", "a"), || (0..1000).for_each(|_| warn!("not ready")));
    assert!(program.flush().is_complete());
    let counts: Vec<u32> = sink.events().iter().map(|it| it.count).collect();
    assert_eq!(counts, [1000]);
    program.assert_account_closes();
}

#[test]
fn records_wait_for_a_poster_without_a_home() {
    let (layer, poster) = builder("kit.example.com").build().unwrap();
    let dispatch = Dispatch::new(tracing_subscriber::registry().with(layer));
    tracing::dispatcher::with_default(&dispatch, || object_span(&object("Foo", "a")).in_scope(|| info!("early")));
    assert_eq!(poster.handle().stats().queue_length, 1);
    let sink = MemorySink::new();
    let outcome = poster.spawn_sink(sink.clone()).unwrap().shutdown(PATIENCE);
    assert!(outcome.is_complete());
    assert_eq!(&*sink.events()[0].event.note, "early");
}

#[test]
fn a_flush_without_a_home_says_at_once_that_nothing_was_told() {
    let (_layer, poster) = builder("kit.example.com").build::<tracing_subscriber::Registry>().unwrap();
    let handle = poster.handle();
    handle.publish(&object("Foo", "a"), Publish::normal("Scaled", "to 3"));
    let outcome = handle.flush(Duration::from_secs(3600)).wait();
    assert_eq!((outcome.told, outcome.untold), (0, 1));
}

#[test]
fn a_poster_that_is_dropped_loses_what_waited_and_counts_it() {
    let (_layer, poster) = builder("kit.example.com").build::<tracing_subscriber::Registry>().unwrap();
    let handle = poster.handle();
    handle.publish(&object("Foo", "a"), Publish::normal("Scaled", "to 3"));
    drop(poster);
    handle.publish(&object("Foo", "a"), Publish::normal("Scaled", "to 4"));
    let stats = handle.stats();
    assert_eq!((stats.seen, stats.dropped_at_shutdown, stats.dropped_after_end), (2, 1, 1));
}

#[test]
fn a_flush_ends_at_its_deadline_when_the_sink_hangs() {
    let program = Program::with_sink(Hung, |it| it);
    program.handle().publish(&object("Foo", "a"), Publish::normal("Scaled", "to 3"));
    let outcome = program.handle().flush(Duration::from_millis(50)).wait();
    assert_eq!((outcome.told, outcome.untold), (0, 1));
    program.assert_account_closes();
}

#[test]
fn the_end_counts_what_it_could_not_tell() {
    let program = Program::with_sink(Hung, |it| it);
    let handle = program.handle();
    handle.publish(&object("Foo", "a"), Publish::normal("Scaled", "to 3"));
    let outcome = program.end_within(Duration::from_millis(50));
    assert_eq!((outcome.told, outcome.untold), (0, 1));
    assert_eq!(handle.stats().dropped_at_shutdown, 1);
    handle.publish(&object("Foo", "a"), Publish::normal("Scaled", "too late"));
    assert_eq!(handle.stats().dropped_after_end, 1);
}

#[test]
fn a_sink_that_panics_costs_a_retry_and_no_event() {
    let sink = Jumpy::default();
    let memory = sink.memory.clone();
    let program = Program::with_sink(sink, |it| it);
    program.handle().publish(&object("Foo", "a"), Publish::normal("Scaled", "to 3"));
    assert!(program.flush().is_complete());
    assert_eq!(memory.events().len(), 1);
    assert_eq!(program.handle().stats().retried, 3);
}

#[test]
fn every_runtime_flavour_and_none_can_flush() {
    let flavours = [
        tokio::runtime::Builder::new_current_thread().enable_all().build(),
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build(),
    ];
    for runtime in flavours {
        let sink = MemorySink::new();
        let seen = sink.clone();
        runtime.unwrap().block_on(async move {
            let (_layer, poster) = builder("kit.example.com").build::<tracing_subscriber::Registry>().unwrap();
            let handle = poster.handle();
            let home = tokio::spawn(poster.run_sink(sink));
            handle.publish(&object("Foo", "a"), Publish::normal("Scaled", "to 3"));
            assert!(handle.flush(PATIENCE).await.is_complete());
            home.abort();
        });
        assert_eq!(seen.events().len(), 1);
    }
}

#[test]
fn a_guard_dropped_inside_async_code_flushes() {
    let sink = MemorySink::new();
    let seen = sink.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        let program = Program::with_sink(sink, |it| it);
        program.handle().publish(&object("Foo", "a"), Publish::normal("Scaled", "to 3"));
        drop(program);
    });
    assert_eq!(seen.events().len(), 1);
}

#[test]
fn a_poster_whose_runtime_is_gone_counts_its_losses() {
    let (_layer, poster) = builder("kit.example.com").build::<tracing_subscriber::Registry>().unwrap();
    let handle = poster.handle();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::spawn(poster.run_sink(Hung));
        handle.publish(&object("Foo", "a"), Publish::normal("Scaled", "to 3"));
        while handle.stats().in_flight == 0 {
            tokio::task::yield_now().await;
        }
    });
    drop(runtime);
    let stats = handle.stats();
    assert_eq!((stats.in_flight, stats.dropped_at_shutdown), (0, 1));
    assert_eq!(handle.flush(PATIENCE).wait().told, 0);
}

/// `let _ = poster.spawn(..)` is what a compiler suggests where the guard is not used.
#[test]
fn a_guard_that_is_dropped_at_once_says_so() {
    let (layer, poster) = builder("kit.example.com").build().unwrap();
    let log = Log::default();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(log.layer()).with(layer), || {
        let _ = poster.spawn_sink(MemorySink::new()).unwrap();
    });
    assert_eq!(log.diagnostics("let _guard = ..").len(), 1);
}

#[test]
fn a_reference_to_nothing_is_a_counted_drop() {
    let program = Program::with_sink(MemorySink::new(), |it| it);
    program.handle().publish(&Default::default(), Publish::warning("Lost", "about what?"));
    assert_eq!(program.handle().stats().dropped_malformed, 1);
}

#[test]
fn a_controller_that_is_no_qualified_name_is_refused_at_the_door() {
    let error = builder("My App").build::<tracing_subscriber::Registry>().unwrap_err();
    assert_eq!(error.to_string(), "reporting controller `My App` is not a qualified name: it holds a space");
}

#[test]
fn numbers_that_could_never_work_are_refused_at_the_door() {
    let error = builder("a").queue_capacity(0).build::<tracing_subscriber::Registry>().unwrap_err();
    assert_eq!(error.to_string(), "the queue's capacity is zero");
    let error = builder("a").default_reason(tracing_k8s_events::EventType::Normal, "");
    assert_eq!(error.build::<tracing_subscriber::Registry>().unwrap_err().to_string(), "the default reason is empty");
    let error = builder("a").series_distances(Duration::from_secs(1), Duration::MAX);
    let error = error.build::<tracing_subscriber::Registry>().unwrap_err();
    assert_eq!(error.to_string(), "the longest distance of a series is longer than a year");
}

#[test]
fn the_number_of_similar_notes_is_a_choice() {
    let sink = MemorySink::new();
    let program = Program::with_sink(sink.clone(), |it| it.similar_notes(2, Duration::from_secs(60)));
    program.log_about(&object("Foo", "a"), || (0..6).for_each(|number| warn!("attempt {number}")));
    assert!(program.flush().is_complete());
    let counts: Vec<u32> = sink.events().iter().map(|it| it.count).collect();
    assert_eq!(counts, [1, 1, 4]);
}
