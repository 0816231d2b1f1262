//! A program under test: a subscriber with our layer in it, and its poster at work.

use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use tracing::Dispatch;
use tracing_k8s_events::{Builder, Guard, Handle, Outcome, Sink, builder};
use tracing_subscriber::prelude::*;

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
        let stats = self.handle().stats();
        let parts = stats.told + stats.held + stats.in_flight + stats.queue_length + stats.dropped();
        assert_eq!(stats.seen, parts, "{stats:?}");
    }
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
