//! One suite, two servers: what the poster writes is what the API server takes, on the in-process server and on a real one.

use std::thread;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Event, ObjectReference};
use kube::api::{Api, DeleteParams};
use tracing::{error, info, info_span, warn};
use tracing_k8s_events::{Api as EventsApi, Publish};

use crate::kit::Program;
use crate::support::server::Server;

/// Runs one test body on every server there is.
#[track_caller]
fn on_every_server(body: impl AsyncFn(&Server)) {
    for server in Server::all() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(body(&server));
    }
}

fn count(event: &Event) -> i32 {
    event.series.as_ref().and_then(|it| it.count).unwrap_or(1)
}

fn total(events: &[Event]) -> i32 {
    events.iter().map(count).sum()
}

fn note(event: &Event) -> &str {
    event.message.as_deref().unwrap_or_default()
}

#[test]
fn an_event_says_who_what_why_and_when() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.config_map(&namespace, "cm").await;
        let program = Program::on_a_thread(server.config(), |it| it);
        program.log_about(&object, || {
            let _reconcile = info_span!("reconcile").entered();
            warn!(k8s.reason = "PullFailed", tries = 3, "cannot pull");
        });
        assert!(program.flush().is_complete());
        let events = server.events(&namespace).await;
        let event = &events[0];
        assert_eq!(event.type_.as_deref(), Some("Warning"));
        assert_eq!(event.reason.as_deref(), Some("PullFailed"));
        assert_eq!(event.action.as_deref(), Some("Reconcile"));
        assert_eq!(note(event), "cannot pull tries=3");
        assert_eq!(event.involved_object, object);
        assert_eq!(event.reporting_component.as_deref(), Some("kit.example.com"));
        assert_eq!(event.reporting_instance.as_deref(), Some("kit-0"));
        assert_eq!(event.source.as_ref().and_then(|it| it.component.as_deref()), Some("kit.example.com"));
        assert!(event.event_time.is_some() && event.first_timestamp.is_some() && event.last_timestamp.is_some());
        assert_eq!((event.count, &event.series), (Some(1), &None));
        program.assert_account_closes();
    });
}

#[test]
fn a_thousand_equal_records_are_one_event_in_every_column() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.config_map(&namespace, "cm").await;
        let program = Program::on_a_thread(server.config(), |it| it);
        program.log_about(&object, || (0..1000).for_each(|_| warn!("not ready")));
        assert!(program.flush().is_complete());
        let events = server.events(&namespace).await;
        assert_eq!(events.len(), 1);
        assert_eq!((count(&events[0]), events[0].count), (1000, Some(1000)));
        let stats = program.handle().stats();
        assert!(stats.created + stats.patched <= 2, "{stats:?}");
    });
}

#[test]
fn the_new_group_takes_them_too() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.config_map(&namespace, "cm").await;
        let program = Program::on_a_thread(server.config(), |it| it.api(EventsApi::EventsV1));
        program.log_about(&object, || {
            (0..10).for_each(|_| warn!("not ready"));
            (0..60).for_each(|request| info!("request {request}"));
        });
        assert!(program.flush().is_complete(), "{:?}", program.handle().stats());
        let events = server.events(&namespace).await;
        assert_eq!(total(&events), 70);
        assert!(events.iter().all(|it| it.count.unwrap_or(0) == 0 && it.last_timestamp.is_none()));
    });
}

#[test]
fn everything_is_made_to_fit() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.config_map(&namespace, "cm").await;
        let program = Program::on_a_thread(server.config(), |it| it.reporting_instance("é".repeat(100)));
        let long = "é".repeat(3000);
        program.log_about(&object, || {
            warn!(k8s.reason = %long, k8s.action = %long, "{long}");
            info!("\u{1b}[31mred\u{1b}[0m\nand\u{0} a break");
        });
        let odd = ObjectReference { name: Some("system:Odd_Name/é..".into()), ..object.clone() };
        program.handle().publish(&odd, Publish::normal("Odd", "a name that is no DNS subdomain"));
        assert!(program.flush().is_complete(), "{:?}", program.handle().stats());
        let events = server.events(&namespace).await;
        assert_eq!(events.len(), 3);
        let notes: Vec<&str> = events.iter().map(note).collect();
        assert!(notes.contains(&"[31mred[0m and a break"), "{notes:?}");
        let cut = notes.iter().find(|it| it.contains('é')).unwrap();
        assert!(cut.len() <= 1024 && cut.len() > 1000, "{}", cut.len());
    });
}

#[test]
fn an_empty_note_and_an_empty_reason_still_post() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.config_map(&namespace, "cm").await;
        let program = Program::on_a_thread(server.config(), |it| it);
        program.handle().publish(&object, Publish::normal("", ""));
        assert!(program.flush().is_complete(), "{:?}", program.handle().stats());
        assert_eq!(server.events(&namespace).await[0].reason.as_deref(), Some("Logging"));
    });
}

#[test]
fn a_cluster_scoped_objects_events_live_in_default() {
    on_every_server(async |server| {
        let node = server.node(&crate::support::server::fresh("node")).await;
        let program = Program::on_a_thread(server.config(), |it| it);
        program.log_about(&node, || warn!(k8s.reason = "DiskPressure", "the disk is full"));
        assert!(program.flush().is_complete());
        let events = server.events("default").await;
        let event = events.iter().find(|it| it.involved_object.name == node.name).unwrap();
        assert_eq!(event.involved_object.namespace, None);
    });
}

#[test]
fn or_in_kube_system_when_asked() {
    on_every_server(async |server| {
        let node = server.node(&crate::support::server::fresh("node")).await;
        let program = Program::on_a_thread(server.config(), |it| it.cluster_events_in_kube_system());
        program.log_about(&node, || warn!("the disk is full"));
        assert!(program.flush().is_complete());
        let events = server.events("kube-system").await;
        assert!(events.iter().any(|it| it.involved_object.name == node.name));
    });
}

#[test]
fn the_explicit_door_carries_related_action_and_annotations() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.config_map(&namespace, "cm").await;
        let other = server.config_map(&namespace, "other").await;
        let program = Program::on_a_thread(server.config(), |it| it);
        let publish = Publish::normal("Scaled", "scaled to 3").action("Scale").related(&other);
        program.handle().publish(&object, publish.annotation("example.com/trace", "7").annotation("no key", "x"));
        assert!(program.flush().is_complete());
        let event = server.events(&namespace).await.remove(0);
        assert_eq!(event.action.as_deref(), Some("Scale"));
        assert_eq!(event.related.and_then(|it| it.name).as_deref(), Some("other"));
        let annotations = event.metadata.annotations.unwrap_or_default();
        assert_eq!(annotations.into_iter().collect::<Vec<_>>(), [("example.com/trace".into(), "7".into())]);
        assert_eq!(program.handle().stats().annotations_left_out, 1);
    });
}

#[test]
fn sixty_warnings_at_once_are_all_shown_or_folded() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.config_map(&namespace, "cm").await;
        let program = Program::on_a_thread(server.config(), |it| it);
        program
            .log_about(&object, || (0..60).for_each(|number| warn!(k8s.reason = "Failed", "attempt {number} failed")));
        assert!(program.flush().is_complete());
        let events = server.events(&namespace).await;
        assert_eq!((events.len(), total(&events)), (11, 60));
        let newest = "(combined from similar events): attempt 59 failed";
        assert!(events.iter().any(|it| note(it) == newest), "{:?}", events.iter().map(note).collect::<Vec<_>>());
        let stats = program.handle().stats();
        assert!(stats.created + stats.patched <= 13, "{stats:?}");
    });
}

#[test]
fn two_hundred_objects_with_fifty_records_each_lose_none() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let about = |number: usize| ObjectReference {
            api_version: Some("v1".into()),
            kind: Some("ConfigMap".into()),
            namespace: Some(namespace.clone()),
            name: Some(format!("cm-{number}")),
            uid: Some(format!("uid-{number}")),
            ..ObjectReference::default()
        };
        let objects: Vec<ObjectReference> = (0..200).map(about).collect();
        let program = Program::on_a_thread(server.config(), |it| it);
        for _ in 0..50 {
            for object in &objects {
                program.log_about(object, || warn!("not ready"));
            }
        }
        assert!(program.flush().is_complete(), "{:?}", program.handle().stats());
        let events = server.events(&namespace).await;
        assert_eq!((events.len(), total(&events)), (200, 10_000));
        let stats = program.handle().stats();
        assert!(stats.created + stats.patched <= 400, "{stats:?}");
    });
}

#[test]
fn a_million_equal_records_from_four_threads_are_told_in_a_dozen_writes() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.config_map(&namespace, "cm").await;
        let program = Program::on_a_thread(server.config(), |it| it);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    program.log_about(&object, || {
                        for number in 0..250_000 {
                            // Flat out they would outrun the poster on two cores: a real program has work between.
                            while number % 256 == 0 && program.handle().stats().queue_length > 8_000 {
                                thread::yield_now();
                            }
                            warn!("not ready");
                        }
                    });
                });
            }
        });
        assert!(program.flush().is_complete(), "{:?}", program.handle().stats());
        let events = server.events(&namespace).await;
        assert_eq!((events.len(), total(&events)), (1, 1_000_000));
        let stats = program.handle().stats();
        assert!(stats.created + stats.patched <= 12, "{stats:?}");
    });
}

#[test]
fn an_event_that_vanished_is_made_anew_with_the_whole_count() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.config_map(&namespace, "cm").await;
        let program = Program::on_a_thread(server.config(), |it| it);
        program.log_about(&object, || (0..5).for_each(|_| warn!("not ready")));
        assert!(program.flush().is_complete());
        let api: Api<Event> = Api::namespaced(server.client(), &namespace);
        let name = server.events(&namespace).await[0].metadata.name.clone().unwrap();
        api.delete(&name, &DeleteParams::default()).await.unwrap();
        program.log_about(&object, || warn!("not ready"));
        assert!(program.flush().is_complete());
        let events = server.events(&namespace).await;
        assert_eq!((events.len(), total(&events)), (1, 6));
        program.assert_account_closes();
    });
}

#[test]
fn a_missing_and_a_terminating_namespace_are_quiet_counted_drops() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.config_map(&namespace, "cm").await;
        server.terminate_namespace(&namespace).await;
        let missing = ObjectReference { namespace: Some("no-such-namespace".into()), ..object.clone() };
        let program = Program::on_a_thread(server.config(), |it| it);
        program.handle().publish(&object, Publish::warning("Late", "in a namespace that ends"));
        program.handle().publish(&missing, Publish::warning("Lost", "in a namespace that is not"));
        let _ = program.flush();
        let stats = program.handle().stats();
        assert_eq!((stats.told, stats.held, stats.dropped_namespace_gone), (0, 0, 2));
    });
}

#[test]
fn the_poster_runs_as_a_plain_future_too() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.config_map(&namespace, "cm").await;
        let (_layer, poster) =
            tracing_k8s_events::builder("kit.example.com").build::<tracing_subscriber::Registry>().unwrap();
        let handle = poster.handle();
        let home = tokio::spawn(poster.run(server.client()));
        handle.publish(&object, Publish::normal("Scaled", "to 3"));
        let events = server.until(&namespace, |events| events.len() == 1).await;
        assert_eq!(note(&events[0]), "to 3");
        assert!(handle.flush(Duration::from_secs(30)).await.is_complete());
        home.abort();
    });
}

#[test]
fn kubes_own_span_is_enough_and_the_uid_is_looked_up() {
    on_every_server(async |server| {
        let namespace = server.fresh_namespace().await;
        let object = server.custom_resource(&namespace, "f1").await;
        let program = Program::on_a_thread(server.config(), |it| it);
        let text = format!("Foo.v1.example.com/f1.{namespace}");
        program.log(|| {
            // As kube-runtime's applier makes it.
            let span = info_span!("reconciling object", "object.ref" = %text, object.reason = "object updated");
            span.in_scope(|| error!("reconcile failed"));
        });
        assert!(program.flush().is_complete());
        let event = server.events(&namespace).await.remove(0);
        assert_eq!(event.involved_object, object);
        assert_eq!(event.type_.as_deref(), Some("Warning"));
    });
}
