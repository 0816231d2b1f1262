//! Long outages, in time that passes by itself: the clock of a paused runtime jumps to the next thing that is due.

use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tracing_k8s_events::sink::Resource;
use tracing_k8s_events::{Handle, MemorySink, Publish, Reply, Request, Sink, builder};

use crate::kit::{assert_closes, object};

type Answer = Box<dyn Fn(Duration, &Request) -> Option<Reply> + Send + Sync>;

/// Answers as it was told to, by the time since the beginning; else as memory does. It keeps when it was asked.
#[derive(Clone)]
struct Scripted(Arc<Script>);

struct Script {
    begin: Instant,
    answer: Answer,
    asked: Mutex<Vec<(Duration, Request)>>,
    memory: MemorySink,
}

impl Scripted {
    fn new(answer: impl Fn(Duration, &Request) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let (begin, memory) = (Instant::now(), MemorySink::new());
        Self(Arc::new(Script { begin, answer: Box::new(answer), asked: Mutex::default(), memory }))
    }

    fn asked(&self) -> Vec<(Duration, Request)> {
        self.0.asked.lock().unwrap().clone()
    }

    /// How often it was asked for each namespace's Events.
    fn asked_for(&self) -> BTreeMap<String, usize> {
        let mut asked = BTreeMap::new();
        for (_, request) in self.asked() {
            if let Request::Create(it) | Request::Patch(it) = request {
                *asked.entry(it.event.namespace.to_string()).or_default() += 1;
            }
        }
        asked
    }

    fn told(&self) -> u32 {
        self.0.memory.events().iter().map(|it| it.count).sum()
    }
}

impl Sink for Scripted {
    async fn send(&self, request: Request) -> Reply {
        let at = self.0.begin.elapsed();
        self.0.asked.lock().unwrap().push((at, request.clone()));
        match (self.0.answer)(at, &request) {
            Some(reply) => reply,
            None => self.0.memory.send(request).await,
        }
    }
}

/// A program on this runtime, whose records come by the explicit door.
fn program(sink: &Scripted) -> Handle {
    let (_layer, poster) = builder("kit.example.com").build::<tracing_subscriber::Registry>().unwrap();
    let handle = poster.handle();
    drop(tokio::spawn(poster.run_sink(sink.clone())));
    handle
}

async fn pass(time: Duration) {
    let _ = timeout(time, pending::<()>()).await;
}

const fn seconds(it: u64) -> Duration {
    Duration::from_secs(it)
}

fn not_ready(handle: &Handle, name: &str) {
    handle.publish(&object("Foo", name), Publish::warning("NotReady", "not ready"));
}

fn unavailable() -> Option<Reply> {
    Some(Reply::Unavailable { retry_after: None, why: "staged".into() })
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_comes_after_thirty_seconds_is_told_everything_within_a_retry() {
    let sink = Scripted::new(|at, _| if at < seconds(30) { unavailable() } else { None });
    let handle = program(&sink);
    (0..100).for_each(|_| not_ready(&handle, "a"));
    (0..100).for_each(|it| not_ready(&handle, &format!("b-{it}")));
    pass(seconds(30)).await;
    let early = sink.asked().len();
    assert!(early <= 16 + 10, "{early} requests while it was away");
    assert_eq!(handle.stats().told, 0);
    assert_closes(&handle.stats());
    pass(seconds(31)).await;
    assert_eq!((handle.stats().told, sink.told()), (200, 200));
    assert_eq!(sink.0.memory.events().len(), 101);
    assert!(sink.asked().len() - early <= 105, "{} writes", sink.asked().len() - early);
    assert_closes(&handle.stats());
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_nine_minutes_loses_nothing_and_one_of_eleven_is_counted() {
    for (away, told) in [(9, 100), (11, 0)] {
        let sink = Scripted::new(move |at, _| if at < seconds(away * 60) { unavailable() } else { None });
        let handle = program(&sink);
        (0..100).for_each(|it| not_ready(&handle, &format!("b-{it}")));
        pass(seconds(away * 60 + 60)).await;
        let stats = handle.stats();
        assert_eq!((stats.told, stats.dropped_too_old, stats.held), (told, 100 - told, 0));
        assert!(sink.asked().len() <= 160, "{} requests", sink.asked().len());
        assert_closes(&stats);
    }
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_hangs_gets_no_more_requests_than_one_that_refuses() {
    let sink = Scripted::new(|_, _| None);
    let hung = Hung { asked: Arc::default(), until: Instant::now() + seconds(120), sink: sink.clone() };
    let (_layer, poster) = builder("kit.example.com").build::<tracing_subscriber::Registry>().unwrap();
    let (handle, asked) = (poster.handle(), hung.asked.clone());
    drop(tokio::spawn(poster.run_sink(hung)));
    (0..100).for_each(|it| not_ready(&handle, &format!("b-{it}")));
    pass(seconds(120)).await;
    assert!(asked.load(Ordering::SeqCst) <= 16 + 12, "{asked:?} requests");
    pass(seconds(45)).await;
    assert_eq!((handle.stats().told, sink.told()), (100, 100));
    assert_closes(&handle.stats());
}

/// Never answers before its time.
struct Hung {
    asked: Arc<AtomicUsize>,
    until: Instant,
    sink: Scripted,
}

impl Sink for Hung {
    async fn send(&self, request: Request) -> Reply {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if Instant::now() < self.until {
            pending::<()>().await;
        }
        self.sink.send(request).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_refuses_rests_a_minute_and_heals_by_itself() {
    let refuses = |at: Duration, request: &Request| match request {
        Request::Create(it) if &*it.event.namespace == "refused" && at < seconds(90) => {
            Some(Reply::Forbidden("no".into()))
        }
        _ => None,
    };
    let sink = Scripted::new(refuses);
    let handle = program(&sink);
    for it in 0..100 {
        let mut refused = object("Foo", &format!("a-{it}"));
        refused.namespace = Some("refused".into());
        handle.publish(&refused, Publish::warning("NotReady", "not ready"));
        not_ready(&handle, &format!("b-{it}"));
    }
    pass(seconds(59)).await;
    let asked = sink.asked_for();
    assert_eq!(asked["default"], 100);
    assert!(asked["refused"] <= 16, "those that were under way together: {asked:?}");
    assert_eq!(handle.stats().held, 100);
    pass(seconds(200)).await;
    let asked = sink.asked_for();
    assert!(asked["refused"] <= 16 + 1 + 100, "{asked:?}");
    assert_eq!((handle.stats().told, sink.told()), (200, 200));
    assert_closes(&handle.stats());
}

#[tokio::test(start_paused = true)]
async fn a_right_that_never_comes_is_asked_for_a_few_times_and_given_up() {
    let sink = Scripted::new(|_, _| Some(Reply::Forbidden("no".into())));
    let handle = program(&sink);
    not_ready(&handle, "a");
    pass(seconds(3600)).await;
    assert!(sink.asked().len() <= 5, "{} requests", sink.asked().len());
    let stats = handle.stats();
    assert_eq!((stats.dropped_forbidden, stats.held, stats.told), (1, 0, 0));
    assert_closes(&stats);
}

#[tokio::test(start_paused = true)]
async fn one_object_that_fails_for_half_a_minute_holds_up_no_other() {
    let fails = |at: Duration, request: &Request| match request {
        Request::Create(it) if &*it.event.regarding.name == "bad" && at < seconds(30) => unavailable(),
        _ => None,
    };
    let sink = Scripted::new(fails);
    let handle = program(&sink);
    not_ready(&handle, "bad");
    for _ in 0..20 {
        not_ready(&handle, "good");
        pass(seconds(1)).await;
    }
    pass(seconds(5)).await;
    assert_eq!(handle.stats().told, 20);
    pass(seconds(60)).await;
    assert_eq!((handle.stats().told, sink.told()), (21, 21));
    assert!(sink.asked().len() <= 20, "{} requests", sink.asked().len());
}

/// A poster is polled this often in a minute, counted from outside.
async fn polls_in_a_minute(sink: impl Sink, records: usize) -> usize {
    let (_layer, poster) = builder("kit.example.com").build::<tracing_subscriber::Registry>().unwrap();
    let handle = poster.handle();
    (0..records).for_each(|it| not_ready(&handle, &format!("a-{it}")));
    let polls = Arc::new(AtomicUsize::new(0));
    let counted = polls.clone();
    let home = tokio::spawn(async move {
        let mut work = pin!(poster.run_sink(sink));
        std::future::poll_fn(move |context| {
            counted.fetch_add(1, Ordering::SeqCst);
            let polled: Poll<()> = work.as_mut().poll(context);
            polled
        })
        .await;
    });
    pass(seconds(60)).await;
    home.abort();
    polls.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn an_idle_poster_looks_at_its_queue_ten_times_a_second_at_most() {
    let polls = polls_in_a_minute(MemorySink::new(), 0).await;
    assert!(polls <= 700, "{polls} polls");
}

#[tokio::test(start_paused = true)]
async fn a_poster_that_can_only_wait_does_not_spin() {
    let sink = Scripted::new(|_, _| None);
    let hung = Hung { asked: Arc::default(), until: Instant::now() + seconds(3600), sink: sink.clone() };
    let polls = polls_in_a_minute(hung, 1_000).await;
    assert!(polls <= 1_500, "{polls} polls under a hung API server");
    let away = Scripted::new(|_, _| unavailable());
    let polls = polls_in_a_minute(away, 1_000).await;
    assert!(polls <= 1_500, "{polls} polls while it is away");
}

#[tokio::test(start_paused = true)]
async fn a_flush_is_answered_at_its_deadline_also_where_that_is_never() {
    let sink = Scripted::new(|at, _| if at < seconds(20) { unavailable() } else { None });
    let handle = program(&sink);
    not_ready(&handle, "a");
    let outcome = handle.flush(Duration::MAX).await;
    assert!(outcome.is_complete());
}

#[tokio::test(start_paused = true)]
async fn an_object_that_was_made_anew_gets_its_new_uid() {
    let anew = seconds(60);
    let looks_up = move |at: Duration, request: &Request| match request {
        Request::Discover { .. } => Some(Reply::Resources(vec![Resource::new("Foo", "foos", true)])),
        Request::LookUp { .. } => Some(Reply::Found { uid: if at < anew { "first" } else { "second" }.into() }),
        _ => None,
    };
    let sink = Scripted::new(looks_up);
    let handle = program(&sink);
    for reason in ["A", "B"] {
        let bare = k8s_openapi::api::core::v1::ObjectReference { uid: None, ..object("Foo", "a") };
        handle.publish(&bare, Publish::warning(reason, "not ready"));
        pass(seconds(6 * 60)).await;
    }
    let uids: Vec<Box<str>> = sink.0.memory.events().iter().map(|it| it.event.regarding.uid.clone()).collect();
    assert_eq!(uids, ["first".into(), "second".into()]);
}
