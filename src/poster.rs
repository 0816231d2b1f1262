//! The loop that joins queue, correlator and sink, its two homes, and the handles to it.

mod by_the_poster;
mod desk;
mod flights;
mod flush;
mod guard;
mod handle;
#[cfg(feature = "metrics")]
mod meter;
mod stats;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use kube::{Client, Config};
use tokio::sync::mpsc;

use crate::correlate::{Correlator, Settings};
use crate::queue::{PosterGuard, Receiver, Sender};
use crate::sink::{ApiSink, Origin, OwnClientSink, Sink};
use crate::wire::Api;

use desk::{Desk, Parts};
pub use flush::{Flush, Outcome};
pub use guard::Guard;
pub use handle::{Handle, Publish};
pub use stats::Stats;
use stats::Tally;

/// Turns what the layer heard into Events, in the background.
///
/// Give it a home, once: a thread of its own ([`spawn`](Self::spawn), [`spawn_inferred`](Self::spawn_inferred)), or any
/// task of the application's ([`run`](Self::run)). Until then records wait in the queue, as many as fit. A poster that
/// is dropped instead tells nothing: what waited is lost, and counted.
///
/// Whatever the API server does, the poster neither panics nor gives up. It retries, holds, and in the end counts what
/// it had to drop: see [`Stats`].
#[must_use = "without a home the poster posts nothing"]
pub struct Poster {
    api: Api,
    receiver: Receiver,
    settings: Settings,
    handle: Handle,
    orders: mpsc::UnboundedReceiver<flush::Order>,
    /// How long one request may take.
    attempt: Duration,
}

/// Why the poster could not be given a thread.
#[derive(Debug)]
#[non_exhaustive]
pub struct SpawnError(SpawnErrorKind);

#[derive(Debug)]
enum SpawnErrorKind {
    Thread(std::io::Error),
    Client(Box<kube::Error>),
}

impl Poster {
    pub(crate) fn new(sender: Sender, receiver: Receiver, settings: Settings, api: Api, attempt: Duration) -> Self {
        let (order, orders) = mpsc::unbounded_channel();
        let handle = Handle::new(sender, order, Arc::new(Tally::default()));
        Self { api, receiver, settings, handle, orders, attempt }
    }

    /// A handle to publish by, to flush, and to read the counters: there before the poster has a home, and after.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Gives the poster a thread with its own runtime and its own client, so that nothing the application does can
    /// starve it or end before it.
    ///
    /// # Errors
    /// When the client cannot be made from the configuration, or the system gives no thread. An API server that does
    /// not answer is no error: the poster goes on trying.
    pub fn spawn(self, config: Config) -> Result<Guard, SpawnError> {
        let api = self.api;
        self.on_a_thread(OwnClientSink::made(Origin::Config(Box::new(config)), api))
    }

    /// Like [`spawn`](Self::spawn), where no `async` is at hand: it looks for the cluster by itself, by kubeconfig and
    /// by service account, and goes on looking when there is none yet. Records wait meanwhile.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn spawn_inferred(self) -> Result<Guard, SpawnError> {
        let api = self.api;
        self.on_a_thread(OwnClientSink::made(Origin::Inferred, api))
    }

    /// Gives the poster a thread, and a sink of your own in place of the API server.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn spawn_sink(self, sink: impl Sink) -> Result<Guard, SpawnError> {
        self.on_a_thread(async { Ok(sink) })
    }

    /// The poster as a plain future, for the application's own tokio runtime, which must have its timers enabled.
    ///
    /// It never ends by itself. When it is dropped, or its runtime is, what was not told yet is lost and counted; so
    /// [`flush`](Handle::flush) before. Best give it a client whose own retries are off (`Config::default_retry`).
    pub fn run(self, client: Client) -> impl Future<Output = ()> + Send {
        let sink = ApiSink::new(client, self.api);
        self.run_sink(sink)
    }

    /// Like [`run`](Self::run), with a sink of your own in place of the API server.
    pub fn run_sink(self, sink: impl Sink) -> impl Future<Output = ()> + Send {
        let Self { receiver, settings, handle, orders, attempt, .. } = self;
        #[cfg(feature = "metrics")]
        let meter = meter::Meter::new(handle.clone(), &settings.reporter.controller);
        let parts = Parts {
            receiver,
            correlator: Correlator::new(settings),
            tally: handle.into_tally(),
            orders,
            attempt,
            #[cfg(feature = "metrics")]
            meter,
        };
        // The desk is there at once: whoever has a home may be asked to flush before it was first polled.
        Desk::new(parts, sink).work()
    }

    fn on_a_thread<S: Sink>(
        self,
        sink: impl Future<Output = kube::Result<S>> + Send + 'static,
    ) -> Result<Guard, SpawnError> {
        let handle = self.handle();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(SpawnErrorKind::Thread)?;
        let (ready, answer) = crossbeam_channel::bounded(1);
        let (until_the_end, end) = crossbeam_channel::bounded(0);
        let home = move || {
            let _until_the_end: crossbeam_channel::Sender<()> = until_the_end;
            // Whatever the client logs in tasks of its own is the poster's as well.
            let _guard = PosterGuard::enter();
            runtime.block_on(async move {
                match sink.await {
                    Ok(sink) => {
                        let work = self.run_sink(sink);
                        let _ = ready.send(Ok(()));
                        work.await;
                    }
                    Err(error) => drop(ready.send(Err(error))),
                }
            });
            // A name that is being resolved, or a credential plug-in, may block its thread for long.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("k8s-events".into()).spawn(home).map_err(SpawnErrorKind::Thread)?;
        match answer.recv() {
            Ok(Ok(())) => Ok(Guard::new(handle, thread, end)),
            Ok(Err(error)) => Err(SpawnErrorKind::Client(Box::new(error)).into()),
            Err(_) => Err(SpawnErrorKind::Thread(std::io::Error::other("the thread ended at once")).into()),
        }
    }
}

impl fmt::Debug for Poster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poster").field("api", &self.api).finish_non_exhaustive()
    }
}

impl From<SpawnErrorKind> for SpawnError {
    fn from(kind: SpawnErrorKind) -> Self {
        Self(kind)
    }
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            SpawnErrorKind::Thread(_) => f.write_str("no thread for the poster"),
            SpawnErrorKind::Client(_) => f.write_str("no client from this configuration"),
        }
    }
}

impl std::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            SpawnErrorKind::Thread(error) => Some(error),
            SpawnErrorKind::Client(error) => Some(&**error),
        }
    }
}
