//! client-go's `tools/events` with its defaults: series that tell their second and then wait for the next sweep.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::Duration;

use hashbrown::HashMap;

use super::dice::Dice;
use super::recorder::{Answer, Line, Record, Recorder, Verb, Write};

/// `finishTime`: how often series are looked at that may be over, and how long they must have been silent.
const FINISH: Duration = Duration::from_secs(6 * 60);
/// `refreshTime`: how often every series tells its count.
const REFRESH: Duration = Duration::from_secs(30 * 60);
/// `maxTriesPerEvent`.
const TRIES: u32 = 12;
/// `sleepDuration`, jittered by a quarter.
const SLEEP: Duration = Duration::from_secs(10);

/// The recorder of events.k8s.io/v1.
#[derive(Debug)]
pub(crate) struct Events {
    /// Without the note: it is no part of the key. Ordered only for the sake of a repeatable sweep.
    series: BTreeMap<Key, Series>,
    /// First and second writes; each has a goroutine of its own.
    attempts: HashMap<u64, Attempt>,
    due: BinaryHeap<Reverse<(Duration, u64)>>,
    sweep: VecDeque<(Key, Reason)>,
    /// The sweep's one write that is under way.
    sweeping: Option<(u64, Key, Reason, Write)>,
    /// A sweep holds the lock from its first answer to its last.
    locked_out: VecDeque<Record>,
    finish_at: Duration,
    refresh_at: Duration,
    made: u64,
    tickets: u64,
    dice: Dice,
}

type Key = (u32, u16, bool);

#[derive(Debug)]
struct Series {
    event: u64,
    count: u32,
    last: Duration,
    note: u64,
}

#[derive(Debug)]
struct Attempt {
    write: Write,
    series: bool,
    tries: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Refresh,
    Finish,
}

impl Events {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            series: BTreeMap::new(),
            attempts: HashMap::new(),
            due: BinaryHeap::new(),
            sweep: VecDeque::new(),
            sweeping: None,
            locked_out: VecDeque::new(),
            finish_at: FINISH,
            refresh_at: REFRESH,
            made: 0,
            tickets: 0,
            dice: Dice::new(seed),
        }
    }

    fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// `recordToSink`, under its lock.
    fn hear(&mut self, now: Duration, record: Record) {
        let Record { line, warning, note } = record;
        let key = (line.object, line.reason, warning);
        let Some(series) = self.series.get_mut(&key) else {
            self.made += 1;
            let event = self.made;
            self.series.insert(key, Series { event, count: 1, last: now, note });
            return self.attempt(now, Verb::Create, line, event, note);
        };
        series.count += 1;
        series.last = now;
        if series.count == 2 {
            let (event, note) = (series.event, series.note);
            self.attempt(now, Verb::Patch, line, event, note);
        }
    }

    fn attempt(&mut self, now: Duration, verb: Verb, line: Line, event: u64, note: u64) {
        let ticket = self.ticket();
        let series = verb == Verb::Patch;
        let count = if series { 2 } else { 1 };
        let write = Write { ticket, event, verb, line, count, note: Some(note) };
        self.attempts.insert(ticket, Attempt { write, series, tries: 0 });
        self.due.push(Reverse((now, ticket)));
    }

    fn begin_sweep(&mut self, now: Duration) {
        if self.is_locked() {
            return;
        }
        if self.refresh_at <= now {
            self.refresh_at += REFRESH;
            let all = self.series.iter().filter(|(_, it)| it.count > 1);
            self.sweep.extend(all.map(|(key, _)| (*key, Reason::Refresh)));
        }
        if self.finish_at <= now {
            self.finish_at += FINISH;
            let over = |it: &Series| it.last + FINISH < now;
            let silent = self.series.iter().filter(|(_, it)| it.count > 1 && over(it));
            self.sweep.extend(silent.map(|(key, _)| (*key, Reason::Finish)));
            self.series.retain(|_, it| it.count > 1 || !over(it));
        }
    }

    fn is_locked(&self) -> bool {
        self.sweeping.is_some() || !self.sweep.is_empty()
    }

    fn next_of_sweep(&mut self) -> Option<Write> {
        while self.sweeping.is_none() {
            let (key, reason) = self.sweep.pop_front()?;
            let Some(series) = self.series.get(&key) else { continue };
            let (event, count, note) = (series.event, series.count, Some(series.note));
            let line = Line { object: key.0, reason: key.1 };
            let ticket = self.ticket();
            let write = Write { ticket, event, verb: Verb::Patch, line, count, note };
            self.sweeping = Some((ticket, key, reason, write));
            return Some(write);
        }
        None
    }

    fn settle_sweep(&mut self, key: Key, reason: Reason, write: Write, now: Duration, answer: Answer) {
        if answer == Answer::NotFound && write.verb == Verb::Patch {
            // The same goroutine makes it anew at once.
            let ticket = self.ticket();
            let write = Write { ticket, verb: Verb::Create, ..write };
            self.sweeping = Some((ticket, key, reason, write));
            self.attempts.insert(ticket, Attempt { write, series: true, tries: TRIES });
            return self.due.push(Reverse((now, ticket)));
        }
        if reason == Reason::Finish && answer != Answer::Unreachable {
            self.series.remove(&key);
        }
        if !self.is_locked() {
            for record in std::mem::take(&mut self.locked_out) {
                self.hear(now, record);
            }
        }
    }
}

impl Recorder for Events {
    fn observe(&mut self, now: Duration, record: Record) {
        self.begin_sweep(now);
        if self.is_locked() {
            self.locked_out.push_back(record);
        } else {
            self.hear(now, record);
        }
    }

    fn next_write(&mut self, now: Duration) -> Option<Write> {
        self.begin_sweep(now);
        match self.due.peek() {
            Some(Reverse((at, ticket))) if *at <= now => {
                let write = self.attempts[ticket].write;
                self.due.pop();
                Some(write)
            }
            _ => self.next_of_sweep(),
        }
    }

    fn settle(&mut self, now: Duration, ticket: u64, answer: Answer) {
        if let Some((_, key, reason, write)) = self.sweeping.take_if(|it| it.0 == ticket) {
            self.attempts.remove(&ticket);
            return self.settle_sweep(key, reason, write, now, answer);
        }
        let Some(mut attempt) = self.attempts.remove(&ticket) else { return };
        match answer {
            Answer::NotFound if attempt.write.verb == Verb::Patch => {
                attempt.write.verb = Verb::Create;
                self.due.push(Reverse((now, ticket)));
            }
            Answer::Unreachable | Answer::AlreadyExists
                if attempt.tries + 1 < TRIES && (attempt.series || answer == Answer::Unreachable) =>
            {
                attempt.tries += 1;
                attempt.write.verb = if attempt.series { Verb::Patch } else { Verb::Create };
                let sleep = SLEEP.mul_f64(1.0 + 0.25 * self.dice.throw());
                self.due.push(Reverse((now + sleep, ticket)));
            }
            _ => return,
        }
        self.attempts.insert(ticket, attempt);
    }

    fn wake_at(&self) -> Option<Duration> {
        if !self.sweep.is_empty() && self.sweeping.is_none() {
            return Some(Duration::ZERO);
        }
        let due = self.due.peek().map_or(Duration::MAX, |Reverse((at, _))| *at);
        let sweep = if self.is_locked() || self.series.is_empty() {
            Duration::MAX
        } else {
            self.finish_at.min(self.refresh_at)
        };
        Some(due.min(sweep)).filter(|it| *it < Duration::MAX)
    }

    fn entries(&self) -> usize {
        self.series.len() + self.attempts.len() + self.locked_out.len()
    }
}
