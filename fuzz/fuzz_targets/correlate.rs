//! Arbitrary steps through the pure core, and its laws after each.
//!
//! The decisions are private to the crate: they are taken in by path, with the nouns they are made of.

#![no_main]

#[allow(dead_code, unused_imports, unreachable_pub)]
#[path = "../../src"]
mod house {
    pub(crate) mod correlate;
    pub(crate) mod message;
    pub(crate) mod regarding;
}

use house::{correlate, message, regarding};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| correlate::fuzz(bytes));
