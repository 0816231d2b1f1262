//! How much memory the decisions take when a million objects come by. In a process of its own, whose every byte counts.
//!
//! The decisions are private to the crate, and pure: they are taken in by path, with the nouns they are made of.

#[allow(dead_code, unused_imports, unreachable_pub, reason = "this test uses a part")]
#[path = "../src"]
mod house {
    pub mod correlate;
    pub mod message;
    pub mod regarding;
}
#[allow(unused_imports, reason = "the modules name one another by `crate::`")]
use house::{correlate, message, regarding};

use std::sync::Arc;
use std::time::Duration;

use peak_alloc::PeakAlloc;

use correlate::{Correlator, Settings};
use message::{EventType, Now, Occurrence, Reply, Tag, Wall};
use regarding::Regarding;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// What all that is remembered may take.
const PROMISED: usize = 24 << 20;

/// A list that grows is for a moment there twice.
const WHILE_GROWING: usize = 3 << 20;

fn occurrence(object: u64) -> Occurrence {
    let regarding = Regarding {
        api_version: "apps/v1".into(),
        kind: "Deployment".into(),
        namespace: format!("namespace-{}", object % 100).into(),
        name: format!("web-{object}").into(),
        uid: format!("5ee9a1f4-8b1e-4c62-9f0e-{object:012}").into(),
        ..Regarding::default()
    };
    let mut it = Occurrence::about(Wall(1_764_000_000_000_000), EventType::Normal, Arc::new(regarding));
    it.callsite = 42;
    it.text.push(Tag::Reason, "Scaled");
    it.text.push(Tag::Note, "scaled up replicas=3 because the queue is long");
    it
}

/// A thousand new objects a second, each with one record, for a thousand seconds; whatever may be written is.
#[track_caller]
fn assert_a_million_objects_fit(settings: Settings) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let mut correlator = Correlator::new(settings);
    for object in 0..1_000_000 {
        let mono = Duration::from_millis(object);
        let now = Now { mono, wall: Wall(1_764_000_000_000_000 + mono.as_micros() as i64) };
        correlator.observe(now, &occurrence(object));
        while let Some((ticket, _)) = correlator.next_request(now) {
            correlator.settle(now, ticket, Reply::Done);
        }
    }
    let [after, most] = [MEMORY.current_usage() - before, MEMORY.peak_usage() - before];
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    println!("1,000,000 unique objects: {:.1} MiB afterwards, {:.1} MiB at most", mib(after), mib(most));
    assert!(after <= PROMISED, "{after} bytes");
    assert!(most <= PROMISED + WHILE_GROWING, "{most} bytes");
}

/// Not in the harness of tests: it would run the unit tests of the modules beside, on other threads.
fn main() {
    assert_a_million_objects_fit(Settings::default());
    let open = 1_000_000_000;
    assert_a_million_objects_fit(Settings { total_burst: open, object_burst: open, ..Settings::default() });
}
