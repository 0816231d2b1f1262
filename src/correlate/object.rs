//! One object: whose turn it is among its Events, how often it may speak, and which uid it has.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::backoff::Backoff;
use super::cache::Id;
use super::limit::Bucket;
use super::outbox::Place;
use super::settings::Settings;
use super::similar::Similar;
use crate::message::Wall;
use crate::regarding::Regarding;

/// What is known of an object while it has Events.
///
/// References with and without a uid share it, so that their Events keep one order.
#[derive(Debug)]
pub(super) struct Object {
    /// As it was heard first.
    pub(super) heard: Arc<Regarding>,
    /// How many series are about it.
    pub(super) series: usize,
    /// Those with something due, in the order they became so. What fell out in between is stale and skipped.
    pub(super) due: VecDeque<Id>,
    pub(super) bucket: Bucket,
    pub(super) backoff: Backoff,
    /// Whether a request of its own is under way, or it waits for somebody else's.
    pub(super) waits: bool,
    /// Where it stands in the line of all objects.
    pub(super) place: Option<Place>,
    pub(super) timer: Option<Duration>,
    /// Whether an Event of it was told.
    pub(super) was_told: bool,
    /// The time of its newest Event.
    last: Wall,
    pub(super) similar: Similar,
    pub(super) identity: Identity,
}

/// What a look-up said.
#[derive(Debug, Default)]
pub(super) struct Identity {
    /// The object with what its reference lacked.
    pub(super) resolved: Option<Arc<Regarding>>,
    /// Until when that holds.
    pub(super) holds_until: Duration,
    /// Failed tries since the last answer.
    pub(super) tries: u32,
    /// Whether no answer came.
    is_given_up: bool,
    /// Rises when an object of the same name has another uid: what is heard from then on is another series.
    pub(super) epoch: u32,
}

/// Clocks of a coarse grain give two Events one time; what lies farther back is a clock that was set.
const GRAIN: i64 = 3_000;

impl Object {
    pub(super) fn new(heard: Arc<Regarding>) -> Self {
        Self {
            heard,
            series: 0,
            due: VecDeque::new(),
            bucket: Bucket::default(),
            backoff: Backoff::default(),
            waits: false,
            place: None,
            timer: None,
            was_told: false,
            last: Wall(i64::MIN),
            similar: Similar::default(),
            identity: Identity::default(),
        }
    }

    /// Until when it is worth remembering without any Event: while its budget is not whole again, or notes fold.
    pub(super) fn matters_until(&self, settings: &Settings) -> Duration {
        self.bucket.full_at().max(self.similar.matters_until(settings))
    }

    /// The time of a new Event: its own, or a microsecond after the one before, so that viewers sort them right.
    pub(super) fn stamp(&mut self, time: Wall) -> Wall {
        let behind = self.last.0.saturating_sub(time.0);
        if (0..GRAIN).contains(&behind) {
            self.last.0 += 1;
        } else {
            self.last = time;
        }
        self.last
    }

    /// The reference that goes into an Event: as it was heard, with what was looked up.
    pub(super) fn regarding(&self, heard: &Arc<Regarding>) -> Arc<Regarding> {
        match &self.identity.resolved {
            Some(resolved) if heard.uid.is_empty() => match &*heard.field_path {
                "" => resolved.clone(),
                path => Arc::new(Regarding { field_path: path.into(), ..Regarding::clone(resolved) }),
            },
            _ => heard.clone(),
        }
    }
}

impl Identity {
    /// The answer was that this is the object.
    pub(super) fn is(&mut self, resolved: Arc<Regarding>, until: Duration) {
        let before = self.resolved.as_ref().map_or("", |it| &it.uid);
        if !before.is_empty() && *before != *resolved.uid {
            self.epoch += 1;
        }
        *self = Self { resolved: Some(resolved), holds_until: until, epoch: self.epoch, ..Self::default() };
    }

    /// Somebody named the object with its uid: nobody need ask for it.
    pub(super) fn was_heard(&mut self, heard: &Arc<Regarding>, until: Duration) {
        if self.resolved.as_ref().is_some_and(|it| it.uid == heard.uid) {
            self.holds_until = self.holds_until.max(until);
            return;
        }
        let whole = match &*heard.field_path {
            "" => heard.clone(),
            _ => Arc::new(Regarding { field_path: "".into(), ..Regarding::clone(heard) }),
        };
        self.is(whole, until);
    }

    /// The answer was that there is none, or none for us. An object that was there a moment ago keeps its uid: its last
    /// Events are about its end.
    pub(super) fn is_not_told(&mut self, asked: &Arc<Regarding>, until: Duration) {
        let resolved = self.resolved.take().unwrap_or_else(|| asked.clone());
        *self = Self { resolved: Some(resolved), holds_until: until, epoch: self.epoch, ..Self::default() };
    }

    /// There was no answer, and the Event goes without.
    pub(super) fn give_up(&mut self, until: Duration) {
        self.holds_until = until;
        self.tries = 0;
        self.is_given_up = true;
    }

    /// The Event did not go either: there is time for another look.
    pub(super) fn try_again(&mut self) {
        if std::mem::take(&mut self.is_given_up) {
            self.holds_until = Duration::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_moment_keep_their_order_and_a_clock_that_was_set_is_believed() {
        let mut object = Object::new(Arc::default());
        let stamps = [1_000_000, 1_000_000, 1_000_000, 1_000_100, 500_000, 500_001].map(|it| object.stamp(Wall(it)).0);
        assert_eq!(stamps, [1_000_000, 1_000_001, 1_000_002, 1_000_100, 500_000, 500_001]);
    }
}
