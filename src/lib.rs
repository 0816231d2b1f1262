//! A `tracing` layer that turns an operator's log records into Kubernetes Events.

mod regarding;
mod message;
mod correlate;
mod queue;
mod wire;
mod sink;
mod poster;
mod layer;
mod builder;

pub use builder::{BuildError, Builder, builder};
pub use layer::{Layer, ListenFilter, Listener, NoteFields, Redact, Redaction, SpanExt, object_span};
pub use message::{EventType, KubeEvent, Reply, Reporter, Request, Resource, Telling};
pub use poster::{Flush, Guard, Handle, Outcome, Poster, Publish, SpawnError, Stats};
pub use regarding::Regarding;
pub use sink::{MemorySink, Sink};
pub use wire::Api;
