//! Stories of one series: when its first, second and further occurrences are told.

use std::time::Duration;

use super::story::Story;
use crate::message::{Loss, Reply, Request};

#[test]
fn the_first_is_told_at_once() {
    Story::new().at(0.0).info("Scaled", "to 3").at(3_600.0).sent(&["0.0 create web Scaled x1 to 3"]).told(1);
}

#[test]
fn the_second_is_told_a_second_later() {
    let mut story = Story::new();
    story.at(0.0).info("Scaled", "to 3");
    story.at(0.4).info("Scaled", "to 3");
    story.at(60.0).sent(&["0.0 create web Scaled x1 to 3", "1.4 patch web Scaled x2"]);
}

#[test]
fn the_third_is_told_with_the_second_if_it_comes_in_time_and_else_two_seconds_later() {
    let mut story = Story::new();
    story.at(0.0).info("Scaled", "to 3");
    story.at(0.4).info("Scaled", "to 3");
    story.at(1.3).info("Scaled", "to 3");
    story.at(1.5).info("Scaled", "to 3");
    story.at(60.0).sent(&["0.0 create web Scaled x1 to 3", "1.4 patch web Scaled x3", "3.4 patch web Scaled x4"]);
}

#[test]
fn repeats_are_told_together() {
    let mut story = Story::new();
    story.at(0.0).info("Scaled", "to 3").at(0.5);
    for _ in 0..9_999 {
        story.info("Scaled", "to 3");
    }
    story.at(60.0).sent(&["0.0 create web Scaled x1 to 3", "1.5 patch web Scaled x10000"]);
}

#[test]
fn writes_come_at_doubling_distances() {
    let mut story = Story::new();
    for second in 0..40 {
        story.at(f64::from(second)).info("Synced", "in step");
    }
    story.at(40.0).sent(&[
        "0.0 create web Synced x1 in step",
        "2.0 patch web Synced x2",
        "4.0 patch web Synced x4",
        "8.0 patch web Synced x8",
        "16.0 patch web Synced x16",
        "32.0 patch web Synced x32",
    ]);
}

#[test]
fn a_burst_that_falls_silent_tells_its_count_within_seconds() {
    let mut story = Story::new();
    for tenth in 0..100 {
        story.at(f64::from(tenth) / 10.0).info("Synced", "in step");
    }
    story.at(11.8).told(71).at(12.0).told(100);
}

#[test]
fn a_steady_beat_of_ten_seconds_writes_no_more_for_it() {
    let mut story = Story::new();
    for beat in 0..60 {
        story.at(f64::from(beat) * 10.0).info("Synced", "in step");
    }
    story.at(600.0).sent(&[
        "0.0 create web Synced x1 in step",
        "11.0 patch web Synced x2",
        "21.0 patch web Synced x3",
        "31.0 patch web Synced x4",
        "41.0 patch web Synced x5",
        "57.0 patch web Synced x6",
        "89.0 patch web Synced x9",
        "153.0 patch web Synced x16",
        "281.0 patch web Synced x29",
        "537.0 patch web Synced x54",
    ]);
    story.at(642.0).told(60);
}

#[test]
fn six_quiet_minutes_close_it() {
    let mut story = Story::new();
    story.at(0.0).info("Scaled", "to 3");
    story.at(359.0).info("Scaled", "to 3");
    story.at(720.0).info("Scaled", "to 3");
    story.at(800.0).sent(&[
        "0.0 create web Scaled x1 to 3",
        "360.0 patch web Scaled x2",
        "720.0 create web Scaled x1 to 3",
    ]);
}

#[test]
fn another_note_reason_type_action_or_object_is_another_event() {
    let mut story = Story::new();
    story.at(0.0).info("Scaled", "to 3").info("Scaled", "to 4").info("Grown", "to 3").warn("Scaled", "to 3");
    story.about("other").info("Scaled", "to 3");
    story.at(60.0).told(5);
    assert_eq!(story.requests.len(), 5);
}

#[test]
fn another_field_path_is_another_event() {
    let mut story = Story::new();
    let mut container = super::server::object("web");
    for path in ["spec.containers{a}", "spec.containers{b}"] {
        container.field_path = path.into();
        story.at(0.0).regarding(container.clone()).info("Started", "runs");
    }
    story.at(60.0);
    assert_eq!(story.requests.len(), 2);
}

#[test]
fn two_lines_of_code_that_say_the_same_are_one_event() {
    let mut story = Story::new();
    story.at(0.0).callsite(1).info("Scaled", "to 3");
    story.at(0.1).callsite(2).info("Scaled", "to 3");
    story.at(60.0).sent(&["0.0 create web Scaled x1 to 3", "1.1 patch web Scaled x2"]);
}

#[test]
fn what_is_heard_while_a_request_is_under_way_is_told_afterwards() {
    let mut story = Story::new();
    story.answers([None]).at(0.0).info("Scaled", "to 3").at(0.1).info("Scaled", "to 3");
    story.at(5.0).held(1).late(Reply::Done).told(1);
    story.at(60.0).sent(&["0.0 create web Scaled x1 to 3", "5.0 patch web Scaled x2"]);
}

#[test]
fn a_reply_that_comes_twice_changes_nothing() {
    let mut story = Story::new();
    story.answers([None]).at(0.0).info("Scaled", "to 3").at(1.0).late(Reply::Done).told(1);
    let tickets: Vec<_> = story.tickets().collect();
    story.doubled(&tickets, &Reply::Done).told(1).doubled(&tickets, &Reply::NotFound).told(1);
    story.at(60.0).sent(&["0.0 create web Scaled x1 to 3"]);
}

#[test]
fn a_reply_that_never_comes_keeps_its_object_waiting_and_no_other() {
    let mut story = Story::new();
    story.answers([None]).at(0.0).info("Scaled", "to 3").info("Grown", "by one");
    story.about("other").info("Scaled", "to 3");
    story.at(300.0).sent(&["0.0 create web Scaled x1 to 3", "0.0 create other Scaled x1 to 3"]).held(1).told(1);
}

#[test]
fn what_is_under_way_at_the_end_is_counted_as_lost() {
    let mut story = Story::new();
    story.answers([None]).at(0.0).info("Scaled", "to 3").info("Grown", "by one").at(1.0);
    story.correlator.give_up();
    story.lost(Loss::Shutdown, 2).told(0).held(0);
    let tickets: Vec<_> = story.tickets().collect();
    story.doubled(&tickets, &Reply::Done).told(0).lost(Loss::Shutdown, 2);
}

#[test]
fn a_flush_tells_what_is_held_at_once() {
    let mut story = Story::new();
    story.at(0.0).info("Scaled", "to 3").at(0.1).info("Scaled", "to 3").info("Scaled", "to 3");
    story.hurry().told(3);
    story.sent(&["0.0 create web Scaled x1 to 3", "0.1 patch web Scaled x3"]);
}

#[test]
fn a_flush_also_hurries_what_waits_behind_a_request() {
    let mut story = Story::new();
    story.answers([None]).at(0.0).info("Scaled", "to 3").at(0.1).info("Scaled", "to 3");
    story.hurry().at(0.2).late(Reply::Done).at(0.21).told(2);
}

#[test]
fn a_flush_does_not_hurry_what_comes_after_it() {
    let mut story = Story::new();
    story.at(0.0).info("Scaled", "to 3").at(0.1).hurry();
    story.at(0.2).info("Scaled", "to 3").at(1.1).held(1).at(1.2).told(2);
}

#[test]
fn an_event_that_expired_mid_series_is_made_anew_with_its_whole_count() {
    let mut story = Story::new();
    story.at(0.0).info("Synced", "in step");
    story.at(1.0).info("Synced", "in step").answers([Some(Reply::NotFound)]);
    story.at(60.0).told(2).sent(&[
        "0.0 create web Synced x1 in step",
        "2.0 patch web Synced x2",
        "2.0 create web Synced x2 in step",
    ]);
    let names: Vec<_> = story.requests.iter().filter_map(|it| created(&it.1)).collect();
    assert_ne!(names[0], names[1], "an old name may still be half known");
}

#[test]
fn names_rise_with_the_first_appearances_also_when_the_wall_clock_stands_still() {
    let mut story = Story::new();
    story.stop_the_wall_clock();
    for it in 0..50 {
        story.at(f64::from(it)).info(&format!("Reason{it}"), "it is so");
    }
    let names: Vec<_> = story.requests.iter().filter_map(|it| created(&it.1)).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    let times: Vec<_> = story.requests.iter().map(|it| time(&it.1)).collect();
    assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
}

#[test]
fn nothing_waits_longer_when_the_wall_clock_is_set_back_an_hour() {
    let lines = [false, true].map(|set_back| {
        let mut story = Story::new();
        story.at(0.0).info("Synced", "in step").at(0.5);
        if set_back {
            story.set_the_wall_clock_back(Duration::from_secs(3600));
        }
        story.info("Synced", "in step").at(10.0).info("Scaled", "to 3").at(20.0);
        let lines: Vec<_> = story.requests.iter().map(|(at, it)| (*at, created(it).is_some())).collect();
        lines
    });
    assert_eq!(lines[0], lines[1]);
    assert_eq!(lines[0].len(), 3);
}

#[test]
fn replicas_with_other_seeds_make_other_names() {
    let names = [1, 2].map(|seed| {
        let mut story = Story::with(|it| it.seed = seed);
        story.at(0.0).info("Scaled", "to 3").at(1.0);
        created(&story.requests[0].1).map(ToOwned::to_owned)
    });
    assert_ne!(names[0], names[1]);
}

fn created(request: &Request) -> Option<&str> {
    match request {
        Request::Create(it) => Some(&it.event.name),
        _ => None,
    }
}

fn time(request: &Request) -> std::time::SystemTime {
    match request {
        Request::Create(it) | Request::Patch(it) => it.event.time(),
        _ => std::time::SystemTime::UNIX_EPOCH,
    }
}
