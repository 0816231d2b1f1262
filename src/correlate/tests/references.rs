//! Stories of what a reference lacks: the uid, the name, the place where a name ends.

use std::time::Duration;

use super::server::{object, resource};
use super::story::{Story, away};
use crate::message::{Loss, Reply, Request};
use crate::regarding::Regarding;

/// As kube's own span names it.
fn without_uid(name: &str) -> Regarding {
    Regarding { uid: "".into(), ..object(name) }
}

fn kinds() -> Option<Reply> {
    Some(Reply::Resources(vec![resource("ConfigMap", "configmaps", true), resource("Shelf", "shelves", false)]))
}

fn found(uid: &str) -> Option<Reply> {
    Some(Reply::Found { uid: uid.into() })
}

/// The uids of the Events, in the order they were written.
fn uids(story: &Story) -> Vec<&str> {
    let events = story.requests.iter().filter_map(|it| match &it.1 {
        Request::Create(it) | Request::Patch(it) => Some(&*it.event.regarding.uid),
        _ => None,
    });
    events.collect()
}

fn last(story: &Story) -> &Regarding {
    match &story.requests.last().unwrap().1 {
        Request::Create(it) | Request::Patch(it) => &it.event.regarding,
        it => panic!("{it:?} is no Event"),
    }
}

#[test]
fn a_uid_is_looked_up_before_the_first_event_and_then_known() {
    let mut story = Story::new();
    story.regarding(without_uid("web")).answers([kinds(), found("42")]);
    story.at(0.0).info("Started", "ready").at(1.0).info("Grown", "by one").at(60.0);
    story.sent(&[
        "0.0 discover v1",
        "0.0 look up configmaps web",
        "0.0 create web Started x1 ready",
        "1.0 create web Grown x1 by one",
    ]);
    assert_eq!((uids(&story), story.account().look_ups), (vec!["42", "42"], 2));
}

#[test]
fn a_kind_is_discovered_once_for_all_its_objects() {
    let mut story = Story::new();
    story.answers([kinds()]);
    for it in 0..20 {
        story.answers([found("42"), Some(Reply::Done)]).regarding(without_uid(&format!("web-{it}")));
        story.info("Started", "ready").at(0.0);
    }
    story.at(1.0).told(20);
    assert_eq!(story.lines().iter().filter(|it| it.contains("discover")).count(), 1);
}

#[test]
fn a_reference_with_a_uid_needs_no_look_up_and_spares_its_neighbours_one() {
    let mut story = Story::new();
    story.info("Started", "ready").regarding(without_uid("web")).at(1.0).warn("Failed", "not ready").at(60.0);
    assert_eq!(uids(&story), ["uid-of-web", "uid-of-web"]);
    assert_eq!(story.account().look_ups, 0);
}

#[test]
fn repeats_are_one_event_before_and_after_the_uid_is_known() {
    let mut story = Story::new();
    story.regarding(without_uid("web")).answers([None]).at(0.0).info("Synced", "in step");
    story.at(0.5).info("Synced", "in step").answers([found("42")]).late(kinds().unwrap());
    story.at(1.0).info("Synced", "in step").at(60.0);
    story.sent(&[
        "0.0 discover v1",
        "0.5 look up configmaps web",
        "0.5 create web Synced x2 in step",
        "2.0 patch web Synced x3",
    ]);
}

#[test]
fn an_object_that_was_made_anew_has_its_new_uid_in_a_new_event() {
    let mut story = Story::new();
    story.regarding(without_uid("web")).answers([kinds(), found("1")]).at(0.0).info("Started", "ready");
    story.at(301.0).answers([kinds(), found("2"), Some(Reply::Done)]).info("Grown", "by one");
    story.at(302.0).info("Started", "ready").at(400.0);
    assert_eq!(uids(&story), ["1", "2", "2"]);
    assert!(story.lines().last().unwrap().ends_with("create web Started x1 ready"));
}

#[test]
fn a_look_up_that_is_forbidden_is_told_once_and_the_event_goes_without() {
    let mut story = Story::new();
    story.answers([kinds()]);
    for it in 0..3 {
        story.answers([Some(Reply::Forbidden("no".into())), Some(Reply::Done)]);
        story.regarding(without_uid(&format!("web-{it}"))).info("Started", "ready").at(0.0);
    }
    story.at(1.0).told(3);
    let told = story.diagnoses();
    assert_eq!((uids(&story), told.len()), (vec![""; 3], 1));
    assert!(told[0].contains("resources: [\"configmaps\"], verbs: [\"get\"]"), "{told:?}");
}

#[test]
fn an_object_that_is_gone_has_none_and_is_not_asked_for_again_for_five_minutes() {
    let mut story = Story::new();
    story.regarding(without_uid("web")).answers([kinds(), Some(Reply::NotFound)]).info("Deleted", "gone").at(200.0);
    story.info("Deleted", "for good").at(299.0).told(2);
    assert_eq!((uids(&story), story.account().look_ups), (vec!["", ""], 2));
}

#[test]
fn an_object_that_was_there_a_moment_ago_keeps_its_uid_for_its_last_events() {
    let mut story = Story::new();
    story.regarding(without_uid("web")).answers([kinds(), found("1")]).info("Started", "ready").at(0.0);
    story.at(301.0).answers([kinds(), Some(Reply::NotFound)]).info("Deleted", "gone").at(302.0);
    assert_eq!(uids(&story), ["1", "1"]);
}

#[test]
fn a_look_up_that_fails_is_tried_three_times() {
    let mut story = Story::new();
    story.regarding(without_uid("web")).answers([kinds(), away(), away(), away()]).info("Started", "ready");
    story.at(10.0).told(1);
    assert_eq!((uids(&story), story.account().look_ups), (vec![""], 4));
    assert!(story.diagnoses().iter().any(|it| it.contains("uid")));
}

#[test]
fn so_is_a_discovery() {
    let mut story = Story::new();
    story.regarding(without_uid("web")).answers([away(), away(), away()]).info("Started", "ready").at(10.0).told(1);
    assert_eq!((uids(&story), story.account().look_ups), (vec![""], 3));
}

#[test]
fn a_kind_that_no_api_serves_goes_without() {
    let mut story = Story::new();
    story.regarding(Regarding { kind: "Ghost".into(), ..without_uid("web") }).answers([kinds()]);
    story.info("Started", "ready").at(1.0).told(1);
    assert!(story.diagnoses()[0].contains("Ghost"));
}

#[test]
fn look_ups_can_be_switched_off() {
    let mut story = Story::with(|it| it.look_ups = false);
    story.regarding(without_uid("web")).info("Started", "ready").at(1.0).sent(&["0.0 create web Started x1 ready"]);
}

#[test]
fn a_core_kind_without_an_api_version_is_known_and_another_is_not_asked_for() {
    let mut story = Story::new();
    story.answers([kinds(), found("42")]).regarding(Regarding { api_version: "".into(), ..without_uid("web") });
    story.info("Started", "ready").at(1.0);
    assert_eq!((&*last(&story).uid, &*last(&story).api_version), ("42", "v1"));
    let foo = Regarding { api_version: "".into(), kind: "Foo".into(), ..without_uid("bar") };
    story.regarding(foo).info("Started", "ready").at(2.0);
    assert_eq!((story.account().look_ups, &*last(&story).api_version), (2, ""));
}

/// As the text `KIND.VERSION.GROUP/shelf.example.com` is split: at the last dot.
fn split_at_a_guess(api_version: &str, kind: &str) -> Regarding {
    Regarding {
        api_version: api_version.into(),
        kind: kind.into(),
        namespace: "com".into(),
        name: "shelf.example".into(),
        split_at_a_guess: true,
        ..Regarding::default()
    }
}

#[test]
fn a_cluster_scoped_name_with_dots_is_put_together_again() {
    let mut story = Story::new();
    story.answers([kinds(), found("42")]).regarding(split_at_a_guess("v1", "Shelf")).info("Started", "ready").at(1.0);
    let it = last(&story);
    assert_eq!((&*it.name, &*it.namespace, &*it.uid), ("shelf.example.com", "", "42"));
    let Request::Create(it) = &story.requests[2].1 else { panic!() };
    assert_eq!(&*it.event.namespace, "default");
}

#[test]
fn kubernetes_own_are_known_without_asking() {
    let mut story = Story::with(|it| it.look_ups = false);
    story.regarding(split_at_a_guess("v1", "Node")).info("Started", "ready").at(1.0);
    assert_eq!((&*last(&story).name, &*last(&story).namespace), ("shelf.example.com", ""));
    story.regarding(split_at_a_guess("other/v1", "Node")).info("Started", "ready").at(2.0);
    assert_eq!((&*last(&story).name, &*last(&story).namespace), ("shelf.example", "com"));
}

#[test]
fn a_uid_alone_is_completed_from_the_last_full_reference() {
    let mut story = Story::new();
    story.info("Started", "ready").at(1.0);
    story.regarding(Regarding { uid: "uid-of-web".into(), ..Regarding::default() }).info("Grown", "by one").at(2.0);
    assert_eq!(last(&story).to_string(), "ConfigMap/prod/web");
}

#[test]
fn else_it_is_posted_as_it_stands_and_told_once() {
    let mut story = Story::new();
    story.regarding(Regarding { uid: "42".into(), ..Regarding::default() });
    story.info("Grown", "by one").info("Grown", "by two").at(1.0).told(2);
    let Request::Create(it) = &story.requests[0].1 else { panic!() };
    assert_eq!((&*it.event.namespace, &*it.event.regarding.uid), ("default", "42"));
    let told = story.diagnoses();
    assert!(told.len() == 1 && told[0].contains("uid 42"), "{told:?}");
}

#[test]
fn what_is_no_reference_is_dropped_and_counted() {
    let mut story = Story::new();
    for it in [
        Regarding::default(),
        Regarding { kind: "".into(), uid: "".into(), ..object("web") },
        Regarding { name: "".into(), uid: "".into(), ..object("web") },
        Regarding { kind: "Event".into(), ..object("web") },
        Regarding { kind: "Event".into(), api_version: "events.k8s.io/v1".into(), ..object("web") },
        object(&"x".repeat(10_000)),
    ] {
        story.regarding(it).info("Started", "ready");
    }
    story.at(1.0).lost(Loss::Malformed, 6).sent(&[]);
    story.regarding(Regarding { kind: "Event".into(), api_version: "my.org/v1".into(), ..object("a") });
    story.info("Started", "ready").at(2.0).told(1);
}

#[test]
fn look_ups_spend_no_budget_of_events() {
    let mut story = Story::with(|it| (it.object_burst, it.object_refill) = (1, Duration::from_secs(100)));
    story.regarding(without_uid("web")).answers([kinds(), found("42")]).info("Started", "ready").at(0.0).told(1);
}

#[test]
fn a_server_that_was_away_for_a_while_is_asked_for_the_uid_when_it_is_back() {
    let mut story = Story::new();
    story.always(away().unwrap());
    for it in 0..5 {
        story.regarding(without_uid(&format!("web-{it}"))).info("Started", "ready");
    }
    story.at(15.0).told(0).is_well().at(60.0).told(5);
    let uids = uids(&story);
    assert!(uids[uids.len() - 5..].iter().all(|it| it.starts_with("uid-of-")), "{uids:?}");
}
