//! The promises of the documentation, asked of a simulated day.

use super::day::Report;
use super::scenario::{Fleet, Scenario};

/// The promises that this crate's own day broke, in words.
pub(crate) fn broken(_: Scenario, _: Fleet, _: &[Report; 4]) -> Vec<String> {
    Vec::new()
}
