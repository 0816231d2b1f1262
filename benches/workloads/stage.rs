//! Where a workload plays: a real API server, a fresh namespace for each program, and what stood there at the end.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt;
use k8s_openapi::api::core::v1::{Event, Namespace, ObjectReference};
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, RoleRef, Subject};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, ListParams, ObjectMeta, PostParams, WatchEvent, WatchParams};
use tokio::task::JoinHandle;

use super::load::Load;
use super::program::{By, Job, Report, Server, micros_now};
use crate::support::apiserver::{Fault, Rule, When};
use crate::support::envtest::{Audited, EnvTest};
use crate::support::server::{Server as Either, fresh};

/// Who the programs are: an operator's service account, so that the server's fairness binds it as it binds any.
const USER: &str = "system:serviceaccount:default:workloads";
const TOKEN: &str = "workloads-token";

/// Who they are on the in-process server.
const OPERATOR: &str = "workloads";

/// How many objects are made at a time.
const HANDS: usize = 32;

/// The real server. See the head of this file.
#[derive(Debug)]
pub(crate) struct Stage {
    server: &'static EnvTest,
    either: Either,
}

/// What a program did, and what of it arrived.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) load: Option<Load>,
    pub(crate) report: Report,
    /// Creates and patches of Events that the server took, and those that it did not.
    pub(crate) writes: usize,
    pub(crate) refused: usize,
    /// From the first call to the last write that was taken.
    pub(crate) last_write: Duration,
    pub(crate) events: Vec<Event>,
    /// What a watcher saw, in order; only where records come one after the other.
    pub(crate) seen: Vec<Sighting>,
}

/// An Event as a watcher saw it.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    /// In microseconds of the epoch.
    pub(crate) at: i64,
    pub(crate) event: Event,
}

impl Stage {
    /// Nothing when there is no real server here.
    pub(crate) async fn start() -> Option<Stage> {
        let options = EnvTest::options().token(TOKEN, USER, "system:serviceaccounts");
        // An audit log is turned over at 100 MB by default, and then half of it would be missing.
        let options = options.flag("--audit-log-maxsize=4096");
        // Never dropped: its watchdog ends it with the process.
        let server: &'static EnvTest = Box::leak(Box::new(options.start()?));
        let may_write = ClusterRoleBinding {
            metadata: ObjectMeta { name: Some("workloads".to_owned()), ..ObjectMeta::default() },
            role_ref: RoleRef {
                api_group: Some("rbac.authorization.k8s.io".to_owned()),
                kind: "ClusterRole".to_owned(),
                name: "cluster-admin".to_owned(),
            },
            subjects: Some(vec![Subject {
                kind: "ServiceAccount".to_owned(),
                name: "workloads".to_owned(),
                namespace: Some("default".to_owned()),
                ..Subject::default()
            }]),
        };
        let api: Api<ClusterRoleBinding> = Api::all(server.client());
        api.create(&PostParams::default(), &may_write).await.unwrap_or_else(|error| panic!("no rights: {error}"));
        Some(Stage { server, either: Either::Real(server) })
    }

    /// The server as a program is told of it: itself, or by a gate.
    pub(crate) fn server(&self, by: Option<String>) -> Server {
        Server {
            url: by.unwrap_or_else(|| self.server.url()),
            token: TOKEN.to_owned(),
            authority: self.server.config().root_cert.and_then(|mut it| it.pop()),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        let port = self.server.url().rsplit(':').next().and_then(|it| it.parse().ok());
        port.expect("the server's URL ends with its port")
    }

    /// Has one program play one workload in a namespace of its own, against the server itself.
    pub(crate) async fn play(&self, load: &str, by: By) -> Outcome {
        let (namespace, objects) = self.prepare(load).await;
        self.watch_it_play(Job::new(load, by, self.server(None), objects), &namespace).await
    }

    /// A fresh namespace with the workload's objects.
    pub(crate) async fn prepare(&self, load: &str) -> (String, Vec<ObjectReference>) {
        let namespace = fresh("stage");
        self.either.add_namespace(&namespace).await;
        let objects = objects(&self.either, &namespace, Load::named(load).objects).await;
        (namespace, objects)
    }

    pub(crate) async fn watch_it_play(&self, job: Job, namespace: &str) -> Outcome {
        let load = Load::named(&job.load);
        let watcher = match load.every {
            Some(_) => Some(self.watch(namespace).await),
            None => None,
        };
        let report = run(job).await;
        let events = self.either.events(namespace).await;
        let seen = match watcher {
            Some((watcher, end)) => {
                let _ = end.send(());
                watcher.await.unwrap_or_else(|error| panic!("the watcher is lost: {error}"))
            }
            None => Vec::new(),
        };
        let is_write = |it: &&Audited| {
            it.resource == "events" && it.namespace == namespace && ["create", "patch"].contains(&it.verb.as_str())
        };
        let audit = self.audit_past(namespace);
        let (taken, refused): (Vec<_>, Vec<_>) = audit.iter().filter(is_write).partition(|it| it.code < 300);
        let last_write_at = taken.iter().map(|it| micros(&it.answered)).max().unwrap_or_default();
        let begin = report.logged.first().copied().unwrap_or_default();
        Outcome {
            load: Some(load),
            writes: taken.len(),
            refused: refused.len(),
            last_write: Duration::from_micros(u64::try_from(last_write_at - begin).unwrap_or_default()),
            report,
            events,
            seen,
        }
    }

    /// The audit log, once it holds our own list of this namespace, which came after everything else there.
    fn audit_past(&self, namespace: &str) -> Vec<Audited> {
        loop {
            let audit = self.server.audit();
            if audit.iter().any(|it| it.verb == "list" && it.resource == "events" && it.namespace == namespace) {
                return audit;
            }
        }
    }

    /// Sees the Events of a namespace as they come, until it is told to end.
    async fn watch(&self, namespace: &str) -> (JoinHandle<Vec<Sighting>>, tokio::sync::oneshot::Sender<()>) {
        let api: Api<Event> = Api::namespaced(self.server.client(), namespace);
        // Listed under another name than `events` would be: the audit log is read up to that list.
        let namespaces: Api<Namespace> = Api::all(self.server.client());
        let now = namespaces.list(&ListParams::default().limit(1)).await;
        let now = now.unwrap_or_else(|error| panic!("nothing to watch from: {error}")).metadata.resource_version;
        let changes = api.watch(&WatchParams::default().timeout(290), &now.unwrap_or_default()).await;
        let mut changes = changes.unwrap_or_else(|error| panic!("nothing to watch: {error}")).boxed();
        let (end, mut ended) = tokio::sync::oneshot::channel();
        let watcher = tokio::spawn(async move {
            let mut seen = Vec::new();
            loop {
                tokio::select! {
                    change = changes.next() => match change {
                        Some(Ok(WatchEvent::Added(event) | WatchEvent::Modified(event))) => {
                            seen.push(Sighting { at: micros_now(), event });
                        }
                        Some(_) => {}
                        None => return seen,
                    },
                    _ = &mut ended => return seen,
                }
            }
        });
        (watcher, end)
    }
}

/// The same against the in-process server, the first three of whose writes are answered 429 without `Retry-After`.
pub(crate) async fn play_refused(load: &str, by: By) -> Outcome {
    let either = Either::in_process();
    let namespace = either.fresh_namespace().await;
    let objects = objects(&either, &namespace, Load::named(load).objects).await;
    let Either::InProcess(server) = &either else { unreachable!("it was made in process") };
    server.fail(When::write().first(3), Fault::too_many_requests(None));
    server.grant(OPERATOR, ["", "events.k8s.io"].map(|it| Rule::new(it, "events", &["create", "patch"])));
    let token = format!("token-of-{OPERATOR}");
    let told = Server { url: server.url(), token, authority: None };
    let report = run(Job::new(load, by, told, objects)).await;
    let (taken, refused): (Vec<_>, Vec<_>) = server.writes().into_iter().partition(|it| it.status < Some(300));
    Outcome {
        load: Some(Load::named(load)),
        report,
        writes: taken.len(),
        refused: refused.len(),
        events: either.events(&namespace).await,
        ..Outcome::default()
    }
}

async fn run(job: Job) -> Report {
    tokio::task::spawn_blocking(move || job.run()).await.unwrap_or_else(|error| panic!("no report: {error}"))
}

/// Real objects, so that their uids are real.
async fn objects(server: &Either, namespace: &str, count: usize) -> Vec<ObjectReference> {
    let making = (0..count).map(|it| async move { server.config_map(namespace, &format!("cm-{it}")).await });
    futures_util::stream::iter(making).buffered(HANDS).collect().await
}

fn micros(answered: &str) -> i64 {
    answered.parse::<Timestamp>().map(Timestamp::as_microsecond).unwrap_or_default()
}

/// The count that a person sees.
pub(crate) fn count(event: &Event) -> i64 {
    let of_series = event.series.as_ref().and_then(|it| it.count);
    i64::from(of_series.or(event.count).unwrap_or(1).max(1))
}

pub(crate) fn note(event: &Event) -> &str {
    event.message.as_deref().unwrap_or_default()
}

impl Outcome {
    pub(crate) fn told(&self) -> i64 {
        self.events.iter().map(count).sum()
    }

    pub(crate) fn lost(&self) -> i64 {
        self.load.map_or(0, |it| it.records as i64) - self.told()
    }

    /// How long a call kept its caller, in seconds, for so many of a thousand calls.
    pub(crate) fn call(&self, of_a_thousand: usize) -> f64 {
        let calls = &self.report.calls;
        let at = (calls.len() * of_a_thousand).div_ceil(1000).clamp(1, calls.len().max(1)) - 1;
        calls.get(at).map_or(f64::NAN, |it| *it as f64 / 1e9)
    }

    pub(crate) fn notes(&self) -> usize {
        self.events.iter().map(note).collect::<BTreeSet<_>>().len()
    }

    pub(crate) fn shows_the_newest(&self) -> bool {
        let newest = self.load.map(|it| it.newest()).unwrap_or_default();
        self.events.iter().any(|it| note(it).ends_with(&newest))
    }

    pub(crate) fn objects_with_an_event(&self) -> usize {
        self.events.iter().map(|it| &it.involved_object.name).collect::<BTreeSet<_>>().len()
    }

    /// What a watcher had been shown by so long after the first call.
    pub(crate) fn shown_at(&self, after: Duration) -> i64 {
        let until = self.report.logged.first().copied().unwrap_or_default() + after.as_micros() as i64;
        let mut last = std::collections::BTreeMap::new();
        for it in self.seen.iter().filter(|it| it.at <= until) {
            last.insert(it.event.metadata.name.clone(), count(&it.event));
        }
        last.values().sum()
    }

    /// How many had been logged by then.
    pub(crate) fn logged_at(&self, after: Duration) -> i64 {
        let until = self.report.logged.first().copied().unwrap_or_default() + after.as_micros() as i64;
        self.report.logged.iter().filter(|it| **it <= until).count() as i64
    }

    /// From the call to its first sight by a watcher, in seconds, sorted: of records about an object each.
    pub(crate) fn visible_after(&self) -> Vec<f64> {
        let first = |object: usize| {
            let name = format!("cm-{object}");
            self.seen.iter().find(|it| it.event.involved_object.name.as_deref() == Some(&name)).map(|it| it.at)
        };
        let logged = self.report.logged.iter().enumerate();
        let mut after: Vec<f64> =
            logged.map(|(object, at)| first(object).map_or(f64::INFINITY, |it| (it - at) as f64 / 1e6)).collect();
        after.sort_by(f64::total_cmp);
        after
    }
}
