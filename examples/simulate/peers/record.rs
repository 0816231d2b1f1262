//! client-go's `tools/record` with its defaults: one correlator, one serial sender.

use std::collections::VecDeque;
use std::time::Duration;

use super::dice::Dice;
use super::lru::Lru;
use super::recorder::{self, Answer, Line, Recorder, Verb, Write};

/// `maxQueuedEvents` of the sink's own queue. The broadcaster before it passes on at once, and what finds no room here
/// is dropped without a word.
const QUEUE: usize = 1_000;
/// `maxLruCacheEntries`, of each of the three caches.
const CACHE: usize = 4_096;
/// `defaultAggregateMaxEvents`: from the tenth note on they are one Event.
const SIMILAR: usize = 10;
/// `defaultAggregateIntervalInSeconds`, since the last similar one.
const SIMILAR_WINDOW: Duration = Duration::from_secs(600);
/// `defaultSpamBurst`.
const BURST: f64 = 25.0;
/// `defaultSpamQPS` is one per so long.
const REFILL: Duration = Duration::from_secs(300);
/// `maxTriesPerEvent`.
const TRIES: u32 = 12;
/// `defaultSleepDuration`.
const SLEEP: Duration = Duration::from_secs(10);

/// The recorder of core/v1.
#[derive(Debug)]
pub(crate) struct Record {
    queue: VecDeque<recorder::Record>,
    similar: Lru<SimilarKey, Similar>,
    counts: Lru<CountKey, Count>,
    spam: Lru<(u32, bool), Bucket>,
    hand: Option<Hand>,
    made: u64,
    tickets: u64,
    dice: Dice,
}

/// The one record that is being written.
#[derive(Debug)]
struct Hand {
    write: Write,
    tries: u32,
    /// When it goes out; `None` while it is under way.
    at: Option<Duration>,
}

type SimilarKey = (Line, bool);
/// Without a note: the combined Event.
type CountKey = (Line, bool, Option<u64>);

#[derive(Debug, Default)]
struct Similar {
    notes: VecDeque<u64>,
    last: Option<Duration>,
}

#[derive(Debug, Default)]
struct Count {
    event: u64,
    count: u32,
}

/// The tokens that are left, and as of when; new: all.
#[derive(Debug, Default)]
struct Bucket(Option<(f64, Duration)>);

impl Record {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            queue: VecDeque::new(),
            similar: Lru::new(CACHE),
            counts: Lru::new(CACHE),
            spam: Lru::new(CACHE),
            hand: None,
            made: 0,
            tickets: 0,
            dice: Dice::new(seed),
        }
    }

    /// `EventCorrelate`: it aggregates, counts, and only then filters; so what is filtered is in a later count.
    fn correlate(&mut self, now: Duration, record: recorder::Record) -> Option<Write> {
        let line = record.line;
        let folds = self.similar.entry((line, record.warning)).hear(now, record.note);
        let key = (line, record.warning, (!folds).then_some(record.note));
        let count = self.counts.entry(key);
        count.count += 1;
        if count.count == 1 {
            self.made += 1;
            count.event = self.made;
        }
        let Count { event, count } = *count;
        let verb = if count > 1 { Verb::Patch } else { Verb::Create };
        let passes = self.spam.entry((line.object, record.warning)).take(now);
        passes.then_some(Write { ticket: 0, event, verb, line, count, note: Some(record.note) })
    }
}

impl Similar {
    /// Whether it is one of many.
    fn hear(&mut self, now: Duration, note: u64) -> bool {
        if self.last.is_none_or(|it| now - it > SIMILAR_WINDOW) {
            self.notes.clear();
        }
        self.last = Some(now);
        if !self.notes.contains(&note) {
            self.notes.push_back(note);
        }
        if self.notes.len() < SIMILAR {
            return false;
        }
        // The original takes out any of them at random (`PopAny`).
        self.notes.pop_front();
        true
    }
}

impl Bucket {
    fn take(&mut self, now: Duration) -> bool {
        let (tokens, since) = self.0.unwrap_or((BURST, now));
        let tokens = (tokens + (now - since).div_duration_f64(REFILL)).min(BURST);
        let passes = tokens >= 1.0;
        self.0 = Some((if passes { tokens - 1.0 } else { tokens }, now));
        passes
    }
}

impl Recorder for Record {
    fn observe(&mut self, _: Duration, record: recorder::Record) {
        if self.queue.len() < QUEUE {
            self.queue.push_back(record);
        }
    }

    fn next_write(&mut self, now: Duration) -> Option<Write> {
        while self.hand.is_none() {
            let record = self.queue.pop_front()?;
            self.hand = self.correlate(now, record).map(|write| Hand { write, tries: 0, at: Some(now) });
        }
        let hand = self.hand.as_mut()?;
        hand.at.take_if(|at| *at <= now)?;
        self.tickets += 1;
        hand.write.ticket = self.tickets;
        Some(hand.write)
    }

    fn settle(&mut self, now: Duration, _: u64, answer: Answer) {
        let Some(hand) = &mut self.hand else { return };
        match answer {
            Answer::NotFound if hand.write.verb == Verb::Patch => {
                hand.write.verb = Verb::Create;
                hand.at = Some(now);
            }
            // Whatever the server answers ends it (`StatusError`); only when nobody answers is it tried again.
            Answer::Unreachable if hand.tries + 1 < TRIES => {
                let sleep = if hand.tries == 0 { self.dice.within(SLEEP) } else { SLEEP };
                hand.tries += 1;
                hand.at = Some(now + sleep);
            }
            _ => self.hand = None,
        }
    }

    fn wake_at(&self) -> Option<Duration> {
        match &self.hand {
            Some(hand) => hand.at,
            None if self.queue.is_empty() => None,
            None => Some(Duration::ZERO),
        }
    }

    fn entries(&self) -> usize {
        self.queue.len() + self.similar.len() + self.counts.len() + self.spam.len()
    }
}
