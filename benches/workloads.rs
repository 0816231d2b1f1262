//! What this crate makes of eight workloads and three faults, beside kube's own `Recorder`, on a real API server.
//!
//! ```sh
//! cargo bench --bench workloads                         # everything, some eight minutes
//! cargo bench --bench workloads -- --quick W1 W5 F1     # only these; W6 and F1 shorter
//! ```
//!
//! Every program is a process of its own, in a namespace of its own, about real ConfigMaps with their real uids, as a
//! service account that the server's fairness binds. What was written and when is read off the server's audit log, what a
//! person sees off the Events themselves, what the caller waited off each call. F1 has a gate in front of the server that
//! refuses who connects; the 429s of F2 and F3 come from the in-process server of the tests, since a real one cannot be
//! told to answer them. `open` and `hang` are two more promises, about opened budgets and a hanging server.
//!
//! The columns marked with a star were measured once, on this same server, and are not part of a run.

#[path = "workloads/gate.rs"]
mod gate;
#[path = "workloads/limits.rs"]
mod limits;
#[path = "workloads/load.rs"]
mod load;
#[path = "workloads/page.rs"]
mod page;
#[path = "workloads/program.rs"]
mod program;
#[path = "workloads/rows.rs"]
mod rows;
#[path = "workloads/stage.rs"]
mod stage;
#[path = "../tests/support/mod.rs"]
mod support;

use std::process::ExitCode;

use stage::Stage;

const EVERYTHING: [&str; 13] = ["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "F1", "F2", "F3", "open", "hang"];

fn main() -> ExitCode {
    let (switches, mut names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|it| it.starts_with('-'));
    if switches.iter().any(|it| it == program::ROLE) {
        program::main();
        return ExitCode::SUCCESS;
    }
    if let Some(unknown) = names.iter().find(|it| !EVERYTHING.contains(&it.as_str())) {
        eprintln!("{unknown} is none of {}", EVERYTHING.join(", "));
        return ExitCode::FAILURE;
    }
    if names.is_empty() {
        names = EVERYTHING.map(str::to_owned).to_vec();
    }
    let quick = switches.iter().any(|it| it == "--quick");
    let runtime = tokio::runtime::Runtime::new().expect("the system gives a thread");
    runtime.block_on(run(&names, quick))
}

async fn run(names: &[String], quick: bool) -> ExitCode {
    let Some(stage) = Stage::start().await else { return ExitCode::FAILURE };
    println!("{}", page::HEAD);
    let mut all_hold = true;
    for name in names {
        let rows = match rows::play(&stage, name, quick).await {
            Some(rows) => rows,
            None => limits::play(&stage, name).await.unwrap_or_default(),
        };
        for row in rows {
            println!("{row}");
            all_hold &= row.verdict.holds();
        }
    }
    if all_hold { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
