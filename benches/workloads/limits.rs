//! Two more promises: how fast Events come when nothing holds them back, and what a hanging API server costs who logs.

use std::time::Duration;

use super::gate::Gate;
use super::page::{Row, Verdict, span, times};
use super::program::{By, Job};
use super::rows::raced;
use super::stage::{Outcome, Stage};

/// A tail is a matter of luck on a machine that has other work: so many pairs, one after the other, and the median.
const ROUNDS: usize = 5;

/// One of the two, or nothing for another name.
pub(crate) async fn play(stage: &Stage, name: &str) -> Option<Vec<Row>> {
    match name {
        "open" => Some(opened(stage).await),
        "hang" => Some(hanging(stage).await),
        _ => None,
    }
}

async fn opened(stage: &Stage) -> Vec<Row> {
    let [ours, serial, at_a_time] = raced(stage, "opened", By::OursOpen).await;
    let rate = |it: &Outcome| it.told() as f64 / it.last_write.as_secs_f64();
    let show = |it: &Outcome| format!("{}; {:.0}/s", it.told(), rate(it));
    let faster = rate(&ours) / rate(&at_a_time);
    vec![Row {
        workload: "Budgets opened: 5,000 objects x 1 record",
        measure: "told of 5,000; Events a second",
        elsewhere: ["", "", ""],
        serial: show(&serial),
        at_a_time: show(&at_a_time),
        ours: show(&ours),
        goal: "5,000; ≥ kube 64",
        verdict: Verdict::default()
            .that(ours.lost() == 0, "told")
            .that(faster >= 1.0, &format!("{} of kube 64's", times(faster))),
    }]
}

async fn hanging(stage: &Stage) -> Vec<Row> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let (namespace, objects) = stage.prepare("hanging").await;
        let job = Job::new("hanging", By::Ours, stage.server(None), objects);
        let mut gate = Gate::shut();
        gate.hang();
        let hanging = Job { server: stage.server(Some(gate.url())), patience: Duration::ZERO, ..job.clone() };
        let healthy = stage.watch_it_play(job, &namespace).await.call(999);
        rounds.push((healthy, stage.watch_it_play(hanging, &namespace).await.call(999)));
    }
    rounds.sort_by(|one, other| (one.1 / one.0).total_cmp(&(other.1 / other.0)));
    let (healthy, hung) = rounds[ROUNDS / 2];
    let ratio = hung / healthy;
    vec![Row {
        workload: "API hanging: 4 threads log 20,000 records a second",
        measure: "caller p99.9, healthy → hanging (the median of five pairs)",
        elsewhere: ["", "", ""],
        serial: String::new(),
        at_a_time: String::new(),
        ours: format!("{} → {}: {}", span(healthy), span(hung), times(ratio)),
        goal: "≤ 2x",
        verdict: Verdict::default().that(ratio <= 2.0, "it is more"),
    }]
}
