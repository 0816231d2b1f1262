//! Stories of one series: when its first, second and further occurrences are told.

use super::story::{Story, away};
use crate::message::{Loss, Reply};

#[test]
fn the_first_is_told_at_once() {
    Story::new().at(0.0).info("Scaled", "to 3").at(3_600.0).sent(&["0.0 create web Scaled x1 to 3"]).told(1);
}

#[test]
fn the_second_is_told_a_second_later() {
    Story::new()
        .at(0.0)
        .info("Scaled", "to 3")
        .at(0.4)
        .info("Scaled", "to 3")
        .at(60.0)
        .sent(&["0.0 create web Scaled x1 to 3", "1.4 patch web Scaled x2"]);
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
