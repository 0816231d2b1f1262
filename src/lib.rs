//! A `tracing` layer that turns an operator's log records into Kubernetes Events.

mod correlate;
mod layer;
mod message;
mod queue;
mod regarding;

pub use message::{EventType, KubeEvent, Reply, Request, Resource, Telling};
pub use regarding::Regarding;
