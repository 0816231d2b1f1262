//! The page that comes of it: what was measured, beside what was promised, and whether the promise is kept.

use std::fmt;

/// One line of the page.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) workload: &'static str,
    pub(crate) measure: &'static str,
    /// Of client-go's `record` and `events`, and of kopf: measured once, and not in this run.
    pub(crate) elsewhere: [&'static str; 3],
    pub(crate) serial: String,
    pub(crate) at_a_time: String,
    pub(crate) ours: String,
    pub(crate) goal: &'static str,
    pub(crate) verdict: Verdict,
}

/// Whether a goal is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    misses: Vec<String>,
    /// Ratios, said whether they hold or not.
    remarks: Vec<String>,
}

impl Verdict {
    /// A count: it holds or it does not.
    pub(crate) fn that(mut self, holds: bool, what: &str) -> Self {
        if !holds {
            self.misses.push(what.to_owned());
        }
        self
    }

    /// A time, in seconds. On a machine that has other work it may hold as a ratio alone: `goal_ratio` is the goal's to
    /// what `beside` took when the goal was set, and `beside` is what the same took now, in the same run.
    pub(crate) fn time(mut self, what: &str, took: f64, goal: f64, beside: f64, goal_ratio: f64) -> Self {
        let ratio = took / beside;
        self.remarks.push(format!("{what} {} of kube's", times(ratio)));
        if took > goal && ratio > goal_ratio {
            self.misses.push(format!("{what} is {} the goal", times(took / goal)));
        }
        self
    }

    pub(crate) fn remark(mut self, remark: String) -> Self {
        self.remarks.push(remark);
        self
    }

    pub(crate) fn holds(&self) -> bool {
        self.misses.is_empty()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.holds() {
            true => write!(f, "holds")?,
            false => write!(f, "**MISSES: {}**", self.misses.join(", "))?,
        }
        match self.remarks.is_empty() {
            true => Ok(()),
            false => write!(f, " ({})", self.remarks.join(", ")),
        }
    }
}

/// The heads of the columns.
pub(crate) const HEAD: &str = "\
| workload | | client-go record* | client-go events* | kopf* | kube serial | kube 64 | ours | goal | |
|---|---|---|---|---|---|---|---|---|---|";

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, measure, elsewhere: [record, events, kopf], serial, at_a_time, ours, goal, verdict } =
            self;
        write!(
            f,
            "| {workload} | {measure} | {record} | {events} | {kopf} | {serial} | {at_a_time} | **{ours}** | {goal} | {verdict} |"
        )
    }
}

/// A time in the unit that a person would say.
pub(crate) fn span(seconds: f64) -> String {
    match seconds {
        it if !it.is_finite() => "never".to_owned(),
        it if it < 1e-6 => format!("{:.0} ns", it * 1e9),
        it if it < 1e-3 => format!("{} µs", short(it * 1e6)),
        it if it < 1.0 => format!("{} ms", short(it * 1e3)),
        it => format!("{} s", short(it)),
    }
}

/// Two digits that mean something.
fn short(number: f64) -> String {
    if number < 10.0 { format!("{number:.1}") } else { format!("{number:.0}") }
}

/// A ratio as a person would say it.
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        it if !it.is_finite() => "nothing".to_owned(),
        it if it < 0.1 => format!("1/{:.0}", 1.0 / it),
        it => format!("{it:.2}x"),
    }
}

/// A count with its thousands apart.
pub(crate) fn number(it: i64) -> String {
    let digits = it.unsigned_abs().to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|it| str::from_utf8(it).unwrap_or_default()).collect();
    format!("{}{}", if it < 0 { "-" } else { "" }, groups.join(","))
}
