//! Whatever stands in kube's `object.ref` is read without a panic, and what is read is a reference.

#![no_main]

#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "../../src"]
mod house {
    pub(crate) mod message;
    pub(crate) mod regarding;
}

use house::{message, regarding};
use libfuzzer_sys::fuzz_target;
use regarding::Regarding;

fuzz_target!(|text: &str| {
    let Some(read) = Regarding::from_object_ref(text) else { return };
    assert!(read.is_enough(), "{text:?} was read as {read:?}");
    // Every part is a part of the text, and nothing was made up.
    for part in [&read.kind, &read.name, &read.namespace] {
        assert!(text.contains(&**part), "{part:?} is not in {text:?}");
    }
    assert!(read.uid.is_empty() && read.field_path.is_empty());
});
