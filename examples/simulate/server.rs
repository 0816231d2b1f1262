//! The API server, as far as recorders notice it: it takes its time, forgets, refuses, and is away.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use hashbrown::HashMap;

use super::recorder::{Answer, Verb, Write};

/// How long a write takes. Measured on a real server with one client: 3.3 ms.
const LATENCY: Duration = Duration::from_millis(3);

/// The server forgets an Event that was not written for so long. kube-apiserver: `--event-ttl`.
const TTL: Duration = Duration::from_secs(60 * 60);

/// An API server with the Events of one day.
#[derive(Debug, Default)]
pub(crate) struct Server {
    /// When it is away.
    away: Option<Range<Duration>>,
    /// How many writes it still answers with 429.
    refuses: u32,
    /// Writes that it worked on: all but those answered with 429 and those that never reached it.
    pub(crate) writes: u64,
    pub(crate) made: u64,
    pub(crate) most_in_a_second: usize,
    last_second: VecDeque<Duration>,
    under_way: VecDeque<(Duration, Write)>,
    /// Those forgotten too: a recorder may make one anew and go on counting.
    events: HashMap<u64, Event>,
}

#[derive(Debug, Default)]
struct Event {
    count: u32,
    note: u64,
    expires: Duration,
}

/// What came of a write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) write: Write,
    pub(crate) answer: Answer,
    /// How many records a person now sees counted that were not counted before.
    pub(crate) news: u64,
}

impl Server {
    pub(crate) fn away(when: Range<Duration>) -> Self {
        Self { away: Some(when), ..Self::default() }
    }

    pub(crate) fn refusing(writes: u32) -> Self {
        Self { refuses: writes, ..Self::default() }
    }

    pub(crate) fn send(&mut self, now: Duration, write: Write) {
        self.under_way.push_back((now + LATENCY, write));
    }

    pub(crate) fn answers_at(&self) -> Option<Duration> {
        self.under_way.front().map(|(at, _)| *at)
    }

    /// The next answer that is due.
    pub(crate) fn answer(&mut self, now: Duration) -> Option<Outcome> {
        if self.answers_at()? > now {
            return None;
        }
        let (_, write) = self.under_way.pop_front()?;
        let (answer, news) = self.work(now, write);
        Some(Outcome { write, answer, news: u64::from(news) })
    }

    /// The notes of all Events, also of those forgotten.
    pub(crate) fn notes(&self) -> impl Iterator<Item = u64> {
        self.events.values().filter(|it| it.count > 0).map(|it| it.note)
    }

    /// The answer, and how many more are counted by it.
    fn work(&mut self, now: Duration, write: Write) -> (Answer, u32) {
        if self.away.as_ref().is_some_and(|it| it.contains(&now)) {
            return (Answer::Unreachable, 0);
        }
        if self.refuses > 0 {
            self.refuses -= 1;
            return (Answer::Throttled, 0);
        }
        self.clock_in(now);
        let Write { event, verb, count, .. } = write;
        let known = self.events.entry(event).or_default();
        match (verb, known.expires > now) {
            (Verb::Create, true) => return (Answer::AlreadyExists, 0),
            (Verb::Patch, false) => return (Answer::NotFound, 0),
            (Verb::Create, false) => self.made += 1,
            (Verb::Patch, true) => {}
        }
        let news = count.saturating_sub(known.count);
        known.count += news;
        known.note = write.note.unwrap_or(known.note);
        known.expires = now + TTL;
        (Answer::Done, news)
    }

    fn clock_in(&mut self, now: Duration) {
        self.writes += 1;
        while self.last_second.front().is_some_and(|it| now.saturating_sub(*it) >= Duration::from_secs(1)) {
            self.last_second.pop_front();
        }
        self.last_second.push_back(now);
        self.most_in_a_second = self.most_in_a_second.max(self.last_second.len());
    }
}
