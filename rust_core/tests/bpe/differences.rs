//! Texts that a counter once got wrong, ours or another: each with the number it must give.

use tokencount_core::bpe::Encoding::{self, Cl100kBase, O200kBase};

use crate::support::reference;

const ROWS: &[(&str, Encoding, &str, usize)] = &[
    ("U+017F folds to s in a contraction", O200kBase, " I'\u{17f}", 2),
    ("line ends and slashes after symbols are one piece", O200kBase, ".\n/", 1),
    ("line ends before a word", Cl100kBase, "word\n\nnext", 3),
    ("special tokens are ordinary text", Cl100kBase, "<|endoftext|>", 7),
];

#[test]
fn rows() {
    for (name, encoding, text, expected) in ROWS {
        assert_eq!(
            reference(*encoding).encode_ordinary(text).len(),
            *expected,
            "reference: {name}"
        );
        assert_eq!(encoding.count(text), *expected, "{name}");
    }
}
