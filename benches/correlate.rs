//! What an observation costs: of a key that is hot, of one among many, and of one never seen before.
//!
//! The decisions are private to the crate, and pure: they are taken in by path, with the nouns they are made of.

#[allow(dead_code, unused_imports, unreachable_pub)]
#[path = "../src"]
mod house {
    pub(crate) mod correlate;
    pub(crate) mod message;
    pub(crate) mod regarding;
}

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

use house::{correlate, message, regarding};

use correlate::{Correlator, Settings};
use message::{EventType, Now, Occurrence, Reply, Tag, Wall};
use regarding::Regarding;

/// So many are built at a time, outside of what is measured.
const BATCH: u64 = 8_192;

fn occurrence(key: u64) -> Occurrence {
    let regarding = Regarding {
        api_version: "apps/v1".into(),
        kind: "Deployment".into(),
        namespace: format!("namespace-{}", key % 100).into(),
        name: format!("web-{key}").into(),
        uid: format!("5ee9a1f4-8b1e-4c62-9f0e-{key:012}").into(),
        ..Regarding::default()
    };
    let mut it = Occurrence::about(Wall(1_764_000_000_000_000), EventType::Normal, Arc::new(regarding));
    it.callsite = 42;
    it.text.push(Tag::Reason, "Scaled");
    it.text.push(Tag::Note, "scaled up replicas=3 because the queue is long");
    it
}

fn tell_all(correlator: &mut Correlator, now: Now) {
    while let Some((ticket, _)) = correlator.next_request(now) {
        correlator.settle(now, ticket, Reply::Done);
    }
}

fn now(mono: Duration) -> Now {
    Now { mono, wall: Wall(1_764_000_000_000_000 + mono.as_micros() as i64) }
}

fn hot_key(c: &mut Criterion) {
    let mut group = c.benchmark_group("observe");
    group.throughput(Throughput::Elements(1));
    group.bench_function("one hot key", |b| {
        let (mut correlator, it) = (Correlator::new(Settings::default()), occurrence(1));
        correlator.observe(now(Duration::ZERO), &it);
        tell_all(&mut correlator, now(Duration::ZERO));
        b.iter(|| correlator.observe(now(Duration::from_millis(1)), &it));
    });
    group.finish();
}

/// Round robin over so many keys, with the budgets as they are: of a million Events few may be made.
fn distinct_keys(c: &mut Criterion) {
    let mut group = c.benchmark_group("observe, distinct keys");
    group.throughput(Throughput::Elements(1));
    for keys in [100, 10_000, 1_000_000] {
        group.bench_function(keys.to_string(), |b| {
            let mut stream = Stream::new(Settings::default(), keys);
            b.iter_custom(|iterations| stream.observe(iterations));
        });
    }
    group.finish();
}

/// Every key is new and becomes an Event, as no budget would allow: the price of making one and of forgetting another.
fn new_keys(c: &mut Criterion) {
    let mut group = c.benchmark_group("observe");
    group.throughput(Throughput::Elements(1));
    group.bench_function("new keys only, budgets open", |b| {
        let open = 1_000_000_000;
        let settings = Settings { total_burst: open, object_burst: open, ..Settings::default() };
        let mut stream = Stream::new(settings, u64::MAX);
        b.iter_custom(|iterations| stream.observe(iterations));
    });
    group.finish();
}

struct Stream {
    correlator: Correlator,
    keys: u64,
    next: u64,
    clock: Duration,
}

impl Stream {
    fn new(settings: Settings, keys: u64) -> Self {
        Self { correlator: Correlator::new(settings), keys, next: 0, clock: Duration::ZERO }
    }

    /// How long so many observations took; what becomes due is told between the batches, unmeasured.
    fn observe(&mut self, iterations: u64) -> Duration {
        let mut spent = Duration::ZERO;
        let mut left = iterations;
        while left > 0 {
            let batch: Vec<_> = (0..left.min(BATCH)).map(|it| occurrence((self.next + it) % self.keys)).collect();
            let began = Instant::now();
            for it in &batch {
                self.correlator.observe(now(self.clock), it);
            }
            spent += began.elapsed();
            tell_all(&mut self.correlator, now(self.clock));
            self.clock += Duration::from_millis(10);
            self.next += batch.len() as u64;
            left -= batch.len() as u64;
        }
        spent
    }
}

criterion_group!(benches, hot_key, distinct_keys, new_keys);
criterion_main!(benches);
