//! Stories, a line per step, and laws. The laws' server also serves the fuzzer.

#[cfg(test)]
mod delivery;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod references;
#[cfg(test)]
mod series;
mod server;
#[cfg(test)]
mod similar;
#[cfg(test)]
mod story;
