//! Requests under way, each until its reply is settled.

use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::time::timeout;

use crate::correlate::Ticket;
use crate::message::{Reply, Request};
use crate::sink::Sink;

/// One request, from the sending to its reply.
type Flight = Pin<Box<dyn Future<Output = (Ticket, Reply)> + Send>>;

pub(super) struct Flights<S> {
    sink: Arc<S>,
    attempt: Duration,
    under_way: FuturesUnordered<Flight>,
    /// All that are not settled yet, also those whose future is gone.
    tickets: Vec<Ticket>,
}

impl<S> Flights<S> {
    pub(super) fn new(sink: S, attempt: Duration) -> Self {
        Self { sink: Arc::new(sink), attempt, under_way: FuturesUnordered::new(), tickets: Vec::new() }
    }

    /// The next reply; never one when nothing is under way.
    pub(super) async fn next(&mut self) -> (Ticket, Reply) {
        match self.under_way.next().await {
            Some(it) => it,
            None => pending().await,
        }
    }

    /// A reply that is there already.
    pub(super) fn next_now(&mut self) -> Option<(Ticket, Reply)> {
        self.under_way.next().now_or_never().flatten()
    }

    /// Its reply is settled.
    pub(super) fn landed(&mut self, ticket: Ticket) {
        self.tickets.retain(|it| *it != ticket);
    }

    /// Waits for none of them any longer. Returns those that are not settled. A sink's future may panic even in its drop.
    pub(super) fn abandon(&mut self) -> Vec<Ticket> {
        let under_way = std::mem::take(&mut self.under_way);
        let _ = catch_unwind(AssertUnwindSafe(|| drop(under_way)));
        std::mem::take(&mut self.tickets)
    }
}

impl<S: Sink> Flights<S> {
    pub(super) fn send(&mut self, ticket: Ticket, request: Request) {
        self.tickets.push(ticket);
        self.under_way.push(Box::pin(attempt(self.sink.clone(), self.attempt, ticket, request)));
    }
}

/// A sink that panics or hangs gives no reply, which is one too.
async fn attempt<S: Sink>(sink: Arc<S>, limit: Duration, ticket: Ticket, request: Request) -> (Ticket, Reply) {
    let unavailable = |why: String| Reply::Unavailable { retry_after: None, why: why.into() };
    let sent = AssertUnwindSafe(async { sink.send(request).await }).catch_unwind();
    let reply = match timeout(limit, sent).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(_)) => unavailable("the sink panicked".into()),
        Err(_) => unavailable(format!("no answer within {limit:?}")),
    };
    (ticket, reply)
}
