//! What a reply means: told, to be told again, or never.

use std::sync::Arc;
use std::time::Duration;

use super::backoff::{Backoff, Failure};
use super::cache::Id;
use super::diagnoses::{Cause, forbidden, words};
use super::intake::held_list;
use super::look_up::Asked;
use super::outbox::{Cargo, Flight, Ticket};
use super::series::Standing;
use super::{Correlator, Settings};
use crate::message::{Loss, Now, Reply};
use crate::regarding::Regarding;

/// A reply that says nothing of what was asked.
#[derive(Clone, Copy, Debug)]
struct Failed {
    retry_after: Option<Duration>,
    concerns_all: bool,
    /// Whether the write may have taken place all the same.
    unsure: bool,
}

/// A write that came back.
#[derive(Clone, Copy, Debug)]
struct Write {
    ticket: Ticket,
    issued: Duration,
    object: Id,
    series: Id,
    create: bool,
    turn: u64,
    held_since: Duration,
}

impl Correlator {
    /// Takes a reply in. One whose ticket is unknown came before, or too late: it changes nothing.
    pub(crate) fn settle(&mut self, now: Now, ticket: Ticket, reply: Reply) {
        let now = now.mono;
        let Some(Flight { issued, cargo, .. }) = self.outbox.land(ticket) else { return };
        let object = cargo.object();
        let failed = failure(&reply, &cargo);
        let was_away = self.outage.is_on();
        match failed {
            Some(it) => {
                self.outbox.failed();
                self.note_failure(now, object, ticket, it, &reply);
            }
            None => {
                self.outbox.answered();
                self.outage.answered(ticket, issued);
                if let Some(it) = self.objects.get_mut(object) {
                    it.backoff = Backoff::default();
                }
            }
        }
        self.let_wait(object, false);
        match cargo {
            Cargo::Event { object, series, create, turn, held_since } => {
                let write = Write { ticket, issued, object, series, create, turn, held_since };
                match failed {
                    Some(it) => self.comes_again(now, write, it),
                    None => self.answered(now, write, reply),
                }
            }
            Cargo::LookUp { object, asked } => match failed {
                Some(it) => self.look_up_failed(now, object, it, was_away),
                None => self.looked_up(now, object, &asked, reply),
            },
            Cargo::Discover { api_version, .. } => match failed {
                Some(it) => self.discovery_failed(now, &api_version, it, was_away),
                None => self.discovered(now, &api_version, reply),
            },
        }
        self.arrange(now, object);
    }

    fn note_failure(&mut self, now: Duration, object: Id, ticket: Ticket, it: Failed, reply: &Reply) {
        let failure = Failure { object, ticket, retry_after: it.retry_after, concerns_all: it.concerns_all };
        self.outage.failed(now, failure, &mut self.dice, &self.settings);
        match reply {
            Reply::Unauthorized => self.diagnoses.note(now, Cause::Unauthorized, || {
                "the API server refuses the credentials (401): Events are held until they are renewed".to_owned()
            }),
            Reply::Throttled(_) => self.diagnoses.note(now, Cause::Unavailable, || {
                "the API server asks to be asked less (429): Events are held and told later".to_owned()
            }),
            Reply::Unavailable { why, .. } => self.diagnoses.note(now, Cause::Unavailable, || {
                format!("an Event could not be written, and is held and told later: {}", words(why))
            }),
            _ => self.diagnoses.note(now, Cause::Unavailable, || "the answer was to another question".to_owned()),
        }
    }

    /// The write failed and is put back where it was.
    fn comes_again(&mut self, now: Duration, write: Write, failed: Failed) {
        self.books.retried += 1;
        let namespace = self.namespace_of(write.object);
        let waiting = self.namespaces.answered(&namespace, write.create, write.ticket, false);
        if let Some(object) = self.objects.get_mut(write.object) {
            object.backoff.fail(now, failed.retry_after, &mut self.dice, &self.settings);
            if self.kinds.try_again(&object.identity.known) {
                object.identity.holds_until = Duration::ZERO;
            }
            object.identity.try_again();
        }
        if let Some(series) = self.series.get_mut(write.series)
            && write.create
            && failed.unsure
        {
            series.unsure = Some(series.unsure.unwrap_or(u64::MAX).min(series.under_way));
        }
        self.put_back(now, write);
        self.release(now, waiting);
    }

    /// It has the turn that it had, before all that its object became due with later.
    fn put_back(&mut self, now: Duration, write: Write) {
        self.returned(write.series);
        let Some(series) = self.series.get_mut(write.series) else { return };
        series.turn = Some(write.turn);
        series.rhythm.held_since = write.held_since;
        if !std::mem::replace(&mut series.queued, true)
            && let Some(object) = self.objects.get_mut(write.object)
        {
            object.due.push_front(write.series);
        }
        if now >= series.give_up {
            return self.give_up_one(now, write.series);
        }
        self.time(write.series);
    }

    /// What was under way is held again.
    pub(super) fn returned(&mut self, id: Id) {
        let Some(series) = self.series.get_mut(id) else { return };
        let back = std::mem::take(&mut series.under_way);
        series.held += back;
        self.books.in_flight -= back;
        self.books.held += back;
    }

    fn answered(&mut self, now: Duration, write: Write, reply: Reply) {
        let namespace = self.namespace_of(write.object);
        let waiting = match &reply {
            Reply::Forbidden(said) => {
                let group = self.settings.api_group.clone();
                self.diagnose(now, Cause::Forbidden, || forbidden(&words(said), write.create, &namespace, &group));
                self.namespaces.forbid(now, &namespace, write.create, write.ticket, &self.settings)
            }
            _ => self.namespaces.answered(&namespace, write.create, write.ticket, true),
        };
        match reply {
            Reply::Forbidden(_) => self.put_back(now, write),
            Reply::AlreadyExists => self.exists(now, write),
            Reply::NotFound => self.is_made_anew(now, write),
            Reply::NamespaceMissing | Reply::NamespaceTerminating => {
                self.namespaces.gone(now, &namespace, &self.settings);
                self.returned(write.series);
                self.let_go(write.series, Loss::NamespaceGone);
            }
            Reply::Invalid(said) => self.refused(now, write, &said),
            _ => self.told(now, write, u64::MAX),
        }
        self.release(now, waiting);
    }

    /// The server has it: at most so many of what was under way, if it was an earlier try that came through.
    fn told(&mut self, now: Duration, write: Write, most: u64) {
        let Some(series) = self.series.get_mut(write.series) else { return };
        let told = series.under_way.min(most);
        series.held += series.under_way - told;
        self.books.held += series.under_way - told;
        self.books.in_flight -= series.under_way;
        self.books.told += told;
        series.told += told;
        series.under_way = 0;
        series.unsure = None;
        series.standing = Standing::Known;
        series.rhythm.wrote(write.issued, told, write.create, &self.settings);
        match write.create {
            true => self.books.created += 1,
            false => self.books.patched += 1,
        }
        let (held, kind) = (series.held, series.kind);
        if let Some(object) = self.objects.get_mut(write.object) {
            object.was_told = true;
        }
        if held == 0 {
            return self.settle_down(write.series);
        }
        self.series.enlist(write.series, held_list(kind));
        self.time(write.series);
        if self.hurried.is_some_and(|it| now <= it) {
            self.make_due(write.series);
        }
    }

    /// Our own name exists. After a try whose reply was lost that is success; else somebody else has it.
    fn exists(&mut self, now: Duration, write: Write) {
        let Some(series) = self.series.get_mut(write.series) else { return };
        if let Some(told) = series.unsure {
            return self.told(now, write, told);
        }
        self.is_made_anew(now, write);
        if let Some(object) = self.objects.get_mut(write.object) {
            // Once is chance; a server that says so of every name must not be asked without pause.
            object.backoff.fail(now, None, &mut self.dice, &self.settings);
        }
    }

    /// The Event is not there, or the name is another's: it is made anew with its whole count.
    fn is_made_anew(&mut self, now: Duration, write: Write) {
        let Some(series) = self.series.get(write.series) else { return };
        let serial = self.next_serial(series.first);
        if let Some(series) = self.series.get_mut(write.series) {
            series.standing = Standing::New;
            series.serial = serial;
            series.unsure = None;
        }
        if let Some(object) = self.objects.get_mut(write.object) {
            // Its namespace may have been made anew, and the object with it.
            object.identity.holds_until = Duration::ZERO;
        }
        self.put_back(now, write);
    }

    /// The server will never take it; its repeats are not sent for as long as anything is held.
    fn refused(&mut self, now: Duration, write: Write, said: &str) {
        self.returned(write.series);
        let Some(series) = self.series.get_mut(write.series) else { return };
        series.standing = Standing::Refused;
        series.give_up = now.saturating_add(self.settings.patience);
        self.diagnose(now, Cause::Invalid, || format!("the API server refuses an Event for good: {}", words(said)));
        self.let_go(write.series, Loss::Invalid);
    }

    fn looked_up(&mut self, now: Duration, id: Id, asked: &Asked, reply: Reply) {
        let until = now.saturating_add(self.settings.look_up_holds);
        if let Reply::Forbidden(said) = &reply {
            self.diagnoses.note(now, Cause::LookUp, || asked.forbidden(&words(said)));
        }
        match reply {
            Reply::Found { uid } => {
                let whole = Regarding { uid, ..Regarding::clone(&asked.regarding) };
                self.learn_uid(now, id, &whole);
            }
            _ => {
                let Some(object) = self.objects.get_mut(id) else { return };
                object.identity.is_not_told(&asked.regarding, until);
            }
        }
    }

    fn look_up_failed(&mut self, now: Duration, id: Id, failed: Failed, was_away: bool) {
        let Some(object) = self.objects.get_mut(id) else { return };
        object.identity.tries += 1;
        if enough_tries(object.identity.tries, was_away, &self.settings) {
            object.identity.give_up(now.saturating_add(self.settings.look_up_rest));
            object.backoff = Backoff::default();
            self.diagnoses.note(now, Cause::LookUp, without_uid);
        } else {
            object.backoff.fail(now, failed.retry_after, &mut self.dice, &self.settings);
        }
    }

    fn discovered(&mut self, now: Duration, api_version: &Arc<str>, reply: Reply) {
        let until = now.saturating_add(self.settings.look_up_holds);
        let resources = match reply {
            Reply::Resources(resources) => resources,
            _ => Vec::new(),
        };
        let waiting = self.kinds.answered(api_version, resources, until);
        self.release(now, waiting);
    }

    fn discovery_failed(&mut self, now: Duration, api_version: &Arc<str>, failed: Failed, was_away: bool) {
        let (waiting, tries) = self.kinds.failed(now, api_version, failed.retry_after, &mut self.dice, &self.settings);
        if enough_tries(tries, was_away, &self.settings) {
            let until = now.saturating_add(self.settings.look_up_rest);
            self.kinds.give_up(api_version, until);
            self.diagnoses.note(now, Cause::LookUp, without_uid);
        }
        self.release(now, waiting);
    }

    /// No API serves such a kind, as far as could be learnt: its Events go without a uid.
    pub(super) fn is_unknown(&mut self, now: Duration, id: Id, until: Duration) {
        let Some(object) = self.objects.get_mut(id) else { return };
        object.identity.holds_until = until;
        let known = &object.identity.known;
        self.diagnoses.note(now, Cause::LookUp, || {
            format!("no resource for kind {} of {:?}: {}", known.kind(), known.api_version(), without_uid())
        });
    }

    /// Objects that waited for somebody else's reply go on.
    fn release(&mut self, now: Duration, waiting: Vec<Id>) {
        for id in waiting {
            self.let_wait(id, false);
            self.arrange(now, id);
        }
    }
}

/// Whether a look-up has been tried often enough. While the whole server is away no Event could be written either, so
/// it may go on for longer; but not for ever, as it may be the look-ups that make it seem so.
fn enough_tries(tries: u32, is_away: bool, settings: &Settings) -> bool {
    tries >= if is_away { 4 * settings.look_up_tries } else { settings.look_up_tries }
}

fn without_uid() -> String {
    "an object's uid cannot be looked up; its Events go without, and `kubectl describe` does not show them".to_owned()
}

/// What a reply that answers nothing means for the next try; `None` for an answer.
fn failure(reply: &Reply, cargo: &Cargo) -> Option<Failed> {
    let failed = |retry_after, concerns_all, unsure| Some(Failed { retry_after, concerns_all, unsure });
    match (reply, cargo) {
        (Reply::Throttled(retry_after), _) => failed(*retry_after, true, false),
        (Reply::Unauthorized, _) => failed(None, true, false),
        (Reply::Unavailable { retry_after, .. }, _) => failed(*retry_after, retry_after.is_some(), true),
        (Reply::Forbidden(_) | Reply::Invalid(_), _) => None,
        (Reply::Done | Reply::NamespaceMissing | Reply::NamespaceTerminating, Cargo::Event { .. }) => None,
        (Reply::AlreadyExists, Cargo::Event { create: true, .. }) => None,
        (Reply::NotFound, Cargo::Event { create: false, .. }) => None,
        (Reply::Found { .. } | Reply::NotFound | Reply::NamespaceMissing, Cargo::LookUp { .. }) => None,
        (Reply::Resources(_) | Reply::NotFound | Reply::NamespaceMissing, Cargo::Discover { .. }) => None,
        _ => failed(None, false, true),
    }
}
