//! One binary for all tests that need no process of their own.

mod tidy;
