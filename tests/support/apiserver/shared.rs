//! What the connections and the test both see: the state, the log and the faults, each behind a lock that nobody holds
//! for long.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch::Sender;

use super::fault::Placed;
use super::log::Logged;
use super::message::{Answer, Request};
use super::state::State;
use super::watch::Watching;

/// What the server's connections and the test both see.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    pub(super) requests: Mutex<Vec<Logged>>,
    /// Of the next request.
    number: AtomicUsize,
    pub(super) faults: Mutex<Vec<Arc<Placed>>>,
    /// Told at every request, answer and change.
    pub(super) changed: Sender<u64>,
}

impl Shared {
    pub(super) fn new() -> Shared {
        Shared {
            state: Mutex::new(State::new()),
            requests: Mutex::default(),
            number: AtomicUsize::new(0),
            faults: Mutex::default(),
            changed: Sender::new(0),
        }
    }

    /// Writes a request down, and finds the fault that strikes it.
    pub(super) fn arrived(&self, request: &Request) -> (usize, Option<Arc<Placed>>) {
        let mut logged = Logged::of(request);
        let mut requests = lock(&self.requests);
        // Counted under the lock, so that the log is sorted by it.
        logged.number = self.number.fetch_add(1, Ordering::SeqCst);
        requests.push(logged.clone());
        drop(requests);
        // A copy of the list: a test's condition may itself ask the server something.
        let placed = lock(&self.faults).clone();
        let mut struck = None;
        // Every fault counts what it sees, whichever strikes.
        for placed in placed.into_iter().filter(|it| it.strikes(&logged)) {
            struck.get_or_insert(placed);
        }
        self.note(logged.number, |it| it.faulted = struck.is_some());
        (logged.number, struck)
    }

    pub(super) fn answer(&self, number: usize, request: &Request) -> Answer {
        let answer = self.answer_unsent(number, request);
        self.answered(number, answer.code);
        answer
    }

    /// Does what is asked. The answer may still fall to a fault.
    pub(super) fn answer_unsent(&self, number: usize, request: &Request) -> Answer {
        let answer = lock(&self.state).answer(request);
        self.note(number, |it| it.done = true);
        answer
    }

    pub(super) fn answered(&self, number: usize, code: u16) {
        self.note(number, |it| it.status = Some(code));
    }

    fn note(&self, number: usize, change: impl FnOnce(&mut Logged)) {
        let mut requests = lock(&self.requests);
        if let Ok(at) = requests.binary_search_by_key(&number, |it| it.number) {
            change(&mut requests[at]);
        }
        drop(requests);
        self.tell();
    }

    pub(super) fn lines(&self, watching: &mut Watching) -> Option<Vec<Value>> {
        watching.lines(&lock(&self.state).changes)
    }

    pub(super) fn tell(&self) {
        self.changed.send_modify(|it| *it += 1);
    }
}

/// A test that failed while it held a lock must not hide the failure behind another.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
