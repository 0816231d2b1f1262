//! What one record costs the thread that logs, in instructions and allocations: one case, so many records.
//!
//! `.ci/cost` runs it under callgrind with two numbers of records and divides the difference, so that everything but the
//! record itself falls out. The poster has no home here: records wait in the queue, which has room for all.

use std::hint::black_box;
use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tracing::{Level, Span, debug, info, info_span};
use tracing_k8s_events::MemorySink;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Its name, the subscribers that it runs under, and what logs so many records.
type Case = (&'static str, Stack, fn(u64));

const CASES: &[Case] = &[
    ("loop", Stack::Registry, nothing),
    ("registry", Stack::Registry, inherited),
    ("fmt", Stack::Fmt, inherited),
    ("fmt-own-fields", Stack::Fmt, own_fields),
    ("span", Stack::Ours, inherited),
    ("span-depth-5", Stack::Ours, inherited),
    ("span-literal", Stack::Ours, literal),
    ("span-100-bytes", Stack::Ours, hundred_bytes),
    ("span-reason", Stack::Ours, reason),
    ("own-fields", Stack::Ours, own_fields),
    ("unwanted", Stack::Ours, unwanted),
    ("unwanted-elsewhere", Stack::OthersAndOurs, unwanted),
    ("unwanted-elsewhere-without", Stack::Others, unwanted),
    ("queue-full", Stack::OursFull, inherited),
    ("no-object", Stack::Ours, no_object),
    ("sparse", Stack::OursAtHome, sparse),
    ("sparse-awake", Stack::OursAwake, sparse),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stack {
    Registry,
    Fmt,
    Ours,
    OursFull,
    /// The poster is at work, and mostly asleep. `.ci/wakes` watches whether logging wakes it.
    OursAtHome,
    OursAwake,
    Others,
    OthersAndOurs,
}

#[inline(never)]
fn nothing(number: u64) {
    black_box(number);
}

#[inline(never)]
fn inherited(number: u64) {
    info!("assigned pod to node-{}", black_box(number));
}

#[inline(never)]
fn reason(number: u64) {
    info!(k8s.reason = "Scaled", "assigned pod to node-{}", black_box(number));
}

#[inline(never)]
fn hundred_bytes(number: u64) {
    info!(
        "assigned pod my-pod-7c9d8f6b5-x2x4z to node-{}, which has room for a dozen more, so says the plan",
        black_box(number)
    );
}

#[inline(never)]
fn literal(_: u64) {
    info!("scaled up");
}

fn sparse(number: u64) {
    std::thread::sleep(std::time::Duration::from_millis(1));
    inherited(number);
}

#[inline(never)]
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
        black_box(number)
    );
}

#[inline(never)]
fn unwanted(number: u64) {
    debug!("looked at {}", black_box(number));
}

#[inline(never)]
fn no_object(number: u64) {
    info!("looked at {}", black_box(number));
}

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let [case, records] = &args[..] else {
        println!("{}", CASES.iter().map(|it| it.0).collect::<Vec<_>>().join(" "));
        return ExitCode::SUCCESS;
    };
    let Some((name, stack, record)) = CASES.iter().find(|it| it.0 == case) else { return ExitCode::FAILURE };
    let records: u64 = records.parse().expect("a number of records");

    let places = if *stack == Stack::OursFull { 1 } else { 20_000 };
    let builder = tracing_k8s_events::builder("cost.example.com").queue_capacity(places);
    let fmt = || tracing_subscriber::fmt::layer().with_writer(std::io::sink).with_filter(LevelFilter::INFO);
    // Somebody wants everything of some target, so that the level alone does not tell what is unwanted.
    let picky = || {
        let targets = Targets::new().with_target("nobody", Level::TRACE);
        tracing_subscriber::fmt::layer().with_writer(std::io::sink).with_filter(targets)
    };
    let poster = match stack {
        Stack::Registry => {
            registry().init();
            None
        }
        Stack::Fmt => {
            let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(std::io::sink);
            registry().with(lines).init();
            None
        }
        Stack::Ours | Stack::OursFull => {
            let (layer, poster) = builder.build().expect("the name is qualified");
            registry().with(layer).init();
            Some(poster)
        }
        Stack::OursAtHome | Stack::OursAwake => {
            let builder = if *stack == Stack::OursAwake { builder.wake_at_every_record() } else { builder };
            let (layer, poster) = builder.build().expect("the name is qualified");
            registry().with(layer).init();
            // Its end would be watched too.
            std::mem::forget(poster.spawn_sink(MemorySink::new()).expect("the system gives a thread"));
            None
        }
        Stack::Others => {
            registry().with(fmt()).with(picky()).init();
            None
        }
        Stack::OthersAndOurs => {
            let (layer, poster) = builder.build().expect("the name is qualified");
            registry().with(fmt()).with(picky()).with(layer).init();
            Some(poster)
        }
    };

    let span = match *name {
        "own-fields" | "no-object" => Span::none(),
        _ => info_span!(
            "reconcile",
            k8s.kind = "Pod",
            k8s.namespace = "my-namespace",
            k8s.name = "my-pod-7c9d8f6b5-x2x4z",
            k8s.uid = "638ffacd-f666-4402-ba10-7848c66ef576"
        ),
    };
    let depth = if *name == "span-depth-5" { 4 } else { 0 };
    let spans = (0..depth).fold(vec![span], |mut spans, _| {
        let child = info_span!(parent: &spans[spans.len() - 1], "step");
        spans.push(child);
        spans
    });
    let _inside: Vec<_> = spans.iter().map(Span::enter).collect();
    // Everything that is done once is done.
    record(0);
    record(0);

    let region = Region::new(ALLOCATOR);
    for number in 0..records {
        record(number);
    }
    let allocated = region.change();
    println!("{} {}", allocated.allocations + allocated.reallocations, allocated.bytes_allocated);
    // Dropping the poster would count, record by record, what waits in the queue: that is not the logging thread's cost.
    std::mem::forget(poster);
    ExitCode::SUCCESS
}
