//! The wire: a listener on loopback, HTTP/1.1 connections, and the faults that strike them.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::fault::After;
use super::message::{Answer, Request, pairs};
use super::shared::Shared;
use super::watch::Watching;

/// The most that a server reads of a body: `MaxRequestBodyBytes`.
const BODY_LIMIT: usize = 3 * 1024 * 1024;
/// What is read of a body that is too large, so that its sender comes to read the answer.
const PATIENCE: usize = 64 * 1024 * 1024;

type Body = UnsyncBoxBody<Bytes, io::Error>;
type Serving = Pin<Box<dyn Future<Output = Result<hyper::Response<Body>, Infallible>> + Send>>;

/// How a connection ends before its time.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Close,
    Reset,
}

/// A listener on loopback. Another socket holds the port, so that nobody takes it while the server is away.
pub(super) struct Home {
    pub(super) address: SocketAddr,
    _held: TcpSocket,
}

impl Home {
    pub(super) fn new(port: u16) -> io::Result<Home> {
        let held = socket(SocketAddr::from(([127, 0, 0, 1], port)))?;
        let address = held.local_addr()?;
        Ok(Home { address, _held: held })
    }

    pub(super) fn listen(&self) -> io::Result<TcpListener> {
        socket(self.address)?.listen(1024)
    }
}

fn socket(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// Serves until told to stop. While `away` holds, nobody listens and every connection is closed.
pub(super) async fn serve(shared: Arc<Shared>, home: Home, mut away: watch::Receiver<bool>, here: watch::Sender<bool>) {
    loop {
        let Ok(listener) = home.listen() else {
            // Only a foreign program on the port that we hold could do this: then nobody can be served at all.
            return;
        };
        let _ = here.send_replace(true);
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    if let Ok((stream, _)) = accepted {
                        connections.spawn(connection(shared.clone(), stream));
                    }
                }
                Some(_) = connections.join_next() => {}
                gone = away.wait_for(|it| *it) => {
                    if gone.is_err() {
                        return;
                    }
                    break;
                }
            }
        }
        drop(listener);
        connections.shutdown().await;
        let _ = here.send_replace(false);
        if away.wait_for(|it| !*it).await.is_err() {
            return;
        }
    }
}

async fn connection(shared: Arc<Shared>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let (end, mut ended) = mpsc::unbounded_channel();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (shared, end) = (shared.clone(), end.clone());
        Box::pin(async move { Ok(handle(&shared, end, request).await) }) as Serving
    });
    let mut serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let ending = tokio::select! {
        _ = poll_fn(|cx| serving.poll_without_shutdown(cx)) => Ending::Close,
        Some(ending) = ended.recv() => ending,
    };
    let stream = serving.into_parts().io.into_inner();
    if let Ending::Reset = ending {
        // With no time to linger the kernel sends RST in place of FIN.
        let _ = stream.set_zero_linger();
    }
}

async fn handle(
    shared: &Arc<Shared>,
    end: mpsc::UnboundedSender<Ending>,
    request: hyper::Request<Incoming>,
) -> hyper::Response<Body> {
    let request = read(request).await;
    let (number, placed) = shared.arrived(&request);
    let Some(placed) = placed else {
        let answer = shared.answer(number, &request);
        return respond(shared, answer);
    };
    let early = placed.fault.done_first().then(|| shared.answer_unsent(number, &request));
    let answer = match placed.play().await {
        After::Go => early.unwrap_or_else(|| shared.answer_unsent(number, &request)),
        After::Answer(answer) => answer,
        After::Cut => {
            let answer = early.unwrap_or_else(|| shared.answer_unsent(number, &request));
            shared.answered(number, answer.code);
            return cut(&answer);
        }
        ending @ (After::Reset | After::Close) => {
            let ending = if let After::Reset = ending { Ending::Reset } else { Ending::Close };
            let _ = end.send(ending);
            return std::future::pending().await;
        }
    };
    shared.answered(number, answer.code);
    respond(shared, answer)
}

async fn read(request: hyper::Request<Incoming>) -> Request {
    let (parts, body) = request.into_parts();
    let header =
        |name: HeaderName| parts.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
    let body = Limited::new(body, PATIENCE).collect().await.map(|it| it.to_bytes());
    let too_large = body.as_ref().map_or(true, |it| it.len() > BODY_LIMIT);
    Request {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: pairs(parts.uri.query().unwrap_or_default()),
        content_type: header(CONTENT_TYPE),
        accept: header(ACCEPT),
        token: header(AUTHORIZATION).strip_prefix("Bearer ").map(str::to_owned),
        user_agent: header(USER_AGENT),
        body: body.unwrap_or_default(),
        too_large,
    }
}

fn respond(shared: &Arc<Shared>, answer: Answer) -> hyper::Response<Body> {
    let body = match answer.watching {
        Some(watching) => follow(shared.clone(), *watching),
        None => Full::new(answer.body).map_err(|never| match never {}).boxed_unsync(),
    };
    headed(answer.code, &answer.headers, body)
}

/// The first half of an answer, and then the end of the connection.
fn cut(answer: &Answer) -> hyper::Response<Body> {
    let whole = answer.body.len();
    let half = answer.body.slice(..whole / 2);
    let frames = [Ok(Frame::data(half)), Err(io::Error::other("cut by a test"))];
    let body = BodyExt::boxed_unsync(StreamBody::new(stream::iter(frames)));
    let mut headers = answer.headers.clone();
    headers.push(("content-length", whole.to_string()));
    headed(answer.code, &headers, body)
}

fn headed(code: u16, headers: &[(&'static str, String)], body: Body) -> hyper::Response<Body> {
    let mut response = hyper::Response::new(body);
    *response.status_mut() = hyper::StatusCode::from_u16(code).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        // A header that cannot be written (a newline in a field's name) is left out, as Go does it.
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            response.headers_mut().append(HeaderName::from_static(name), value);
        }
    }
    response
}

/// The lines of a watch, each written when there is something to tell.
fn follow(shared: Arc<Shared>, watching: Watching) -> Body {
    let changed = shared.changed.subscribe();
    let frames = stream::unfold((shared, watching, changed), |(shared, mut watching, mut changed)| async move {
        loop {
            changed.mark_unchanged();
            let lines = shared.lines(&mut watching)?;
            if !lines.is_empty() {
                let text: String = lines.iter().map(|it| format!("{it}\n")).collect();
                return Some((Ok(Frame::data(Bytes::from(text))), (shared, watching, changed)));
            }
            changed.changed().await.ok()?;
        }
    });
    BodyExt::boxed_unsync(StreamBody::new(frames))
}
