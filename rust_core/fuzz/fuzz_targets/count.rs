//! Any text counts the same as with `tiktoken-rs`, and truncation keeps to its limit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tokencount_core::bpe::{Encoding, Keep};

fuzz_target!(|text: &str| {
    let cl100k = tiktoken_rs::cl100k_base_singleton().count_ordinary(text);
    assert_eq!(Encoding::Cl100kBase.count(text), cl100k);
    let o200k = tiktoken_rs::o200k_base_singleton().count_ordinary(text);
    assert_eq!(Encoding::O200kBase.count(text), o200k);
    for keep in [Keep::Start, Keep::End] {
        let kept = Encoding::O200kBase.truncate(text, o200k / 2, keep);
        assert!(Encoding::O200kBase.count(kept) <= o200k / 2);
    }
});
