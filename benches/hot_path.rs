//! What one record costs the thread that logs, in time, beside the peers in the same run. `README.md` beside this file
//! says what each row means, and how to run it.
//!
//! Each row is a subscriber of its own, entered by the threads of the row. Ours has a real poster at work behind it,
//! with a sink in memory. A burst is 2,000 records at once, and time for whoever drains the queue to catch up, which is
//! not counted; sparse is one record per millisecond, each timed by itself.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tracing::level_filters::LevelFilter;
use tracing::{Dispatch, Span, debug, dispatcher, info, info_span};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_k8s_events::{Guard, MemorySink, builder};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry;

/// So many records at once.
const BURST: u64 = 2_000;

/// Between two bursts: the poster looks every 5 ms at least while something happens.
const PAUSE: Duration = Duration::from_millis(12);

/// Does nothing with what it hears.
struct Nothing;

impl<S: tracing::Subscriber> Layer<S> for Nothing {}

/// A subscriber, and whatever must live as long.
struct Stack {
    dispatch: Dispatch,
    _appender: Option<WorkerGuard>,
    _poster: Option<Guard>,
}

impl Stack {
    fn of(dispatch: impl Into<Dispatch>) -> Self {
        Self { dispatch: dispatch.into(), _appender: None, _poster: None }
    }

    fn registry() -> Self {
        Self::of(registry())
    }

    fn no_op() -> Self {
        Self::of(registry().with(Nothing))
    }

    /// The usual way to keep a log from holding up its program: formatted here, written by a worker, to nowhere.
    fn appender() -> Self {
        let (writer, guard) = tracing_appender::non_blocking(std::io::sink());
        let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
        Self { _appender: Some(guard), ..Self::of(registry().with(lines)) }
    }

    fn ours() -> Self {
        let (layer, poster) = builder("bench.example.com").build().expect("the name is qualified");
        let guard = poster.spawn_sink(MemorySink::new()).expect("the system gives a thread");
        Self { _poster: Some(guard), ..Self::of(registry().with(layer)) }
    }

    /// One place, which is taken, and nobody who would free it.
    fn ours_full() -> Self {
        let (layer, poster) = builder("bench.example.com").queue_capacity(1).build().expect("the name is qualified");
        std::mem::forget(poster);
        let stack = Self::of(registry().with(layer));
        dispatcher::with_default(&stack.dispatch, || own_fields(0));
        stack
    }

    /// Other layers that want all of some other target, so that the level alone does not tell what is unwanted.
    fn others() -> impl Layer<tracing_subscriber::Registry> + Send + Sync {
        let lines = || tracing_subscriber::fmt::layer().with_writer(std::io::sink);
        lines().with_filter(Targets::new().with_target("nobody", LevelFilter::TRACE))
    }

    fn others_alone() -> Self {
        Self::of(registry().with(Self::others()))
    }

    fn others_and_ours() -> Self {
        let (layer, poster) = builder("bench.example.com").build().expect("the name is qualified");
        let guard = poster.spawn_sink(MemorySink::new()).expect("the system gives a thread");
        let layers = Self::others().and_then(layer);
        Self { _poster: Some(guard), ..Self::of(registry().with(layers)) }
    }
}

fn in_a_span(number: u64) {
    info!("assigned pod to node-{}", black_box(number % 8));
}

fn own_fields(number: u64) {
    let (kind, namespace, name) = black_box(("Pod", "my-namespace", "my-pod-7c9d8f6b5-x2x4z"));
    let uid = black_box("638ffacd-f666-4402-ba10-7848c66ef576");
    info!(
        k8s.kind = kind,
        k8s.namespace = namespace,
        k8s.name = name,
        k8s.uid = uid,
        k8s.reason = "Scheduled",
        "assigned pod to node-{}",
        black_box(number % 8)
    );
}

fn unwanted(number: u64) {
    debug!("looked at {}", black_box(number));
}

fn object() -> Span {
    info_span!(
        "reconcile",
        k8s.kind = "Pod",
        k8s.namespace = "my-namespace",
        k8s.name = "my-pod-7c9d8f6b5-x2x4z",
        k8s.uid = "638ffacd-f666-4402-ba10-7848c66ef576"
    )
}

/// A row: how it is called, its subscriber, its record, and whether the record stands in an object's span.
type Row = (&'static str, fn() -> Stack, fn(u64), bool);

const ROWS: &[Row] = &[
    ("registry alone", Stack::registry, in_a_span, true),
    ("a layer that does nothing", Stack::no_op, in_a_span, true),
    ("fmt and tracing-appender, in a span", Stack::appender, in_a_span, true),
    ("ours, in a span", Stack::ours, in_a_span, true),
    ("fmt and tracing-appender, own fields", Stack::appender, own_fields, false),
    ("ours, own fields", Stack::ours, own_fields, false),
    ("ours, queue full", Stack::ours_full, in_a_span, true),
    ("unwanted, ours beside another", Stack::others_and_ours, unwanted, true),
    ("unwanted, the other alone", Stack::others_alone, unwanted, true),
];

/// Runs on this thread as a part of the row's program.
fn within<T>(stack: &Stack, in_span: bool, act: impl FnOnce() -> T) -> T {
    dispatcher::with_default(&stack.dispatch, || if in_span { object().in_scope(act) } else { act() })
}

/// How long so many records take, in bursts, on each of so many threads at once: the mean of the threads.
fn bursts(row: &Row, threads: u32, records: u64) -> Duration {
    let (_, stack, record, in_span) = row;
    let stack = stack();
    let start = Barrier::new(threads as usize);
    let one = || {
        within(&stack, *in_span, || {
            record(0);
            let mut taken = Duration::ZERO;
            let mut left = records;
            while left > 0 {
                let now = left.min(BURST);
                start.wait();
                let begin = Instant::now();
                (0..now).for_each(record);
                taken += begin.elapsed();
                left -= now;
                thread::sleep(PAUSE);
            }
            taken
        })
    };
    let taken: Duration = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        running.into_iter().map(|it| it.join().expect("a record never panics")).sum()
    });
    taken / threads
}

/// How long a record takes, one per millisecond: the median, since a thread that slept is often put aside once more.
fn sparse(row: &Row, records: usize) -> Duration {
    let (_, stack, record, in_span) = row;
    let stack = stack();
    within(&stack, *in_span, || {
        record(0);
        let one = |number| {
            thread::sleep(Duration::from_millis(1));
            let begin = Instant::now();
            record(number);
            begin.elapsed()
        };
        let mut taken: Vec<_> = (0..records as u64).map(one).collect();
        taken.sort();
        taken[records / 2]
    })
}

fn burst(criterion: &mut Criterion) {
    for threads in [1, 2] {
        let mut group = criterion.benchmark_group(format!("burst, {threads} thread(s)"));
        group.sample_size(10).warm_up_time(Duration::from_millis(500));
        for row in ROWS {
            group.bench_function(BenchmarkId::from_parameter(row.0), |bencher| {
                bencher.iter_custom(|records| {
                    // More would be spent in pauses, which criterion does not see.
                    let some = records.clamp(1, 20_000);
                    bursts(row, threads, some).mul_f64(records as f64 / some as f64)
                });
            });
        }
    }
}

fn one_per_millisecond(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one per millisecond");
    group.sample_size(10).warm_up_time(Duration::from_millis(500));
    for row in &ROWS[..6] {
        group.bench_function(BenchmarkId::from_parameter(row.0), |bencher| {
            bencher.iter_custom(|records| sparse(row, 301).mul_f64(records as f64));
        });
    }
}

criterion_group!(hot_path, burst, one_per_millisecond);
criterion_main!(hot_path);
