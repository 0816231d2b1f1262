//! The numbers of a day, one row per recorder.

use std::fmt;
use std::time::Duration;

use super::day::Report;

/// Bytes are measured only of this crate's own correlator: the models of the others hold numbers instead of words.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) name: &'static str,
    pub(crate) day: Duration,
    pub(crate) report: &'a Report,
    pub(crate) is_weighed: bool,
}

pub(crate) const HEAD: &str = "\
| recorder | records | writes/h | most writes in a second | worst age of a count | worst shown/true | Events | told | \
lost | of these known | keys, at most | memory, at most |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|";

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { server, ledger, .. } = self.report;
        let hours = self.day.as_secs_f64() / 3_600.0;
        let age = if self.report.lost() > 0 { "never told".to_owned() } else { age(ledger.worst_age) };
        let memory = match self.is_weighed {
            true => format!("{:.1} MiB", self.report.most_bytes as f64 / 1_048_576.0),
            false => "-".to_owned(),
        };
        let numbers = [
            grouped(ledger.records),
            grouped((server.writes as f64 / hours).round() as u64),
            grouped(server.most_in_a_second as u64),
            age,
            format!("{:.2}", ledger.worst_part),
            grouped(server.made),
            grouped(ledger.told),
            grouped(self.report.lost()),
            grouped(self.report.owned_up),
            grouped(self.report.most_entries as u64),
            memory,
        ];
        write!(f, "| {} | {} |", self.name, numbers.join(" | "))
    }
}

fn age(it: Duration) -> String {
    match it.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{:.0} ms", seconds * 1_000.0),
        seconds if seconds < 120.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.1} min", seconds / 60.0),
    }
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
