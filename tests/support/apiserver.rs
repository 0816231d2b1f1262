//! An API server inside the test: real HTTP on loopback, asked through a real `kube::Client`.
//!
//! It keeps Events of both groups in one storage and treats them as a real server does: names, namespaces, sizes,
//! times, series, immutable fields, conversions, status codes and `Status` bodies. `tests/apiserver.rs` asks it and a
//! real server the same questions. A few other kinds of object are kept so that Events have something to be about.
//!
//! It can be told to fail ([`ApiServer::fail`]), to be away ([`ApiServer::go_away`]), and what time it is
//! ([`ApiServer::advance`]). It tells what it was asked ([`ApiServer::requests`]) and wakes a test that waits for
//! something ([`ApiServer::until`]), so that no test sleeps.
//!
//! It runs on a thread of its own with a runtime of its own, and ends when it is dropped.

mod access;
mod apply;
mod controls;
mod decode;
mod discovery;
mod events;
mod fault;
mod http;
mod log;
mod message;
mod moment;
mod names;
mod objects;
mod patch;
mod random;
mod select;
mod shared;
mod state;
mod status;
mod table;
mod validate;
mod view;
mod watch;

use std::future::pending;
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;
use std::{io, thread};

use k8s_openapi::api::core::v1::Event;
use serde_json::Value;
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch::Sender;

pub use access::Rule;
pub use fault::{Fault, Injection, When};
pub use log::Logged;

use message::Kind;
use shared::{Shared, lock};
use state::State;

/// How long a test waits for something that will not come. Generous: it is for the machine that has other work too.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server. See the head of this file.
#[derive(Debug)]
pub struct ApiServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    runtime: Handle,
    away: Sender<bool>,
    here: tokio::sync::watch::Receiver<bool>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl ApiServer {
    /// A server on a free port, where only who has a token may do something. [`ApiServer::config`] has one that may do
    /// all.
    pub fn start() -> ApiServer {
        ApiServer::start_on(0).unwrap_or_else(|error| panic!("the API server cannot listen on loopback: {error}"))
    }

    /// A server on this port of loopback; 0 takes a free one.
    pub fn start_on(port: u16) -> io::Result<ApiServer> {
        let shared = Arc::new(Shared::new());
        let (away, told_away) = tokio::sync::watch::channel(false);
        let (listening, here) = tokio::sync::watch::channel(false);
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (started, start) = std::sync::mpsc::channel();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let serving = shared.clone();
        let thread = thread::Builder::new().name("apiserver".to_owned()).spawn(move || {
            runtime.block_on(async move {
                let home = match http::Home::new(port) {
                    Ok(home) => home,
                    Err(error) => {
                        let _ = started.send(Err(error));
                        return;
                    }
                };
                let _ = started.send(Ok((home.address, Handle::current())));
                tokio::select! {
                    () = http::serve(serving, home, told_away, listening) => {}
                    _ = stopped => {}
                }
            });
        })?;
        let (address, runtime) = start.recv().map_err(|_| io::Error::other("the server's thread has ended"))??;
        let mut server = ApiServer { shared, address, runtime, away, here, stop: Some(stop), thread: Some(thread) };
        server.settle(true);
        Ok(server)
    }

    /// Lets those in who have no token: for a person who looks around, and for kubectl without a kubeconfig.
    pub fn open_to_all(self) -> ApiServer {
        self.state().access.open = true;
        self
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// May do everything.
    pub fn config(&self) -> kube::Config {
        self.config_with(access::ADMIN)
    }

    /// A client that may do everything, on the caller's runtime; on the server's own when the caller has none.
    pub fn client(&self) -> kube::Client {
        self.client_of(self.config())
    }

    /// Carries this bearer token, known to the server or not.
    pub fn config_with(&self, token: &str) -> kube::Config {
        let mut config = self.config_without_token();
        config.auth_info.token = Some(token.to_owned().into());
        config
    }

    /// The anonymous user.
    pub fn config_without_token(&self) -> kube::Config {
        let url = self.url().parse().unwrap_or_else(|error| panic!("{} is no URL: {error}", self.url()));
        kube::Config::new(url)
    }

    pub fn client_of(&self, config: kube::Config) -> kube::Client {
        // A client spawns a task when it is made.
        let _entered = Handle::try_current().is_err().then(|| self.runtime.enter());
        kube::Client::try_from(config).unwrap_or_else(|error| panic!("no client for {}: {error}", self.url()))
    }

    /// Every Event, as core/v1 shows it, by namespace and name.
    pub fn events(&self) -> Vec<Value> {
        let core = Kind::new("", "v1", "Event", "events", "ev", true);
        self.state().events.values().map(|it| view::whole(&core, &it.object)).collect()
    }

    /// The same, typed.
    pub fn typed_events(&self) -> Vec<Event> {
        let read =
            |it: Value| serde_json::from_value(it).unwrap_or_else(|error| panic!("a stored Event is none: {error}"));
        self.events().into_iter().map(read).collect()
    }

    pub fn event_count(&self) -> usize {
        self.state().events.len()
    }

    /// Of all Events together: the count of the series, or the count, or one.
    pub fn occurrences(&self) -> i64 {
        let count = |it: &Event| match (&it.series, it.count) {
            (Some(series), _) => series.count.unwrap_or_default(),
            (None, count) => count.unwrap_or(1).max(1),
        };
        self.typed_events().iter().map(|it| i64::from(count(it))).sum()
    }

    /// Every request, oldest first.
    pub fn requests(&self) -> Vec<Logged> {
        lock(&self.shared.requests).clone()
    }

    /// Every create, patch and replace of an Event.
    pub fn writes(&self) -> Vec<Logged> {
        lock(&self.shared.requests).iter().filter(|it| it.is_write()).cloned().collect()
    }

    /// How many requests are like this, without a copy of the log.
    pub fn count(&self, like: impl Fn(&Logged) -> bool) -> usize {
        lock(&self.shared.requests).iter().filter(|it| like(it)).count()
    }

    /// Forgets the requests so far. Their numbers are not used again.
    pub fn forget_requests(&self) {
        lock(&self.shared.requests).clear();
    }

    /// Waits, without sleeping, until the condition holds. Asked anew after every request, answer and change.
    ///
    /// After a minute it panics, and tells what the server holds and was asked.
    #[track_caller]
    pub fn until<'a>(&'a self, condition: impl Fn(&ApiServer) -> bool + 'a) -> impl Future<Output = ()> + 'a {
        let caller = Location::caller();
        // On the server's runtime, so that a test whose own clock is paused waits in earnest.
        let deadline = self.runtime.spawn(async { tokio::time::timeout(PATIENCE, pending::<()>()).await });
        async move {
            let mut changed = self.shared.changed.subscribe();
            let mut deadline = deadline;
            while !condition(self) {
                tokio::select! {
                    _ = changed.changed() => {}
                    _ = &mut deadline => panic!("waited in vain at {caller}\n{}", self.told()),
                }
            }
            deadline.abort();
        }
    }

    /// The same, for a test without a runtime.
    #[track_caller]
    pub fn wait_until(&self, condition: impl Fn(&ApiServer) -> bool) {
        self.runtime.block_on(self.until(condition));
    }

    fn settle(&mut self, wanted: bool) {
        let mut here = self.here.clone();
        let (done, is_done) = std::sync::mpsc::channel();
        // Waited for on the server's thread: the caller may stand in a runtime, where nobody may block on a future.
        self.runtime.spawn(async move {
            let _ = here.wait_for(|it| *it == wanted).await;
            let _ = done.send(());
        });
        let _ = is_done.recv();
    }

    fn with<R>(&self, act: impl FnOnce(&mut State) -> R) -> R {
        let result = act(&mut self.state());
        self.shared.tell();
        result
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.shared.state)
    }

    /// What the server holds and was asked lately, for a person.
    fn told(&self) -> String {
        let events: Vec<String> = self
            .events()
            .iter()
            .map(|it| {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let count = it["series"]["count"].as_i64().or(it["count"].as_i64()).unwrap_or(1);
                format!(
                    "  {} {} x{count}: {}",
                    text(&it["metadata"]["name"]),
                    text(&it["reason"]),
                    text(&it["message"])
                )
            })
            .collect();
        let requests = self.requests();
        let lately: Vec<String> = requests.iter().rev().take(20).rev().map(|it| format!("  {}", it.line())).collect();
        let (held, asked) = (events.len(), requests.len());
        format!("{held} Events:\n{}\n{asked} requests, lately:\n{}", events.join("\n"), lately.join("\n"))
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
