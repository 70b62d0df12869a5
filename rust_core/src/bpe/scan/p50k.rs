//! The pattern of `p50k_base` and `r50k_base`:
//! `'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s`

use super::{blank, class_run, letters, punctuation};
use crate::bpe::classes::{LETTER, NUMBER, class_at};

/// Where the piece ends that begins at `at`, which is inside `text`.
#[inline]
pub fn piece_end(text: &[u8], at: usize) -> usize {
    if let Some(end) = contraction(text, at) {
        return end;
    }
    let (class, next) = class_at(text, at + usize::from(text[at] == b' '));
    if class & LETTER != 0 {
        return letters(text, next);
    }
    if class & NUMBER != 0 {
        return class_run(text, next, NUMBER);
    }
    if let Some(end) = punctuation(text, at) {
        return end;
    }
    blank(text, at).before_next(text, at)
}

/// `'(?:[sdmt]|ll|ve|re)` at `at`: in this pattern case counts.
#[inline]
fn contraction(text: &[u8], at: usize) -> Option<usize> {
    match text[at..].strip_prefix(b"'")? {
        [b's' | b'd' | b'm' | b't', ..] => Some(at + 2),
        [b'l', b'l', ..] | [b'v' | b'r', b'e', ..] => Some(at + 3),
        _ => None,
    }
}
