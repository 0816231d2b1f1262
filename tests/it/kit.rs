//! A program under test: a subscriber with our layer in it, and its poster at work.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use tokio::sync::oneshot;
use tracing::Dispatch;
use tracing_k8s_events::{Builder, Guard, Handle, Outcome, Sink, Stats, builder};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

/// Long enough for any flush that can succeed: a time limit that is never reached where all is well.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The layer is heard where [`Program::log`] runs something, and nowhere else.
pub struct Program {
    dispatch: Dispatch,
    guard: Guard,
}

impl Program {
    /// With a poster on its own thread, and its own client.
    pub fn on_a_thread(config: kube::Config, choose: impl FnOnce(Builder) -> Builder) -> Self {
        let (layer, poster) = choose(builder("kit.example.com").reporting_instance("kit-0")).build().unwrap();
        let dispatch = Dispatch::new(tracing_subscriber::registry().with(layer));
        Self { dispatch, guard: poster.spawn(config).unwrap() }
    }

    pub fn with_sink(sink: impl Sink, choose: impl FnOnce(Builder) -> Builder) -> Self {
        let (layer, poster) = choose(builder("kit.example.com").reporting_instance("kit-0")).build().unwrap();
        let dispatch = Dispatch::new(tracing_subscriber::registry().with(layer));
        Self { dispatch, guard: poster.spawn_sink(sink).unwrap() }
    }

    /// Runs something on this thread as a part of the program.
    pub fn log<T>(&self, act: impl FnOnce() -> T) -> T {
        tracing::dispatcher::with_default(&self.dispatch, act)
    }

    /// Runs something under the span of an object.
    pub fn log_about<T>(&self, object: &ObjectReference, act: impl FnOnce() -> T) -> T {
        self.log(|| tracing_k8s_events::object_span(object).in_scope(act))
    }

    pub fn handle(&self) -> Handle {
        self.guard.handle()
    }

    pub fn flush(&self) -> Outcome {
        self.handle().flush(PATIENCE).wait()
    }

    pub fn end_within(self, deadline: Duration) -> Outcome {
        self.guard.shutdown(deadline)
    }

    /// The law of conservation, once the poster has come round.
    #[track_caller]
    pub fn assert_account_closes(&self) {
        assert_closes(&self.handle().stats());
    }
}

/// The law of conservation.
#[track_caller]
pub fn assert_closes(stats: &Stats) {
    let parts = stats.told + stats.held + stats.in_flight + stats.queue_length + stats.dropped();
    assert_eq!(stats.seen, parts, "{stats:?}");
}

/// An object that no server has.
pub fn object(kind: &str, name: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".into()),
        kind: Some(kind.into()),
        namespace: Some("default".into()),
        name: Some(name.into()),
        uid: Some(format!("uid-of-{name}")),
        ..ObjectReference::default()
    }
}

/// Everything that was logged, as a person would read it: every level of every target.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// The layer that keeps them.
    pub fn layer<S>(&self) -> impl tracing_subscriber::Layer<S> + use<S>
    where
        S: tracing::Subscriber + for<'a> LookupSpan<'a>,
    {
        let writer = self.clone();
        tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || writer.clone())
    }

    /// The lines of the poster's own diagnostics that hold this.
    pub fn diagnostics(&self, part: &str) -> Vec<String> {
        let text = self.text();
        let own = text.lines().filter(|it| it.contains("WARN") && it.contains("tracing_k8s_events"));
        own.filter(|it| it.contains(part)).map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A poster in its other home, the application's own runtime, where everything that is logged is kept.
///
/// The runtime has one thread, and the subscriber is that thread's, so that what the client's own tasks log is kept too.
pub struct Loud {
    pub log: Log,
    handle: Handle,
    dispatch: Dispatch,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Loud {
    pub fn new(config: kube::Config, choose: impl FnOnce(Builder) -> Builder) -> Self {
        let (layer, poster) = choose(builder("kit.example.com").reporting_instance("kit-0")).build().unwrap();
        let log = Log::default();
        let dispatch = Dispatch::new(tracing_subscriber::registry().with(log.layer()).with(layer));
        let (stop, stopped) = oneshot::channel();
        let (handle, its_own) = (poster.handle(), dispatch.clone());
        let thread = thread::spawn(move || {
            let _heard = tracing::dispatcher::set_default(&its_own);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut config = config;
                config.default_retry = false;
                let client = kube::Client::try_from(config).unwrap();
                tokio::select! {
                    () = poster.run(client) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { log, handle, dispatch, stop: Some(stop), thread: Some(thread) }
    }

    pub fn log<T>(&self, act: impl FnOnce() -> T) -> T {
        tracing::dispatcher::with_default(&self.dispatch, act)
    }

    pub fn log_about<T>(&self, object: &ObjectReference, act: impl FnOnce() -> T) -> T {
        self.log(|| tracing_k8s_events::object_span(object).in_scope(act))
    }

    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Flushes as soon as the poster is at its home.
    pub fn flush_within(&self, deadline: Duration) -> Outcome {
        let is_heard = |it: Stats| it.seen > it.queue_length + it.dropped_malformed + it.dropped_no_object;
        while !is_heard(self.handle.stats()) {
            thread::yield_now();
        }
        self.handle.flush(deadline).wait()
    }
}

impl Drop for Loud {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
