//! The poster at work: it drains the queue, asks the correlator what to send, sends it, and says what came back.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::{Instrument, info_span, warn};

use super::flush::{Order, OrderKind, Outcome};
use super::stats::Tally;
use crate::correlate::{Correlator, Ticket};
use crate::message::{Account, Now, Reply, Request, Wall};
use crate::queue::{PosterGuard, Receiver};
use crate::sink::Sink;

/// How many records are taken from the queue before requests get their turn again.
const BATCH: usize = 4096;

/// How often the queue is looked at: a twentieth of the silence so far, between these two. Waking a parked receiver
/// costs the thread that logs microseconds, and Events are sparse, so nobody wakes the poster for one record.
const POLL: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(100));

/// The runtime's timer has a grain of 1 ms.
const MOMENT: Duration = Duration::from_millis(1);

/// A pause after a panic, so that one that comes at once again does not eat a processor.
const AFTER_PANIC: Duration = Duration::from_secs(1);

/// The poster's whole state, owned by its one task.
pub(super) struct Desk<S> {
    receiver: Receiver,
    correlator: Correlator,
    tally: Arc<Tally>,
    orders: mpsc::UnboundedReceiver<Order>,
    attempt: Duration,
    sink: Arc<S>,
    under_way: FuturesUnordered<Pin<Box<dyn Future<Output = (Ticket, Reply)> + Send>>>,
    begin: Instant,
    last_heard: Instant,
    flushes: Vec<Flushing>,
}

/// A flush that has begun.
struct Flushing {
    order: Order,
    until: Instant,
    before: Account,
}

/// What a desk is made of, beside its sink.
pub(super) struct Parts {
    pub(super) receiver: Receiver,
    pub(super) correlator: Correlator,
    pub(super) tally: Arc<Tally>,
    pub(super) orders: mpsc::UnboundedReceiver<Order>,
    /// How long one request may take.
    pub(super) attempt: Duration,
}

impl<S: Sink> Desk<S> {
    pub(super) fn new(parts: Parts, sink: S) -> Self {
        let Parts { receiver, correlator, tally, orders, attempt } = parts;
        receiver.begin();
        tally.set_home(true);
        let begin = Instant::now();
        Self {
            receiver,
            correlator,
            tally,
            orders,
            attempt,
            sink: Arc::new(sink),
            under_way: FuturesUnordered::new(),
            begin,
            last_heard: begin,
            flushes: Vec::new(),
        }
    }

    /// Works until it is told to end. A panic is caught and counted, and the work goes on with the state as it is.
    ///
    /// The span is a barrier: it has no parent, and whatever the client logs under it, in tasks that took it along, is
    /// about no object. So the poster hears nothing of its own, wherever it was spawned.
    pub(super) async fn work(mut self) {
        let span = info_span!(target: "tracing_k8s_events", parent: None, "poster");
        let work = async move {
            while AssertUnwindSafe(self.work_to_the_end()).catch_unwind().await.is_err() {
                self.tally.count_restart();
                warn!(target: "tracing_k8s_events", "the poster panicked, and goes on; please report it");
                sleep(AFTER_PANIC).await;
            }
        };
        ByThePoster(Box::pin(work.instrument(span))).await;
    }

    async fn work_to_the_end(&mut self) {
        loop {
            let more = self.hear();
            self.send();
            self.tell_the_tally();
            if self.answer() {
                return;
            }
            let wake = if more { Instant::now() } else { self.next_look() };
            tokio::select! {
                Some((ticket, reply)) = self.under_way.next(), if !self.under_way.is_empty() => {
                    self.settle(ticket, reply);
                    while let Some(Some((ticket, reply))) = self.under_way.next().now_or_never() {
                        self.settle(ticket, reply);
                    }
                }
                Some(order) = self.orders.recv() => self.begin_flush(order),
                () = self.receiver.woken() => {}
                () = sleep_until(wake) => {}
            }
        }
    }

    fn now(&self) -> Now {
        Now { mono: self.begin.elapsed(), wall: Wall::default() }
    }

    /// Takes a batch from the queue; says whether there is more.
    ///
    /// While a flush lasts, what is logged meanwhile waits in the queue, as long as it has room: else a program that
    /// goes on logging would never see its flush end.
    fn hear(&mut self) -> bool {
        if !self.flushes.is_empty() && !self.receiver.is_half_full() {
            return false;
        }
        let now = self.now();
        for _ in 0..BATCH {
            let Some(occurrence) = self.receiver.try_recv() else { return false };
            self.last_heard = self.begin + now.mono;
            self.correlator.observe(now, &occurrence);
        }
        true
    }

    fn send(&mut self) {
        let now = self.now();
        while let Some((ticket, request)) = self.correlator.next_request(now) {
            self.under_way.push(Box::pin(attempt(self.sink.clone(), self.attempt, ticket, request)));
        }
        while let Some(diagnosis) = self.correlator.next_diagnosis(now) {
            match diagnosis.times {
                0 | 1 => warn!(target: "tracing_k8s_events", "{}", diagnosis.text),
                times => warn!(target: "tracing_k8s_events", times, "{}", diagnosis.text),
            }
        }
    }

    fn settle(&mut self, ticket: Ticket, reply: Reply) {
        let now = self.now();
        self.correlator.settle(now, ticket, reply);
    }

    fn tell_the_tally(&mut self) {
        let now = self.now();
        self.tally.publish(&self.correlator.account(), now.mono);
    }

    fn begin_flush(&mut self, order: Order) {
        // Everything logged before the order, by the same thread at least, is in the queue by now.
        let before = self.correlator.account();
        while self.hear() {}
        let now = self.now();
        self.correlator.hurry(now);
        let until = Instant::now() + order.deadline;
        self.flushes.push(Flushing { order, until, before });
    }

    /// Answers the flushes that are done or out of time; says whether one of them was the end.
    fn answer(&mut self) -> bool {
        let (idle, now) = (self.correlator.idle(), Instant::now());
        let (done, waiting) = self.flushes.drain(..).partition(|it| idle || it.until <= now);
        self.flushes = waiting;
        let done: Vec<Flushing> = done;
        let end = done.iter().any(|it| it.order.kind == OrderKind::End);
        let untold = self.untold();
        if end {
            self.close();
        }
        let after = self.correlator.account();
        for Flushing { order, before, .. } in done {
            let dropped = |it: &Account| it.dropped.iter().sum::<u64>();
            let lost_at_the_end = if end { untold } else { 0 };
            (order.answer)(Outcome {
                told: after.told.saturating_sub(before.told),
                untold,
                dropped: dropped(&after) - dropped(&before) - lost_at_the_end,
            });
        }
        end
    }

    fn untold(&self) -> u64 {
        let account = self.correlator.account();
        account.held + account.in_flight
    }

    /// When to look again: at the queue, at what comes due, at the end of a flush's time.
    fn next_look(&self) -> Instant {
        let now = Instant::now();
        let silence = now.duration_since(self.last_heard);
        let poll = now + (silence / 20).clamp(POLL.0, POLL.1);
        let due = self.correlator.wake_at().map(|it| (self.begin + it).max(now + MOMENT));
        let flushes = self.flushes.iter().map(|it| it.until);
        due.into_iter().chain(flushes).fold(poll, Instant::min)
    }

    /// From now on nothing is told any more: what is held or under way is lost, and counted.
    fn close(&mut self) {
        self.receiver.end();
        self.tally.set_home(false);
        self.under_way.clear();
        self.correlator.give_up();
        self.tally.publish(&self.correlator.account(), self.begin.elapsed());
    }
}

/// Also when the future is dropped half way, or its runtime is.
impl<S> Drop for Desk<S> {
    fn drop(&mut self) {
        self.receiver.end();
        self.tally.set_home(false);
        self.correlator.give_up();
        self.tally.publish(&self.correlator.account(), self.begin.elapsed());
    }
}

/// One request, from the sending to its reply; a sink that panics or hangs gives no reply, which is one too.
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

/// Marks its polls as the poster's own, so that the layer hears nothing of them.
struct ByThePoster<F>(Pin<Box<F>>);

impl<F: Future> Future for ByThePoster<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _guard = PosterGuard::enter();
        self.0.as_mut().poll(context)
    }
}
