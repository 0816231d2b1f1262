//! The poster at work: it drains the queue, asks the correlator what to send, sends it, and says what came back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, sleep_until};
use tracing::{Instrument, error_span, warn};

use super::by_the_poster::ByThePoster;
use super::flights::Flights;
use super::flush::{Order, OrderKind, Outcome};
use super::stats::Tally;
use crate::correlate::{Correlator, Ticket};
use crate::message::{Account, Now, Reply, Wall};
use crate::queue::Receiver;
use crate::sink::Sink;

/// How many records are taken from the queue before requests get their turn again: less than a millisecond's work, as
/// the poster may live on the application's own runtime.
const BATCH: usize = 1024;

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
    flights: Flights<S>,
    begin: Instant,
    last_heard: Instant,
    flushes: Vec<Flushing>,
    #[cfg(feature = "metrics")]
    meter: super::meter::Meter,
}

/// A flush that has begun.
struct Flushing {
    order: Order,
    /// What was heard by then has to be told.
    begun: Duration,
    /// `None` is never.
    until: Option<Instant>,
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
    #[cfg(feature = "metrics")]
    pub(super) meter: super::meter::Meter,
}

impl<S: Sink> Desk<S> {
    pub(super) fn new(parts: Parts, sink: S) -> Self {
        parts.receiver.begin();
        parts.tally.set_home(true);
        let begin = Instant::now();
        Self {
            receiver: parts.receiver,
            correlator: parts.correlator,
            tally: parts.tally,
            orders: parts.orders,
            flights: Flights::new(sink, parts.attempt),
            begin,
            last_heard: begin,
            flushes: Vec::new(),
            #[cfg(feature = "metrics")]
            meter: parts.meter,
        }
    }

    /// Works until it is told to end. A panic is caught and counted, and the work goes on with the state as it is.
    ///
    /// The span is a barrier: it has no parent, and whatever the client logs under it, in tasks that took it along, is
    /// about no object. So the poster hears nothing of its own, wherever it was spawned. Its level is the one that
    /// filters switch off last.
    pub(super) async fn work(mut self) {
        let span = error_span!(target: "tracing_k8s_events", parent: None, "poster");
        let work = async move {
            while AssertUnwindSafe(self.work_to_the_end()).catch_unwind().await.is_err() {
                self.recover();
                // Whoever panicked may have been a layer that hears this very line.
                let _ = catch_unwind(|| {
                    warn!(target: "tracing_k8s_events", "the poster panicked, and goes on; please report it");
                });
                sleep(AFTER_PANIC).await;
            }
        };
        ByThePoster::new(work.instrument(span)).await;
    }

    async fn work_to_the_end(&mut self) {
        loop {
            let more = self.hear();
            self.send();
            self.tell_the_tally();
            if self.answer() {
                return;
            }
            let wake = self.next_look();
            tokio::select! {
                (ticket, reply) = self.flights.next() => {
                    self.settle(ticket, reply);
                    while let Some((ticket, reply)) = self.flights.next_now() {
                        self.settle(ticket, reply);
                    }
                }
                Some(order) = self.orders.recv() => self.begin_flush(order),
                () = self.receiver.woken() => {}
                () = yield_now(), if more => {}
                () = sleep_until(wake), if !more => {}
            }
        }
    }

    fn now(&self) -> Now {
        Now { mono: self.begin.elapsed(), wall: Wall::default() }
    }

    /// Takes a batch from the queue; says whether there is more.
    fn hear(&mut self) -> bool {
        self.hear_at_most(BATCH)
    }

    fn hear_at_most(&mut self, records: usize) -> bool {
        let now = self.now();
        for _ in 0..records {
            let Some(occurrence) = self.receiver.try_recv() else { return false };
            self.last_heard = self.begin + now.mono;
            self.correlator.observe(now, &occurrence);
        }
        true
    }

    fn send(&mut self) {
        let now = self.now();
        while let Some((ticket, request)) = self.correlator.next_request(now) {
            self.flights.send(ticket, request);
        }
        self.correlator.note_losses(now, self.receiver.dropped(), |it| self.receiver.dropped_at(it));
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
        self.flights.landed(ticket);
    }

    fn tell_the_tally(&mut self) {
        self.tally.publish(&self.correlator.account(), self.begin.elapsed());
        #[cfg(feature = "metrics")]
        self.meter.publish(self.begin.elapsed());
    }

    fn begin_flush(&mut self, order: Order) {
        // Everything logged before the order, by the same thread at least, is in the queue by now. Others may log on:
        // theirs is not waited for.
        let before = self.correlator.account();
        self.hear_at_most(self.receiver.len());
        let now = self.now();
        self.correlator.hurry(now);
        let until = Instant::now().checked_add(order.deadline);
        self.flushes.push(Flushing { order, begun: now.mono, until, before });
    }

    /// Answers the flushes that are done or out of time; says whether one of them was the end.
    fn answer(&mut self) -> bool {
        if self.flushes.is_empty() {
            return false;
        }
        let now = Instant::now();
        let is_done = |it: &Flushing| it.until.is_some_and(|it| it <= now) || self.correlator.is_done_with(it.begun);
        let ended = self.flushes.iter().any(|it| it.order.kind == OrderKind::End && is_done(it));
        if ended {
            self.end();
            return true;
        }
        let (done, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.flushes).into_iter().partition(is_done);
        self.flushes = waiting;
        let account = self.correlator.account();
        for it in done {
            it.answer(&account, account.held + account.in_flight);
        }
        false
    }

    /// When to look again: at the queue, at what comes due, at the end of a flush's time.
    fn next_look(&self) -> Instant {
        let now = Instant::now();
        let silence = now.duration_since(self.last_heard);
        let poll = now + (silence / 20).clamp(POLL.0, POLL.1);
        let due = self.correlator.wake_at().and_then(|it| self.begin.checked_add(it));
        let due = due.map(|it| it.max(now + MOMENT));
        let flushes = self.flushes.iter().filter_map(|it| it.until);
        due.into_iter().chain(flushes).fold(poll, Instant::min)
    }

    /// After a panic: requests under way may have gone with it. In truth they may have been written, as with any other
    /// that had no reply.
    fn recover(&mut self) {
        self.tally.count_restart();
        for ticket in self.flights.abandon() {
            let reply = Reply::Unavailable { retry_after: None, why: "the poster panicked".into() };
            let _ = catch_unwind(AssertUnwindSafe(|| self.settle(ticket, reply)));
        }
    }
}

impl<S> Desk<S> {
    /// From now on nothing is told any more: what waits in the queue, is held or under way is lost, and counted.
    fn end(&mut self) {
        self.receiver.end();
        self.tally.set_home(false);
        self.flights.abandon();
        let account = self.correlator.account();
        let untold = account.held + account.in_flight + self.receiver.len() as u64;
        self.correlator.give_up();
        self.tally.publish(&self.correlator.account(), self.begin.elapsed());
        #[cfg(feature = "metrics")]
        self.meter.publish_now();
        for it in self.flushes.drain(..) {
            it.answer(&account, untold);
        }
    }
}

/// Also when the future is dropped half way, or its runtime is.
impl<S> Drop for Desk<S> {
    fn drop(&mut self) {
        self.end();
    }
}

impl Flushing {
    fn answer(self, account: &Account, untold: u64) {
        let dropped = |it: &Account| it.dropped.iter().sum::<u64>();
        (self.order.answer)(Outcome {
            told: account.told.saturating_sub(self.before.told),
            untold,
            dropped: dropped(account).saturating_sub(dropped(&self.before)),
        });
    }
}
