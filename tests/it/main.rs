//! One binary for all tests that need no process of their own.

#[path = "../support/mod.rs"]
mod support;

mod contract;
mod golden;
mod kit;
mod poster;
mod tidy;
