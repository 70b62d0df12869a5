//! Everything but the number itself: limits, truncation, stopping, names.

use std::cell::Cell;

use tokencount_core::bpe::{Encoding, Keep, Stopped};

use crate::support::reference;

#[test]
fn names_lead_back_to_their_encodings() {
    for encoding in Encoding::ALL {
        assert_eq!(Encoding::from_name(encoding.name()), Some(encoding));
    }
    assert_eq!(Encoding::from_name("gpt-4"), None);
}

#[test]
fn harmony_counts_as_o200k() {
    let text = "<|start|>user<|message|>What's 2+2?<|end|>";
    let expected = reference(Encoding::O200kHarmony).count_ordinary(text);
    assert_eq!(Encoding::O200kHarmony.count(text), expected);
}

#[test]
fn many_are_counted_one_by_one() {
    assert_eq!(Encoding::Cl100kBase.count_many(["hello world", "", "hello"]), [2, 0, 1]);
}

#[test]
fn a_count_ends_soon_after_its_limit() {
    let text = "many words ".repeat(1_000_000);
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        false
    };
    let count = Encoding::O200kBase.count_until(&text, &stop).unwrap();
    assert_eq!(Encoding::O200kBase.count_up_to(&text, count), Some(count));
    assert_eq!(Encoding::O200kBase.count_up_to(&text, count - 1), None);
    assert!(asked.get() > text.len() / 16_384, "asked every few KiB");
}

#[test]
fn a_count_stops_when_asked_to() {
    let one_piece = "x".repeat(1 << 20);
    let many_pieces = "x y ".repeat(1 << 18);
    for text in [one_piece, many_pieces] {
        let left = Cell::new(3);
        let stop = || left.replace(left.get() - 1) == 0;
        assert_eq!(Encoding::Cl100kBase.count_until(&text, &stop), Err(Stopped));
    }
}

#[test]
fn stop_may_itself_count() {
    let text = "a few words ".repeat(2000);
    let stop = || Encoding::Cl100kBase.count("nested") == 0;
    let count = Encoding::Cl100kBase.count_until(&text, &stop);
    assert_eq!(count, Ok(Encoding::Cl100kBase.count(&text)));
}

#[test]
fn truncation_keeps_whole_tokens_and_characters() {
    let rows = [
        ("hello world", 1, "hello", " world"),
        ("hello world", 0, "", ""),
        ("hello world", 9, "hello world", "hello world"),
        ("", 3, "", ""),
        // Two tokens, between which no character ends.
        ("\u{1f9ff}", 1, "", ""),
    ];
    for (text, limit, start, end) in rows {
        assert_eq!(Encoding::Cl100kBase.truncate(text, limit, Keep::Start), start, "{text:?}");
        assert_eq!(Encoding::Cl100kBase.truncate(text, limit, Keep::End), end, "{text:?}");
    }
}

#[test]
fn truncation_of_a_long_text_keeps_nearly_the_limit() {
    let text = "The naïve café — 中文字 and an emoji 😀. ".repeat(3000);
    for encoding in Encoding::ALL {
        for limit in [1, 10, 1000, 20_001] {
            for keep in [Keep::Start, Keep::End] {
                let count = encoding.count(encoding.truncate(&text, limit, keep));
                assert!(count <= limit && count + 8 >= limit, "{count} of {limit}");
            }
        }
    }
}
