//! Cutting a text so that what is kept has at most so many tokens.

use super::counter::Counter;

/// Which part of a text to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The beginning.
    Start,
    /// The end.
    End,
}

/// As much of `text` from that end as has at most `limit` tokens, cut between two tokens of the
/// whole text and between two characters.
///
/// What is kept is counted again, since it may be cut into other pieces than inside the whole
/// (`\s+(?!\S)` looks ahead). In the rare case that it then has more tokens than the limit, twice
/// as many are given up each time: the time stays n log n.
pub fn truncate<'a>(counter: &Counter, text: &'a str, limit: usize, keep: Keep) -> &'a str {
    let count = |text: &str| counter.count(text.as_bytes(), usize::MAX, &|| false);
    let mut given_up = 0;
    let mut kept = text;
    let total = count(text).unwrap_or_default();
    while count(kept).unwrap_or_default() > limit {
        let tokens = limit.saturating_sub(given_up);
        kept = match keep {
            Keep::Start => &text[..counter.boundaries(text, tokens).0],
            Keep::End => &text[counter.boundaries(text, total - tokens).1..],
        };
        given_up = 2 * given_up + 1;
    }
    kept
}
