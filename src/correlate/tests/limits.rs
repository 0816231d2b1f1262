//! Stories of budgets and bounds, and of who gives way.

use std::time::Duration;

use super::story::{Story, away};
use crate::message::{EventType, Loss, Reply, Request};

#[test]
fn an_object_speaks_a_hundred_times_at_once_and_then_every_five_seconds() {
    let mut story = Story::new();
    for it in 0..103 {
        story.at(0.0).info(&format!("Reason{it}"), "it is so");
    }
    story.at(0.0).told(100).at(4.9).told(100).at(5.0).told(101).at(10.0).told(102).at(15.0).told(103);
}

#[test]
fn what_waits_for_the_budget_is_told_with_its_whole_count() {
    let mut story = Story::with(|it| it.object_burst = 1);
    story.at(0.0).info("First", "once").info("Second", "often");
    for tenth in 1..50 {
        story.at(f64::from(tenth) / 10.0).info("Second", "often");
    }
    story.at(60.0).sent(&["0.0 create web First x1 once", "5.0 create web Second x50 often"]);
}

#[test]
fn one_objects_budget_is_not_anothers() {
    let mut story = Story::with(|it| it.object_burst = 1);
    story.at(0.0).info("First", "once").info("Second", "once");
    story.about("other").info("First", "once");
    story.at(1.0).sent(&["0.0 create web First x1 once", "0.0 create other First x1 once"]);
}

#[test]
fn all_together_speak_two_thousand_times_at_once_and_then_fifty_times_a_second() {
    let mut story = Story::new();
    for it in 0..2_100 {
        story.at(0.0).about(&format!("web-{it}")).info("Started", "ready");
    }
    story.at(0.0).told(2_000).at(1.001).told(2_050).at(2.001).told(2_100);
}

#[test]
fn a_start_up_burst_of_ten_thousand_objects_waits_for_its_budget_whole() {
    let mut story = Story::new();
    for it in 0..10_000 {
        story.at(0.0).about(&format!("web-{it}")).info("Started", "ready");
    }
    story.at(160.1).told(10_000).lost(Loss::Bounds, 0).lost(Loss::TooOld, 0);
}

#[test]
fn first_events_of_objects_go_before_anyones_repeats() {
    let mut story = Story::with(|it| (it.total_burst, it.total_refill) = (1, Duration::from_secs(10)));
    story.at(0.0).about("old").info("Synced", "in step");
    story.at(0.1).about("old").info("Synced", "in step").info("Grown", "by one");
    story.at(5.0).about("new").info("Started", "ready");
    story.at(30.0).sent(&[
        "0.0 create old Synced x1 in step",
        "10.0 create new Started x1 ready",
        "20.0 create old Grown x1 by one",
        "30.0 patch old Synced x2",
    ]);
}

#[test]
fn the_oldest_waiting_goes_first() {
    let mut story = Story::with(|it| (it.total_burst, it.total_refill) = (1, Duration::from_secs(10)));
    for (at, name) in [(0.0, "a"), (1.0, "b"), (2.0, "c"), (3.0, "d")] {
        story.at(at).about(name).info("Started", "ready");
    }
    story.at(30.0).sent(&[
        "0.0 create a Started x1 ready",
        "10.0 create b Started x1 ready",
        "20.0 create c Started x1 ready",
        "30.0 create d Started x1 ready",
    ]);
}

#[test]
fn warnings_go_before_normals_while_the_budget_is_scarce() {
    let mut story = Story::with(|it| (it.total_burst, it.total_refill) = (1, Duration::from_secs(10)));
    story.at(0.0).about("a").info("Started", "ready").at(1.0).about("b").info("Started", "ready");
    story.about("c").warn("Failed", "not ready");
    story.at(20.0).sent(&[
        "0.0 create a Started x1 ready",
        "10.0 create c Failed x1 not ready",
        "20.0 create b Started x1 ready",
    ]);
}

#[test]
fn repeats_that_wait_do_not_starve_behind_one_object() {
    let mut story = Story::with(|it| it.object_burst = 1);
    for it in 0..20 {
        story.at(0.0).about("chatty").info(&format!("Reason{it}"), "it is so");
    }
    story.about("calm").info("Started", "ready").at(0.0).told(2);
    story.at(0.5).about("calm").info("Grown", "by one").at(5.0).told(4);
}

#[test]
fn sixteen_requests_are_under_way_at_first() {
    let mut story = Story::new();
    story.answers([const { None }; 40]);
    ready(&mut story, 0..40);
    assert_eq!((story.requests.len(), story.account().requests_in_flight, story.account().held), (16, 16, 24));
}

#[test]
fn each_answer_lets_one_more_be_under_way_and_a_failure_begins_anew() {
    let mut story = Story::new();
    ready(&mut story, 0..10);
    story.answers([const { None }; 500]);
    ready(&mut story, 10..300);
    assert_eq!(story.account().requests_in_flight, 16 + 10);
    for _ in 0..26 {
        story.late(Reply::Done);
    }
    story.at(0.0);
    assert_eq!(story.account().requests_in_flight, 16 + 10 + 26);
    for _ in 0..26 {
        story.late(Reply::Done);
    }
    story.at(0.0);
    assert_eq!(story.account().requests_in_flight, 64);

    for _ in 0..64 {
        story.late(away().unwrap());
    }
    story.at(60.0);
    assert_eq!(story.account().requests_in_flight, 1, "one looks whether the server is back");
    story.late(Reply::Done).at(60.0);
    assert_eq!(story.account().requests_in_flight, 16 + 1);
}

fn ready(story: &mut Story, objects: std::ops::Range<usize>) {
    for it in objects {
        story.about(&format!("web-{it}")).info("Started", "ready");
    }
    story.at(0.0);
}

#[test]
fn when_the_bound_is_reached_a_series_that_has_told_all_falls_out_for_nothing() {
    let mut story = Story::with(|it| it.series = 3);
    for it in 0..10 {
        story.at(f64::from(it)).about(&format!("web-{it}")).info("Started", "ready");
    }
    story.at(60.0).told(10).lost(Loss::Bounds, 0);
    assert_eq!(story.account().series, 3);
}

#[test]
fn beyond_the_bound_a_normal_is_dropped_and_counted() {
    let mut story = Story::with(|it| it.series = 3);
    story.always(away().unwrap());
    for it in 0..5 {
        story.about(&format!("web-{it}")).info("Started", "ready");
    }
    story.lost(Loss::Bounds, 2).held(3).is_well().at(60.0).told(3);
    assert!(story.diagnoses()[0].contains("dropped and counted"));
}

#[test]
fn a_warning_takes_the_place_of_the_youngest_normal() {
    let mut story = Story::with(|it| it.series = 2);
    story.about("a").info("Started", "ready").about("b").info("Started", "ready");
    story.about("c").warn("Failed", "not ready").about("d").warn("Failed", "not ready").about("e").warn("Failed", "no");
    story
        .lost(Loss::Bounds, 3)
        .at(60.0)
        .sent(&["0.0 create c Failed x1 not ready", "0.0 create d Failed x1 not ready"]);
}

#[test]
fn what_grows_too_old_is_given_up_and_counted() {
    let mut story = Story::new();
    story.always(away().unwrap());
    story.at(0.0).info("Started", "ready").at(599.9).held(1).at(600.0).held(0).lost(Loss::TooOld, 1);
    assert!(story.diagnoses().iter().any(|it| it.contains("given up")));
}

#[test]
fn a_series_is_as_young_as_its_newest_occurrence() {
    let mut story = Story::new();
    story.always(away().unwrap());
    for minute in 0..20 {
        story.at(f64::from(minute) * 60.0).info("Synced", "in step");
    }
    story.is_well().at(1_240.0).told(20);
}

#[test]
fn an_occurrence_may_say_itself_how_old_it_may_grow() {
    let mut story = Story::new();
    story.always(away().unwrap());
    let mut impatient = story.occurrence(EventType::Normal, "Started", "ready");
    impatient.patience = Some(Duration::from_secs(5));
    story.hear(impatient).at(4.9).held(1).at(5.0).lost(Loss::TooOld, 1);
}

#[test]
fn annotations_that_do_not_fit_are_left_out_and_counted() {
    use crate::message::Tag;
    let mut story = Story::new();
    let mut it = story.occurrence(EventType::Normal, "Started", "ready");
    let long = "x".repeat(300_000);
    for (key, value) in [("trace-id", "42"), ("not a key", "1"), ("long", &*long)] {
        it.text.push(Tag::AnnotationKey, key);
        it.text.push(Tag::AnnotationValue, value);
    }
    story.hear(it).at(1.0);
    let Request::Create(telling) = &story.requests[0].1 else { panic!("it is new") };
    assert_eq!(telling.event.annotations, [("trace-id".into(), "42".into())]);
    assert_eq!(story.account().annotations_left_out, 2);
}

#[test]
fn all_annotations_that_wait_have_one_bound() {
    use crate::message::Tag;
    let mut story = Story::with(|it| it.annotations_held = 100_000);
    story.always(away().unwrap());
    for it in 0..10 {
        story.about(&format!("web-{it}"));
        let mut it = story.occurrence(EventType::Normal, "Started", "ready");
        it.text.push(Tag::AnnotationKey, "a");
        it.text.push(Tag::AnnotationValue, &"x".repeat(30_000));
        story.hear(it);
    }
    assert_eq!(story.account().annotations_left_out, 7);
    story.is_well().at(60.0).told(10);
    assert_eq!(story.correlator.annotation_bytes, 0);
}
