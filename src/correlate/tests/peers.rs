//! The workloads that other recorders were measured with, and what is promised of them.

use super::story::{Story, away};
use crate::message::{Reply, Request};

/// How many Events were made, with how many writes.
fn events_and_writes(story: &Story) -> (usize, usize) {
    let creates = story.requests.iter().filter(|it| matches!(it.1, Request::Create(_))).count();
    (creates, story.requests.len())
}

/// The count that a person sees at that second, of an object's only Event.
fn shown_at(story: &Story, second: f64) -> u32 {
    let until = story.requests.iter().take_while(|it| it.0 <= second);
    let counts = until.filter_map(|it| match &it.1 {
        Request::Create(it) | Request::Patch(it) => Some(it.count),
        _ => None,
    });
    counts.last().unwrap_or(0)
}

#[test]
fn w1_ten_thousand_identical_records_are_two_writes() {
    let mut story = Story::new();
    for it in 0..10_000 {
        story.at(f64::from(it) * 5e-6).warn("BackOff", "restarting");
    }
    story.at(3.05).told(10_000).at(3_600.0);
    assert_eq!(events_and_writes(&story), (1, 2));
}

#[test]
fn w2_sixty_notes_at_once_are_ten_events_and_the_newest() {
    let mut story = Story::new();
    for it in 0..60 {
        story.at(f64::from(it) * 1e-3).warn("BackOff", &format!("restarting {it}"));
    }
    story.at(60.0).told(60);
    assert!(story.lines().last().unwrap().ends_with("x50 (combined from similar events): restarting 59"));
    let (events, writes) = events_and_writes(&story);
    assert!(events == 11 && writes <= 13, "{events} {writes}");
}

#[test]
fn w3_sixty_reasons_at_once_are_sixty_events() {
    let mut story = Story::new();
    for it in 0..60 {
        story.at(0.0).warn(&format!("Reason{it}"), "it is so");
    }
    story.at(60.0).told(60);
    assert_eq!(events_and_writes(&story), (60, 60));
}

#[test]
fn w4_two_hundred_objects_with_fifty_records_each_are_two_writes_each() {
    let mut story = Story::new();
    for round in 0..50 {
        for it in 0..200 {
            story.at(f64::from(round * 200 + it) * 1e-5).about(&format!("web-{it}")).warn("BackOff", "restarting");
        }
    }
    story.at(3.0).told(10_000);
    assert_eq!(events_and_writes(&story), (200, 400));
}

#[test]
fn w5_two_thousand_objects_are_told_at_once() {
    let mut story = Story::new();
    for it in 0..2_000 {
        story.at(0.0).about(&format!("web-{it}")).info("Started", "ready");
    }
    story.at(0.001).told(2_000);
    assert_eq!(events_and_writes(&story), (2_000, 2_000));
}

#[test]
fn w6_a_repeat_each_tenth_of_a_second_shows_a_third_of_its_count_and_all_in_the_end() {
    let mut story = Story::new();
    for it in 0..900 {
        story.at(f64::from(it) / 10.0).warn("BackOff", "restarting");
    }
    story.at(100.0).told(900);
    for tenth in 20..900 {
        let (shown, heard) = (shown_at(&story, f64::from(tenth) / 10.0), tenth);
        assert!(3 * shown >= heard, "{shown} of {heard}");
    }
    let (events, writes) = events_and_writes(&story);
    assert!(events == 1 && writes <= 10, "{writes}");
}

#[test]
fn w7_notes_that_differ_by_a_request_id_are_eleven_events() {
    let mut story = Story::new();
    for it in 0..100 {
        story.at(f64::from(it) / 5.0).warn("Failed", &format!("request {it} failed"));
    }
    story.at(60.0).told(100);
    assert!(story.lines().last().unwrap().ends_with("x90 (combined from similar events): request 99 failed"));
    let (events, writes) = events_and_writes(&story);
    assert!(events == 11 && writes <= 18, "{events} {writes}");
}

#[test]
fn f1_the_api_is_away_for_twenty_seconds() {
    let mut story = Story::new();
    story.always(away().unwrap());
    for it in 0..100 {
        story.at(f64::from(it) * 1e-3).about("web").warn("BackOff", "restarting");
        story.about(&format!("web-{it}")).warn("BackOff", "restarting");
    }
    story.at(20.0).told(0);
    let refused = story.requests.len();
    assert!(refused <= 24, "{refused} tries while nobody answers");
    story.is_well().at(150.0).told(200);
    let (events, writes) = events_and_writes(&story);
    assert!(events - refused == 101 && writes - refused <= 105, "{events} {writes} {refused}");
}

#[test]
fn f1_away_for_nine_minutes_loses_nothing() {
    let mut story = Story::new();
    story.always(away().unwrap());
    for it in 0..100 {
        story.at(f64::from(it) * 1e-3).about("web").warn("BackOff", "restarting");
        story.about(&format!("web-{it}")).warn("BackOff", "restarting");
    }
    story.at(540.0).told(0);
    assert!(story.requests.len() <= 50, "{} tries", story.requests.len());
    story.is_well().at(590.0).told(200);
}

#[test]
fn f2_the_first_three_writes_are_throttled() {
    let mut story = Story::new();
    story.answers([const { Some(Reply::Throttled(None)) }; 3]);
    for it in 0..10 {
        story.at(0.0).about(&format!("web-{it}")).warn("BackOff", "restarting");
    }
    story.at(30.0).told(10);
}

#[test]
fn f3_the_first_three_writes_of_one_object_are_throttled() {
    let mut story = Story::new();
    story.answers([const { Some(Reply::Throttled(None)) }; 3]);
    for _ in 0..20 {
        story.at(0.0).warn("BackOff", "restarting");
    }
    story.at(30.0).told(20);
    assert_eq!(story.requests.len(), 4);
}

#[test]
fn a_million_repeats_in_an_hour_are_some_twenty_writes_and_half_is_shown() {
    let mut story = Story::new();
    for it in 0..1_000_000 {
        let now = f64::from(it) * 0.0036;
        story.at(now).warn("BackOff", "restarting");
    }
    assert!(shown_at(&story, 3_600.0) > 900_000);
    story.at(3_610.0).told(1_000_000);
    let writes = story.requests.len();
    assert!(writes <= 22, "{writes}");
}
