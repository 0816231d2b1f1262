//! The eight workloads and the three faults: who plays, and what of it stands on the page.

use std::convert::Infallible;
use std::time::Duration;

use super::gate::Gate;
use super::page::{Row, Verdict, number, span, times};
use super::program::{By, Job};
use super::stage::{Outcome, Stage, play_refused};

/// So many seconds after the first call, W6 is looked at.
const LOOKS: [u64; 7] = [1, 5, 10, 30, 60, 90, 100];
const QUICK_LOOKS: [u64; 5] = [1, 5, 10, 30, 40];

const MIB: f64 = 1024.0 * 1024.0;

/// One of the page's workloads, or nothing for a name that it does not have.
pub(crate) async fn play(stage: &Stage, name: &str, quick: bool) -> Option<Vec<Row>> {
    match name {
        "W1" => Some(identical(stage).await),
        "W2" => Some(similar(stage).await),
        "W3" => Some(reasons(stage).await),
        "W4" => Some(round_robin(stage).await),
        "W5" => Some(one_each(stage).await),
        "W6" => Some(steady(stage, quick).await),
        "W7" => Some(request_ids(stage).await),
        "W8" => Some(idle(stage).await),
        "F1" => Some(away(stage, quick).await),
        "F2" => Some(refused_objects().await),
        "F3" => Some(refused_object().await),
        _ => None,
    }
}

async fn identical(stage: &Stage) -> Vec<Row> {
    let [ours, serial, at_a_time] = all_three(stage, "W1").await;
    let row = |measure, elsewhere, show: fn(&Outcome) -> String, goal, verdict| Row {
        workload: "W1: 10,000 identical, one object, flat out",
        measure,
        elsewhere,
        serial: show(&serial),
        at_a_time: show(&at_a_time),
        ours: show(&ours),
        goal,
        verdict,
    };
    let last = ours.last_write.as_secs_f64();
    let spent = |it: &Outcome| it.report.processor.as_secs_f64();
    vec![
        row(
            "caller p50 / p99 per call",
            ["1.3 / 70 µs", "2.2 / 93 µs", "17 µs / 2.2 ms"],
            calls,
            "≤ 0.3 / 5 µs",
            Verdict::default().time("p50", ours.call(500), 0.3e-6, serial.call(500), 0.3e-6 / 3.1e-3).time(
                "p99",
                ours.call(990),
                5e-6,
                serial.call(990),
                5e-6 / 7.7e-3,
            ),
        ),
        row(
            "writes",
            ["25", "2", "10,000"],
            writes,
            "2",
            Verdict::default().that(ours.writes + ours.refused <= 2, "writes"),
        ),
        row(
            "Events, told, lost",
            ["1, 25, 9,975", "1, 2, 9,998", "10,000, 10,000, 0"],
            events_told_lost,
            "1, 10,000, 0",
            Verdict::default().that(ours.events.len() == 1 && ours.told() == 10_000, "told"),
        ),
        row(
            "last write",
            ["0.2 s", "0.05 s (720 s)", "35 s"],
            |it| span(it.last_write.as_secs_f64()),
            "≤ 3 s",
            Verdict::default().that(last <= 3.0, &format!("{} the goal", times(last / 3.0))),
        ),
        row(
            "processor time",
            ["0.18 s", "0.16 s", "10 s"],
            |it| span(it.report.processor.as_secs_f64()),
            "≤ 0.05 s",
            Verdict::default().time("it is", spent(&ours), 0.05, spent(&serial), 0.05 / 3.2),
        ),
    ]
}

async fn similar(stage: &Stage) -> Vec<Row> {
    let [ours, serial, at_a_time] = all_three(stage, "W2").await;
    let show = |it: &Outcome| {
        let newest = if it.shows_the_newest() { "yes" } else { "no" };
        format!("{}; {}; {newest}; {}", writes(it), it.notes(), it.told())
    };
    let verdict = Verdict::default()
        .that(ours.writes + ours.refused <= 13, "writes")
        .that(ours.notes() == 11 && ours.shows_the_newest(), "notes")
        .that(ours.told() == 60, "told");
    vec![Row {
        workload: "W2: 60 notes at once, one object, one reason",
        measure: "writes; notes shown; newest shown; told",
        elsewhere: ["25; 10; no; 25", "4; 1; no; 2", "60; 60; yes; 60"],
        serial: show(&serial),
        at_a_time: show(&at_a_time),
        ours: show(&ours),
        goal: "≤ 13; 10 + the newest; yes; 60",
        verdict,
    }]
}

async fn reasons(stage: &Stage) -> Vec<Row> {
    let [ours, serial, at_a_time] = all_three(stage, "W3").await;
    let show = |it: &Outcome| format!("{}, {}", it.events.len(), it.told());
    vec![Row {
        workload: "W3: 60 reasons at once, one object",
        measure: "Events, told",
        elsewhere: ["25, 25", "60, 60", "60, 60"],
        serial: show(&serial),
        at_a_time: show(&at_a_time),
        ours: show(&ours),
        goal: "60, 60",
        verdict: Verdict::default().that(ours.events.len() == 60 && ours.told() == 60, "told"),
    }]
}

async fn round_robin(stage: &Stage) -> Vec<Row> {
    let [ours, serial, at_a_time] = all_three(stage, "W4").await;
    let row = |measure, elsewhere, show: fn(&Outcome) -> String, goal, verdict| Row {
        workload: "W4: 200 objects x 50 identical, round robin",
        measure,
        elsewhere,
        serial: show(&serial),
        at_a_time: show(&at_a_time),
        ours: show(&ours),
        goal,
        verdict,
    };
    let last = ours.last_write.as_secs_f64();
    vec![
        row(
            "writes; told of 10,000",
            ["1,009; 1,009", "479; 400", "10,000; 10,000"],
            |it| format!("{}; {}", writes(it), number(it.told())),
            "≤ 400; 10,000",
            Verdict::default().that(ours.writes + ours.refused <= 400, "writes").that(ours.told() == 10_000, "told"),
        ),
        row(
            "all told after",
            ["never", "never", "7 s"],
            told_after,
            "≤ 3 s",
            Verdict::default().that(last <= 3.0, &format!("{} the goal", times(last / 3.0))),
        ),
    ]
}

async fn one_each(stage: &Stage) -> Vec<Row> {
    let [ours, serial, at_a_time] = raced(stage, "W5", By::Ours).await;
    let row = |measure, elsewhere, show: fn(&Outcome) -> String, goal, verdict| Row {
        workload: "W5: 2,000 objects x 1 record",
        measure,
        elsewhere,
        serial: show(&serial),
        at_a_time: show(&at_a_time),
        ours: show(&ours),
        goal,
        verdict,
    };
    let all = ours.told() == 2_000 && ours.objects_with_an_event() == 2_000;
    let (last, beside) = (ours.last_write.as_secs_f64(), at_a_time.last_write.as_secs_f64());
    let memory = ours.report.memory as f64 / MIB;
    vec![
        row(
            "told; objects with no Event",
            ["1,005; 995", "1,570; 430", "2,000; 0"],
            |it| format!("{}; {}", number(it.told()), 2_000 - it.objects_with_an_event()),
            "2,000; 0",
            Verdict::default().that(all, "told"),
        ),
        row(
            "all told after",
            ["2.1 s", "3.0 s", "2.4 s"],
            told_after,
            "≤ kube 64",
            Verdict::default().that(last <= beside, &format!("{} of kube 64's", times(last / beside))),
        ),
        row(
            "caller p50 / p99 per call",
            ["1 µs", "1.5 µs", "7 µs"],
            calls,
            "≤ 0.3 µs",
            Verdict::default().time("p50", ours.call(500), 0.3e-6, serial.call(500), 0.3e-6 / 1.6e-3),
        ),
        row(
            "memory at the peak",
            ["29 MiB", "97 MiB", "143 MiB"],
            |it| format!("{:.0} MiB", it.report.memory as f64 / MIB),
            "≤ 23 MiB",
            Verdict::default().that(memory <= 23.0, &format!("{} the goal", times(memory / 23.0))),
        ),
    ]
}

async fn steady(stage: &Stage, quick: bool) -> Vec<Row> {
    let load = if quick { "W6 quick" } else { "W6" };
    let (ours, serial) = tokio::join!(stage.play(load, By::Ours), stage.play(load, By::KubeSerial));
    let looks: &[u64] = if quick { &QUICK_LOOKS } else { &LOOKS };
    let shown = |it: &Outcome| {
        let at = |second: &u64| it.shown_at(Duration::from_secs(*second)).to_string();
        looks.iter().map(at).collect::<Vec<_>>().join(", ")
    };
    let records = ours.load.map_or(0, |it| it.records as i64);
    let third = |second: &u64| {
        let after = Duration::from_secs(*second);
        3 * ours.shown_at(after) >= ours.logged_at(after)
    };
    let (logging, end) = (records as u64 / 10, *looks.last().unwrap_or(&0));
    let late: Vec<u64> = (2..=logging).filter(|it| !third(it)).collect();
    let workload = "W6: identical, one per 100 ms for 90 s (30 s with --quick)";
    vec![
        Row {
            workload,
            measure: "writes",
            elsewhere: ["25", "2", "900"],
            serial: writes(&serial),
            at_a_time: String::new(),
            ours: writes(&ours),
            goal: "≤ 10",
            verdict: Verdict::default().that(ours.writes + ours.refused <= 10, "writes"),
        },
        Row {
            workload,
            measure: if quick { "shown at 1, 5, 10, 30, 40 s" } else { "shown at 1, 5, 10, 30, 60, 90, 100 s" },
            elsewhere: ["10, then 25 for ever", "2 for ever", "exact"],
            serial: shown(&serial),
            at_a_time: String::new(),
            ours: shown(&ours),
            goal: "≥ a third from 2 s on, all 10 s after the last",
            verdict: Verdict::default()
                .that(late.is_empty(), &format!("less than a third at {late:?} s"))
                .that(ours.shown_at(Duration::from_secs(end)) == records, "not all in the end"),
        },
    ]
}

async fn request_ids(stage: &Stage) -> Vec<Row> {
    let (ours, serial) = tokio::join!(stage.play("W7", By::Ours), stage.play("W7", By::KubeSerial));
    let show = |it: &Outcome| {
        let newest = if it.shows_the_newest() { "yes" } else { "no" };
        format!("{}; {}; {}; {newest}", writes(it), it.events.len(), it.told())
    };
    let verdict = Verdict::default()
        .that(ours.writes + ours.refused <= 18, "writes")
        .that(ours.events.len() == 11, "Events")
        .that(ours.told() == 100 && ours.shows_the_newest(), "told");
    vec![Row {
        workload: "W7: 100 notes in 20 s that differ by a request id",
        measure: "writes; Events; told; newest shown",
        elsewhere: ["25; 10; 25; no", "2; 1; 2; no", "100; 100; 100; yes"],
        serial: show(&serial),
        at_a_time: String::new(),
        ours: show(&ours),
        goal: "≤ 18; 11; 100; yes",
        verdict,
    }]
}

async fn idle(stage: &Stage) -> Vec<Row> {
    let ours = stage.play("W8", By::Ours).await;
    let awake = stage.play("W8", By::OursAwake).await;
    let serial = stage.play("W8", By::KubeSerial).await;
    let fmt = stage.play("W8", By::Fmt).await;
    let visible = |it: &Outcome| {
        let after = it.visible_after();
        // Of thirty, the one in the middle and the last.
        (after[after.len() / 2], after[after.len() - 1])
    };
    let show = |it: &Outcome| {
        let (half, all) = visible(it);
        format!("{} / {}", span(half), span(all))
    };
    let seen = |it: &Outcome, half: f64, all: f64| {
        let (its, beside) = (visible(it), visible(&serial));
        Verdict::default().time("p50", its.0, half, beside.0, half / 4.8e-3).time(
            "p99",
            its.1,
            all,
            beside.1,
            all / 15e-3,
        )
    };
    let row = |workload, measure, elsewhere, ours, goal, verdict| Row {
        workload,
        measure,
        elsewhere,
        serial: if measure == VISIBLE { show(&serial) } else { calls(&serial) },
        at_a_time: String::new(),
        ours,
        goal,
        verdict,
    };
    let (by_looking, woken) = ("W8: 30 objects, one record a second, idle", "W8, with `wake_at_every_record`");
    let seen_elsewhere = ["4.6 / 20 ms", "4.8 / 11 ms", "6.1 / 17 ms"];
    vec![
        row(by_looking, VISIBLE, seen_elsewhere, show(&ours), "≤ 35 / 70 ms", seen(&ours, 35e-3, 70e-3)),
        row(
            by_looking,
            "caller p50 / p99",
            ["63 µs", "48 µs", "92 µs"],
            calls(&ours),
            "≤ 1 µs",
            Verdict::default()
                .time("p50", ours.call(500), 1e-6, serial.call(500), 1e-6 / 5.5e-3)
                .remark(format!("a `fmt` layer to nowhere: {}", calls(&fmt))),
        ),
        row(woken, VISIBLE, seen_elsewhere, show(&awake), "≤ 6 / 20 ms", seen(&awake, 6e-3, 20e-3)),
        row(woken, "caller p50 / p99", ["63 µs", "48 µs", "92 µs"], calls(&awake), "", Verdict::default()),
    ]
}

const VISIBLE: &str = "log call → visible p50 / p99";

async fn away(stage: &Stage, quick: bool) -> Vec<Row> {
    let away = Duration::from_secs(if quick { 5 } else { 20 });
    let play = async |by| {
        let (namespace, objects) = stage.prepare("F1").await;
        let mut gate = Gate::shut();
        let server = stage.server(Some(gate.url()));
        let opening = async {
            tokio::time::sleep(away).await;
            gate.open_to(stage.port());
            // It stays open as long as the play lasts.
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            outcome = stage.watch_it_play(Job::new("F1", by, server, objects), &namespace) => outcome,
            never = opening => match never {},
        }
    };
    let [ours, serial, at_a_time] = [play(By::Ours).await, play(By::KubeSerial).await, play(By::Kube64).await];
    let back = |it: &Outcome| it.last_write.as_secs_f64() - away.as_secs_f64();
    let show = |it: &Outcome| {
        let errors = match it.report.errors {
            0 => String::new(),
            errors => format!(" ({errors} errors to the caller)"),
        };
        format!("{} in {}; {}{errors}", it.told(), it.events.len(), writes(it))
    };
    let workload = "F1: API away for the first 20 s (5 s with --quick); 100 identical + 100 objects";
    vec![
        Row {
            workload,
            measure: "told of 200 in Events; writes",
            elsewhere: ["125", "102", "200 in 200"],
            serial: show(&serial),
            at_a_time: show(&at_a_time),
            ours: show(&ours),
            goal: "200 in 101; ≤ 105",
            verdict: Verdict::default()
                .that(ours.told() == 200 && ours.events.len() == 101, "told")
                .that(ours.writes + ours.refused <= 105, "writes"),
        },
        Row {
            workload,
            measure: "all told so long after it is back",
            elsewhere: ["never", "never", ""],
            serial: if serial.lost() == 0 { span(back(&serial)) } else { "never".to_owned() },
            at_a_time: if at_a_time.lost() == 0 { span(back(&at_a_time)) } else { "never".to_owned() },
            ours: span(back(&ours)),
            // The longest distance between two attempts, and a tenth of jitter.
            goal: "one retry distance: ≤ 33 s",
            verdict: Verdict::default().that(ours.lost() == 0 && back(&ours) <= 33.0, "too late"),
        },
    ]
}

async fn refused_objects() -> Vec<Row> {
    let ours = play_refused("F2", By::Ours).await;
    let serial = play_refused("F2", By::KubeSerial).await;
    let at_a_time = play_refused("F2", By::Kube64).await;
    let show = |it: &Outcome| it.told().to_string();
    vec![Row {
        workload: "F2: the first 3 writes answered 429 without `Retry-After`; 10 objects",
        measure: "told of 10",
        elsewhere: ["7", "7", "10"],
        serial: show(&serial),
        at_a_time: show(&at_a_time),
        ours: show(&ours),
        goal: "10",
        verdict: Verdict::default().that(ours.told() == 10, "told"),
    }]
}

async fn refused_object() -> Vec<Row> {
    let ours = play_refused("F3", By::Ours).await;
    let serial = play_refused("F3", By::KubeSerial).await;
    let at_a_time = play_refused("F3", By::Kube64).await;
    let show = |it: &Outcome| format!("{}; {}", it.told(), it.writes + it.refused);
    vec![Row {
        workload: "F3: the same, 20 identical, one object",
        measure: "told of 20; writes",
        elsewhere: ["20; 18", "0", "20; 20"],
        serial: show(&serial),
        at_a_time: show(&at_a_time),
        ours: show(&ours),
        goal: "20; ≤ 5",
        verdict: Verdict::default().that(ours.told() == 20, "told").that(ours.writes + ours.refused <= 5, "writes"),
    }]
}

/// Where it is told who is faster: the serial one first, so that nobody meets a server that has just started, then three
/// times each in turns, and of each the one in the middle.
pub(crate) async fn raced(stage: &Stage, load: &str, by: By) -> [Outcome; 3] {
    let serial = stage.play(load, By::KubeSerial).await;
    let (mut ours, mut at_a_time) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        ours.push(stage.play(load, by).await);
        at_a_time.push(stage.play(load, By::Kube64).await);
    }
    let middle = |mut it: Vec<Outcome>| {
        it.sort_by_key(|it| it.last_write);
        it.swap_remove(1)
    };
    [middle(ours), serial, middle(at_a_time)]
}

async fn all_three(stage: &Stage, load: &str) -> [Outcome; 3] {
    let ours = stage.play(load, By::Ours).await;
    let serial = stage.play(load, By::KubeSerial).await;
    [ours, serial, stage.play(load, By::Kube64).await]
}

/// What stands in more than one row.
fn calls(it: &Outcome) -> String {
    format!("{} / {}", span(it.call(500)), span(it.call(990)))
}

fn writes(it: &Outcome) -> String {
    match it.refused {
        0 => number(it.writes as i64),
        refused => format!("{} and {refused} refused", number(it.writes as i64)),
    }
}

fn events_told_lost(it: &Outcome) -> String {
    format!("{}, {}, {}", number(it.events.len() as i64), number(it.told()), number(it.lost()))
}

fn told_after(it: &Outcome) -> String {
    if it.lost() == 0 { span(it.last_write.as_secs_f64()) } else { "never".to_owned() }
}
