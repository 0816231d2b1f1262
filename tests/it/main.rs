//! One binary for all tests that need no process of their own.

#[path = "../support/mod.rs"]
mod support;

mod contract;
mod controller;
mod end;
mod faults;
mod golden;
#[allow(unreachable_pub, reason = "the other modules use it")]
mod kit;
mod look_up;
mod manifests;
mod order;
mod outages;
mod poster;
mod rights;
mod secrets;
mod stack;
mod tidy;
