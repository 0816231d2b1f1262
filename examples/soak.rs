//! Does it hold for long? Four threads log while the API server fails at random; at the end the account must close.
//!
//! `cargo run --example soak -- --seconds 60 --seed 1`. It prints a line every ten seconds, and ends with an
//! error when a record is not accounted for, when the server's counts are not those that were told, when more was
//! written than the budgets allow, or when memory has grown.

#[path = "../tests/support/mod.rs"]
mod support;

use std::error::Error;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::ObjectReference;
use support::apiserver::{ApiServer, Fault, When};
use tracing::{info, info_span, warn};
use tracing_k8s_events::{Handle, Publish, Stats, object_span};
use tracing_subscriber::prelude::*;

const THREADS: u64 = 4;
const OBJECTS: usize = 50;

/// So much may be in use at the end beyond what was in use after the first third. The API server of this process keeps
/// every Event, some 3 KiB each, and that alone grows.
const GROWTH: u64 = 16 << 20;

/// A small generator, so that a seed makes the same run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (seconds, seed) = (argument("--seconds")?.unwrap_or(60), argument("--seed")?.unwrap_or(1));
    let mut server = ApiServer::start();
    let (layer, poster) = tracing_k8s_events::builder("soak.example.com").build()?;
    tracing_subscriber::registry().with(layer).init();
    let guard = poster.spawn(server.config())?;
    let handle = guard.handle();
    let objects: Vec<ObjectReference> =
        (0..OBJECTS).map(|it| server.add_object("v1", "ConfigMap", Some("default"), &format!("soak-{it}"))).collect();

    let (begin, stop) = (Instant::now(), AtomicBool::new(false));
    let mut requests = 0;
    let mut memory = Vec::new();
    let mut slowest = Duration::ZERO;
    thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        let log = |thread| {
            let (handle, objects, stop) = (&handle, &objects, &stop);
            move || log_until(stop, handle, objects, Random(seed * THREADS + thread + 1))
        };
        let loggers: Vec<_> = (0..THREADS).map(|it| scope.spawn(log(it))).collect();
        let mut random = Random(seed + 1_000_003);
        for second in 0..seconds {
            fail_for_a_second(&mut server, &mut random);
            requests += server.writes().len();
            server.forget_requests();
            memory.push(resident()?);
            if second % 10 == 9 {
                report(begin.elapsed(), &handle.stats(), requests, resident()?);
            }
        }
        stop.store(true, Ordering::SeqCst);
        for logger in loggers {
            slowest = slowest.max(logger.join().map_err(|_| "a thread that logs panicked")?);
        }
        Ok(())
    })?;

    let outcome = guard.shutdown(Duration::from_secs(120));
    requests += server.writes().len();
    let (stats, after) = (handle.stats(), resident()?);
    report(begin.elapsed(), &stats, requests, after);
    println!("{outcome:?}\n{stats:#?}\nthe slowest call of the log: {slowest:?}");
    let early = memory.get(memory.len() / 3).copied().unwrap_or(after);
    let budget = 2_000 + 50 * (begin.elapsed().as_secs() + 1);
    let parts = stats.told + stats.held + stats.in_flight + stats.queue_length + stats.dropped();
    for (holds, law) in [
        (outcome.untold == 0, "everything is told in the end".to_owned()),
        (stats.seen == parts, format!("seen {} = {parts}, its parts", stats.seen)),
        (stats.dropped() == 0, format!("{} dropped", stats.dropped())),
        (server.occurrences() as u64 == stats.told, format!("told {}, shown {}", stats.told, server.occurrences())),
        (requests as u64 <= budget, format!("{requests} writes, {budget} allowed")),
        (after <= early + GROWTH, format!("memory {} KiB, then {} KiB", early >> 10, after >> 10)),
    ] {
        println!("{} {law}", if holds { "holds:" } else { "BROKEN:" });
        if !holds {
            return Err(law.into());
        }
    }
    Ok(())
}

fn argument(name: &str) -> Result<Option<u64>, Box<dyn Error>> {
    let mut arguments = std::env::args().skip_while(|it| it != name).skip(1);
    Ok(arguments.next().map(|it| it.parse()).transpose()?)
}

/// Logs as operators do: mostly the same again, sometimes with another note, sometimes by another door. Returns how long
/// the slowest call took.
fn log_until(stop: &AtomicBool, handle: &Handle, objects: &[ObjectReference], mut random: Random) -> Duration {
    let mut slowest = Duration::ZERO;
    while !stop.load(Ordering::SeqCst) {
        let object = &objects[random.below(objects.len())];
        let (which, number) = (random.below(100), random.below(1_000_000));
        let name = object.name.as_deref().unwrap_or_default();
        let begin = Instant::now();
        match which {
            0..50 => object_span(object).in_scope(|| warn!(k8s.reason = "NotReady", "waiting for the database")),
            50..70 => object_span(object).in_scope(|| info!(k8s.reason = "Synced", "in step")),
            70..85 => object_span(object).in_scope(|| warn!(k8s.reason = "Failed", request = number, "no answer")),
            85..95 => {
                let text = format!("ConfigMap.v1./{name}.default");
                let span = info_span!("reconciling object", "object.ref" = %text);
                span.in_scope(|| warn!("reconciler failed"));
            }
            _ => handle.publish(object, Publish::normal("Scaled", "scaled to 3").action("Scale")),
        }
        slowest = slowest.max(begin.elapsed());
        // Some 3,000 a second from all four threads.
        thread::sleep(Duration::from_millis(1));
    }
    slowest
}

/// What goes wrong in the next second.
fn fail_for_a_second(server: &mut ApiServer, random: &mut Random) {
    let second = Duration::from_secs(1);
    let often = [0.02, 0.1, 0.5][random.below(3)];
    let fault = match random.below(12) {
        0 => Fault::reset(),
        1 => Fault::cut(),
        2 => Fault::garbage(),
        3 => Fault::internal_error(),
        4 => Fault::unavailable(),
        5 => Fault::timeout_after_write(),
        6 => Fault::too_many_requests(None),
        7 => Fault::overloaded(second),
        8 => Fault::unauthorized(),
        9 => Fault::hold(),
        10 => {
            server.go_away();
            thread::sleep(second);
            return server.come_back();
        }
        _ => return thread::sleep(second),
    };
    server.fail(When::any().chance(often, random.below(1_000_000) as u64), fault);
    thread::sleep(second);
    server.heal();
}

/// What is in use of the machine's memory, in bytes.
fn resident() -> Result<u64, Box<dyn Error>> {
    let pages: u64 = fs::read_to_string("/proc/self/statm")?.split(' ').nth(1).ok_or("no resident pages")?.parse()?;
    Ok(pages * 4096)
}

fn report(elapsed: Duration, stats: &Stats, requests: usize, memory: u64) {
    println!(
        "{:>5.0?}  seen {:>8}  told {:>8}  held {:>5}  writes {requests:>6}  retried {:>5}  dropped {:>3}  {:>4} MiB",
        elapsed,
        stats.seen,
        stats.told,
        stats.held,
        stats.retried,
        stats.dropped(),
        memory >> 20,
    );
}
