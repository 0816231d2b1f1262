//! A day in the life of a fleet, in virtual time: this crate's correlator beside client-go's two recorders and kube's.
//!
//! ```text
//! cargo run --release --example simulate -- --objects 10000 --scenario crash-loop --plot target/plots
//! ```
//!
//! Records, recorders and an API server meet in [`day::live`]; nothing sleeps, and chance comes from a seed. The
//! correlator is the library's own code, by its path: it knows neither clock nor network, and a public door to it would
//! only be there for this. What is left out: the queue in front of it, and the poster's polling (100 ms at most).

mod args;
mod check;
mod day;
mod dice;
mod ledger;
mod ours;
mod peers;
mod plot;
mod recorder;
mod scenario;
#[allow(dead_code, reason = "the tests of the models ask it for more")]
mod server;
mod table;

#[path = "../../src"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "the library uses more of them, and shows some")]
mod house {
    pub(crate) mod correlate;
    pub(crate) mod message;
    pub(crate) mod regarding;
}

use std::process::ExitCode;
use std::time::{Duration, Instant};

use house::{correlate, message, regarding};
use peak_alloc::PeakAlloc;

use args::Args;
use day::{Report, Setting, live};
use scenario::{Fleet, Records, Scenario};
use server::Server;
use table::Row;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// After its last record a day is watched for so long. `tools/events` tells its last counts after 12 minutes at most.
const AFTERMATH: Duration = Duration::from_secs(60 * 60);

/// The recorders, ours first.
const NAMES: [&str; 4] = ["**this crate**", "client-go `record`", "client-go `events`", "kube `Recorder`"];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let args = Args::read(std::env::args().skip(1)).map_err(|it| format!("{it}\n\n{}", args::USAGE))?;
    let mut broken = Vec::new();
    for fleet in args.fleets {
        for &scenario in &args.scenarios {
            let (reports, took) = simulate(scenario, fleet);
            print(scenario, fleet, &reports, took);
            if let Some(folder) = &args.plot {
                plot::draw(folder, scenario, fleet, &reports)?;
            }
            if args.check {
                broken.extend(check::broken(scenario, fleet, &reports));
            }
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

/// What came of it, and how long it took, in the order of [`NAMES`].
fn simulate(scenario: Scenario, fleet: Fleet) -> ([Report; 4], [Duration; 4]) {
    let records = || Records::new(scenario, fleet);
    let setting = || Setting {
        server: scenario.outage(fleet.day).map_or_else(Server::default, Server::away),
        end: fleet.day + AFTERMATH,
        watched: scenario.watched(),
        looks: plot::looks(scenario, fleet),
        weigh: || ALLOCATOR.current_usage(),
    };
    let mut took = [Duration::ZERO; 4];
    let began = Instant::now();
    let mut timed = |place: usize, report| {
        took[place] = began.elapsed() - took.iter().sum::<Duration>();
        report
    };
    let reports = [
        timed(0, live(|| ours::Ours::new(fleet.seed), records(), setting())),
        timed(1, live(|| peers::Record::new(fleet.seed), records(), setting())),
        timed(2, live(|| peers::Events::new(fleet.seed), records(), setting())),
        timed(3, live(peers::Kube::default, records(), setting())),
    ];
    (reports, took)
}

fn print(scenario: Scenario, fleet: Fleet, reports: &[Report; 4], took: [Duration; 4]) {
    let hours = fleet.day.as_secs() / 3_600;
    println!("### {}: {} objects, {hours} h", scenario.name(), table::grouped(fleet.objects.into()));
    let took = took.map(|it| format!("{:.1}", it.as_secs_f64())).join(" + ");
    println!("{}. Simulated in {took} s.\n\n{}", scenario.story(), table::HEAD);
    for (place, (name, report)) in NAMES.into_iter().zip(reports).enumerate() {
        println!("{}", Row { name, day: fleet.day, report, is_weighed: place == 0 });
    }
    println!();
}
