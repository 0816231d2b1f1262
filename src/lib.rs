//! A `tracing` layer that turns an operator's log records into Kubernetes Events.

mod builder;
mod correlate;
mod layer;
mod message;
mod poster;
mod queue;
mod regarding;
mod sink;
mod wire;

pub use builder::{BuildError, Builder, builder};
pub use layer::{Layer, ListenFilter, Listener, NoteFields, Redaction, SpanExt, object_span};
pub use message::{EventType, KubeEvent, Reply, Reporter, Request, Resource, Telling};
pub use poster::{Flush, Guard, Handle, Outcome, Poster, Publish, SpawnError, Stats};
pub use regarding::Regarding;
pub use sink::{Matching, MemorySink, Sink};
pub use wire::Api;

/// The README's code is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
