//! What a person sees: transcripts of the real kubectl on the real server, kept in `tests/snapshots/`.
//!
//! Only what differs from run to run is replaced: ages, the unique part of Events' names, and what the server stamps on
//! the object itself; the columns are then set anew. `cargo insta review` or `INSTA_UPDATE=always` takes new ones; with
//! `CI=true` insta takes none.
//!
//! kubectl sorts by whole seconds, and leaves Events of one second in the order of the server, which is that of their
//! names; ours are named in the order of time. Go sorts up to twelve stably, so no table here is longer.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Api, ObjectMeta, PostParams};
use tracing::{error, info, info_span, warn};
use tracing_k8s_events::Api as EventsApi;

use crate::kit::Program;
use crate::support::envtest::EnvTest;
use crate::support::server::Server;

/// A namespace of the real server, and the transcript that is being made of it.
struct Transcript {
    server: Server,
    kubectl: &'static EnvTest,
    namespace: String,
    text: String,
}

impl Transcript {
    async fn begin(namespace: &str) -> Option<Self> {
        let (server, kubectl) = (Server::real()?, EnvTest::shared()?);
        if namespace != "default" {
            server.add_namespace(namespace).await;
        }
        Some(Self { server, kubectl, namespace: namespace.to_owned(), text: String::new() })
    }

    fn program(&self, api: EventsApi) -> Program {
        Program::on_a_thread(self.server.config(), |it| it.api(api))
    }

    /// Asks kubectl, in the namespace, and writes down what it answers.
    fn ask(&mut self, arguments: &str) {
        let namespace = ["--namespace", &self.namespace];
        let words: Vec<&str> = namespace.into_iter().chain(arguments.split(' ')).collect();
        let answer = normalised(&self.kubectl.kubectl(&words));
        self.text += &format!("$ kubectl {arguments}\n{answer}\n");
    }

    #[track_caller]
    fn assert(self, name: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, self.text.trim_end()));
    }
}

#[track_caller]
fn on_the_real_server(body: impl Future<Output = Option<()>>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let _ = runtime.block_on(body);
}

/// What an operator logs in a small life: all goes well, something fails, something goes on failing.
fn small_life(program: &Program, object: &ObjectReference) {
    program.log_about(object, || {
        let _span = info_span!("reconcile").entered();
        info!(k8s.reason = "Scaled", replicas = 3, "scaled up");
        let failure = std::io::Error::from(std::io::ErrorKind::TimedOut);
        error!(name: "PullFailed", error = &failure as &dyn std::error::Error, "cannot pull the image");
        (0..7).for_each(|_| warn!(k8s.reason = "NotReady", "waiting for the database"));
    });
    assert!(program.flush().is_complete());
}

#[test]
fn a_config_map() {
    on_the_real_server(async {
        let mut transcript = Transcript::begin("golden-config-map").await?;
        let object = transcript.server.config_map("golden-config-map", "web").await;
        small_life(&transcript.program(EventsApi::CoreV1), &object);
        transcript.ask("describe configmap web");
        transcript.ask("get events");
        transcript.ask("get events -o wide");
        transcript.ask("events --for configmap/web");
        transcript.assert("config_map");
        Some(())
    });
}

#[test]
fn a_custom_resource() {
    on_the_real_server(async {
        let mut transcript = Transcript::begin("golden-custom-resource").await?;
        let object = transcript.server.custom_resource("golden-custom-resource", "web").await;
        small_life(&transcript.program(EventsApi::CoreV1), &object);
        transcript.ask("describe foo web");
        transcript.ask("get events");
        transcript.ask("get events -o wide");
        transcript.ask("events --for foo.v1.example.com/web");
        transcript.assert("custom_resource");
        Some(())
    });
}

/// It has no namespace: its Events live in `default`, where others' do too.
#[test]
fn a_node() {
    on_the_real_server(async {
        let mut transcript = Transcript::begin("default").await?;
        let object = transcript.server.node("golden-node").await;
        small_life(&transcript.program(EventsApi::CoreV1), &object);
        transcript.ask("describe node golden-node");
        transcript.ask("get events --field-selector involvedObject.name=golden-node");
        transcript.ask("get events -o wide --field-selector involvedObject.name=golden-node");
        transcript.ask("events --for node/golden-node");
        transcript.assert("node");
        Some(())
    });
}

/// Twelve notes of one line of code. The last comes when the combined Event is there.
async fn twelve_attempts(transcript: &Transcript, api: EventsApi) {
    let object = transcript.server.config_map(&transcript.namespace, "web").await;
    let program = transcript.program(api);
    for attempts in [1..=11, 12..=12] {
        program.log_about(&object, || {
            attempts.for_each(|it| warn!(k8s.reason = "Failed", "attempt {it} failed"));
        });
        assert!(program.flush().is_complete());
    }
}

#[test]
fn a_combined_event_has_the_newest_note() {
    on_the_real_server(async {
        let mut transcript = Transcript::begin("golden-combined").await?;
        twelve_attempts(&transcript, EventsApi::CoreV1).await;
        transcript.ask("describe configmap web");
        transcript.ask("get events");
        transcript.assert("combined");
        Some(())
    });
}

/// The server lets nobody change the note of an Event through the new group.
#[test]
fn a_combined_event_of_the_new_group_keeps_its_first_note() {
    on_the_real_server(async {
        let mut transcript = Transcript::begin("golden-combined-new").await?;
        twelve_attempts(&transcript, EventsApi::EventsV1).await;
        transcript.ask("describe configmap web");
        transcript.ask("get events");
        transcript.assert("combined_new_group");
        Some(())
    });
}

#[test]
fn the_new_group() {
    on_the_real_server(async {
        let mut transcript = Transcript::begin("golden-new-group").await?;
        let object = transcript.server.config_map("golden-new-group", "web").await;
        small_life(&transcript.program(EventsApi::EventsV1), &object);
        transcript.ask("describe configmap web");
        transcript.ask("get events");
        transcript.ask("get events -o wide");
        transcript.ask("events --for configmap/web");
        transcript.assert("new_group");
        Some(())
    });
}

#[test]
fn other_reporters_in_between() {
    on_the_real_server(async {
        let mut transcript = Transcript::begin("golden-between").await?;
        in_between(&mut transcript, EventsApi::CoreV1).await;
        transcript.assert("between");
        Some(())
    });
}

#[test]
fn other_reporters_in_between_in_the_new_group() {
    on_the_real_server(async {
        let mut transcript = Transcript::begin("golden-between-new").await?;
        in_between(&mut transcript, EventsApi::EventsV1).await;
        transcript.assert("between_new_group");
        Some(())
    });
}

/// A kubelet's Event before ours, one between ours, and a last one of ours: each in a second of its own.
async fn in_between(transcript: &mut Transcript, api: EventsApi) {
    let object = transcript.server.config_map(&transcript.namespace, "web").await;
    let program = transcript.program(api);
    program.log_about(&object, || info!(k8s.reason = "Scaled", replicas = 3, "scaled up"));
    assert!(program.flush().is_complete());
    let ours = &transcript.server.events(&transcript.namespace).await[0];
    let first = ours.event_time.as_ref().unwrap().0.as_second();
    legacy(transcript, &object, "Pulled", first - 60, 1).await;
    legacy(transcript, &object, "BackOff", first + 1, 4).await;
    // Stamps come from a clock whose grain is some milliseconds.
    let second = Duration::from_secs(u64::try_from(first).unwrap() + 2) + Duration::from_millis(20);
    while SystemTime::now().duration_since(UNIX_EPOCH).unwrap() < second {
        // The server's answers are the pace.
        transcript.server.client().apiserver_version().await.unwrap();
    }
    program.log_about(&object, || (0..3).for_each(|_| warn!(k8s.reason = "NotReady", "waiting for the database")));
    assert!(program.flush().is_complete());
    transcript.ask("describe configmap web");
    transcript.ask("get events --sort-by=.lastTimestamp");
    transcript.ask("events --for configmap/web");
}

/// An Event as kubelets write them: core/v1 without `eventTime`.
async fn legacy(transcript: &Transcript, object: &ObjectReference, reason: &str, second: i64, count: i32) {
    let time = Time(Timestamp::from_second(second).unwrap());
    let event = Event {
        metadata: ObjectMeta {
            name: Some(format!("web.{}", reason.to_lowercase())),
            namespace: Some(transcript.namespace.clone()),
            ..ObjectMeta::default()
        },
        involved_object: object.clone(),
        type_: Some("Normal".to_owned()),
        reason: Some(reason.to_owned()),
        message: Some("what a kubelet has to say".to_owned()),
        source: Some(EventSource { component: Some("kubelet".to_owned()), host: Some("node-1".to_owned()) }),
        first_timestamp: Some(time.clone()),
        last_timestamp: Some(time),
        count: Some(count),
        ..Event::default()
    };
    let api: Api<Event> = Api::namespaced(transcript.server.client(), &transcript.namespace);
    api.create(&PostParams::default(), &event).await.unwrap();
}

/// Without what differs from run to run.
fn normalised(answer: &str) -> String {
    let mut lines = answer.lines().peekable();
    let mut text = String::new();
    while let Some(line) = lines.next() {
        let is_header = line.starts_with("LAST SEEN") || line.starts_with("  Type") && line.contains("Message");
        if is_header {
            let rows = std::iter::once(line).chain(lines.by_ref().take_while(|it| !it.is_empty())).collect::<Vec<_>>();
            text += &table(&rows);
            continue;
        }
        let key = line.split_once(':').map_or("", |(key, _)| key.trim());
        match key {
            // kubectl before 1.35 had a line more of a node.
            "Kube-Proxy Version" => {}
            "UID" | "Resource Version" | "Creation Timestamp" | "CreationTimestamp" => {
                text += &format!("{}: <{}>\n", line.split(':').next().unwrap_or_default(), key.to_lowercase());
            }
            _ => text += &format!("{}\n", line.trim_end()),
        }
    }
    text
}

/// A table of kubectl's, cut where its header begins a column, and set anew.
fn table(rows: &[&str]) -> String {
    let header = rows[0];
    let indent = header.len() - header.trim_start().len();
    let begins = |at: &usize| *at == indent || *at > indent && header[..*at].ends_with("  ");
    let starts: Vec<usize> = (indent..header.len()).filter(|it| &header[*it..=*it] != " ").filter(begins).collect();
    let names: Vec<&str> = cut(header, &starts);
    let cells = |row: &&str| -> Vec<String> {
        let cells = cut(row, &starts).into_iter().zip(&names);
        cells.map(|(cell, name)| if *name == "NAME" { unique_part(cell) } else { ages(cell, name) }).collect()
    };
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let width = |column: usize| cells.iter().map(|it| it[column].len()).max().unwrap_or_default();
    let mut text = String::new();
    for row in &cells {
        let mut line = " ".repeat(indent);
        for (column, cell) in row.iter().enumerate() {
            line += &format!("{cell:width$}   ", width = width(column));
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn cut<'a>(row: &'a str, starts: &[usize]) -> Vec<&'a str> {
    let ends = starts.iter().skip(1).copied().chain([row.len()]);
    starts.iter().zip(ends).map(|(start, end)| row.get(*start..end.min(row.len())).unwrap_or_default().trim()).collect()
}

/// `5s (x7 over 1m2s)` as `<age> (x7 over <age>)`.
fn ages(cell: &str, column: &str) -> String {
    if !["Age", "LAST SEEN", "FIRST SEEN"].contains(&column) {
        return cell.to_owned();
    }
    let is_age = |it: &str| it.ends_with(['s', 'm', 'h']) && it.starts_with(|it: char| it.is_ascii_digit());
    let word = |it: &str| match it.trim_end_matches(')') {
        age if is_age(age) => it.replace(age, "<age>"),
        _ => it.to_owned(),
    };
    cell.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// `web.18ab01` as `web.<unique>`: what ours end with is a number, in hexadecimal digits.
fn unique_part(cell: &str) -> String {
    match cell.rsplit_once('.') {
        Some((object, unique)) if unique.len() > 8 && unique.chars().all(|it| it.is_ascii_hexdigit()) => {
            format!("{object}.<unique>")
        }
        _ => cell.to_owned(),
    }
}
