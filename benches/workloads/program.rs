//! The program under measure: this same executable, started anew for each workload and recorder, so that its memory and
//! its processor time are its own.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs};

use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::events::{Recorder, Reporter};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tracing::{Dispatch, Span, dispatcher};
use tracing_k8s_events::{Builder, builder, object_span};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

use super::load::Load;

/// The argument that makes of the benchmark a program under measure.
pub(crate) const ROLE: &str = "--as-the-program";

/// For what will not come.
const PATIENCE: Duration = Duration::from_secs(150);

/// Between two looks at the counters: seldom enough to cost nothing that is measured.
const LOOK: Duration = Duration::from_millis(20);

/// No Event is held back by a budget of this size.
const OPEN: u32 = 1_000_000;

/// What the program is told, on its standard input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) load: String,
    pub(crate) by: By,
    pub(crate) server: Server,
    pub(crate) objects: Vec<ObjectReference>,
    /// How long it waits until all it logged is told, or dropped.
    pub(crate) patience: Duration,
}

/// Where its API server is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) authority: Option<Vec<u8>>,
}

/// Who turns what happens into Events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum By {
    /// kube's `Recorder`, each call awaited before the next.
    KubeSerial,
    /// The same, 64 calls at a time.
    Kube64,
    Ours,
    /// Ours, woken at every record.
    OursAwake,
    /// Ours, with both budgets opened.
    OursOpen,
    /// Nobody: a `fmt` layer writes the line to nowhere. What any layer costs who logs.
    Fmt,
}

/// What the program tells, on its standard output.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// How long each call kept its caller, in nanoseconds, sorted.
    pub(crate) calls: Vec<u64>,
    /// When each record was logged, in microseconds of the epoch, by number.
    pub(crate) logged: Vec<i64>,
    /// What the caller was told had failed.
    pub(crate) errors: u64,
    /// What the program's own counters call dropped.
    pub(crate) dropped: u64,
    /// The most memory that was resident, in bytes.
    pub(crate) memory: u64,
    /// Spent since the first call.
    pub(crate) processor: Duration,
}

/// One call.
struct Call {
    record: usize,
    logged: i64,
    lasted: Duration,
}

impl By {
    fn choose(self, it: Builder) -> Builder {
        match self {
            By::OursAwake => it.wake_at_every_record(),
            By::OursOpen => {
                it.total_budget(OPEN, Duration::from_micros(1)).object_budget(OPEN, Duration::from_micros(1))
            }
            By::Ours | By::KubeSerial | By::Kube64 | By::Fmt => it,
        }
    }
}

impl Job {
    pub(crate) fn new(load: &str, by: By, server: Server, objects: Vec<ObjectReference>) -> Job {
        Job { load: load.to_owned(), by, server, objects, patience: PATIENCE }
    }

    /// Starts the program, and waits for what it has to tell. It must not be called on a runtime's thread.
    pub(crate) fn run(&self) -> Report {
        let program = env::current_exe().expect("a running program has a path");
        let mut program = Command::new(program);
        program.arg(ROLE).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = program.spawn().unwrap_or_else(|error| panic!("the program does not start: {error}"));
        let input = program.stdin.take().expect("it was asked for");
        serde_json::to_writer(input, self).unwrap_or_else(|error| panic!("the program does not listen: {error}"));
        let output = program.wait_with_output().unwrap_or_else(|error| panic!("the program is lost: {error}"));
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{} by {:?} ended with {}: {error}", self.load, self.by, output.status))
    }
}

/// The program's own `main`.
pub(crate) fn main() {
    let mut told = String::new();
    io::stdin().read_to_string(&mut told).expect("the one who started it writes text");
    let job: Job = serde_json::from_str(&told).expect("the one who started it writes a job");
    let report = match job.by {
        By::KubeSerial | By::Kube64 => kubes(&job),
        By::Fmt => report(log(&job, &Dispatch::new(tracing_subscriber::registry().with(nowhere())))),
        By::Ours | By::OursAwake | By::OursOpen => ours(&job),
    };
    serde_json::to_writer(io::stdout(), &report).expect("the one who started it listens");
}

fn ours(job: &Job) -> Report {
    let builder = job.by.choose(builder("workloads.example.com").reporting_instance("workloads-0"));
    let (layer, poster) = builder.build().expect("the name is a qualified one");
    let dispatch = Dispatch::new(tracing_subscriber::registry().with(layer));
    let guard = poster.spawn(config(&job.server)).expect("the configuration is a good one");
    let before = processor();
    let calls = log(job, &dispatch);
    // Not flushed: it is told when it is told.
    let (handle, since) = (guard.handle(), Instant::now());
    let is_settled = || handle.stats().told + handle.stats().dropped() >= calls.len() as u64;
    while !is_settled() && since.elapsed() < job.patience {
        thread::sleep(LOOK);
    }
    let report = Report { processor: processor() - before, dropped: handle.stats().dropped(), ..report(calls) };
    let _ = guard.shutdown(Duration::ZERO);
    report
}

/// Logs the whole load, each record under the span of its object, from as many threads as it says.
fn log(job: &Job, dispatch: &Dispatch) -> Vec<Call> {
    let load = Load::named(&job.load);
    let spans: Vec<Span> = dispatcher::with_default(dispatch, || job.objects.iter().map(object_span).collect());
    let start = Barrier::new(load.threads);
    let from = |thread: usize| {
        dispatcher::with_default(dispatch, || {
            start.wait();
            let begin = Instant::now();
            let numbers = (0..load.records).filter(|it| it % load.threads == thread);
            let call = |record: usize| {
                wait_until(load.every.map(|it| begin + it * record as u32));
                let _about = spans[load.object_of(record)].enter();
                let (logged, since) = (micros_now(), Instant::now());
                load.log(record);
                Call { record, logged, lasted: since.elapsed() }
            };
            numbers.map(call).collect::<Vec<Call>>()
        })
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..load.threads).map(|thread| scope.spawn(move || from(thread))).collect();
        threads.into_iter().flat_map(|it| it.join().expect("logging does not panic")).collect()
    })
}

fn nowhere<S>() -> impl tracing_subscriber::Layer<S>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    tracing_subscriber::fmt::layer().with_writer(io::sink)
}

fn kubes(job: &Job) -> Report {
    let load = Load::named(&job.load);
    let runtime = tokio::runtime::Runtime::new().expect("the system gives a thread");
    runtime.block_on(async {
        let client = kube::Client::try_from(config(&job.server)).expect("the configuration is a good one");
        let reporter =
            Reporter { controller: "workloads.example.com".to_owned(), instance: Some("workloads-0".to_owned()) };
        let recorder = Recorder::new(client, reporter);
        let before = processor();
        let (begin, next) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
        let objects: Arc<[ObjectReference]> = job.objects.clone().into();
        let at_a_time = if job.by == By::Kube64 { 64 } else { 1 };
        let tasks: Vec<_> = (0..at_a_time)
            .map(|_| {
                let (recorder, next, objects) = (recorder.clone(), next.clone(), objects.clone());
                tokio::spawn(async move {
                    let (mut calls, mut errors) = (Vec::new(), 0);
                    loop {
                        let record = next.fetch_add(1, Ordering::Relaxed);
                        if record >= load.records {
                            return (calls, errors);
                        }
                        if let Some(every) = load.every {
                            tokio::time::sleep_until((begin + every * record as u32).into()).await;
                        }
                        let (event, object) = (load.event(record), &objects[load.object_of(record)]);
                        let (logged, since) = (micros_now(), Instant::now());
                        errors += u64::from(recorder.publish(&event, object).await.is_err());
                        calls.push(Call { record, logged, lasted: since.elapsed() });
                    }
                })
            })
            .collect();
        let (mut calls, mut errors) = (Vec::new(), 0);
        for task in tasks {
            let (its_calls, its_errors) = task.await.expect("publishing does not panic");
            calls.extend(its_calls);
            errors += its_errors;
        }
        Report { processor: processor() - before, errors, ..report(calls) }
    })
}

fn report(mut calls: Vec<Call>) -> Report {
    calls.sort_by_key(|it| it.record);
    let logged = calls.iter().map(|it| it.logged).collect();
    let mut lasted: Vec<u64> = calls.iter().map(|it| it.lasted.as_nanos() as u64).collect();
    lasted.sort_unstable();
    Report { calls: lasted, logged, memory: memory(), ..Report::default() }
}

pub(crate) fn config(server: &Server) -> kube::Config {
    let mut config = kube::Config::new(server.url.parse().expect("a server has a URL"));
    config.auth_info.token = Some(server.token.clone().into());
    config.root_cert = server.authority.clone().map(|it| vec![it]);
    config
}

fn wait_until(moment: Option<Instant>) {
    if let Some(moment) = moment {
        thread::sleep(moment.saturating_duration_since(Instant::now()));
    }
}

pub(crate) fn micros_now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as i64
}

/// What this process has used of the processors, all its threads together.
fn processor() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec as u64, spent.tv_nsec as u32)
}

/// The most that was ever resident: `VmHWM`.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() * 1024
}
