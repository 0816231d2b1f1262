//! What goes wrong, and when: a [`Fault`] for the requests that a [`When`] takes.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

use super::log::Logged;
use super::message::Answer;
use super::random::Random;
use super::status::Refusal;

type Condition = Arc<dyn Fn(&Logged) -> bool + Send + Sync>;

/// Which requests. Every condition that is named must hold; none at all takes every request.
#[derive(Clone, Default)]
pub struct When {
    conditions: Vec<Condition>,
    /// Of those that the conditions take: so many are let by first.
    after: u64,
    /// And then so many are taken.
    count: Option<u64>,
    /// And of these one so often, by this seed.
    chance: Option<(f64, u64)>,
}

/// What happens to a request in place of an answer, or before it.
#[derive(Debug, Clone)]
pub struct Fault {
    kind: Sort,
    done_first: bool,
}

#[derive(Debug, Clone)]
enum Sort {
    Hold { then_close: bool },
    Answer { code: u16, headers: Vec<(&'static str, String)>, body: String },
    Reset,
    Cut,
}

/// A fault in place: tells how often it struck, lets go of what it holds, and can be taken away.
///
/// Dropping it changes nothing. The fault stays until [`Injection::remove`].
#[derive(Debug, Clone)]
pub struct Injection(pub(super) Arc<Placed>);

/// A fault as the server keeps it.
pub(super) struct Placed {
    when: When,
    pub(super) fault: Fault,
    seen: AtomicU64,
    random: Mutex<Random>,
    hits: watch::Sender<u64>,
    gate: Semaphore,
    removed: AtomicBool,
}

impl When {
    pub fn any() -> When {
        When::default()
    }

    /// Creates, patches and replaces of Events.
    pub fn write() -> When {
        When::any().matching(Logged::is_write)
    }

    /// Creates of Events.
    pub fn create() -> When {
        When::any().matching(Logged::is_create)
    }

    /// Patches of Events.
    pub fn patch() -> When {
        When::any().matching(Logged::is_patch)
    }

    /// Everything but writes of Events: look-ups of objects, discovery, lists.
    pub fn read() -> When {
        When::any().matching(|it| it.method == "GET")
    }

    pub fn method(self, method: &str) -> When {
        let method = method.to_owned();
        self.matching(move |it| it.method == method)
    }

    /// The path holds this.
    pub fn path(self, part: &str) -> When {
        let part = part.to_owned();
        self.matching(move |it| it.path.contains(&part))
    }

    pub fn namespace(self, namespace: &str) -> When {
        let namespace = namespace.to_owned();
        self.matching(move |it| it.namespace == namespace)
    }

    /// The name of the object, that of a create's body included, holds this.
    pub fn name(self, part: &str) -> When {
        let part = part.to_owned();
        self.matching(move |it| it.name.contains(&part))
    }

    /// The body holds this text, as it stands on the wire.
    pub fn body(self, part: &str) -> When {
        let part = part.to_owned();
        self.matching(move |it| String::from_utf8_lossy(&it.body).contains(&part))
    }

    pub fn matching(mut self, condition: impl Fn(&Logged) -> bool + Send + Sync + 'static) -> When {
        self.conditions.push(Arc::new(condition));
        self
    }

    /// Only the first so many of them.
    pub fn first(self, count: u64) -> When {
        When { after: 0, count: Some(count), ..self }
    }

    /// Only the nth of them, from 1.
    pub fn nth(self, nth: u64) -> When {
        When { after: nth.saturating_sub(1), count: Some(1), ..self }
    }

    /// All of them but the first so many.
    pub fn after(self, count: u64) -> When {
        When { after: count, ..self }
    }

    /// One of them so often, from never (0.0) to always (1.0). The same seed takes the same ones in every run.
    pub fn chance(self, often: f64, seed: u64) -> When {
        When { chance: Some((often, seed)), ..self }
    }
}

impl Fault {
    /// Waits until [`Injection::release`], and then answers as if nothing had been.
    pub fn hold() -> Fault {
        Fault::of(Sort::Hold { then_close: false })
    }

    /// Never answers. [`Injection::release`] closes the connection.
    pub fn hang() -> Fault {
        Fault::of(Sort::Hold { then_close: true })
    }

    /// 429 with a JSON `Status`, as admission plugins send it; with `Retry-After` when it is given (whole seconds).
    pub fn too_many_requests(retry_after: Option<Duration>) -> Fault {
        let seconds = retry_after.map(|it| it.as_secs());
        let message = "Too many requests: limit reached on type Namespace for key default";
        Fault::refusal(&Refusal::too_many_requests(message, seconds), seconds)
    }

    /// 429 as API Priority and Fairness sends it: a `Retry-After` header and a body that is no JSON.
    pub fn overloaded(retry_after: Duration) -> Fault {
        let body = "Too many requests, please try again later.\n";
        let seconds = retry_after.as_secs().to_string();
        let headers = vec![("content-type", "text/plain; charset=utf-8".to_owned()), ("retry-after", seconds)];
        Fault::of(Sort::Answer { code: 429, headers, body: body.to_owned() })
    }

    /// 500.
    pub fn internal_error() -> Fault {
        Fault::refusal(&Refusal::internal_error("etcdserver: no leader"), None)
    }

    /// 503.
    pub fn unavailable() -> Fault {
        Fault::refusal(&Refusal::unavailable(), None)
    }

    /// 504, and nothing was done.
    pub fn timeout() -> Fault {
        Fault::refusal(&Refusal::timeout(), None)
    }

    /// 504 although what was asked has been done: the answer alone came too late.
    pub fn timeout_after_write() -> Fault {
        Fault::timeout().after_doing()
    }

    /// 401.
    pub fn unauthorized() -> Fault {
        Fault::refusal(&Refusal::unauthorized(), None)
    }

    /// 403 as an admission plugin sends it: no missing RBAC rule, and no cause.
    pub fn forbidden() -> Fault {
        Fault::refusal(&Refusal::new(403, "Forbidden", "events is forbidden: denied by a test"), None)
    }

    /// The connection is reset (TCP RST) without a byte of answer.
    pub fn reset() -> Fault {
        Fault::of(Sort::Reset)
    }

    /// Half of the answer, and then the connection is closed. What was asked has been done.
    pub fn cut() -> Fault {
        Fault { kind: Sort::Cut, done_first: true }
    }

    /// 200 and a body that is nothing a client can read.
    pub fn garbage() -> Fault {
        Fault::answer(200, "application/json", "}<html>not what you think</html>")
    }

    /// Whatever else a test wants a client to see.
    pub fn answer(code: u16, content_type: &str, body: &str) -> Fault {
        Fault::of(Sort::Answer {
            code,
            headers: vec![("content-type", content_type.to_owned())],
            body: body.to_owned(),
        })
    }

    /// The server does what was asked, and the fault comes after.
    pub fn after_doing(self) -> Fault {
        Fault { done_first: true, ..self }
    }

    pub(super) fn done_first(&self) -> bool {
        self.done_first
    }

    fn of(kind: Sort) -> Fault {
        Fault { kind, done_first: false }
    }

    fn refusal(refusal: &Refusal, retry_after: Option<u64>) -> Fault {
        let mut headers = vec![("content-type", "application/json".to_owned())];
        headers.extend(retry_after.map(|it| ("retry-after", it.to_string())));
        Fault::of(Sort::Answer { code: refusal.code, headers, body: refusal.body().to_string() })
    }
}

/// What is left to do for the connection once a fault has had its time.
#[derive(Debug)]
pub(super) enum After {
    /// Answer as if nothing had been.
    Go,
    Answer(Answer),
    Reset,
    Close,
    /// Half of the true answer.
    Cut,
}

impl Placed {
    pub(super) fn new(when: When, fault: Fault) -> Placed {
        let seed = when.chance.map_or(0, |(_, seed)| seed);
        Placed {
            when,
            fault,
            seen: AtomicU64::new(0),
            random: Mutex::new(Random::new(seed)),
            hits: watch::Sender::new(0),
            gate: Semaphore::new(0),
            removed: AtomicBool::new(false),
        }
    }

    /// Whether it strikes this request. Asked once for each, in the order of arrival.
    pub(super) fn strikes(&self, request: &Logged) -> bool {
        if self.removed.load(Ordering::SeqCst) || !self.when.conditions.iter().all(|it| it(request)) {
            return false;
        }
        let seen = self.seen.fetch_add(1, Ordering::SeqCst);
        let chosen = seen >= self.when.after && self.when.count.is_none_or(|count| seen - self.when.after < count);
        let lucky = match self.when.chance {
            Some((often, _)) => self.random.lock().unwrap_or_else(PoisonError::into_inner).chance(often),
            None => true,
        };
        if chosen && lucky {
            self.hits.send_modify(|it| *it += 1);
        }
        chosen && lucky
    }

    /// Lets the fault have its time.
    pub(super) async fn play(&self) -> After {
        match &self.fault.kind {
            Sort::Hold { then_close } => {
                // Closed by `release`, which lets everybody through; a permit lets one through.
                if let Ok(permit) = self.gate.acquire().await {
                    permit.forget();
                }
                if *then_close { After::Close } else { After::Go }
            }
            Sort::Answer { code, headers, body } => {
                let mut answer = Answer::text(*code, body.clone());
                answer.headers.clone_from(headers);
                After::Answer(answer)
            }
            Sort::Reset => After::Reset,
            Sort::Cut => After::Cut,
        }
    }
}

impl Injection {
    /// How many requests it has struck.
    pub fn hits(&self) -> u64 {
        *self.0.hits.borrow()
    }

    /// Waits until it has struck so many.
    pub async fn until_hits(&self, count: u64) {
        // The sender lives as long as `self`, so there is no error to meet.
        let _ = self.0.hits.subscribe().wait_for(|it| *it >= count).await;
    }

    /// Lets go of everything that it holds, and of all that it will ever strike.
    pub fn release(&self) {
        self.0.gate.close();
    }

    /// Lets go of one request, the oldest that it holds.
    pub fn release_one(&self) {
        self.0.gate.add_permits(1);
    }

    /// Strikes no more. What it holds stays held until [`Injection::release`].
    pub fn remove(&self) {
        self.0.removed.store(true, Ordering::SeqCst);
    }

    /// As if it had never been: strikes no more, and lets go.
    pub fn end(&self) {
        self.remove();
        self.release();
    }
}

impl fmt::Debug for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions = self.conditions.len();
        write!(f, "When({conditions} conditions, after {}, {:?}, chance {:?})", self.after, self.count, self.chance)
    }
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} for {:?}, {} hits", self.fault, self.when, *self.hits.borrow())
    }
}
