//! Our prints of Events are held to kubectl's: to what it printed once, and to what the real one prints of the same
//! Events.

mod support;

use std::process::Command;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Event, ObjectReference};
use serde_json::{Value, json};
use support::apiserver::ApiServer;
use support::envtest::{self, EnvTest};
use support::kubectl;
use support::server::Server;

/// The moment at which the transcripts were taken.
fn now() -> Timestamp {
    "2026-12-02T06:51:30.2Z".parse().expect("a time")
}

/// The Events of the transcripts: two of the new group, of which one is a series, and one of the old group.
fn transcript() -> Vec<Event> {
    let event = |name: &str, uid: &str, fields: Value| {
        let mut event = json!({
            "metadata": { "name": name, "namespace": "kview" },
            "involvedObject": { "kind": "ConfigMap", "namespace": "kview", "name": "cm2", "uid": uid,
            "apiVersion": "v1" },
        });
        let (Some(into), Some(from)) = (event.as_object_mut(), fields.as_object()) else { panic!("no object") };
        into.extend(from.clone());
        serde_json::from_value(event).expect("an Event")
    };
    let new = |reason: &str, note: &str| {
        json!({
            "eventTime": "2026-12-02T06:51:29.503170Z", "reason": reason, "message": note, "type": "Normal",
            "action": "Probing",
            "reportingComponent": "example.com/probe", "reportingInstance": "probe-1",
        })
    };
    let mut series = new("NewUid", "note of new-uid");
    series["series"] = json!({ "count": 3, "lastObservedTime": "2026-12-02T06:51:29.872068Z" });
    let old = json!({
        "reason": "OldUid", "message": "message of old-uid", "type": "Warning", "source": { "component": "probe",
        "host": "h" },
        "firstTimestamp": "2026-12-02T06:51:29Z", "lastTimestamp": "2026-12-02T06:51:29Z", "count": 4,
    });
    vec![
        event("new-nouid", "", new("NewNoUid", "note of new-nouid")),
        event("new-uid", "d9fac087", series),
        event("old-uid", "d9fac087", old),
    ]
}

#[test]
fn get_events_as_kubectl_printed_them() {
    let printed = "\
LAST SEEN   TYPE      REASON     OBJECT          MESSAGE
0s          Normal    NewNoUid   configmap/cm2   note of new-nouid
0s          Normal    NewUid     configmap/cm2   note of new-uid
1s          Warning   OldUid     configmap/cm2   message of old-uid
";
    assert_eq!(kubectl::get(&transcript(), now(), false, false), printed);
}

#[test]
fn get_events_wide_as_kubectl_printed_them() {
    let printed = "\
LAST SEEN   TYPE      REASON     OBJECT          SUBOBJECT   SOURCE                       MESSAGE              FIRST SEEN   COUNT   NAME
0s          Normal    NewNoUid   configmap/cm2               example.com/probe, probe-1   note of new-nouid    0s           1       new-nouid
0s          Normal    NewUid     configmap/cm2               example.com/probe, probe-1   note of new-uid      0s           3       new-uid
1s          Warning   OldUid     configmap/cm2               probe, h                     message of old-uid   1s           4       old-uid
";
    assert_eq!(kubectl::get(&transcript(), now(), false, true), printed);
}

#[test]
fn the_events_command_as_kubectl_printed_it() {
    let printed = "\
LAST SEEN         TYPE      REASON     OBJECT          MESSAGE
1s (x4 over 1s)   Warning   OldUid     ConfigMap/cm2   message of old-uid
0s                Normal    NewNoUid   ConfigMap/cm2   note of new-nouid
0s (x3 over 0s)   Normal    NewUid     ConfigMap/cm2   note of new-uid
";
    assert_eq!(kubectl::events_command(&transcript(), now()), printed);
}

#[test]
fn describe_as_kubectl_printed_it() {
    let printed = "\
Events:
  Type     Reason  Age              From               Message
  ----     ------  ----             ----               -------
  Normal   NewUid  0s (x3 over 0s)  example.com/probe  note of new-uid
  Warning  OldUid  1s (x4 over 1s)  probe              message of old-uid
";
    assert_eq!(kubectl::describe(&transcript()[1..], now()), printed);
    assert_eq!(kubectl::describe(&[], now()), "Events:  <none>\n");
}

#[test]
fn durations_as_kubectl_shortens_them() {
    let (minute, hour, day) = (60, 3600, 86_400);
    for (seconds, printed) in [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (2 * minute, "2m"),
        (9 * minute + 59, "9m59s"),
        (10 * minute + 59, "10m"),
        (179 * minute, "179m"),
        (3 * hour, "3h"),
        (7 * hour + 59 * minute, "7h59m"),
        (8 * hour + 59 * minute, "8h"),
        (47 * hour, "47h"),
        (2 * day, "2d"),
        (7 * day + 23 * hour, "7d23h"),
        (8 * day + 23 * hour, "8d"),
        (729 * day, "729d"),
        (2 * 365 * day + day, "2y1d"),
        (8 * 365 * day + day, "8y"),
    ] {
        assert_eq!(kubectl::human(SignedDuration::from_secs(seconds)), printed, "{seconds}");
    }
}

/// Events whose ages stay the same for as long as a test may take, with what is awkward to print.
async fn fill(server: &Server, namespace: &str) -> ObjectReference {
    let object = server.config_map(namespace, "cm").await;
    let ago = |age: SignedDuration, layout: &str| {
        Timestamp::now().checked_sub(age).expect("a time").strftime(layout).to_string()
    };
    let (micro, whole) = ("%Y-%m-%dT%H:%M:%S.%6fZ", "%Y-%m-%dT%H:%M:%SZ");
    // Half a unit away from where the print changes.
    let [hours, days] = [2 * 3600 + 1830, 3 * 86_400 + 5 * 3600 + 1800].map(SignedDuration::from_secs);
    let notes = ["plain", " spaces around ", "two\nlines", "a\ttab", "an \x1b[31mescape", "ünï ∞", ""];
    let mut bodies: Vec<Value> = (0..)
        .zip(notes)
        .map(|(number, note)| {
            json!({
                "metadata": { "name": format!("e{number}") }, "eventTime": ago(hours, micro), "message": note,
                "type": "Normal",
                "reason": "Reason", "action": "Act", "reportingComponent": "example.com/probe",
                "reportingInstance": "probe-1",
            })
        })
        .collect();
    bodies[1]["series"] = json!({ "count": 1000, "lastObservedTime": ago(hours, micro) });
    bodies[1]["eventTime"] = json!(ago(days, micro));
    bodies.push(json!({
        "metadata": { "name": "old" }, "message": "old", "type": "Warning", "reason": "Old", "count": 7,
        "source": { "component": "kubelet", "host": "node" }, "firstTimestamp": ago(days, whole),
        "lastTimestamp": ago(hours, whole),
    }));
    bodies.push(json!({ "metadata": { "name": "bare" } }));
    for mut body in bodies {
        body["involvedObject"] = serde_json::to_value(&object).expect("a reference");
        if body["metadata"]["name"] == "e2" {
            body["involvedObject"]["fieldPath"] = json!("spec.containers{main}");
        }
        let request = http::Request::post(format!("/api/v1/namespaces/{namespace}/events"))
            .header("content-type", "application/json")
            .body(body.to_string().into_bytes());
        server.client().request::<Event>(request.expect("a request")).await.expect("an Event");
    }
    object
}

/// Open to all: without TLS kubectl does not send whatever token it is given.
fn in_process() -> Server {
    Server::InProcess(ApiServer::start().open_to_all())
}

/// What the real kubectl prints.
fn real(server: &Server, arguments: &[&str]) -> String {
    match server {
        Server::Real(server) => server.kubectl(arguments),
        Server::InProcess(server) => {
            let assets = envtest::available().expect("asked for only where it is");
            let cache = tempfile::tempdir().expect("a folder");
            let mut command = Command::new(assets.join("kubectl"));
            command.arg("--server").arg(server.url()).arg("--cache-dir").arg(cache.path());
            let output = command.env("KUBECONFIG", "/dev/null").args(arguments).output().expect("kubectl runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
    }
}

async fn prints_the_same(server: Server) {
    let namespace = server.fresh_namespace().await;
    let object = fill(&server, &namespace).await;
    let (client, home) = (server.client(), namespace.as_str());
    let space = format!("--namespace={namespace}");
    let ours = kubectl::get_events(&client, Some(home), false).await.expect("Events");
    assert_eq!(ours, real(&server, &[&space, "get", "events"]), "get events");
    let ours = kubectl::get_events(&client, Some(home), true).await.expect("Events");
    assert_eq!(ours, real(&server, &[&space, "get", "events", "-o", "wide"]), "get events -o wide");
    let ours = kubectl::events_for(&client, home, &object).await.expect("Events");
    assert_eq!(ours, real(&server, &[&space, "events", "--for", "configmap/cm"]), "events --for");
    let ours = kubectl::describe_events(&client, &object).await.expect("Events");
    let described = real(&server, &[&space, "describe", "configmap", "cm"]);
    let at = described.find("Events:").expect("Events");
    assert_eq!(ours, described[at..], "describe");
}

#[tokio::test]
async fn the_real_kubectl_prints_the_same_of_the_real_server() {
    if let Some(server) = Server::real() {
        prints_the_same(server).await;
    }
}

#[tokio::test]
async fn the_real_kubectl_prints_the_same_of_the_in_process_server() {
    if envtest::available().is_some() {
        prints_the_same(in_process()).await;
    }
}

#[tokio::test]
async fn every_kind_is_described_with_its_events() {
    let Some(server) = EnvTest::shared() else { return };
    for server in [in_process(), Server::Real(server)] {
        let namespace = server.fresh_namespace().await;
        let node = server.node(&namespace).await;
        let foo = server.custom_resource(&namespace, "f1").await;
        for (object, home) in [(&node, "default"), (&foo, namespace.as_str())] {
            let body = json!({
                "metadata": { "generateName": "e-" }, "involvedObject": object,
                "eventTime": "2001-01-01T00:00:00.000000Z",
                "reason": "Seen", "action": "See", "message": "hello", "type": "Normal", "reportingComponent": "c",
                "reportingInstance": "i",
            });
            let request =
                http::Request::post(format!("/api/v1/namespaces/{home}/events")).body(body.to_string().into_bytes());
            server.client().request::<Event>(request.expect("a request")).await.expect("an Event");
            let ours = kubectl::describe_events(&server.client(), object).await.expect("Events");
            assert!(ours.contains("Seen") && ours.contains("hello"), "{ours}");
            let name = object.name.as_deref().unwrap_or_default();
            let kind = if home == "default" { "node" } else { "foos.example.com" };
            let space = format!("--namespace={home}");
            let described = real(&server, &[&space, "describe", kind, name]);
            assert!(described.ends_with(&ours), "on {}:\n{described}\n{ours}", server.name());
        }
    }
}
