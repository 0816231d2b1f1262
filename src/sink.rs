//! Where requests go: the [`Sink`] trait, what moves through it, and memory as a sink for tests.
//!
//! The Kubernetes API is a sink too; [`Poster::spawn`](crate::Poster::spawn) makes it. What stands here is for sinks of
//! one's own, and for tests of what a program tells.

mod answer;
mod api;
mod memory;
mod own_client;

use std::future::Future;

pub use crate::message::{KubeEvent, Reply, Reporter, Request, Resource, Telling};
pub use crate::regarding::Regarding;
pub(crate) use api::ApiSink;
pub use memory::{Matching, MemorySink};
pub(crate) use own_client::{Origin, OwnClientSink};

/// Where the poster sends its requests.
///
/// Implement it to send Events elsewhere, beside or instead of the Kubernetes API. Nothing has to be decided there:
/// say in the [`Reply`] what happened, and the poster retries, holds, counts or drops as it does with the API server.
/// At most [64](crate::Builder::requests_in_flight) requests are under way at a time, and never two for one object.
///
/// A panic in `send` is caught and taken as [`Reply::Unavailable`]. There is no need for a time limit of one's own: a
/// `send` that has not returned after 10 s is dropped and taken as [`Reply::Unavailable`] too.
///
/// ```
/// use std::sync::Mutex;
/// use tracing_k8s_events::{Api, Reply, Request, Sink};
///
/// /// Writes every new Event as a line of JSON.
/// #[derive(Default)]
/// struct Lines(Mutex<Vec<String>>);
///
/// impl Sink for Lines {
///     async fn send(&self, request: Request) -> Reply {
///         match request {
///             Request::Create(telling) => self.0.lock().unwrap().push(telling.to_json(Api::CoreV1)),
///             Request::Patch(_) => {}
///             _ => return Reply::NotFound, // no look-ups here
///         }
///         Reply::Done
///     }
/// }
/// ```
pub trait Sink: Send + Sync + 'static {
    /// Sends one request and says what came of it.
    fn send(&self, request: Request) -> impl Future<Output = Reply> + Send;
}
