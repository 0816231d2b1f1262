//! The end, in every way there is: the outcome says how many were told and how many not, within its deadline.

use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tracing::instrument::WithSubscriber;
use tracing::warn;
use tracing_k8s_events::{Handle, MemorySink, Outcome, Publish, Reply, Request, Sink, builder};
use tracing_subscriber::prelude::*;

use crate::kit::{PATIENCE, Program, assert_closes, object};

const DEADLINE: Duration = Duration::from_millis(500);

/// Takes what is about `good`, and never answers the rest.
#[derive(Clone, Default)]
struct Half(MemorySink);

impl Sink for Half {
    async fn send(&self, request: Request) -> Reply {
        match &request {
            Request::Create(it) if &*it.event.regarding.name == "good" => self.0.send(request).await,
            _ => std::future::pending().await,
        }
    }
}

/// Blocks its thread: what no sink should do.
struct Blocking(Mutex<mpsc::Receiver<()>>);

impl Sink for Blocking {
    async fn send(&self, _: Request) -> Reply {
        let _ = self.0.lock().unwrap().recv();
        Reply::Done
    }
}

fn publish(handle: &Handle, name: &str) {
    handle.publish(&object("Foo", name), Publish::warning("NotReady", "not ready"));
}

/// Three told or telling, two that cannot be.
fn three_good_and_two_bad(handle: &Handle) {
    (0..3).for_each(|it| handle.publish(&object("Foo", "good"), Publish::warning(&format!("R{it}"), "x")));
    ["bad", "worse"].into_iter().for_each(|it| publish(handle, it));
}

/// Within a tenth of the deadline, and the machine's own mood.
#[track_caller]
fn assert_in_time(begin: Instant) {
    let took = begin.elapsed();
    assert!(took >= DEADLINE && took < DEADLINE + DEADLINE / 10 + Duration::from_millis(200), "{took:?}");
}

#[track_caller]
fn assert_half_told(outcome: Outcome, handle: &Handle) {
    assert_eq!((outcome.untold, outcome.dropped), (2, 0));
    let stats = handle.stats();
    assert_eq!(stats.told, 3);
    assert_closes(&stats);
}

#[test]
fn a_shutdown_says_at_its_deadline_what_was_told_and_what_is_lost() {
    let program = Program::with_sink(Half::default(), |it| it);
    let handle = program.handle();
    three_good_and_two_bad(&handle);
    let begin = Instant::now();
    let outcome = program.end_within(DEADLINE);
    assert_in_time(begin);
    assert_half_told(outcome, &handle);
    assert_eq!(handle.stats().dropped_at_shutdown, 2);
}

/// An executor that is not tokio.
fn on_a_plain_thread<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(it) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return it;
        }
        thread::park();
    }
}

#[test]
fn a_flush_says_so_on_every_runtime_and_on_none() {
    let program = Program::with_sink(Half::default(), |it| it);
    let handle = program.handle();
    three_good_and_two_bad(&handle);
    let flush = || handle.flush(DEADLINE).into_future();
    let waits: [&dyn Fn() -> Outcome; 5] = [
        &|| handle.flush(DEADLINE).wait(),
        &|| Builder::new_current_thread().enable_all().build().unwrap().block_on(flush()),
        &|| Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(flush()),
        &|| Builder::new_current_thread().build().unwrap().block_on(flush()),
        &|| on_a_plain_thread(flush()),
    ];
    for wait in waits {
        let begin = Instant::now();
        let outcome = wait();
        assert_in_time(begin);
        assert_half_told(outcome, &handle);
    }
}

#[test]
fn a_dropped_guard_flushes_on_every_runtime_and_on_none() {
    let drop_it = |sink: &MemorySink| {
        let program = Program::with_sink(sink.clone(), |it| it);
        program.log_about(&object("Foo", "a"), || (0..20).for_each(|_| warn!("not ready")));
        drop(program);
    };
    let homes: [&dyn Fn(&MemorySink); 3] = [
        &|sink| drop_it(sink),
        &|sink| Builder::new_current_thread().enable_all().build().unwrap().block_on(async { drop_it(sink) }),
        &|sink| {
            Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap()
                .block_on(async { drop_it(sink) })
        },
    ];
    for home in homes {
        let sink = MemorySink::new();
        home(&sink);
        assert_eq!(sink.events().iter().map(|it| it.count).sum::<u32>(), 20);
    }
}

#[test]
fn a_poster_that_does_not_answer_costs_no_more_than_the_deadline() {
    let (_until_the_end, blocked) = mpsc::channel();
    let program = Program::with_sink(Blocking(Mutex::new(blocked)), |it| it);
    let handle = program.handle();
    publish(&handle, "a");
    while handle.stats().queue_length > 0 {
        thread::yield_now();
    }
    publish(&handle, "b");
    let begin = Instant::now();
    let outcome = handle.flush(DEADLINE).wait();
    assert_in_time(begin);
    assert_eq!(outcome.told, 0);
    let begin = Instant::now();
    let outcome = program.end_within(DEADLINE);
    assert_in_time(begin);
    assert_eq!(outcome.told, 0);
    assert!(outcome.untold >= 1);
}

#[test]
fn a_poster_whose_future_is_dropped_counts_its_losses_and_answers_who_waits() {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (_layer, poster) = builder("kit.example.com").build::<tracing_subscriber::Registry>().unwrap();
    let handle = poster.handle();
    let home = runtime.spawn(poster.run_sink(Half::default()));
    three_good_and_two_bad(&handle);
    while handle.stats().told < 3 {
        thread::yield_now();
    }
    let waiting = {
        let handle = handle.clone();
        thread::spawn(move || handle.flush(PATIENCE).wait())
    };
    // The poster has taken the order once it has asked again for what it held.
    publish(&handle, "bad");
    while handle.stats().held == 0 {
        thread::yield_now();
    }
    home.abort();
    assert_eq!(waiting.join().unwrap().told, 0);
    assert_eq!(handle.stats().dropped_at_shutdown, 3);
    publish(&handle, "good");
    assert_eq!(handle.stats().dropped_after_end, 1);
    assert_closes(&handle.stats());
    assert_eq!(handle.flush(PATIENCE).wait().told, 0);
}

#[test]
fn a_poster_that_was_never_polled_counts_what_waited() {
    let (_layer, poster) = builder("kit.example.com").build::<tracing_subscriber::Registry>().unwrap();
    let handle = poster.handle();
    publish(&handle, "a");
    drop(poster.run_sink(MemorySink::new()));
    publish(&handle, "a");
    let stats = handle.stats();
    assert_eq!((stats.dropped_at_shutdown, stats.dropped_after_end), (1, 1));
    assert_closes(&stats);
}

/// A layer of the application's that panics at the poster's first diagnostics.
struct Jumpy(AtomicUsize);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Jumpy {
    fn on_event(&self, record: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        let is_ours = record.metadata().target() == "tracing_k8s_events";
        assert!(!is_ours || self.0.fetch_add(1, Ordering::SeqCst) >= 2, "staged");
    }
}

/// Refuses the first request, takes the rest.
#[derive(Clone, Default)]
struct Once {
    memory: MemorySink,
    asked: Arc<AtomicUsize>,
}

impl Sink for Once {
    async fn send(&self, request: Request) -> Reply {
        match self.asked.fetch_add(1, Ordering::SeqCst) {
            0 => Reply::Unauthorized,
            _ => self.memory.send(request).await,
        }
    }
}

#[test]
fn a_poster_that_panics_is_caught_goes_on_and_counts_it() {
    let sink = Once::default();
    let seen = sink.memory.clone();
    let (layer, poster) = builder("kit.example.com").build().unwrap();
    let handle = poster.handle();
    let jumpy = tracing_subscriber::registry().with(Jumpy(AtomicUsize::new(0))).with(layer);
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let home = runtime.spawn(poster.run_sink(sink).with_subscriber(jumpy));
    (0..20).for_each(|_| publish(&handle, "a"));
    assert!(handle.flush(PATIENCE).wait().is_complete());
    assert_eq!(seen.events().iter().map(|it| it.count).sum::<u32>(), 20);
    assert_eq!(handle.stats().restarts, 1);
    assert_closes(&handle.stats());
    home.abort();
}

/// Its requests panic when they are dropped, as at the end of their time.
#[derive(Default)]
struct Sticky(MemorySink, AtomicUsize);

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        assert!(thread::panicking(), "staged");
    }
}

impl Sink for Sticky {
    async fn send(&self, request: Request) -> Reply {
        if self.1.fetch_add(1, Ordering::SeqCst) == 0 {
            let _sticky = PanicsInDrop;
            std::future::pending::<()>().await;
        }
        self.0.send(request).await
    }
}

#[test]
fn a_request_that_panics_at_its_end_is_sent_again() {
    let sink = Sticky::default();
    let seen = sink.0.clone();
    let program = Program::with_sink(sink, |it| it.attempt_timeout(Duration::from_millis(20)));
    publish(&program.handle(), "a");
    assert!(program.flush().is_complete());
    assert_eq!(seen.events().len(), 1);
    assert_eq!(program.handle().stats().restarts, 1);
    program.assert_account_closes();
}

#[test]
fn every_record_is_on_the_books_when_the_end_comes_amid_logging() {
    let program = Program::with_sink(MemorySink::new(), |it| it);
    let handle = program.handle();
    let logged = thread::scope(|scope| {
        let loggers: Vec<_> = (0..4)
            .map(|thread| {
                let handle = handle.clone();
                scope.spawn(move || (0..5_000).for_each(|it| publish(&handle, &format!("{}", (thread + it) % 100))))
            })
            .collect();
        while handle.stats().seen < 2_000 {
            thread::yield_now();
        }
        let _ = program.end_within(PATIENCE);
        loggers.into_iter().for_each(|it| it.join().unwrap());
        20_000
    });
    let stats = handle.stats();
    assert_closes(&stats);
    assert_eq!(stats.seen, logged);
}
