//! Stories, a line per step, and laws.

mod delivery;
mod laws;
mod limits;
mod peers;
mod references;
mod series;
mod server;
mod similar;
mod story;
