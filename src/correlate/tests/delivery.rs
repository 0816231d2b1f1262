//! Stories of replies that are not `Done`.

use std::time::Duration;

use super::story::{Story, away};
use crate::message::{Loss, Reply, Request};

fn throttled(seconds: u64) -> Option<Reply> {
    Some(Reply::Throttled(Some(Duration::from_secs(seconds))))
}

#[track_caller]
fn sent_between(story: &Story, which: usize, from: f64, to: f64) {
    let at = story.requests[which].0;
    assert!((from..=to).contains(&at), "request {which} went at {at}: {:#?}", story.lines());
}

#[test]
fn a_failure_is_tried_again_after_half_a_second_then_one_then_two() {
    let mut story = Story::new();
    story.answers([away(), away(), away()]).info("Started", "ready").at(60.0).told(1);
    sent_between(&story, 1, 0.4, 0.6);
    sent_between(&story, 2, 1.2, 1.8);
    sent_between(&story, 3, 2.8, 4.2);
    assert_eq!((story.requests.len(), story.account().retried), (4, 3));
}

#[test]
fn retry_after_is_obeyed() {
    let mut story = Story::new();
    story.answers([throttled(7)]).info("Started", "ready").at(60.0).told(1);
    sent_between(&story, 1, 7.0, 7.0);
}

#[test]
fn what_comes_meanwhile_is_in_the_count_of_the_retry() {
    let mut story = Story::new();
    story.answers([throttled(5)]).info("Synced", "in step").at(1.0).info("Synced", "in step").at(60.0);
    story.sent(&["0.0 create web Synced x1 in step", "5.0 create web Synced x2 in step"]).told(2);
}

#[test]
fn a_create_whose_reply_was_lost_is_told_when_its_name_exists() {
    let mut story = Story::new();
    story.answers([away(), Some(Reply::AlreadyExists)]).info("Started", "ready").at(60.0).told(1);
    assert_eq!(again(&story), [false, true]);
}

#[test]
fn and_what_came_meanwhile_follows_as_a_patch() {
    let mut story = Story::new();
    story.answers([away(), Some(Reply::AlreadyExists)]).info("Synced", "in step").at(0.1).info("Synced", "in step");
    story.at(60.0).told(2);
    assert_eq!(story.lines()[1..].len(), 2);
    assert!(story.lines()[2].ends_with("patch web Synced x2"), "{:#?}", story.lines());
}

#[test]
fn a_name_that_another_has_is_replaced() {
    let mut story = Story::new();
    story.answers([Some(Reply::AlreadyExists)]).info("Started", "ready").at(60.0).told(1);
    let names: Vec<_> = story.requests.iter().map(|it| name(&it.1)).collect();
    assert!(names.len() == 2 && names[0] != names[1], "{names:?}");
    assert_eq!(again(&story), [false, false]);
}

#[test]
fn a_throttled_create_was_not_written_and_is_not_taken_for_ours() {
    let mut story = Story::new();
    story.answers([Some(Reply::Throttled(None)), Some(Reply::AlreadyExists)]).info("Started", "ready").at(60.0).told(1);
    assert_eq!(again(&story), [false, false, false]);
}

#[test]
fn one_failing_object_holds_up_no_other() {
    let mut story = Story::new();
    story.answers([away()]).about("bad").info("Started", "ready").at(0.1);
    story.about("good").info("Started", "ready").at(0.1).told(1);
}

#[test]
fn its_own_later_events_wait_for_it_in_order() {
    let mut story = Story::new();
    story.answers([throttled(5)]).info("First", "one").info("Second", "two").at(60.0).sent(&[
        "0.0 create web First x1 one",
        "5.0 create web First x1 one",
        "5.0 create web Second x1 two",
    ]);
}

#[test]
fn a_request_that_hangs_stops_no_other_object() {
    let mut story = Story::new();
    story.answers([None]).about("slow").info("Started", "ready").at(0.1);
    for it in 0..50 {
        story.about(&format!("web-{it}")).info("Started", "ready").at(0.1);
    }
    story.told(50).at(30.0).late(away().unwrap()).at(60.0).told(51);
}

#[test]
fn while_the_server_is_away_one_request_at_a_time_looks_for_it() {
    let mut story = Story::new();
    story.always(away().unwrap());
    for it in 0..100 {
        story.about(&format!("web-{it}")).info("Started", "ready");
    }
    story.at(1.0).at(300.0).told(0);
    let tries = story.requests.len();
    assert!(tries <= 30, "{tries} tries in five minutes");
    story.is_well().at(340.0).told(100);
}

#[test]
fn credentials_that_are_refused_are_told_once_and_tried_again() {
    let mut story = Story::new();
    story.answers([const { Some(Reply::Unauthorized) }; 3]).info("Started", "ready").at(60.0).told(1);
    let told = story.diagnoses();
    assert!(told.len() == 1 && told[0].contains("401"), "{told:?}");
}

#[test]
fn a_missing_right_is_told_once_with_its_rule_and_heals_by_itself() {
    let mut story = Story::new();
    story.always(Reply::Forbidden("User \"system:serviceaccount:foo:bar\" cannot create resource".into()));
    for it in 0..50 {
        story.about(&format!("web-{it}")).info("Started", "ready");
    }
    story.at(59.0).held(50);
    let told = story.diagnoses();
    assert_eq!(told.len(), 1);
    for part in ["apiGroups: [\"\"]", "resources: [\"events\"]", "\"create\"", "\"patch\"", "namespace `prod`"] {
        assert!(told[0].contains(part), "{part} in {told:?}");
    }
    assert!(story.requests.len() <= 16, "{}", story.requests.len());
    let before = story.requests.len();
    story.at(61.0);
    assert_eq!(story.requests.len(), before + 1, "one looks whether the right is there");
    story.at(170.0).is_well().at(181.0).told(50);
}

#[test]
fn a_namespace_that_rests_harms_no_other() {
    let mut story = Story::new();
    story.answers([Some(Reply::Forbidden("no".into()))]).info("Started", "ready").at(0.0);
    let mut elsewhere = super::server::object("other");
    elsewhere.namespace = "test".into();
    story.regarding(elsewhere).info("Started", "ready").at(0.0).told(1);
}

#[test]
fn the_right_to_patch_may_be_missing_alone() {
    let mut story = Story::new();
    story.info("Synced", "in step").at(0.5).info("Synced", "in step").answers([Some(Reply::Forbidden("no".into()))]);
    story.at(2.0).held(1).info("Grown", "by one").at(2.0).told(2);
    assert!(story.diagnoses()[0].contains("not allowed to patch"));
    story.at(90.0).told(3);
}

#[test]
fn ten_minutes_without_the_right_lose_what_waited_for_that_reason() {
    let mut story = Story::new();
    story.always(Reply::Forbidden("no".into())).info("Started", "ready").at(599.0).held(1);
    story.at(600.0).lost(Loss::Forbidden, 1).lost(Loss::TooOld, 0);
}

#[test]
fn a_namespace_that_is_being_deleted_is_left_alone_without_a_word() {
    let mut story = Story::new();
    story.always(Reply::NamespaceTerminating);
    for it in 0..30 {
        story.about(&format!("web-{it}")).info("Deleted", "gone");
    }
    story.at(1.0).lost(Loss::NamespaceGone, 30);
    assert!(story.requests.len() <= 16 && story.diagnoses().is_empty(), "{}", story.requests.len());
    story.is_well().at(11.5).info("Created", "again").at(12.0).told(1);
}

#[test]
fn so_is_one_that_does_not_exist() {
    let mut story = Story::new();
    story.always(Reply::NamespaceMissing).info("Started", "ready").at(1.0).lost(Loss::NamespaceGone, 1);
}

#[test]
fn an_event_that_the_server_never_takes_is_dropped_told_once_and_not_sent_for_its_repeats() {
    let mut story = Story::new();
    story.always(Reply::Invalid("metadata.name: Invalid value".into()));
    for second in 0..60 {
        story.at(f64::from(second)).info("Synced", "in step");
    }
    story.at(60.0).lost(Loss::Invalid, 60);
    assert_eq!((story.requests.len(), story.diagnoses().len()), (1, 1));
}

#[test]
fn an_answer_to_another_question_is_no_answer() {
    let mut story = Story::new();
    story.answers([Some(Reply::Found { uid: "1".into() })]).info("Started", "ready").at(60.0).told(1);
    assert_eq!(story.requests.len(), 2);
}

#[test]
fn a_flush_tries_once_more_before_the_retry_is_due() {
    let mut story = Story::new();
    story.always(away().unwrap()).info("Started", "ready").at(20.0).is_well().hurry().told(1);
}

#[test]
fn but_never_before_the_server_asked() {
    let mut story = Story::new();
    story.answers([throttled(30)]).info("Started", "ready").at(20.0).hurry().told(0).at(30.0).told(1);
}

#[test]
fn a_cause_is_told_once_a_minute_with_how_many_were_left_out() {
    let mut story = Story::new();
    story.always(Reply::Throttled(None)).info("Started", "ready").at(0.0);
    assert_eq!(story.diagnoses().len(), 1);
    story.at(59.0);
    assert!(story.diagnoses().is_empty());
    story.at(120.0);
    let now = story.clock();
    let told = story.correlator.next_diagnosis(now).unwrap();
    assert!(told.times > 3, "{told:?}");
}

#[test]
fn words_of_the_server_are_cut_and_have_no_controls() {
    let mut story = Story::new();
    story.always(Reply::Invalid(["\u{1b}[31m", &"x".repeat(10_000)].concat().into())).info("Started", "ready").at(0.0);
    let told = story.diagnoses();
    assert!(told[0].len() < 700 && !told[0].contains('\u{1b}'));
}

fn again(story: &Story) -> Vec<bool> {
    let creates = story.requests.iter().filter_map(|it| match &it.1 {
        Request::Create(it) => Some(it.again),
        _ => None,
    });
    creates.collect()
}

fn name(request: &Request) -> &str {
    match request {
        Request::Create(it) | Request::Patch(it) => &it.event.name,
        _ => "",
    }
}
