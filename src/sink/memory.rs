//! Memory as a [`Sink`]: Events as the server would show them, for tests and for running without a cluster.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Sink;
use crate::message::{Reply, Request, Telling};

/// Keeps Events in memory, each as the API server would show it: counted, with its newest note.
///
/// For a program's own tests, and to run without a cluster. Clones share what they hold. It never refuses; references
/// without a uid stay without, as nothing can be looked up in it.
#[derive(Clone, Debug, Default)]
pub struct MemorySink {
    events: Arc<Mutex<Vec<Telling>>>,
}

impl MemorySink {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// All Events, in the order they were made.
    pub fn events(&self) -> Vec<Telling> {
        self.lock().clone()
    }

    /// Nothing under the lock can panic half way, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, Vec<Telling>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for MemorySink {
    async fn send(&self, request: Request) -> Reply {
        let mut events = self.lock();
        let place = |telling: &Telling| {
            events
                .iter()
                .position(|it| it.event.namespace == telling.event.namespace && it.event.name == telling.event.name)
        };
        match request {
            Request::Create(telling) => match place(&telling) {
                Some(_) => Reply::AlreadyExists,
                None => {
                    events.push(telling);
                    Reply::Done
                }
            },
            Request::Patch(telling) => match place(&telling) {
                None => Reply::NotFound,
                Some(at) => {
                    let shown = &mut events[at];
                    shown.count = telling.count;
                    shown.last = telling.last;
                    shown.note = telling.note.or(shown.note.take());
                    Reply::Done
                }
            },
            Request::Discover { .. } | Request::LookUp { .. } => Reply::NotFound,
        }
    }
}
