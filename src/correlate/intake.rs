//! How an occurrence is taken in: which series it joins, or begins.

use std::sync::Arc;
use std::time::Duration;

use super::cache::{Fingerprint, Id};
use super::diagnoses::Cause;
use super::look_up::without_a_guess;
use super::object::Object;
use super::reading::Reading;
use super::series::{Rhythm, Series, Standing};
use super::similar::Verdict;
use super::timers::Alarm;
use super::{BY_AGE, Correlator, HELD_NORMAL, HELD_WARNING, IDLE, TOLD};
use crate::message::{EventType, Loss, Now, Occurrence, Wall};
use crate::regarding::Regarding;

/// From this many waiting on, an object whose budget is spent has its notes folded whatever callsite they come from:
/// one more each 5 s would reach the last of them only when it is given up.
const CROWD: usize = 50;

/// So many objects without series are remembered for what they have spent: more than the budget over all lets speak
/// before an object's own is whole again (2,000 at once, and 50 a second for 5 s). Where that is opened wide, so is the
/// object's.
const IDLE_MOST: usize = 4_096;

/// So many references are remembered by their uid.
const UIDS: usize = 4_096;

impl Correlator {
    /// Takes an occurrence in.
    pub(crate) fn observe(&mut self, now: Now, occurrence: &Occurrence) {
        self.books.seen += 1;
        let now = now.mono;
        let mut reading = Reading::of(occurrence, &self.printer, &mut self.memo);
        if !reading.is_well_formed(&self.settings) {
            self.diagnoses.note(now, Cause::Malformed, || {
                "a record was dropped that is about an Event, or whose reference is longer than any object's".into()
            });
            return self.drop_one(Loss::Malformed);
        }
        self.complete(now, &mut reading);
        let object_print = reading.object_print(&self.printer);
        let object = self.objects.find(object_print);
        let epoch = object.and_then(|it| self.objects.get(it)).map_or(0, |it| it.identity.epoch);
        let kin = reading.kin_print(&self.printer, object_print, epoch, &self.settings);
        let own = reading.series_print(&self.printer, kin);
        if self.join(now, own, &reading) {
            return;
        }
        let Some(object) = object.or_else(|| self.meet(now, object_print, &reading)) else {
            return self.drop_one(Loss::Bounds);
        };
        let fold = self.fold(now, kin, object, &reading);
        match fold {
            Some(combined) if self.join(now, combined, &reading) => {}
            _ => self.begin(now, object, fold.unwrap_or(own), fold.is_some(), &reading),
        }
    }

    /// An object of which there are no Events yet. `None` if there is no room for one.
    fn meet(&mut self, now: Duration, print: Fingerprint, reading: &Reading<'_>) -> Option<Id> {
        if !self.make_room(now, reading.occurrence.kind) {
            return None;
        }
        if self.objects.len() >= self.settings.series + IDLE_MOST
            && let Some(oldest) = self.objects.front(IDLE)
        {
            self.objects.remove(oldest);
        }
        Some(self.objects.insert(print, Object::new(reading.regarding())))
    }

    /// Undoes a guess where it can be told without asking, and completes a uid that came alone.
    fn complete(&mut self, now: Duration, reading: &mut Reading<'_>) {
        let it = reading.regarding();
        if it.split_at_a_guess
            && let Some(sure) = without_a_guess(it)
        {
            return reading.is_about(Arc::new(sure));
        }
        if !it.kind.is_empty() && !it.name.is_empty() {
            return;
        }
        let known = self.by_uid.find(self.printer.print(&it.uid));
        let known = known.and_then(|it| self.objects.get(*self.by_uid.get(it)?)).map(|it| &it.identity.known);
        match known.filter(|known| known.uid() == &*it.uid) {
            Some(known) => {
                let full = known.with(&it.field_path);
                reading.is_about(Arc::new(full));
            }
            None => {
                let words = || {
                    format!(
                        "an Event about uid {} alone: no full reference with this uid was heard, so it is posted as it \
                         stands and only a search by uid finds it",
                        it.uid
                    )
                };
                self.diagnoses.note(now, Cause::UidAlone, words);
            }
        }
    }

    /// Counts it into a series that exists and is open. `false` if there is none.
    fn join(&mut self, now: Duration, print: Fingerprint, reading: &Reading<'_>) -> bool {
        let Some(id) = self.series.find(print) else { return false };
        let Some(series) = self.series.get_mut(id) else { return false };
        match series.standing {
            Standing::Refused if now < series.give_up => {
                self.drop_one(Loss::Invalid);
                return true;
            }
            Standing::Known if series.is_open(now, &self.settings) => {}
            Standing::New => {}
            Standing::Refused | Standing::Known => {
                self.forget(id);
                return false;
            }
        }
        let begins = series.held + series.under_way == 0;
        let held_nothing = series.held == 0;
        series.rhythm.hear(now);
        series.last = later(series.last, reading.occurrence.time);
        series.held += 1;
        let patience = reading.occurrence.patience.unwrap_or(self.settings.patience);
        series.give_up = series.give_up.max(now.saturating_add(patience));
        if held_nothing {
            series.rhythm.held_since = now;
        }
        if let (true, Some(body)) = (series.combined, &mut series.body) {
            reading.write_note(true, &mut body.note);
        }
        self.books.held += 1;
        self.books.folded += 1;
        if begins {
            self.hold(id, reading);
        }
        true
    }

    /// A series that knew nothing new has something to tell again.
    fn hold(&mut self, id: Id, reading: &Reading<'_>) {
        let body = self.body(series_is_combined(self.series.get(id)), reading);
        let Some(series) = self.series.get_mut(id) else { return };
        series.body = Some(body);
        let list = held_list(series.kind);
        self.series.enlist(id, list);
        self.time(id);
    }

    fn body(&mut self, combined: bool, reading: &Reading<'_>) -> Box<super::series::Body> {
        let room = self.settings.annotations_held.saturating_sub(self.annotation_bytes);
        let (body, left_out) = reading.body(combined, room.min(self.settings.annotations), &self.settings);
        self.annotation_bytes += body.annotation_bytes();
        self.books.annotations_left_out += left_out as u64;
        body
    }

    /// The combined series that a note not heard before belongs to, if it is not to be an Event of its own.
    fn fold(&mut self, now: Duration, kin: Fingerprint, object: Id, reading: &Reading<'_>) -> Option<Fingerprint> {
        let print = self.printer.print((kin, reading.occurrence.callsite));
        let limit = self.per_object();
        let object = self.objects.get_mut(object)?;
        if object.similar.hear(now, print, &self.settings) == Verdict::Fold {
            return Some(self.printer.print((print, "combined")));
        }
        let crowded = object.due.len() >= CROWD && limit.not_until(object.bucket) > now;
        crowded.then(|| self.printer.print((kin, "combined")))
    }

    fn begin(&mut self, now: Duration, object: Id, print: Fingerprint, combined: bool, reading: &Reading<'_>) {
        let kind = reading.occurrence.kind;
        if !self.make_room(now, kind) {
            return self.drop_one(Loss::Bounds);
        }
        self.objects.unlist(object);
        self.learn_uid(now, object, reading.regarding());
        let body = self.body(combined, reading);
        let time = self.objects.get_mut(object).map_or(reading.occurrence.time, |it| {
            it.series += 1;
            it.stamp(reading.occurrence.time)
        });
        let patience = reading.occurrence.patience.unwrap_or(self.settings.patience);
        let series = Series {
            object,
            kind,
            standing: Standing::New,
            combined,
            serial: self.next_serial(time),
            first: time,
            last: time,
            told: 0,
            held: 1,
            under_way: 0,
            unsure: None,
            rhythm: Rhythm::begun(now, &self.settings),
            turn: None,
            queued: false,
            give_up: now.saturating_add(patience),
            timer: None,
            body: Some(body),
        };
        let id = self.series.insert(print, series);
        self.series.enlist(id, held_list(kind));
        self.books.held += 1;
        self.make_due(id);
        self.time(id);
        self.arrange(now, object);
    }

    /// Makes room for one series more. Who has told everything goes first, then the youngest Normal; what is already
    /// there is never given up for a Normal.
    fn make_room(&mut self, now: Duration, kind: EventType) -> bool {
        // Two for one, so that closed series do not stay until the bound is reached.
        for _ in 0..2 {
            let is_full = self.series.len() >= self.settings.series;
            let Some(oldest) = self.series.front(TOLD) else { break };
            let closed = self.series.get(oldest).is_some_and(|it| !it.is_open(now, &self.settings));
            if !is_full && !closed {
                break;
            }
            self.forget(oldest);
        }
        if self.series.len() < self.settings.series {
            return true;
        }
        let words = || "more Events wait than may be held: the youngest Normal ones are dropped and counted".to_owned();
        self.diagnoses.note(now, Cause::Bounds, words);
        if kind == EventType::Normal {
            return false;
        }
        let under_way = |it: &Id| self.series.get(*it).is_none_or(|it| it.under_way > 0);
        let Some(youngest) = self.series.youngest_first(HELD_NORMAL).find(|it| !under_way(it)) else { return false };
        self.let_go(youngest, Loss::Bounds);
        self.forget(youngest);
        true
    }

    /// A reference with a uid completes others: those by uid alone, and those of the object without it.
    pub(super) fn learn_uid(&mut self, now: Duration, id: Id, whole: &Regarding) {
        if whole.uid.is_empty() || whole.name.is_empty() || whole.kind.is_empty() {
            return;
        }
        if let Some(object) = self.objects.get_mut(id) {
            object.identity.is(whole, now.saturating_add(self.settings.look_up_holds));
        }
        let print = self.printer.print(&whole.uid);
        let entry = match self.by_uid.find(print) {
            Some(entry) => entry,
            None => {
                if self.by_uid.len() >= UIDS
                    && let Some(oldest) = self.by_uid.front(BY_AGE)
                {
                    self.by_uid.remove(oldest);
                }
                self.by_uid.insert(print, id)
            }
        };
        if let Some(it) = self.by_uid.get_mut(entry) {
            *it = id;
        }
        self.by_uid.enlist(entry, BY_AGE);
    }

    /// The number in an Event's name: it rises also while the wall clock stands still or goes back. The digits below
    /// the microsecond are this process' own, so that two replicas do not meet.
    pub(super) fn next_serial(&mut self, time: Wall) -> u64 {
        let nanoseconds = (time.0.max(0) as u64).saturating_mul(1_000).saturating_add(self.settings.seed % 1_000);
        self.serial = nanoseconds.max(self.serial.wrapping_add(1));
        self.serial
    }

    /// Has the timer look at a series when it is due, or given up.
    pub(super) fn time(&mut self, id: Id) {
        let Some(series) = self.series.get_mut(id) else { return };
        let due = match series.turn {
            Some(_) => series.give_up,
            None => series.due(&self.settings, self.hurried).min(series.give_up),
        };
        if series.timer.is_none_or(|set| due < set) {
            series.timer = Some(due);
            self.set_timer(due, Alarm::Series(id));
        }
    }

    fn drop_one(&mut self, loss: Loss) {
        self.books.dropped[loss as usize] += 1;
    }
}

pub(super) fn held_list(kind: EventType) -> usize {
    match kind {
        EventType::Normal => HELD_NORMAL,
        EventType::Warning => HELD_WARNING,
    }
}

fn series_is_combined(series: Option<&Series>) -> bool {
    series.is_some_and(|it| it.combined)
}

/// The newest of two times, unless the clock was set back in between.
fn later(last: Wall, time: Wall) -> Wall {
    const GRAIN: i64 = 3_000;
    if (0..GRAIN).contains(&last.0.saturating_sub(time.0)) { last } else { time }
}
