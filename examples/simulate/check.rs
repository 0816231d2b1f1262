//! The promises of the documentation, asked of a simulated day.

use std::time::Duration;

use super::day::Report;
use super::scenario::{Fleet, Scenario};

/// All objects together: so many writes at once, and so many more a second.
const BUDGET: (u64, u64) = (2_000, 50);
/// So many series are known at once.
const SERIES: u64 = 16_384;
/// Requests under way are none of the bounded keys, though they count as such here.
const IN_FLIGHT: u64 = 64;
/// Writes of one series are never farther apart, and a moment for the write itself.
const AGE: Duration = Duration::from_millis(5 * 60 * 1_000 + 100);

/// The promises that this crate's own day broke, in words.
pub(crate) fn broken(scenario: Scenario, fleet: Fleet, reports: &[Report; 4]) -> Vec<String> {
    let [ours, .., kube] = reports;
    let (server, ledger) = (&ours.server, &ours.ledger);
    let hours = fleet.day.as_secs() / 3_600;
    let (watched, _) = scenario.watched().map_or((0, 0), |it| ledger.of(it));
    let others = ledger.records - watched;
    let is_calm = scenario.outage(fleet.day).is_none() && !is_too_much(scenario, fleet);
    let mut promises = vec![
        ("nothing is lost without being counted", ours.lost() == ours.owned_up),
        ("writes in a second are within the budget", server.most_in_a_second as u64 <= BUDGET.0 + BUDGET.1),
        ("writes in a day are within the budget", server.writes <= BUDGET.0 + BUDGET.1 * 3_600 * (hours + 1)),
        ("keys are bounded", ours.most_entries as u64 <= SERIES + IN_FLIGHT),
    ];
    if is_calm {
        promises.push(("never more writes than kube's one per record", server.writes <= kube.server.writes));
        promises.push(("nothing is lost", ours.lost() == 0));
        promises.push(("a count is never older than five minutes", ledger.worst_age <= AGE));
        promises.push(("a third of the true count is always shown", ledger.worst_part >= 1.0 / 3.0));
    }
    match scenario {
        // The last repeats before it, if nothing of the sort happens again for as long as the correlator is patient.
        Scenario::Outage => {
            promises.push(("an outage loses one record of an object at most", ours.lost() <= u64::from(fleet.objects)))
        }
        Scenario::Chatty => {
            promises.push(("a chatty object costs 20 writes an hour at most", server.writes <= others + 20 * hours));
        }
        Scenario::Unique => {
            let warning = u64::from(fleet.objects.div_ceil(10));
            let seldom = u64::from(fleet.objects) * (hours * 60).div_ceil(54);
            promises.push(("unique texts are eleven Events per object at most", server.made <= 11 * warning + seldom));
        }
        Scenario::Steady | Scenario::CrashLoop | Scenario::StartUp => {}
    }
    let broken = promises.into_iter().filter(|(_, kept)| !kept);
    broken.map(|(promise, _)| format!("broken in {}: {promise}", scenario.name())).collect()
}

/// Whether more happens than the budget and the bounds let through: then what waits is late, and in the end lost.
fn is_too_much(scenario: Scenario, fleet: Fleet) -> bool {
    let objects = u64::from(fleet.objects);
    match scenario {
        Scenario::StartUp => 3 * objects > BUDGET.0,
        _ => objects > SERIES,
    }
}
