//! The decisions: what to send, when, in which order, and when to look again.
//!
//! An occurrence joins its series ([`intake`]); a series that is due lines up at its object, and the object among all
//! others ([`turns`]); a reply says whether it is told, or comes again ([`replies`]). Nothing here reads a clock, waits,
//! or knows what a server is: time and replies are handed in, requests handed out, and everything is bounded and on the
//! books: at every moment `seen = told + held + in_flight + dropped`.

mod annotations;
mod backoff;
mod cache;
mod diagnoses;
mod intake;
mod known;
mod limit;
mod look_up;
mod memo;
mod namespaces;
mod object;
mod outbox;
mod reading;
mod replies;
mod series;
mod settings;
mod similar;
mod timers;
mod turns;

#[cfg(any(test, fuzzing))]
mod tests;

use std::time::Duration;

use tracing::Metadata;

use self::backoff::{Dice, Outage};
use self::cache::{Cache, Id, Printer};
use self::diagnoses::{Cause, Diagnoses};
use self::limit::{Bucket, Limit};
use self::look_up::Kinds;
use self::memo::Memo;
use self::namespaces::Namespaces;
use self::object::Object;
use self::outbox::{Cargo, Outbox};
use self::series::{Series, Standing};
use self::timers::{Alarm, Timers};
use crate::message::{Account, Diagnosis, Loss, Now};

pub(crate) use self::outbox::Ticket;
pub(crate) use self::settings::Settings;
#[cfg(fuzzing)]
pub(crate) use self::tests::fuzz::run as fuzz;

/// Turns occurrences into requests, and replies into certainty.
#[derive(Debug)]
pub(crate) struct Correlator {
    settings: Settings,
    printer: Printer,
    series: Cache<Series, 3>,
    objects: Cache<Object, 1>,
    /// The object that was last named with each uid.
    by_uid: Cache<Id, 1>,
    memo: Memo,
    outbox: Outbox,
    budget: Bucket,
    outage: Outage,
    namespaces: Namespaces,
    kinds: Kinds,
    timers: Timers,
    dice: Dice,
    diagnoses: Diagnoses,
    books: Account,
    /// What was held at this moment is due whatever its rhythm says.
    hurried: Option<Duration>,
    turns: u64,
    serial: u64,
    annotation_bytes: usize,
}

// The lists of series, by who gives way first.
/// Told all they know.
const TOLD: usize = 0;
const HELD_NORMAL: usize = 1;
const HELD_WARNING: usize = 2;

/// The list of objects that no series is about: they are remembered for what they have spent of their budget.
const IDLE: usize = 0;
/// The only list of those remembered by uid.
const BY_AGE: usize = 0;

impl Correlator {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            printer: Printer::default(),
            series: Cache::new(),
            objects: Cache::new(),
            by_uid: Cache::new(),
            memo: Memo::new(),
            outbox: Outbox::default(),
            budget: Bucket::default(),
            outage: Outage::default(),
            namespaces: Namespaces::default(),
            kinds: Kinds::default(),
            timers: Timers::default(),
            dice: Dice::new(settings.seed),
            diagnoses: Diagnoses::default(),
            books: Account::default(),
            hurried: None,
            turns: 0,
            serial: 0,
            annotation_bytes: 0,
            settings,
        }
    }

    /// What was dropped before it came here, so far, and where the first of each cause was logged: to be told too.
    pub(crate) fn note_losses(
        &mut self,
        now: Now,
        dropped: [u64; Loss::COUNT],
        at: impl Fn(Loss) -> Option<&'static Metadata<'static>>,
    ) {
        self.diagnoses.note_losses(now.mono, dropped, at);
    }

    /// When [`Correlator::next_request`] would have something next, by the monotonic clock; what is past means now.
    /// `None`: not before an occurrence or a reply comes.
    pub(crate) fn wake_at(&self) -> Option<Duration> {
        let turn = match self.outage.not_until() {
            Some(at) if self.outbox.has_room(self.settings.in_flight) && !self.outbox.is_empty() => {
                Some(at.max(self.total().not_until(self.budget)))
            }
            _ => None,
        };
        turn.into_iter().chain(self.timers.next()).min()
    }

    /// Everything held is due at once; budgets still bind, and so does what the server asked for.
    pub(crate) fn hurry(&mut self, now: Now) {
        self.hurried = Some(now.mono);
        self.outage.hurry(now.mono);
        for id in self.all_held() {
            self.make_due(id);
            let Some(object) = self.series.get(id).map(|it| it.object) else { continue };
            if let Some(it) = self.objects.get_mut(object) {
                it.backoff.hurry(now.mono);
            }
            self.arrange(now.mono, object);
        }
    }

    /// The end: whatever is held or under way will never be told, and is counted so. Later replies find nobody.
    pub(crate) fn give_up(&mut self) {
        for flight in self.outbox.abandon_flights() {
            if let Cargo::Event { series, .. } = flight.cargo {
                self.returned(series);
            }
            self.let_wait(flight.cargo.object(), false);
        }
        self.outage.forget_probe();
        for object in self.namespaces.forget_probes() {
            self.let_wait(object, false);
        }
        for object in self.kinds.forget_questions() {
            self.let_wait(object, false);
        }
        for id in self.all_held() {
            self.let_go(id, Loss::Shutdown);
        }
    }

    /// Whether nothing is held, under way or asked.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn idle(&self) -> bool {
        self.books.held == 0 && self.outbox.flights().is_empty()
    }

    /// Whether everything that was heard by this moment is told or dropped, whatever has come since.
    pub(crate) fn is_done_with(&self, heard_by: Duration) -> bool {
        let held = [HELD_WARNING, HELD_NORMAL].into_iter().flat_map(|it| self.series.oldest_first(it));
        let held = held.filter_map(|it| self.series.get(it)).map(|it| it.rhythm.held_since);
        let under_way = self.outbox.flights().iter().filter_map(|it| match it.cargo {
            Cargo::Event { held_since, .. } => Some(held_since),
            Cargo::LookUp { .. } | Cargo::Discover { .. } => None,
        });
        held.chain(under_way).all(|it| it > heard_by)
    }

    pub(crate) fn account(&self) -> Account {
        let oldest = [HELD_NORMAL, HELD_WARNING].into_iter().filter_map(|it| self.series.get(self.series.front(it)?));
        Account {
            series: self.series.len() as u64,
            requests_in_flight: self.outbox.flights().len() as u64,
            oldest_held: oldest.map(|it| it.rhythm.held_since).min(),
            ..self.books
        }
    }

    /// What a person should hear of, once per cause and minute.
    pub(crate) fn next_diagnosis(&mut self, now: Now) -> Option<Diagnosis> {
        self.diagnoses.next(now.mono, &self.settings)
    }

    fn total(&self) -> Limit {
        Limit { burst: self.settings.total_burst, refill: self.settings.total_refill }
    }

    fn per_object(&self) -> Limit {
        Limit { burst: self.settings.object_burst, refill: self.settings.object_refill }
    }

    fn all_held(&self) -> Vec<Id> {
        self.series.oldest_first(HELD_WARNING).chain(self.series.oldest_first(HELD_NORMAL)).collect()
    }

    /// What a series holds will never be told, for this reason. What the server knows of it is not forgotten.
    fn let_go(&mut self, id: Id, loss: Loss) {
        let Some(series) = self.series.get_mut(id) else { return };
        let lost = std::mem::take(&mut series.held);
        self.books.held -= lost;
        self.books.dropped[loss as usize] += lost;
        match series.standing {
            Standing::New => self.forget(id),
            Standing::Known | Standing::Refused => self.settle_down(id),
        }
    }

    /// A series has nothing to tell: it keeps what tells it apart, and falls out first.
    fn settle_down(&mut self, id: Id) {
        let Some(series) = self.series.get_mut(id) else { return };
        series.turn = None;
        series.timer = None;
        if let Some(body) = series.body.take() {
            self.annotation_bytes -= body.annotation_bytes();
        }
        self.series.enlist(id, TOLD);
    }

    /// A series that holds nothing is no more.
    fn forget(&mut self, id: Id) {
        let Some(series) = self.series.remove(id) else { return };
        debug_assert_eq!((series.held, series.under_way), (0, 0), "what is held is counted before it is forgotten");
        if let Some(body) = series.body {
            self.annotation_bytes -= body.annotation_bytes();
        }
        let Some(object) = self.objects.get_mut(series.object) else { return };
        object.series -= 1;
        if object.series == 0 {
            let until = object.matters_until(&self.settings);
            self.objects.enlist(series.object, IDLE);
            self.look_again(series.object, until);
        }
    }

    /// Has the timer look at an object, unless it does so sooner.
    fn look_again(&mut self, object: Id, at: Duration) {
        let Some(it) = self.objects.get_mut(object) else { return };
        if it.timer.is_none_or(|set| at < set) {
            it.timer = Some(at);
            self.set_timer(at, Alarm::Object(object));
        }
    }

    fn set_timer(&mut self, at: Duration, alarm: Alarm) {
        self.timers.set(at, alarm);
        let wanted = |at: Duration, alarm: Alarm| match alarm {
            Alarm::Series(id) => self.series.get(id).is_some_and(|it| it.timer == Some(at)),
            Alarm::Object(id) => self.objects.get(id).is_some_and(|it| it.timer == Some(at)),
        };
        self.timers.sweep(self.series.len() + self.objects.len(), wanted);
    }

    /// An object waits for a reply, or no longer does.
    fn let_wait(&mut self, object: Id, waits: bool) {
        if let Some(it) = self.objects.get_mut(object) {
            it.waits = waits;
        }
    }

    fn diagnose(&mut self, now: Duration, cause: Cause, words: impl FnOnce() -> String) {
        self.diagnoses.note(now, cause, words);
    }
}
