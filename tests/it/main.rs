//! One binary for all tests that need no process of their own.

mod kit;
mod poster;
mod tidy;
