//! The layer beside others: what they see does not change, and what they filter is their own affair.

use std::fmt::Write as _;

use tracing::field::Empty;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Subscriber, debug, debug_span, error, info, info_span, trace, warn};
use tracing_k8s_events::{Layer, MemorySink, builder};
use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets};
use tracing_subscriber::layer::Context;
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Registry, fmt, registry};

use crate::kit::{Log, PATIENCE};

/// Writes down everything that a layer is told, as layers do that keep times and parents of spans.
struct Diary(Log);

impl Diary {
    fn note(&self, line: std::fmt::Arguments<'_>) {
        use std::io::Write;
        writeln!(self.0.clone(), "{line}").unwrap();
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Diary {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let parent = context.span(id).and_then(|it| it.parent()).map(|it| it.name());
        self.note(format_args!("new {} in {parent:?}: {}", attributes.metadata().name(), attributes.values()));
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: Context<'_, S>) {
        self.note(format_args!("record {values:?}"));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut scope = String::new();
        for span in context.event_scope(event).into_iter().flatten() {
            write!(scope, "{} < ", span.name()).unwrap();
        }
        self.note(format_args!("{scope}{event:?}"));
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        self.note(format_args!("enter {:?}", context.span(id).map(|it| it.name())));
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        self.note(format_args!("exit {:?}", context.span(id).map(|it| it.name())));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        self.note(format_args!("close {:?}", context.span(&id).map(|it| it.name())));
    }
}

/// A log of lines without their times, which differ by nature.
fn lines<S>(
    log: Log,
) -> fmt::Layer<S, fmt::format::DefaultFields, fmt::format::Format<fmt::format::Full, ()>, impl Fn() -> Log>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fmt::layer().with_ansi(false).without_time().with_writer(move || log.clone())
}

/// A program's log calls of every sort.
fn story() {
    let object = info_span!("reconcile", k8s.kind = "Foo", k8s.name = "a", late = Empty);
    object.in_scope(|| {
        error!("an error");
        warn!(answer = 42, "a warning");
        info!(k8s.reason = "Scaled", "an info");
        debug!("a detail");
        trace!("a trace");
        debug_span!("step", depth = 1).in_scope(|| info!("in a detailed span"));
        error!(target: "hyper::client", "not ours");
        let _ = tracing::enabled!(Level::TRACE);
        info!("after a question");
        object.record("late", "recorded");
        warn!(parent: None, "of nobody");
    });
    warn!(parent: &object, "of a span elsewhere");
    info!("outside");
}

/// What a stack logs with our layer in it, and without.
#[track_caller]
fn is_the_same_with_and_without(stack: impl Fn(Log, Option<Layer<Registry>>) -> Dispatch) {
    let logged = |layer| {
        let log = Log::default();
        tracing::dispatcher::with_default(&stack(log.clone(), layer), story);
        log.text()
    };
    let (layer, poster) = builder("stack.example.com").build().unwrap();
    let (without, with) = (logged(None), logged(Some(layer)));
    assert!(!without.is_empty());
    assert_eq!(with, without);
    assert!(poster.handle().stats().queue_length > 0, "our own layer heard nothing");
}

#[test]
fn plain_lines_are_byte_identical() {
    is_the_same_with_and_without(|log, layer| match layer {
        Some(layer) => registry().with(layer).with(lines(log)).into(),
        None => registry().with(lines(log)).into(),
    });
}

#[test]
fn json_lines_are_byte_identical() {
    is_the_same_with_and_without(|log, layer| match layer {
        Some(layer) => registry().with(layer).with(lines(log).json()).into(),
        None => registry().with(lines(log).json()).into(),
    });
}

#[test]
fn lines_with_filters_of_their_own_are_byte_identical() {
    for directives in ["off,it=trace", "info", "warn,hyper=off", "it[reconcile]=trace", "error"] {
        is_the_same_with_and_without(|log, layer| {
            let filter = EnvFilter::new(directives);
            // Something is always logged, so that the comparison is never of nothing with nothing.
            use std::io::Write;
            writeln!(log.clone(), "{directives}").unwrap();
            match layer {
                Some(layer) => registry().with(layer).with(lines(log).with_filter(filter)).into(),
                None => registry().with(lines(log).with_filter(filter)).into(),
            }
        });
    }
}

#[test]
fn lines_under_a_global_filter_are_byte_identical() {
    is_the_same_with_and_without(|log, layer| match layer {
        Some(layer) => registry().with(layer).with(EnvFilter::new("info,hyper=off")).with(lines(log)).into(),
        None => registry().with(EnvFilter::new("info,hyper=off")).with(lines(log)).into(),
    });
}

#[test]
fn two_layers_of_different_levels_are_byte_identical() {
    is_the_same_with_and_without(|log, layer| {
        let (warn, debug) = (LevelFilter::WARN, LevelFilter::DEBUG);
        let diary = Diary(log.clone());
        match layer {
            Some(layer) => {
                registry().with(layer).with(lines(log).with_filter(warn)).with(diary.with_filter(debug)).into()
            }
            None => registry().with(lines(log).with_filter(warn)).with(diary.with_filter(debug)).into(),
        }
    });
}

#[test]
fn a_layer_that_keeps_track_of_spans_is_told_the_same() {
    is_the_same_with_and_without(|log, layer| match layer {
        Some(layer) => registry().with(layer).with(Diary(log)).into(),
        None => registry().with(Diary(log)).into(),
    });
}

#[test]
fn the_place_in_the_stack_does_not_matter() {
    let (layer, poster) = builder("stack.example.com").build().unwrap();
    let (below, above) = (lines(Log::default()), lines(Log::default()));
    let targets = Targets::new().with_target("nobody", Level::TRACE);
    let stack = registry().with(below.with_filter(LevelFilter::ERROR)).with(layer).with(above.with_filter(targets));
    let dispatch = Dispatch::from(stack);
    tracing::dispatcher::with_default(&dispatch, story);
    assert_eq!(poster.handle().stats().queue_length, 6);
}

/// What kube's controller logs when a reconciliation fails, and its own span.
fn a_failing_reconciliation() {
    let object = kube::runtime::reflector::ObjectRef::<k8s_openapi::api::core::v1::ConfigMap>::new("a").within("ns");
    let span = info_span!(
        target: "kube_runtime::controller",
        "reconciling object",
        "object.ref" = %object,
        object.reason = "object updated"
    );
    span.in_scope(|| warn!("cannot reconcile"));
}

/// The notes of the Events that come of something logged through a stack.
fn notes(stack: impl FnOnce(Layer<Registry>) -> Dispatch, log: impl FnOnce()) -> Vec<String> {
    let (layer, poster) = builder("stack.example.com").build().unwrap();
    let sink = MemorySink::new();
    let guard = poster.spawn_sink(sink.clone()).unwrap();
    tracing::dispatcher::with_default(&stack(layer), log);
    assert!(guard.shutdown(PATIENCE).is_complete());
    sink.events().iter().map(|it| format!("{} {}", it.event.regarding, it.event.note)).collect()
}

#[test]
fn a_global_filter_that_silences_kube_runtime_silences_the_ambient_door() {
    let heard =
        notes(|layer| registry().with(layer).with(EnvFilter::new("warn,it=info")).into(), a_failing_reconciliation);
    assert_eq!(heard, Vec::<String>::new());
}

#[test]
fn the_same_filter_on_the_layer_that_it_is_meant_for_does_not() {
    let heard = notes(
        |layer| {
            let lines = lines(Log::default()).with_filter(EnvFilter::new("warn,it=info"));
            registry().with(layer).with(lines).into()
        },
        a_failing_reconciliation,
    );
    assert_eq!(heard, ["ConfigMap/ns/a cannot reconcile"]);
}
