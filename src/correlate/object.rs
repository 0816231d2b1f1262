//! One object: whose turn it is among its Events, how often it may speak, and which uid it has.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::backoff::Backoff;
use super::cache::Id;
use super::known::Known;
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

/// Which object it is, as far as it was heard or looked up.
#[derive(Debug, Default)]
pub(super) struct Identity {
    pub(super) known: Known,
    /// Whether that completes a reference without uid.
    is_whole: bool,
    /// Until when it holds, or was in vain.
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
    pub(super) fn new(heard: &Regarding) -> Self {
        Self {
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
            identity: Identity { known: heard.into(), ..Identity::default() },
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
        match heard.uid.is_empty() && self.identity.is_whole {
            true => Arc::new(self.identity.known.with(&heard.field_path)),
            false => heard.clone(),
        }
    }
}

impl Identity {
    /// The object was named with its uid, by a record or by the server: nobody need ask for it until then.
    pub(super) fn is(&mut self, whole: &Regarding, until: Duration) {
        let before = self.known.uid();
        if before != &*whole.uid {
            self.epoch += u32::from(!before.is_empty());
            self.known = whole.into();
        }
        *self = Self { is_whole: true, holds_until: until, ..self.answered() };
    }

    /// The answer was that there is none, or none for us. An object that was there a moment ago keeps its uid: its last
    /// Events are about its end.
    pub(super) fn is_not_told(&mut self, asked: &Regarding, until: Duration) {
        if self.known.uid().is_empty() {
            self.known = asked.into();
        }
        *self = Self { is_whole: true, holds_until: until, ..self.answered() };
    }

    fn answered(&mut self) -> Self {
        Self { tries: 0, is_given_up: false, ..std::mem::take(self) }
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
        let mut object = Object::new(&Regarding::default());
        let stamps = [1_000_000, 1_000_000, 1_000_000, 1_000_100, 500_000, 500_001].map(|it| object.stamp(Wall(it)).0);
        assert_eq!(stamps, [1_000_000, 1_000_001, 1_000_002, 1_000_100, 500_000, 500_001]);
    }
}
