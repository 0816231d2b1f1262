//! A day: records, a recorder and a server, joined by the clock. Nothing sleeps; time goes from moment to moment.

use std::time::Duration;

use super::ledger::Ledger;
use super::recorder::{Line, Record, Recorder};
use super::server::Server;

/// What there is besides the recorder and the records.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) server: Server,
    /// When the last look is taken.
    pub(crate) end: Duration,
    /// Which line is looked at (`None`: all of them together), and when, in the order of time.
    pub(crate) watched: Option<Line>,
    pub(crate) looks: Vec<Duration>,
    /// Bytes allocated by now, where somebody counts them.
    pub(crate) weigh: fn() -> usize,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) server: Server,
    pub(crate) ledger: Ledger,
    pub(crate) samples: Vec<Sample>,
    /// The most keys and waiting records that the recorder remembered.
    pub(crate) most_entries: usize,
    /// How many records the recorder knows it lost.
    pub(crate) owned_up: u64,
    /// The most bytes that it held.
    pub(crate) most_bytes: isize,
}

/// A look at the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) at: Duration,
    /// Since the last look.
    pub(crate) writes: u64,
    /// Of what is watched, by now.
    pub(crate) records: u64,
    pub(crate) told: u64,
}

/// How often a recorder's keys are counted.
const COUNT: Duration = Duration::from_secs(10);

/// A recorder on the scales: what it allocates and does not give back is its own.
struct Weighed<R> {
    recorder: R,
    weigh: fn() -> usize,
    bytes: isize,
    most: isize,
}

impl<R: Recorder> Weighed<R> {
    fn weighed<T>(&mut self, act: impl FnOnce(&mut R) -> T) -> T {
        let before = (self.weigh)();
        let outcome = act(&mut self.recorder);
        self.bytes += (self.weigh)() as isize - before as isize;
        self.most = self.most.max(self.bytes);
        outcome
    }
}

impl Report {
    pub(crate) fn lost(&self) -> u64 {
        self.ledger.records - self.ledger.told
    }
}

/// Lets a recorder live through a day. It is made on the scales, so that what it holds from the start counts too.
pub(crate) fn live<R: Recorder>(
    recorder: impl FnOnce() -> R,
    records: impl IntoIterator<Item = (Duration, Record)>,
    setting: Setting,
) -> Report {
    let Setting { mut server, end, watched, looks, weigh } = setting;
    let before = weigh();
    let recorder = recorder();
    let bytes = weigh() as isize - before as isize;
    let mut recorder = Weighed { recorder, weigh, bytes, most: bytes };
    let mut records = records.into_iter().peekable();
    let mut ledger = Ledger::new();
    let mut samples = Vec::new();
    let mut looks = looks.into_iter().peekable();
    let (mut count_at, mut looked, mut most_entries) = (COUNT, 0, 0);
    let mut now = Duration::ZERO;
    loop {
        let record = records.peek().map(|(at, _)| *at);
        let moments = [record, server.answers_at(), recorder.recorder.wake_at()];
        let next = moments.into_iter().flatten().min().unwrap_or(Duration::MAX).max(now);
        while let Some(at) = looks.next_if(|it| *it <= next.min(end)) {
            let (records, told) = watched.map_or((ledger.records, ledger.told), |it| ledger.of(it));
            samples.push(Sample { at, writes: server.writes - looked, records, told });
            looked = server.writes;
        }
        if count_at <= next.min(end) {
            count_at = next.min(end) + COUNT;
            most_entries = most_entries.max(recorder.recorder.entries());
        }
        if next > end {
            let owned_up = recorder.recorder.owned_up();
            return Report { server, ledger, samples, most_entries, owned_up, most_bytes: recorder.most };
        }
        now = next;
        while let Some(outcome) = server.answer(now) {
            ledger.told(now, outcome.write.line, outcome.news);
            recorder.weighed(|it| it.settle(now, outcome.write.ticket, outcome.answer));
        }
        while let Some((_, record)) = records.next_if(|(at, _)| *at <= now) {
            ledger.happened(now, record.line);
            recorder.weighed(|it| it.observe(now, record));
        }
        while let Some(write) = recorder.weighed(|it| it.next_write(now)) {
            server.send(now, write);
        }
    }
}
