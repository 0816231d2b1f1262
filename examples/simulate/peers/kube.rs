//! kube's `Recorder`, awaited by a `Controller`: one request per record, one at a time per object.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use hashbrown::HashMap;

use super::recorder::{Answer, Record, Recorder, Verb, Write};

/// `CACHE_TTL`: what was not observed for so long is a new Event.
const CACHE: Duration = Duration::from_secs(6 * 60);
/// `RetryPolicy::server_retry` of the client: 429, 503 and 504, but no broken connection.
const RETRIES: u32 = 15;
/// Its first pause; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(5);

/// The recorder of kube-runtime. Its cache is searched as a whole at every publish; here an entry is looked at when it
/// is asked for, and all of them now and then.
#[derive(Debug, Default)]
pub(crate) struct Kube {
    cache: HashMap<Key, Cached>,
    /// Objects whose reconciler waits for an answer, and what it will publish next.
    waiting: HashMap<u32, VecDeque<Record>>,
    under_way: HashMap<u64, Publish>,
    due: BinaryHeap<Reverse<(Duration, u64)>>,
    swept: Duration,
    errors: u64,
    made: u64,
    tickets: u64,
}

type Key = (u32, u16, bool);

#[derive(Clone, Copy, Debug)]
struct Cached {
    event: u64,
    count: u32,
    last: Duration,
    /// The first note stays.
    note: u64,
}

#[derive(Debug)]
struct Publish {
    key: Key,
    cached: Cached,
    write: Write,
    retries: u32,
}

impl Kube {
    fn publish(&mut self, now: Duration, record: Record) {
        let Record { line, warning, note } = record;
        let key = (line.object, line.reason, warning);
        let known = self.cache.get(&key).filter(|it| it.last + CACHE > now);
        let cached = match known {
            Some(it) => Cached { count: it.count + 1, last: now, ..*it },
            None => {
                self.made += 1;
                Cached { event: self.made, count: 1, last: now, note }
            }
        };
        let verb = if cached.count > 1 { Verb::Patch } else { Verb::Create };
        self.tickets += 1;
        let ticket = self.tickets;
        let (event, count) = (cached.event, cached.count);
        let write = Write { ticket, event, verb, line, count, note: Some(cached.note) };
        self.under_way.insert(ticket, Publish { key, cached, write, retries: 0 });
        self.due.push(Reverse((now, ticket)));
    }

    fn sweep(&mut self, now: Duration) {
        if now - self.swept >= CACHE {
            self.swept = now;
            self.cache.retain(|_, it| it.last + CACHE > now);
        }
    }
}

impl Recorder for Kube {
    fn observe(&mut self, now: Duration, record: Record) {
        self.sweep(now);
        match self.waiting.get_mut(&record.line.object) {
            Some(queue) => queue.push_back(record),
            None => {
                self.waiting.insert(record.line.object, VecDeque::new());
                self.publish(now, record);
            }
        }
    }

    fn next_write(&mut self, now: Duration) -> Option<Write> {
        let Reverse((at, ticket)) = *self.due.peek()?;
        if at > now {
            return None;
        }
        self.due.pop();
        Some(self.under_way[&ticket].write)
    }

    fn settle(&mut self, now: Duration, ticket: u64, answer: Answer) {
        let Some(mut publish) = self.under_way.remove(&ticket) else { return };
        if answer == Answer::Throttled && publish.retries < RETRIES {
            let pause = PAUSE * 2u32.pow(publish.retries);
            publish.retries += 1;
            self.under_way.insert(ticket, publish);
            return self.due.push(Reverse((now + pause, ticket)));
        }
        // Any other refusal is an error to the caller, and the cache stays as it was.
        if answer == Answer::Done {
            self.cache.insert(publish.key, publish.cached);
        } else {
            self.errors += 1;
        }
        let object = publish.key.0;
        match self.waiting.get_mut(&object).and_then(VecDeque::pop_front) {
            Some(next) => self.publish(now, next),
            None => drop(self.waiting.remove(&object)),
        }
    }

    fn wake_at(&self) -> Option<Duration> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    fn entries(&self) -> usize {
        self.cache.len() + self.under_way.len() + self.waiting.values().map(VecDeque::len).sum::<usize>()
    }

    fn owned_up(&self) -> u64 {
        self.errors
    }
}
