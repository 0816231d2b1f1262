//! Stories of notes that differ.

use super::story::Story;
use crate::message::Loss;

/// Notes that differ, a second apart.
fn unique(story: &mut Story, from: u32, notes: u32) {
    for it in from..from + notes {
        story.at(f64::from(it)).warn("Failed", &format!("request {it} failed"));
    }
}

#[test]
fn ten_notes_stay_alone() {
    let mut story = Story::new();
    unique(&mut story, 0, 10);
    story.at(60.0).told(10);
    assert_eq!(story.requests.len(), 10);
}

#[test]
fn the_eleventh_makes_a_combined_event_that_shows_the_newest() {
    let mut story = Story::new();
    unique(&mut story, 0, 12);
    story.at(60.0).told(12);
    assert_eq!(
        story.lines()[10..],
        [
            "10.0 create web Failed x1 (combined from similar events): request 10 failed",
            "12.0 patch web Failed x2 (combined from similar events): request 11 failed",
        ]
    );
}

#[test]
fn notes_of_another_line_of_code_do_not_fold_into_it() {
    let mut story = Story::new();
    unique(&mut story, 0, 11);
    story.callsite(2).warn("Failed", "the disk is full");
    story.at(60.0);
    assert!(story.lines().iter().any(|it| it.ends_with("x1 the disk is full")));
}

#[test]
fn notes_of_the_explicit_door_fold_by_their_reason() {
    let mut story = Story::new();
    story.callsite(0);
    unique(&mut story, 0, 100);
    story.at(200.0).told(100);
    assert!(story.requests.len() <= 20, "{}", story.requests.len());
}

#[test]
fn a_note_that_was_shown_alone_goes_on_counting_alone() {
    let mut story = Story::new();
    unique(&mut story, 0, 20);
    story.warn("Failed", "request 3 failed").at(60.0);
    assert!(story.lines().contains(&"20.0 patch web Failed x2".to_owned()), "{:#?}", story.lines());
}

#[test]
fn ten_minutes_without_a_new_note_begin_anew() {
    let mut story = Story::new();
    unique(&mut story, 0, 11);
    story.at(611.0).warn("Failed", "request 700 failed").at(700.0);
    assert_eq!(story.lines().last().unwrap(), "611.0 create web Failed x1 request 700 failed");
}

#[test]
fn unique_texts_for_an_hour_are_eleven_events() {
    let mut story = Story::new();
    unique(&mut story, 0, 3_600);
    story.at(3_700.0).told(3_600);
    let creates = story.lines().iter().filter(|it| it.contains("create")).count();
    assert_eq!(creates, 11);
    assert!(story.requests.len() <= 35, "{}", story.requests.len());
}

#[test]
fn a_combined_event_keeps_its_note_where_the_api_cannot_renew_it() {
    let mut story = Story::with(|it| it.notes_can_be_renewed = false);
    unique(&mut story, 0, 13);
    story.at(60.0).told(13);
    assert_eq!(
        story.lines()[10..],
        [
            "10.0 create web Failed x1 (combined from similar events): request 10 failed",
            "12.0 patch web Failed x2",
            "14.0 patch web Failed x3",
        ]
    );
}

#[test]
fn a_combined_event_that_expired_is_made_anew_with_the_newest_note() {
    let mut story = Story::new();
    unique(&mut story, 0, 12);
    story.answers([Some(crate::message::Reply::NotFound)]);
    story.at(60.0).told(12);
    assert_eq!(story.lines()[12], "12.0 create web Failed x2 (combined from similar events): request 11 failed");
}

#[test]
fn a_long_note_fits_with_its_prefix() {
    let mut story = Story::new();
    unique(&mut story, 0, 10);
    let long = "é".repeat(600);
    story.warn("Failed", &long).at(60.0);
    let line = story.lines().last().unwrap().clone();
    let note = line.split_once("x1 ").unwrap().1;
    assert!(note.starts_with("(combined from similar events): éé") && note.len() <= 1_024 && note.len() > 1_015);
}

#[test]
fn a_hundred_notes_at_once_are_in_a_count() {
    let mut story = Story::new();
    for it in 0..100 {
        story.warn("Failed", &format!("request {it} failed"));
    }
    story.at(0.0).told(100).lost(Loss::Bounds, 0);
    assert_eq!(story.requests.len(), 11);
    assert_eq!(story.lines()[10], "0.0 create web Failed x90 (combined from similar events): request 99 failed");
}

#[test]
fn an_object_that_has_spent_its_budget_folds_whatever_line_its_notes_come_from() {
    let mut story = Story::new();
    for it in 0..1_000 {
        story.at(0.001 * f64::from(it)).callsite(it as usize + 1).warn("Failed", &format!("part {it} failed"));
    }
    story.at(900.0).told(1_000).held(0);
    let creates = story.lines().iter().filter(|it| it.contains("create")).count();
    assert!((101..200).contains(&creates), "{creates}");
}
