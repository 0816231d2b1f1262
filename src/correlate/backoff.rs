//! When to try again: after one object's failure, and after failures that concern the whole server.

use std::time::Duration;

use super::cache::Id;
use super::outbox::Ticket;
use super::settings::Settings;

/// Failures in a row, and how long they keep one waiting.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    pub(super) failures: u32,
    pub(super) not_before: Duration,
    /// What the server asked for itself: nothing cuts it short.
    floor: Duration,
}

/// Chance, from a seed: SplitMix64. It spreads retries and nothing else.
#[derive(Debug)]
pub(super) struct Dice(u64);

/// Whether the server as a whole seems to be away. While it is, one request at a time looks whether it is back.
#[derive(Debug, Default)]
pub(super) struct Outage {
    backoff: Backoff,
    began: Duration,
    probe: Option<Ticket>,
    /// Whose request failed last. An object may fail on its own; two in a row are the server.
    suspect: Option<Id>,
}

/// How a request failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    pub(super) object: Id,
    pub(super) ticket: Ticket,
    pub(super) retry_after: Option<Duration>,
    /// Whether the reply says by itself that it concerns everybody: 429, 503 with `Retry-After`, 401.
    pub(super) concerns_all: bool,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// Up to a fifth more or less.
    fn spread(&mut self, delay: Duration) -> Duration {
        delay * (800 + (self.throw() % 401) as u32) / 1_000
    }
}

impl Backoff {
    pub(super) fn fail(&mut self, now: Duration, retry_after: Option<Duration>, dice: &mut Dice, settings: &Settings) {
        let doubled = settings.retry_first.saturating_mul(1 << self.failures.min(16));
        self.failures += 1;
        self.not_before = now.saturating_add(dice.spread(doubled.min(settings.retry_most)));
        self.heed(now, retry_after, settings);
    }

    /// Waits as long as the server asked.
    fn heed(&mut self, now: Duration, retry_after: Option<Duration>, settings: &Settings) {
        if let Some(asked) = retry_after {
            self.floor = self.floor.max(now.saturating_add(asked.min(settings.retry_after_most)));
            self.not_before = self.not_before.max(self.floor);
        }
    }

    /// Tries again now, unless the server asked for more.
    pub(super) fn hurry(&mut self, now: Duration) {
        self.not_before = self.not_before.min(now.max(self.floor));
    }
}

impl Outage {
    /// Whether a request may go, or from when on; `None` while one is looking.
    pub(super) fn not_until(&self) -> Option<Duration> {
        if self.probe.is_some() { None } else { Some(self.backoff.not_before) }
    }

    pub(super) fn issued(&mut self, ticket: Ticket) {
        if self.backoff.failures > 0 {
            self.probe = Some(ticket);
        }
    }

    /// A request failed.
    pub(super) fn failed(&mut self, now: Duration, failure: Failure, dice: &mut Dice, settings: &Settings) {
        let another = self.suspect.is_some_and(|it| it != failure.object);
        self.suspect = Some(failure.object);
        if self.probe == Some(failure.ticket) {
            self.probe = None;
            self.backoff.fail(now, failure.retry_after, dice, settings);
        } else if self.backoff.failures > 0 {
            // It was sent before the outage began, so it says nothing new.
            self.backoff.heed(now, failure.retry_after, settings);
        } else if failure.concerns_all || another {
            self.began = now;
            self.backoff.fail(now, failure.retry_after, dice, settings);
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.backoff.failures > 0
    }

    /// The server answered in its right mind.
    pub(super) fn answered(&mut self, ticket: Ticket, issued: Duration) {
        self.suspect = None;
        if self.probe == Some(ticket) || (self.backoff.failures > 0 && issued > self.began) {
            *self = Self::default();
        }
    }

    pub(super) fn hurry(&mut self, now: Duration) {
        self.backoff.hurry(now);
    }

    /// Nobody waits for a reply any longer.
    pub(super) fn forget_probe(&mut self) {
        self.probe = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_double_up_to_the_longest_within_a_fifth() {
        let (settings, mut dice, mut backoff) = (Settings::default(), Dice::new(7), Backoff::default());
        for expected in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0] {
            backoff.fail(Duration::ZERO, None, &mut dice, &settings);
            let delay = backoff.not_before.as_secs_f64();
            assert!((0.8 * expected..=1.2 * expected).contains(&delay), "{delay} for {expected}");
        }
    }

    #[test]
    fn what_the_server_asks_for_is_never_cut_short() {
        let (settings, mut dice, mut backoff) = (Settings::default(), Dice::new(7), Backoff::default());
        backoff.fail(Duration::ZERO, Some(Duration::from_secs(9)), &mut dice, &settings);
        backoff.hurry(Duration::from_secs(1));
        assert_eq!(backoff.not_before, Duration::from_secs(9));
    }
}
