//! Stories, a line per step, and laws.

mod laws;
mod limits;
mod peers;
mod series;
mod server;
mod similar;
mod story;
