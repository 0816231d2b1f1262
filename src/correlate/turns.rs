//! Whose turn it is: among the Events of an object, and among the objects.

use std::collections::VecDeque;
use std::time::Duration;

use super::cache::Id;
use super::diagnoses::Cause;
use super::look_up::Step;
use super::namespaces::Verdict;
use super::outbox::{Cargo, Place};
use super::series::{Series, Standing};
use super::timers::Alarm;
use super::{Correlator, IDLE, Ticket};
use crate::message::{Loss, Now, Request};

/// What an object could say next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    Nothing,
    /// This one, at that place of its line.
    Speaks(usize, Id),
    NotUntil(Duration),
    /// Somebody looks whether the namespace takes it. Whether it is a create.
    Waits(bool),
    /// Its namespace is not there.
    Gone(Id),
}

impl Correlator {
    /// What is to be sent now, if anything is.
    pub(crate) fn next_request(&mut self, now: Now) -> Option<(Ticket, Request)> {
        let now = now.mono;
        loop {
            self.look_at_the_clock(now);
            let request = self.next_in_turn(now);
            // What was dropped on the way may have left something to look at.
            if request.is_some() || self.timers.next().is_none_or(|it| it > now) {
                return request;
            }
        }
    }

    fn next_in_turn(&mut self, now: Duration) -> Option<(Ticket, Request)> {
        while self.outbox.has_room(self.settings.in_flight) {
            let total = self.total();
            if self.outage.not_until()? > now || total.not_until(self.budget) > now {
                return None;
            }
            let (object, place) = self.outbox.next(total.is_scarce(now, self.budget))?;
            let is_current = self.objects.get_mut(object).filter(|it| it.place == Some(place));
            let Some(it) = is_current else { continue };
            it.place = None;
            if let Some(request) = self.speak(now, object, place) {
                return Some(request);
            }
        }
        None
    }

    /// Series that are due line up, those that waited too long are given up, objects that rested come back.
    fn look_at_the_clock(&mut self, now: Duration) {
        while let Some((at, alarm)) = self.timers.pop_due(now) {
            match alarm {
                Alarm::Series(id) => {
                    let Some(series) = self.series.get_mut(id).filter(|it| it.timer == Some(at)) else { continue };
                    series.timer = None;
                    self.look_at(now, id);
                }
                Alarm::Object(id) => {
                    let Some(object) = self.objects.get_mut(id).filter(|it| it.timer == Some(at)) else { continue };
                    object.timer = None;
                    self.arrange(now, id);
                }
            }
        }
    }

    fn look_at(&mut self, now: Duration, id: Id) {
        let Some(series) = self.series.get(id).filter(|it| it.held > 0 && it.under_way == 0) else { return };
        let object = series.object;
        if now >= series.give_up {
            self.give_up_one(now, id);
        } else if series.turn.is_none() && now >= series.due(&self.settings, self.hurried) {
            self.make_due(id);
            self.time(id);
        } else {
            return self.time(id);
        }
        self.arrange(now, object);
    }

    /// It waited as long as it may.
    pub(super) fn give_up_one(&mut self, now: Duration, id: Id) {
        let Some(series) = self.series.get(id) else { return };
        let create = series.standing == Standing::New;
        if self.namespaces.is_forbidden(&self.namespace_of(series.object), create) {
            return self.let_go(id, Loss::Forbidden);
        }
        let held = series.held;
        self.diagnose(now, Cause::TooOld, || {
            format!("an Event that happened {held} times could not be told in time and is given up")
        });
        self.let_go(id, Loss::TooOld);
    }

    /// It takes its turn, unless it has one.
    pub(super) fn make_due(&mut self, id: Id) {
        let Some(series) = self.series.get_mut(id) else { return };
        if series.turn.is_some() || series.held == 0 || series.under_way > 0 {
            return;
        }
        self.turns += 1;
        series.turn = Some(self.turns);
        let Some(object) = self.objects.get_mut(series.object) else { return };
        if !std::mem::replace(&mut series.queued, true) {
            object.due.push_back(id);
            if object.due.len() > 2 * object.series + 8 {
                object.due.retain(|it| self.series.get(*it).is_some());
            }
        }
    }

    /// Puts an object in its place among the others, if it could speak; else sees to it that it is looked at in time.
    pub(super) fn arrange(&mut self, now: Duration, id: Id) {
        if self.objects.get(id).is_none_or(|it| it.waits || it.place.is_some()) {
            return;
        }
        let head = self.head(now, id);
        let limit = self.per_object();
        let Some(object) = self.objects.get_mut(id) else { return };
        let at = object.backoff.not_before.max(limit.not_until(object.bucket));
        match head {
            Head::Nothing if object.series == 0 => match object.matters_until(&self.settings) {
                past if past <= now => {
                    self.objects.remove(id);
                }
                until => {
                    self.objects.enlist(id, IDLE);
                    self.look_again(id, until);
                }
            },
            Head::Nothing => {}
            Head::NotUntil(rest) => self.look_again(id, rest.max(at)),
            _ if at > now => self.look_again(id, at),
            Head::Speaks(_, series) | Head::Gone(series) => self.line_up(id, series),
            Head::Waits(create) => self.wait_for_the_namespace(id, create),
        }
    }

    fn line_up(&mut self, id: Id, series: Id) {
        let Some(Series { kind, turn: Some(turn), .. }) = self.series.get(series) else { return };
        let Some(object) = self.objects.get_mut(id) else { return };
        let place = Place::new(object.was_told, *kind, *turn);
        object.place = Some(place);
        self.outbox.line_up(id, place);
    }

    /// The first of an object's Events that may go.
    fn head(&mut self, now: Duration, id: Id) -> Head {
        let namespace = match self.namespaces.is_empty() {
            true => None,
            false => Some(self.namespace_of(id)),
        };
        let Some(object) = self.objects.get_mut(id) else { return Head::Nothing };
        while let Some(&first) = object.due.front() {
            match self.series.get_mut(first) {
                Some(it) if it.turn.is_some() => break,
                Some(it) => it.queued = false,
                None => {}
            }
            object.due.pop_front();
        }
        let Some(namespace) = namespace else {
            return object.due.front().map_or(Head::Nothing, |it| Head::Speaks(0, *it));
        };
        // The rights to create and to patch are two: while one is missing, what needs the other goes on.
        let mut head = Head::Nothing;
        for (place, series) in object.due.iter().enumerate() {
            let Some(it) = self.series.get(*series).filter(|it| it.turn.is_some()) else { continue };
            let create = it.standing == Standing::New;
            head = match (self.namespaces.ask(now, &namespace, create), head) {
                (Verdict::Speak, _) => return Head::Speaks(place, *series),
                (Verdict::Gone, _) => return Head::Gone(*series),
                (Verdict::Wait, Head::Nothing | Head::NotUntil(_)) => Head::Waits(create),
                (Verdict::NotUntil(at), Head::NotUntil(before)) => Head::NotUntil(at.min(before)),
                (Verdict::NotUntil(at), Head::Nothing) => Head::NotUntil(at),
                (_, head) => head,
            };
        }
        head
    }

    fn wait_for_the_namespace(&mut self, id: Id, create: bool) {
        let namespace = self.namespace_of(id);
        self.namespaces.wait(&namespace, create, id);
        self.let_wait(id, true);
    }

    /// Where the Events of an object live.
    pub(super) fn namespace_of(&self, id: Id) -> Box<str> {
        match self.objects.get(id).map(|it| it.identity.known.namespace()) {
            Some(it) if !it.is_empty() => it.into(),
            _ => self.settings.cluster_namespace.clone(),
        }
    }

    /// It is this object's turn. `None` if it has nothing to say after all.
    fn speak(&mut self, now: Duration, id: Id, place: Place) -> Option<(Ticket, Request)> {
        let (at, series) = match self.head(now, id) {
            Head::Speaks(at, series) => (at, series),
            Head::Gone(series) => {
                self.let_go(series, Loss::NamespaceGone);
                self.arrange(now, id);
                return None;
            }
            Head::Nothing | Head::NotUntil(_) | Head::Waits(_) => {
                self.arrange(now, id);
                return None;
            }
        };
        let it = self.series.get(series)?;
        let object = self.objects.get(id)?;
        let current = Place::new(object.was_told, it.kind, it.turn?);
        if current != place {
            self.line_up(id, series);
            return None;
        }
        let heard = it.body.as_ref()?.regarding.clone();
        match self.kinds.step(now, &heard, &object.identity, &self.settings) {
            Step::Ready => return self.tell(now, id, series, at),
            Step::Wait => {
                self.kinds.wait(&heard, id);
                self.let_wait(id, true);
            }
            Step::NotUntil(at) => self.look_again(id, at),
            Step::Unknown(until) => {
                self.is_unknown(now, id, until);
                self.line_up(id, series);
            }
            Step::Discover(api_version) => {
                self.kinds.ask(now, &api_version);
                let cargo = Cargo::Discover { api_version: api_version.clone(), object: id };
                return Some((self.ask(now, id, cargo), Request::Discover { api_version }));
            }
            Step::LookUp(asked) => {
                let ticket = self.ask(now, id, Cargo::LookUp { object: id, asked: asked.clone() });
                return Some((ticket, Request::LookUp { regarding: asked.regarding, plural: asked.plural }));
            }
        }
        None
    }

    fn ask(&mut self, now: Duration, id: Id, cargo: Cargo) -> Ticket {
        self.books.look_ups += 1;
        let ticket = self.outbox.send(now, cargo);
        self.outage.issued(ticket);
        self.let_wait(id, true);
        ticket
    }

    /// Hands an Event out, with everything that it has counted.
    fn tell(&mut self, now: Duration, id: Id, series: Id, at: usize) -> Option<(Ticket, Request)> {
        let (total, per_object) = (self.total(), self.per_object());
        let namespace = self.namespace_of(id);
        let object = self.objects.get_mut(id)?;
        let it = self.series.get_mut(series)?;
        let body = it.body.as_deref()?;
        let telling = it.telling(body, object.regarding(&body.regarding), &self.settings);
        let create = it.standing == Standing::New;
        let turn = it.turn.take()?;
        it.under_way = std::mem::take(&mut it.held);
        it.queued = false;
        it.timer = None;
        self.books.held -= it.under_way;
        self.books.in_flight += it.under_way;
        object.due.remove(at);
        if object.due.is_empty() {
            // An object that has told all it knows is to be small.
            object.due = VecDeque::new();
        }
        object.waits = true;
        per_object.take(now, &mut object.bucket);
        total.take(now, &mut self.budget);
        let held_since = it.rhythm.held_since;
        let ticket = self.outbox.send(now, Cargo::Event { object: id, series, create, turn, held_since });
        self.outage.issued(ticket);
        self.namespaces.sent(&namespace, create, ticket);
        Some((ticket, if create { Request::Create(telling) } else { Request::Patch(telling) }))
    }
}
