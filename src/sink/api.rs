//! The Kubernetes API as a [`Sink`]: one HTTP call per request.

use std::error::Error;
use std::io;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http_body_util::{BodyExt, Limited};
use kube::Client;
use kube::client::Body;

use super::Sink;
use super::answer::{Answer, reply};
use crate::message::{Reply, Request};
use crate::wire::{self, Api, Call};

/// No answer is read beyond this. The longest that means something is a list of resources: some 100 KiB for the core
/// group, and no Event is larger than 1.5 MiB, etcd's own limit.
const LONGEST_ANSWER: usize = 4 * 1024 * 1024;

/// The Kubernetes API behind a client.
#[derive(Clone)]
pub(crate) struct ApiSink {
    client: Client,
    api: Api,
}

impl ApiSink {
    pub(crate) fn new(client: Client, api: Api) -> Self {
        Self { client, api }
    }

    /// Sends a request; without an answer, it says why there is none.
    pub(super) async fn ask(&self, request: &Request) -> Result<Reply, Box<str>> {
        let answer = self.call(wire::call(request, self.api)).await?;
        Ok(reply(request, &answer))
    }

    async fn call(&self, call: Call) -> Result<Answer, Box<str>> {
        let mut request = http::Request::builder().method(call.method).uri(call.path).header(ACCEPT, call.accept);
        if let Some(content_type) = call.content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        let request = request.body(Body::from(call.body)).map_err(|_| "the request's path is no URL")?;
        let response = self.client.send(request).await.map_err(|it| plain_cause(&it))?;
        let (head, body) = response.into_parts();
        let seconds = head.headers.get(RETRY_AFTER).and_then(|it| it.to_str().ok()?.trim().parse().ok());
        let body = Limited::new(body, LONGEST_ANSWER).collect().await;
        let body = body.map_err(|_| "the connection broke in the middle of an answer, or it had no end")?;
        Ok(Answer {
            status: head.status.as_u16(),
            retry_after: seconds.map(Duration::from_secs),
            body: body.to_bytes().into(),
        })
    }
}

impl Sink for ApiSink {
    async fn send(&self, request: Request) -> Reply {
        self.ask(&request).await.unwrap_or_else(|why| Reply::Unavailable { retry_after: None, why })
    }
}

/// Why no answer came, without anything that may be secret: a plug-in's output can stand in an error's own words, so
/// only the operating system's are passed on.
pub(super) fn plain_cause(error: &(dyn Error + 'static)) -> Box<str> {
    let (mut cause, mut found) = (Some(error), None);
    while let Some(error) = cause {
        found = error.downcast_ref::<io::Error>().map(io::Error::kind).or(found);
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

    #[test]
    fn an_errors_own_words_are_not_passed_on() {
        let secret = io::Error::other("plug-in said: token=abc");
        let error = kube::Error::Service(Box::new(secret));
        assert_eq!(&*plain_cause(&error), "the API server cannot be reached: other error");
    }
}
