//! What the in-process server does when it is told to fail, and what it tells about it.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Event, ObjectReference};
use kube::api::{ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Api, Client, Error};
use serde_json::json;

use crate::support::apiserver::{ApiServer, Fault, Rule, When};

/// A client that takes every answer as it comes, as the poster's does.
fn client(server: &ApiServer, mut config: kube::Config) -> Client {
    config.default_retry = false;
    server.client_of(config)
}

fn events(server: &ApiServer) -> Api<Event> {
    Api::default_namespaced(client(server, server.config()))
}

fn event(name: &str) -> Event {
    let about = ObjectReference { namespace: Some("default".to_owned()), ..ObjectReference::default() };
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    Event { metadata, involved_object: about, ..Event::default() }
}

async fn create(api: &Api<Event>, name: &str) -> Result<Event, Error> {
    api.create(&PostParams::default(), &event(name)).await
}

async fn relabel(api: &Api<Event>, name: &str) -> Result<Event, Error> {
    let patch = json!({ "metadata": { "labels": { "a": "b" } } });
    api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await
}

#[track_caller]
fn code(result: Result<Event, Error>) -> u16 {
    match result {
        Ok(_) => 200,
        Err(Error::Api(status)) => status.code,
        Err(other) => panic!("not an answer of the server: {other}"),
    }
}

#[track_caller]
fn no_answer(result: Result<Event, Error>) {
    match result {
        Err(Error::Api(status)) => panic!("answered: {status:?}"),
        Err(_) => {}
        Ok(event) => panic!("answered: {event:?}"),
    }
}

#[tokio::test]
async fn every_status_reaches_the_client() {
    let server = ApiServer::start();
    let api = events(&server);
    for (fault, status, name) in [
        (Fault::too_many_requests(None), 429, "a"),
        (Fault::too_many_requests(Some(Duration::from_secs(7))), 429, "b"),
        (Fault::overloaded(Duration::from_secs(3)), 429, "c"),
        (Fault::internal_error(), 500, "d"),
        (Fault::unavailable(), 503, "e"),
        (Fault::timeout(), 504, "f"),
        (Fault::unauthorized(), 401, "g"),
        (Fault::forbidden(), 403, "h"),
    ] {
        server.fail(When::create().name(name), fault);
        assert_eq!(code(create(&api, name).await), status);
        assert_eq!(server.requests().last().and_then(|it| it.status), Some(status));
    }
    assert_eq!(server.event_count(), 0);
}

#[tokio::test]
async fn a_retry_after_stands_in_the_status() {
    let server = ApiServer::start();
    server.fail(When::create(), Fault::too_many_requests(Some(Duration::from_secs(7))));
    let Err(Error::Api(status)) = create(&events(&server), "a").await else { panic!("not refused") };
    assert_eq!(status.details.map(|it| it.retry_after_seconds), Some(7));
}

#[tokio::test]
async fn an_overloaded_server_answers_no_json() {
    let server = ApiServer::start();
    server.fail(When::create(), Fault::overloaded(Duration::from_secs(3)));
    let request = http::Request::post("/api/v1/namespaces/default/events").body(kube::client::Body::empty());
    let answer = client(&server, server.config()).send(request.expect("a request")).await.expect("an answer");
    assert_eq!(answer.headers().get("retry-after").and_then(|it| it.to_str().ok()), Some("3"));
    let body = http_body_util::BodyExt::collect(answer.into_body()).await.expect("a body").to_bytes();
    assert_eq!(body, "Too many requests, please try again later.\n");
}

#[tokio::test]
async fn the_write_is_done_and_the_answer_comes_too_late() {
    let server = ApiServer::start();
    let api = events(&server);
    server.fail(When::create().first(1), Fault::timeout_after_write());
    assert_eq!(code(create(&api, "a").await), 504);
    assert_eq!(server.event_count(), 1);
    assert!(server.writes()[0].done);
    assert_eq!(code(create(&api, "a").await), 409);
}

#[tokio::test]
async fn a_held_request_goes_on_when_it_is_released() {
    let server = ApiServer::start();
    let api = events(&server);
    let held = server.fail(When::create(), Fault::hold());
    let asked = tokio::spawn({
        let api = api.clone();
        async move { create(&api, "a").await }
    });
    held.until_hits(1).await;
    assert_eq!((server.event_count(), server.writes()[0].status), (0, None));
    held.release();
    assert_eq!(code(asked.await.expect("no panic")), 200);
    assert_eq!(server.event_count(), 1);
}

#[tokio::test]
async fn requests_are_released_one_by_one() {
    let server = ApiServer::start();
    let api = events(&server);
    let held = server.fail(When::create(), Fault::hold());
    let asked = ["a", "b"].map(|name| {
        let api = api.clone();
        tokio::spawn(async move { create(&api, name).await })
    });
    held.until_hits(2).await;
    held.release_one();
    server.until(|it| it.count(|it| it.status.is_none()) == 1).await;
    assert_eq!(server.event_count(), 1);
    held.release_one();
    for it in asked {
        assert_eq!(code(it.await.expect("no panic")), 200);
    }
}

#[tokio::test]
async fn a_hanging_request_is_never_answered() {
    let server = ApiServer::start();
    let api = events(&server);
    let hung = server.fail(When::create(), Fault::hang());
    let asked = tokio::spawn(async move { create(&api, "a").await });
    hung.until_hits(1).await;
    hung.release();
    no_answer(asked.await.expect("no panic"));
    assert_eq!((server.event_count(), server.writes()[0].status), (0, None));
}

#[tokio::test]
async fn a_connection_is_reset_before_the_answer() {
    let server = ApiServer::start();
    server.fail(When::create().first(1), Fault::reset());
    no_answer(create(&events(&server), "a").await);
    assert_eq!(server.event_count(), 0);
}

#[tokio::test]
async fn a_connection_is_cut_within_the_answer() {
    let server = ApiServer::start();
    server.fail(When::create().first(1), Fault::cut());
    no_answer(create(&events(&server), "a").await);
    assert_eq!(server.event_count(), 1);
}

#[tokio::test]
async fn garbage_is_no_answer() {
    let server = ApiServer::start();
    server.fail(When::create(), Fault::garbage());
    no_answer(create(&events(&server), "a").await);
}

#[tokio::test]
async fn only_the_requests_that_are_meant_are_struck() {
    let server = ApiServer::start();
    server.add_namespace("other");
    let api = events(&server);
    let other: Api<Event> = Api::namespaced(client(&server, server.config()), "other");
    let struck = server.fail(When::create().namespace("default").nth(2), Fault::unavailable());
    let mut elsewhere = event("a");
    elsewhere.involved_object.namespace = Some("other".to_owned());
    assert_eq!(code(other.create(&PostParams::default(), &elsewhere).await), 200);
    assert_eq!(code(create(&api, "a").await), 200);
    assert_eq!(code(relabel(&api, "a").await), 200);
    assert_eq!(code(create(&api, "b").await), 503);
    assert_eq!(code(create(&api, "b").await), 200);
    assert_eq!(struck.hits(), 1);
}

#[tokio::test]
async fn the_same_seed_strikes_the_same_requests() {
    let struck = || async {
        let server = ApiServer::start();
        let api = events(&server);
        server.fail(When::create().chance(0.5, 7), Fault::unavailable());
        for number in 0..32 {
            let _ = create(&api, &format!("e{number}")).await;
        }
        server.writes().iter().map(|it| it.faulted).collect::<Vec<_>>()
    };
    let (one, other) = (struck().await, struck().await);
    assert_eq!(one, other);
    assert!(one.contains(&true) && one.contains(&false));
}

#[tokio::test]
async fn a_server_that_heals_lets_go_of_everything() {
    let server = ApiServer::start();
    let api = events(&server);
    let held = server.fail(When::any(), Fault::hold());
    let asked = tokio::spawn({
        let api = api.clone();
        async move { create(&api, "a").await }
    });
    held.until_hits(1).await;
    server.heal();
    assert_eq!(code(asked.await.expect("no panic")), 200);
    assert_eq!(code(create(&api, "b").await), 200);
}

#[tokio::test]
async fn a_server_that_is_away_refuses_connections_and_comes_back() {
    let mut server = ApiServer::start();
    let api = events(&server);
    assert_eq!(code(create(&api, "a").await), 200);
    for _ in 0..3 {
        server.go_away();
        no_answer(create(&api, "b").await);
        assert!(std::net::TcpStream::connect(server.url().trim_start_matches("http://")).is_err());
        server.come_back();
    }
    assert_eq!(code(create(&api, "b").await), 200);
    assert_eq!(server.event_count(), 2);
}

#[tokio::test]
async fn an_event_lives_for_its_time_after_the_last_change() {
    let server = ApiServer::start();
    let api = events(&server);
    for name in ["plain", "patched", "touched"] {
        assert_eq!(code(create(&api, name).await), 200);
    }
    server.advance(Duration::from_secs(40 * 60));
    assert_eq!(code(relabel(&api, "patched").await), 200);
    let nothing = Patch::Merge(json!({}));
    assert_eq!(code(api.patch("touched", &PatchParams::default(), &nothing).await), 200);
    server.advance(Duration::from_secs(21 * 60));
    assert_eq!(code(api.get("plain").await), 404);
    assert_eq!(code(api.get("touched").await), 404);
    assert_eq!(code(relabel(&api, "plain").await), 404);
    assert_eq!(code(api.get("patched").await), 200);
    assert!(server.expire("default", "patched"));
    assert_eq!(server.expire_all(), 0);
}

#[tokio::test]
async fn rights_come_and_go() {
    let server = ApiServer::start();
    let rule = |verbs: &[&str]| Rule::new("", "events", verbs).in_namespace("default");
    let api: Api<Event> = Api::default_namespaced(client(&server, server.grant("me", [rule(&["create"])])));
    assert_eq!(code(create(&api, "a").await), 200);
    assert_eq!(code(relabel(&api, "a").await), 403);
    server.grant("me", [rule(&["create", "patch"])]);
    assert_eq!(code(relabel(&api, "a").await), 200);
    server.revoke("me");
    assert_eq!(code(relabel(&api, "a").await), 401);
}

#[tokio::test]
async fn fifty_creates_at_once_get_fifty_names() {
    let server = ApiServer::start();
    let api = events(&server);
    let mut unnamed = event("");
    unnamed.metadata = ObjectMeta { generate_name: Some("gen-".to_owned()), ..ObjectMeta::default() };
    let params = PostParams::default();
    let asked = (0..50).map(|_| api.create(&params, &unnamed));
    assert!(futures_util::future::join_all(asked).await.iter().all(Result::is_ok));
    assert_eq!(server.event_count(), 50);
}

#[tokio::test]
async fn a_watch_tells_every_change() {
    use futures_util::{StreamExt, TryStreamExt};
    use kube::api::{WatchEvent, WatchParams};
    let server = ApiServer::start();
    let api = events(&server);
    let changes = api.watch(&WatchParams::default(), "0").await.expect("a watch").boxed();
    assert_eq!(code(create(&api, "a").await), 200);
    assert_eq!(code(relabel(&api, "a").await), 200);
    server.expire_all();
    let name = |it| match it {
        WatchEvent::Added(_) => "added",
        WatchEvent::Modified(_) => "modified",
        WatchEvent::Deleted(_) => "deleted",
        WatchEvent::Bookmark(_) | WatchEvent::Error(_) => "other",
    };
    let told: Vec<&str> = changes.take(3).map_ok(name).try_collect().await.expect("no error");
    assert_eq!(told, ["added", "modified", "deleted"]);
}

#[tokio::test]
async fn a_watch_that_is_too_old_is_told_so() {
    use futures_util::StreamExt;
    use kube::api::{WatchEvent, WatchParams};
    let server = ApiServer::start();
    // More than the server remembers.
    for number in 0..5000 {
        server.add_object("v1", "Node", None, &format!("n{number}"));
    }
    let mut changes = events(&server).watch(&WatchParams::default(), "1").await.expect("a watch").boxed();
    let Some(Ok(WatchEvent::Error(status))) = changes.next().await else { panic!("not told") };
    assert_eq!((status.code, status.reason.as_str()), (410, "Expired"));
    assert!(changes.next().await.is_none());
}

#[test]
fn a_test_without_a_runtime_can_ask_and_wait() {
    let server = ApiServer::start();
    server.add_object("v1", "ConfigMap", Some("default"), "cm");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let made = runtime.block_on(async { create(&events(&server), "a").await });
    assert_eq!(code(made), 200);
    server.wait_until(|it| it.event_count() == 1);
    let maps: Api<ConfigMap> = runtime.block_on(async { Api::default_namespaced(server.client()) });
    assert!(runtime.block_on(maps.get("cm")).is_ok());
}

#[tokio::test]
async fn no_request_makes_it_fall() {
    let server = ApiServer::start();
    let client = client(&server, server.config());
    server.add_object("v1", "ConfigMap", Some("default"), "x");
    assert_eq!(code(create(&events(&server), "x").await), 200);
    let paths = [
        "/",
        "/api",
        "/api/v1/namespaces",
        "/api/v1/namespaces/default",
        "/api/v1/namespaces/default/events",
        "/api/v1/namespaces/default/events/x",
        "/apis/events.k8s.io/v1/namespaces/default/events/x?fieldManager=me&force=true",
        "/api/v1/namespaces/default/configmaps",
        "/api/v1/namespaces/default/configmaps/x",
        "/api/v1/namespaces/%2F%zz/events/%",
        "/api/v1/events?fieldSelector=a,,=!=b&labelSelector=!,=,a=b",
    ];
    let bodies: [&[u8]; 13] = [
        b"",
        b"null",
        b"5",
        b"[]",
        b"{}",
        b"\xff\xfe",
        br#"{"metadata":null}"#,
        br#"{"metadata":[1]}"#,
        br#"{"metadata":{"name":"y","labels":[],"annotations":{"a":null}},"series":5}"#,
        br#"{"kind":"Event","apiVersion":"v1","metadata":{"name":5},"series":{"count":1e99},"eventTime":"2026-1"}"#,
        br#"[{"op":"replace","path":"","value":5},{"op":"remove","path":"/a/9"}]"#,
        br#"[{"op":"add","path":"/metadata","value":[]}]"#,
        br#"[{"op":"move","from":"/metadata","path":"/metadata/name"},{"op":"none"}]"#,
    ];
    let types = [
        "application/json",
        "application/merge-patch+json",
        "application/json-patch+json",
        "application/apply-patch+yaml",
    ];
    for path in paths {
        for (body, sort) in bodies.into_iter().flat_map(|body| types.map(|sort| (body, sort))) {
            for method in ["POST", "PUT", "PATCH", "GET"] {
                let request = http::Request::builder().method(method).uri(path).header("content-type", sort);
                let request = request.body(kube::client::Body::from(body.to_vec())).expect("a request");
                let answer = client.send(request).await;
                assert!(answer.is_ok(), "{method} {path} {:?}: {answer:?}", String::from_utf8_lossy(body));
            }
        }
    }
    let deleted = http::Request::delete("/api/v1/namespaces/default/events").body(kube::client::Body::empty());
    assert!(client.send(deleted.expect("a request")).await.is_ok());
    assert_eq!(server.event_count(), 0);
}
