//! The truth beside what is shown: how many records there were, how many a person sees counted, and how old the oldest
//! is that is not counted yet.

use std::time::Duration;

use hashbrown::HashMap;

use super::recorder::Line;

/// A count is compared with the true one from so long after its first record on.
const GRACE: Duration = Duration::from_secs(2);

/// So many moments of uncounted records are kept apart in a line.
const MOMENTS: usize = 64;

/// All lines of a day.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) records: u64,
    pub(crate) told: u64,
    /// How old a record was at most when it came to be counted.
    pub(crate) worst_age: Duration,
    /// The smallest part of the true count that was ever shown, once a line was older than [`GRACE`].
    pub(crate) worst_part: f64,
    lines: HashMap<Line, Entry>,
}

#[derive(Debug, Default)]
struct Entry {
    first: Duration,
    records: u64,
    told: u64,
    /// What is not counted yet: since when, and how many. The oldest first.
    ///
    /// When there are too many, neighbours are taken together, as old as the older: an age may be rounded up.
    untold: Vec<(Duration, u64)>,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self { worst_part: 1.0, ..Self::default() }
    }

    pub(crate) fn happened(&mut self, now: Duration, line: Line) {
        self.records += 1;
        let entry = self.lines.entry(line).or_insert_with(|| Entry { first: now, ..Entry::default() });
        if entry.records > 0 && now - entry.first >= GRACE {
            self.worst_part = self.worst_part.min(entry.told as f64 / entry.records as f64);
        }
        entry.records += 1;
        if entry.untold.len() == MOMENTS {
            let pairs = entry.untold.chunks_exact(2).map(|it| (it[0].0, it[0].1 + it[1].1)).collect();
            entry.untold = pairs;
        }
        entry.untold.push((now, 1));
    }

    pub(crate) fn told(&mut self, now: Duration, line: Line, news: u64) {
        self.told += news;
        let Some(entry) = self.lines.get_mut(&line) else { return };
        entry.told += news;
        if let Some((oldest, _)) = entry.untold.first() {
            self.worst_age = self.worst_age.max(now - *oldest);
        }
        let (mut rest, mut gone) = (news, 0);
        for (_, records) in &mut entry.untold {
            let taken = rest.min(*records);
            *records -= taken;
            rest -= taken;
            if *records > 0 {
                break;
            }
            gone += 1;
        }
        entry.untold.drain(..gone);
    }

    /// How many records of a line there were, and how many a person sees counted.
    pub(crate) fn of(&self, line: Line) -> (u64, u64) {
        self.lines.get(&line).map_or((0, 0), |it| (it.records, it.told))
    }
}
