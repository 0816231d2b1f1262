//! The Kubernetes API as a [`Sink`]: one HTTP call per request, and what its answer means.

use std::error::Error;
use std::io;
use std::time::Duration;

use kube::client::Body;
use kube::{Client, Config};
use serde::Deserialize;
use tokio::sync::RwLock;

use super::Sink;
use crate::message::{Reply, Request, Resource};
use crate::wire::{self, Api, Call};

/// The Kubernetes API behind a client.
#[derive(Clone)]
pub(crate) struct ApiSink {
    client: Client,
    api: Api,
}

/// The Kubernetes API behind a client of our own, made when it is first needed.
///
/// After the credentials were refused (401) the client is made anew: a kubeconfig, a certificate or a token on disk may
/// have been renewed.
pub(crate) struct OwnClientSink {
    origin: Origin,
    api: Api,
    made: RwLock<Option<ApiSink>>,
}

/// Where a client comes from.
pub(crate) enum Origin {
    Config(Box<Config>),
    /// By kubeconfig, or by the service account of the pod: looked for anew until it is found.
    Inferred,
}

/// An answer, read whole.
struct Answer {
    status: u16,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

/// As much of a `Status` as a decision needs.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    message: String,
    reason: String,
    details: Details,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Details {
    kind: String,
    causes: Vec<Cause>,
    retry_after_seconds: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cause {
    reason: String,
}

#[derive(Deserialize)]
struct Named {
    kind: String,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    uid: Box<str>,
}

#[derive(Deserialize)]
struct ResourceList {
    resources: Vec<ListedResource>,
}

#[derive(Deserialize)]
struct ListedResource {
    name: Box<str>,
    kind: Box<str>,
    namespaced: bool,
}

impl ApiSink {
    pub(crate) fn new(client: Client, api: Api) -> Self {
        Self { client, api }
    }

    async fn ask(&self, call: Call) -> Result<Answer, Box<str>> {
        let mut request = http::Request::builder().method(call.method).uri(call.path);
        request = request.header(http::header::ACCEPT, call.accept);
        if let Some(content_type) = call.content_type {
            request = request.header(http::header::CONTENT_TYPE, content_type);
        }
        let request = request.body(Body::from(call.body)).map_err(|_| "the request's path is no URL")?;
        let response = self.client.send(request).await.map_err(|it| plain_cause(&it))?;
        let (head, body) = response.into_parts();
        let seconds = head.headers.get(http::header::RETRY_AFTER).and_then(|it| it.to_str().ok()?.trim().parse().ok());
        let body = body.collect_bytes().await.map_err(|_| "the connection broke in the middle of an answer")?;
        Ok(Answer { status: head.status.as_u16(), retry_after: seconds.map(Duration::from_secs), body: body.to_vec() })
    }
}

impl Sink for ApiSink {
    async fn send(&self, request: Request) -> Reply {
        let call = wire::call(&request, self.api);
        match self.ask(call).await {
            Ok(answer) => reply(&request, &answer),
            Err(why) => Reply::Unavailable { retry_after: None, why },
        }
    }
}

impl OwnClientSink {
    pub(crate) fn new(origin: Origin, api: Api) -> Self {
        Self { origin, api, made: RwLock::new(None) }
    }

    /// Makes the client now, where it can be made now, so that a wrong configuration is told at the door.
    pub(crate) async fn made(origin: Origin, api: Api) -> kube::Result<Self> {
        let client = match &origin {
            Origin::Config(config) => Some(ApiSink::new(client(Config::clone(config))?, api)),
            Origin::Inferred => None,
        };
        Ok(Self { made: RwLock::new(client), ..Self::new(origin, api) })
    }

    async fn sink(&self) -> Result<ApiSink, Box<str>> {
        if let Some(sink) = &*self.made.read().await {
            return Ok(sink.clone());
        }
        let mut made = self.made.write().await;
        if let Some(sink) = &*made {
            return Ok(sink.clone());
        }
        let config = match &self.origin {
            Origin::Config(config) => Config::clone(config),
            Origin::Inferred => {
                let found = Config::infer().await;
                found.map_err(|_| "no cluster is configured, by kubeconfig or by service account")?
            }
        };
        let sink = ApiSink::new(client(config).map_err(|it| plain_cause(&it))?, self.api);
        *made = Some(sink.clone());
        Ok(sink)
    }
}

impl Sink for OwnClientSink {
    async fn send(&self, request: Request) -> Reply {
        let sink = match self.sink().await {
            Ok(sink) => sink,
            Err(why) => return Reply::Unavailable { retry_after: None, why },
        };
        let reply = sink.send(request).await;
        if reply == Reply::Unauthorized {
            *self.made.write().await = None;
        }
        reply
    }
}

/// A client that leaves every retry to the poster. A tokio runtime must be there.
fn client(mut config: Config) -> kube::Result<Client> {
    config.default_retry = false;
    Client::try_from(config)
}

/// What the API server's answer means.
fn reply(request: &Request, answer: &Answer) -> Reply {
    let status: Status = serde_json::from_slice(&answer.body).unwrap_or_default();
    let retry_after = answer.retry_after.or(match status.details.retry_after_seconds {
        0 => None,
        seconds => Some(Duration::from_secs(seconds)),
    });
    let creates = matches!(request, Request::Create(_));
    match answer.status {
        200..300 => success(request, answer),
        401 => Reply::Unauthorized,
        403 if status.details.causes.iter().any(|it| it.reason == "NamespaceTerminating") => {
            Reply::NamespaceTerminating
        }
        403 => Reply::Forbidden(status.message.into()),
        404 if !creates => Reply::NotFound,
        404 if status.details.kind == "namespaces" => Reply::NamespaceMissing,
        409 if creates && status.reason == "AlreadyExists" => Reply::AlreadyExists,
        429 => Reply::Throttled(retry_after),
        408 | 409 | 500.. => Reply::Unavailable { retry_after, why: format!("HTTP {}", answer.status).into() },
        code => Reply::Invalid(format!("HTTP {code}: {}", status.message).into()),
    }
}

/// Not every 200 is the API server's: a proxy on the way may answer a page of its own.
fn success(request: &Request, answer: &Answer) -> Reply {
    let body = &answer.body;
    let read = match request {
        Request::Create(_) | Request::Patch(_) => {
            serde_json::from_slice(body).ok().and_then(|it: Named| (it.kind == "Event").then_some(Reply::Done))
        }
        Request::LookUp { .. } => {
            serde_json::from_slice(body).ok().map(|it: Object| Reply::Found { uid: it.metadata.uid })
        }
        Request::Discover { .. } => serde_json::from_slice(body).ok().map(|it: ResourceList| resources(it)),
    };
    read.unwrap_or_else(|| Reply::Unavailable {
        retry_after: None,
        why: format!("HTTP {} with a body that is not the API server's", answer.status).into(),
    })
}

/// A name with a slash is a subresource (`pods/status`), which has no object of its own.
fn resources(list: ResourceList) -> Reply {
    let whole = list.resources.into_iter().filter(|it| !it.name.contains('/'));
    let plain = whole.map(|it| Resource { kind: it.kind, plural: it.name, namespaced: it.namespaced });
    Reply::Resources(plain.collect())
}

/// Why no answer came, without anything that may be secret: a plug-in's output can stand in an error's own words, so
/// only the operating system's are passed on.
fn plain_cause(error: &(dyn Error + 'static)) -> Box<str> {
    let mut cause = Some(error);
    let mut found = None;
    while let Some(error) = cause {
        found = error.downcast_ref::<io::Error>().map(|it| it.kind()).or(found);
        cause = error.source();
    }
    match found {
        Some(kind) => format!("the API server cannot be reached: {kind}").into(),
        None => "the API server cannot be asked".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const STATUS_404_NAMESPACE: &str =
        r#"{"kind":"Status","reason":"NotFound","details":{"name":"nope","kind":"namespaces"},"code":404}"#;
    const STATUS_404_EVENT: &str =
        r#"{"kind":"Status","reason":"NotFound","details":{"name":"x","kind":"events"},"code":404}"#;
    const STATUS_TERMINATING: &str = r#"{"kind":"Status","reason":"Forbidden","message":"being terminated",
        "details":{"causes":[{"reason":"NamespaceTerminating"}]},"code":403}"#;

    fn look_up() -> Request {
        Request::LookUp { regarding: Arc::default(), plural: "configmaps".into() }
    }

    #[track_caller]
    fn assert_reply(request: &Request, status: u16, body: &str, expected: &Reply) {
        let answer = Answer { status, retry_after: None, body: body.into() };
        assert_eq!(&reply(request, &answer), expected);
    }

    fn unavailable(why: &str) -> Reply {
        Reply::Unavailable { retry_after: None, why: why.into() }
    }

    #[test]
    fn an_answer_to_a_look_up_is_read() {
        assert_reply(&look_up(), 200, r#"{"metadata":{"uid":"u-1"}}"#, &Reply::Found { uid: "u-1".into() });
        assert_reply(&look_up(), 404, STATUS_404_EVENT, &Reply::NotFound);
        assert_reply(&look_up(), 403, r#"{"message":"no"}"#, &Reply::Forbidden("no".into()));
    }

    #[test]
    fn subresources_are_no_resources() {
        let discover = Request::Discover { api_version: "v1".into() };
        let body = r#"{"resources":[{"name":"pods","kind":"Pod","namespaced":true},
            {"name":"pods/status","kind":"Pod","namespaced":true}]}"#;
        let pods = Resource { kind: "Pod".into(), plural: "pods".into(), namespaced: true };
        assert_reply(&discover, 200, body, &Reply::Resources(vec![pods]));
    }

    #[test]
    fn a_success_that_is_not_the_api_servers_is_none() {
        let why = "HTTP 200 with a body that is not the API server's";
        for body in ["<html>sign in</html>", "", "[]", r#"{"metadata":{}}"#] {
            assert_reply(&look_up(), 200, body, &unavailable(why));
        }
    }

    #[test]
    fn failures_are_told_apart_by_what_can_be_done_about_them() {
        let patch = look_up();
        for (status, body, expected) in [
            (401, "", Reply::Unauthorized),
            (403, STATUS_TERMINATING, Reply::NamespaceTerminating),
            (404, STATUS_404_NAMESPACE, Reply::NotFound),
            (409, r#"{"reason":"Conflict"}"#, unavailable("HTTP 409")),
            (429, "Too many requests, please try again later.", Reply::Throttled(None)),
            (429, r#"{"details":{"retryAfterSeconds":7}}"#, Reply::Throttled(Some(Duration::from_secs(7)))),
            (500, "", unavailable("HTTP 500")),
            (504, "garbage", unavailable("HTTP 504")),
            (422, r#"{"message":"wrong"}"#, Reply::Invalid("HTTP 422: wrong".into())),
            (301, "", Reply::Invalid("HTTP 301: ".into())),
        ] {
            assert_reply(&patch, status, body, &expected);
        }
    }

    #[test]
    fn a_retry_after_of_the_header_wins() {
        let answer = Answer { status: 429, retry_after: Some(Duration::from_secs(3)), body: Vec::new() };
        assert_eq!(reply(&look_up(), &answer), Reply::Throttled(Some(Duration::from_secs(3))));
    }

    #[test]
    fn an_errors_own_words_are_not_passed_on() {
        let secret = io::Error::other("plug-in said: token=abc");
        let error = kube::Error::Service(Box::new(secret));
        assert_eq!(&*plain_cause(&error), "the API server cannot be reached: other error");
    }
}
