//! Which records are listened to.

use tracing::level_filters::LevelFilter;
use tracing::{Level, Span, debug, error, info, info_span, warn};
use tracing_subscriber::filter::Targets;

use super::*;
use crate::layer::filter::is_below;

fn foo() -> Span {
    info_span!("s", k8s.kind = "Foo", k8s.name = "a")
}

fn kubes() -> Span {
    info_span!("reconciling object", "object.ref" = "Foo.v1.example.com/a.ns")
}

fn every_level() {
    error!("error");
    warn!("warn");
    info!("info");
    debug!("debug");
}

#[track_caller]
fn notes_with(choices: Choices, run: impl FnOnce()) -> Vec<String> {
    let (dispatch, ear) = listening_with(choices);
    tracing::dispatcher::with_default(&dispatch, run);
    ear.notes()
}

#[test]
fn declared_and_ambient_records_have_levels_of_their_own() {
    let both = || {
        foo().in_scope(every_level);
        kubes().in_scope(every_level);
    };
    for (declared, ambient, want) in [
        (LevelFilter::INFO, LevelFilter::WARN, &["error", "warn", "info", "error", "warn"][..]),
        (LevelFilter::DEBUG, LevelFilter::ERROR, &["error", "warn", "info", "debug", "error"]),
        (LevelFilter::ERROR, LevelFilter::INFO, &["error", "error", "warn", "info"]),
        (LevelFilter::OFF, LevelFilter::OFF, &[]),
    ] {
        let choices = choices(|it| (it.declared, it.ambient) = (declared, ambient));
        assert_eq!(notes_with(choices, both), want, "{declared} {ambient}");
    }
}

#[test]
fn both_levels_and_the_targets_are_switched_while_running() {
    let (dispatch, ear) = listening();
    let switches = ear.sender.switches();
    tracing::dispatcher::with_default(&dispatch, || {
        let log = || {
            foo().in_scope(every_level);
            kubes().in_scope(every_level);
        };
        log();
        assert_eq!(ear.notes(), ["error", "warn", "info", "error", "warn"]);
        switches.set_declared(LevelFilter::OFF);
        log();
        assert_eq!(ear.notes(), ["error", "warn"]);
        switches.set_declared(LevelFilter::DEBUG);
        switches.set_ambient(LevelFilter::OFF);
        log();
        assert_eq!(ear.notes(), ["error", "warn", "info", "debug"]);
        switches.set_targets(Some(Targets::new().with_target("tracing_k8s_events", Level::ERROR)));
        log();
        assert_eq!(ear.notes(), ["error"]);
        switches.set_targets(None);
        switches.set_declared(LevelFilter::INFO);
        log();
        assert_eq!(ear.notes(), ["error", "warn", "info"]);
    });
}

#[test]
fn target_directives_stand_beside_the_levels() {
    let targets = Targets::new().with_target("mine", Level::INFO).with_target("theirs", Level::ERROR);
    let log = || {
        foo().in_scope(|| {
            info!(target: "mine::deep", "1");
            debug!(target: "mine", "2");
            warn!(target: "theirs", "3");
            error!(target: "theirs", "4");
            error!(target: "nobodys", "5");
        });
    };
    assert_eq!(notes_with(choices(|it| it.targets = Some(targets)), log), ["1", "4"]);
}

#[test]
fn the_kubernetes_clients_own_targets_never_post() {
    let log = || {
        foo().in_scope(|| {
            error!(target: "kube_client::client", "no");
            error!(target: "hyper", "no");
            error!(target: "tower::buffer::worker", { k8s.reason = "R" }, "no");
            error!(target: "tracing_k8s_events", "no");
            error!(target: "hyperion", "yes");
            error!(target: "my_app::hyper", "yes");
        });
    };
    assert_eq!(notes_with(Choices::default(), log), ["yes", "yes"]);
}

#[test]
fn a_denied_target_is_a_module_and_all_below_it() {
    for (target, is) in [("hyper", true), ("hyper::client", true), ("hyperion", false), ("hyp", false), ("", false)] {
        assert_eq!(is_below(target, "hyper"), is, "{target}");
    }
}

#[test]
fn a_record_outside_of_any_object_is_not_heard_and_nothing_is_lost() {
    let (dispatch, ear) = listening();
    tracing::dispatcher::with_default(&dispatch, || {
        every_level();
        info_span!("plain").in_scope(every_level);
    });
    assert_eq!(ear.notes(), Vec::<String>::new());
    assert_eq!(ear.sender.dropped().iter().sum::<u64>(), 0);
}

#[test]
fn no_wanted_record_is_lost_after_a_question() {
    let log = || {
        foo().in_scope(|| {
            let asked = tracing::enabled!(target: "kube_client", Level::ERROR);
            info!("after enabled {asked}");
            let asked = tracing::event_enabled!(Level::DEBUG);
            info!("after event_enabled {asked}");
            let asked = tracing::span_enabled!(Level::TRACE);
            info!("after span_enabled {asked}");
            debug!("unwanted");
            info!("after an unwanted one");
        });
    };
    let all = log_beside_another(log);
    assert_eq!(all.len(), 4, "{all:?}");
}

/// With a layer beside ours that wants only errors by itself.
fn log_beside_another(run: impl FnOnce()) -> Vec<String> {
    let (sender, receiver) = queue(64, false);
    let layer = crate::layer::new(sender.clone(), Choices::default());
    let fmt = tracing_subscriber::fmt::layer().with_writer(std::io::sink).with_filter(LevelFilter::ERROR);
    let dispatch = Dispatch::new(tracing_subscriber::registry().with(fmt).with(layer));
    tracing::dispatcher::with_default(&dispatch, run);
    Ear { sender, receiver }.notes()
}

#[test]
fn a_filter_around_the_layer_may_hide_spans_and_records() {
    let (sender, receiver) = queue(64, false);
    let layer = crate::layer::new(sender.clone(), Choices::default());
    let filter = Targets::new().with_target("shown", Level::TRACE);
    let dispatch = Dispatch::new(tracing_subscriber::registry().with(layer.with_filter(filter)));
    tracing::dispatcher::with_default(&dispatch, || {
        let hidden = || info_span!(target: "hidden", "h", k8s.kind = "Bar", k8s.name = "b");
        let shown = || info_span!(target: "shown", "s", k8s.kind = "Foo", k8s.name = "a");
        shown().in_scope(|| hidden().in_scope(|| info!(target: "shown", "1")));
        hidden().in_scope(|| info!(target: "shown", "2"));
        shown().in_scope(|| info!(target: "hidden", "3"));
    });
    let heard = Ear { sender, receiver }.heard();
    let about: Vec<_> = heard.iter().map(|it| (it.about.as_str(), it.note.as_str())).collect();
    assert_eq!(about, [("Foo a", "1")]);
}

#[test]
fn when_the_queue_is_nearly_full_warnings_still_go_in() {
    let (dispatch, ear) = listening();
    tracing::dispatcher::with_default(&dispatch, || {
        foo().in_scope(|| {
            (0..60).for_each(|_| info!("normal"));
            (0..10).for_each(|_| warn!("warning"));
        });
    });
    let notes = ear.notes();
    assert_eq!(notes.iter().filter(|it| *it == "normal").count(), 56);
    assert_eq!(notes.iter().filter(|it| *it == "warning").count(), 8);
    assert_eq!(ear.lost(Loss::QueueFull), 6);
}
