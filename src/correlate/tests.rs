//! Stories, a line per step, and laws.

mod laws;
mod peers;
mod series;
mod story;
