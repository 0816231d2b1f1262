//! The models of the other recorders, held to what those did on a real API server.
//!
//! One table of workloads, each with the numbers that were counted there: client-go v0.36.3 `tools/record` and
//! `tools/events`, kube 5.0.0 `Recorder` awaited one by one. What no model without timing can say stands with its row.

#[path = "../examples/simulate"]
#[allow(dead_code, reason = "the example has further uses for them")]
mod simulate {
    mod day;
    mod dice;
    mod ledger;
    mod peers;
    mod recorder;
    mod server;

    pub(crate) use day::{Report, Setting, live};
    pub(crate) use peers::{Events, Kube, Record};
    pub(crate) use recorder::{Line, Record as Logged};
    pub(crate) use server::Server;
}

use std::time::Duration;

use simulate::{Line, Logged, Report, Server, Setting};

/// Records, and how the server is.
struct Workload {
    records: Vec<(Duration, Logged)>,
    server: fn() -> Server,
    end: Duration,
}

/// What a workload came to: writes, Events, told.
type Counts = (u64, u64, u64);

const MINUTES: Duration = Duration::from_secs(150);

fn logged(object: u32, reason: u16, note: u64) -> Logged {
    Logged { line: Line { object, reason }, warning: true, note }
}

/// All at once, as fast as the model's clock can tell.
fn at_once(records: impl Iterator<Item = Logged>) -> Workload {
    spread(Duration::ZERO, records)
}

fn spread(gap: Duration, records: impl Iterator<Item = Logged>) -> Workload {
    let records = (0u32..).zip(records).map(|(place, it)| (gap * place, it)).collect();
    Workload { records, server: Server::default, end: MINUTES }
}

fn live_record(it: &Workload) -> Report {
    simulate::live(|| simulate::Record::new(1), it.records.clone(), setting(it))
}

fn live_events(it: &Workload) -> Report {
    simulate::live(|| simulate::Events::new(1), it.records.clone(), setting(it))
}

fn live_kube(it: &Workload) -> Report {
    simulate::live(simulate::Kube::default, it.records.clone(), setting(it))
}

fn setting(it: &Workload) -> Setting {
    let watched = Some(Line { object: 0, reason: 0 });
    let (server, end) = ((it.server)(), it.end);
    let looks = (1..=100).map(Duration::from_secs).collect();
    Setting { server, end, watched, looks, weigh: || 0 }
}

fn counts(report: &Report) -> Counts {
    (report.server.writes, report.server.made, report.ledger.told)
}

#[track_caller]
fn measured(workload: &Workload, record: Counts, events: Counts, kube: Counts) {
    assert_eq!(counts(&live_record(workload)), record, "tools/record");
    assert_eq!(counts(&live_events(workload)), events, "tools/events");
    assert_eq!(counts(&live_kube(workload)), kube, "kube");
}

/// The notes that are shown, in the order of their numbers.
fn notes(report: &Report) -> Vec<u64> {
    let mut notes: Vec<_> = report.server.notes().collect();
    notes.sort_unstable();
    notes
}

/// What a person saw at some second.
fn shown_at(report: &Report, second: usize) -> u64 {
    report.samples[second - 1].told
}

#[test]
fn ten_thousand_identical_records() {
    let workload = at_once((0..10_000).map(|_| logged(0, 0, 0)));
    measured(&workload, (25, 1, 25), (2, 1, 2), (10_000, 1, 10_000));
}

/// Measured after 12 minutes: 4,343, for its queues overflowed. The model's never do, so it tells all.
#[test]
fn events_tells_a_series_once_it_was_silent_for_six_minutes() {
    let workload = Workload { end: Duration::from_secs(12 * 60 + 1), ..at_once((0..10_000).map(|_| logged(0, 0, 0))) };
    assert_eq!(counts(&live_events(&workload)), (3, 1, 10_000));
}

/// Measured of `tools/events`: 4 writes, for two overtook one another and were answered 404 and 409.
#[test]
fn sixty_notes_at_once() {
    let workload = at_once((0..60).map(|it| logged(0, 0, it)));
    measured(&workload, (25, 10, 25), (2, 1, 2), (60, 1, 60));
    assert_eq!(notes(&live_record(&workload)), [0, 1, 2, 3, 4, 5, 6, 7, 8, 24]);
    assert_eq!(notes(&live_events(&workload)), [0]);
    assert_eq!(notes(&live_kube(&workload)), [0]);
}

#[test]
fn sixty_reasons_at_once() {
    let workload = at_once((0..60).map(|it| logged(0, it, 0)));
    measured(&workload, (25, 25, 25), (60, 60, 60), (60, 60, 60));
}

/// Measured of `tools/record`: 1,009, for its sender had written eight by the time the last record was logged. Of
/// `tools/events`: 479 writes, 79 of which overtook others.
#[test]
fn two_hundred_objects_round_robin() {
    let workload = at_once((0..10_000).map(|it| logged(it % 200, 0, 0)));
    measured(&workload, (1_000, 200, 1_000), (400, 200, 400), (10_000, 200, 10_000));
}

/// Measured of `tools/record`: 1,005, as above. Of `tools/events`: 1,570, for its first queue overflowed.
#[test]
fn two_thousand_objects_at_once() {
    let workload = at_once((0..2_000).map(|it| logged(it, 0, 0)));
    measured(&workload, (1_000, 1_000, 1_000), (2_000, 2_000, 2_000), (2_000, 2_000, 2_000));
}

#[test]
fn one_record_every_tenth_of_a_second() {
    let workload = spread(Duration::from_millis(100), (0..900).map(|_| logged(0, 0, 0)));
    measured(&workload, (25, 1, 25), (2, 1, 2), (900, 1, 900));
    let (record, kube) = (live_record(&workload), live_kube(&workload));
    assert_eq!([1, 5, 10, 90, 100].map(|it| shown_at(&record, it)), [10, 25, 25, 25, 25]);
    assert_eq!([1, 5, 10, 90, 100].map(|it| shown_at(&kube, it)), [10, 50, 100, 900, 900]);
}

#[test]
fn notes_that_differ_by_a_request_id() {
    let workload = spread(Duration::from_millis(200), (0..100).map(|it| logged(0, 0, it)));
    measured(&workload, (25, 10, 25), (2, 1, 2), (100, 1, 100));
    assert!(!notes(&live_record(&workload)).contains(&99));
}

#[test]
fn the_server_is_away_for_the_first_twenty_seconds() {
    let away = || Server::away(Duration::ZERO..Duration::from_secs(20));
    let records = (0..100).map(|_| logged(0, 0, 0)).chain((1..=100).map(|it| logged(it, 0, 0)));
    let workload = Workload { server: away, ..at_once(records) };
    let told = |report: Report| report.ledger.told;
    assert_eq!(told(live_record(&workload)), 125, "tools/record");
    assert_eq!(told(live_events(&workload)), 102, "tools/events");
    assert_eq!(told(live_kube(&workload)), 0, "kube: 200 errors to the caller");
}

#[test]
fn three_writes_are_refused_then_ten_objects() {
    let workload = Workload { server: refusing, ..at_once((0..10).map(|it| logged(it, 0, 0))) };
    measured(&workload, (7, 7, 7), (7, 7, 7), (10, 10, 10));
}

/// The 18 writes of `tools/record` hold one that found no Event to patch.
#[test]
fn three_writes_are_refused_then_twenty_identical_records() {
    let workload = Workload { server: refusing, ..at_once((0..20).map(|_| logged(0, 0, 0))) };
    measured(&workload, (18, 1, 20), (0, 0, 0), (20, 1, 20));
}

fn refusing() -> Server {
    Server::refusing(3)
}
