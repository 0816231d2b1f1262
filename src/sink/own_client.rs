//! The Kubernetes API behind a client of our own, which is made anew when it may have grown stale.

use std::sync::atomic::{AtomicU32, Ordering};

use kube::{Client, Config};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::Sink;
use super::api::{ApiSink, plain_cause};
use crate::message::{Reply, Request};
use crate::wire::Api;

/// The Kubernetes API behind a client of our own, made when it is first needed.
///
/// A client reads certificates once, when it is made, and a token's file once a minute. So it is made anew after the
/// credentials were refused (401), and after several requests in a row that had no answer: a certificate may have been
/// renewed on disk, and a kubeconfig may name another server by now.
pub(crate) struct OwnClientSink {
    origin: Origin,
    api: Api,
    made: Mutex<Made>,
    /// How many requests in a row had no answer.
    unanswered: AtomicU32,
}

/// Where a client comes from.
#[derive(Clone)]
pub(crate) enum Origin {
    Config(Box<Config>),
    /// By kubeconfig, or by the service account of the pod: looked for anew until it is found.
    Inferred,
}

/// The client of today.
#[derive(Default)]
struct Made {
    sink: Option<ApiSink>,
    /// Which one it is. Sixteen requests may be refused together, and the second refusal is not the new client's.
    generation: u64,
}

/// One request. It may also end by being dropped, when it took too long: a connection to a machine that is gone looks
/// alive, and with HTTP/2 every request would go on using it.
struct Attempt<'a> {
    unanswered: &'a AtomicU32,
    is_answered: bool,
}

/// After so many requests in a row without an answer the client is made anew. One broken connection says nothing.
const TOO_MANY_UNANSWERED: u32 = 3;

impl OwnClientSink {
    /// Makes the client now, where it can be made now, so that a wrong configuration is told at the door.
    pub(crate) async fn made(origin: Origin, api: Api) -> kube::Result<Self> {
        let sink = match &origin {
            Origin::Config(config) => Some(ApiSink::new(client(Config::clone(config))?, api)),
            Origin::Inferred => None,
        };
        Ok(Self { origin, api, made: Mutex::new(Made { sink, generation: 0 }), unanswered: AtomicU32::new(0) })
    }

    async fn sink(&self) -> Result<(ApiSink, u64), Box<str>> {
        let mut made = self.made.lock().await;
        if self.unanswered.load(Ordering::Relaxed) >= TOO_MANY_UNANSWERED {
            self.unanswered.store(0, Ordering::Relaxed);
            made.forget();
        }
        if let Some(sink) = &made.sink {
            return Ok((sink.clone(), made.generation));
        }
        let sink = ApiSink::new(self.new_client().await?, self.api);
        made.sink = Some(sink.clone());
        Ok((sink, made.generation))
    }

    /// A credential plug-in is a program that is run and waited for, so the poster does not do it itself.
    async fn new_client(&self) -> Result<Client, Box<str>> {
        let config = match self.origin.clone() {
            Origin::Config(config) => *config,
            Origin::Inferred => {
                let found = Config::infer().await;
                found.map_err(|_| "no cluster is configured, by kubeconfig or by service account")?
            }
        };
        match spawn_blocking(move || client(config)).await {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(error)) => Err(plain_cause(&error)),
            Err(_) => Err("the client could not be made".into()),
        }
    }

    /// The client of this generation was refused.
    async fn refused(&self, generation: u64) {
        let mut made = self.made.lock().await;
        if made.generation == generation {
            made.forget();
        }
    }
}

impl Made {
    fn forget(&mut self) {
        *self = Self { sink: None, generation: self.generation + 1 };
    }
}

impl Sink for OwnClientSink {
    async fn send(&self, request: Request) -> Reply {
        let unavailable = |why| Reply::Unavailable { retry_after: None, why };
        let (sink, generation) = match self.sink().await {
            Ok(it) => it,
            Err(why) => return unavailable(why),
        };
        let attempt = Attempt { unanswered: &self.unanswered, is_answered: false };
        let answer = sink.ask(&request).await;
        attempt.end(answer.is_ok());
        if answer == Ok(Reply::Unauthorized) {
            self.refused(generation).await;
        }
        answer.unwrap_or_else(unavailable)
    }
}

impl Attempt<'_> {
    fn end(mut self, is_answered: bool) {
        self.is_answered = is_answered;
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.is_answered {
            self.unanswered.store(0, Ordering::Relaxed);
        } else {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A client that leaves every retry to the poster. A tokio runtime must be there.
fn client(mut config: Config) -> kube::Result<Client> {
    config.default_retry = false;
    Client::try_from(config)
}
