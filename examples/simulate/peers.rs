//! The other recorders, by their documented rules, without their timing: what they would write, and what they lose.
//!
//! What depends on how fast a thread runs is left out, always to the peer's favour: no queue of `tools/events`
//! overflows, and no two writes of it overtake one another.

mod events;
mod kube;
mod lru;
mod record;

use super::{dice, recorder};

pub(crate) use events::Events;
pub(crate) use kube::Kube;
pub(crate) use record::Record;
