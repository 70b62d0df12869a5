//! The pattern of `cl100k_base`:
//! `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`

use super::{blank, class_run, contraction, letters, punctuation, up_to_three_numbers};
use crate::bpe::classes::{LETTER, NEWLINE, NUMBER, class_at};

/// Where the piece ends that begins at `at`, which is inside `text`.
#[inline]
pub fn piece_end(text: &[u8], at: usize) -> usize {
    let (class, next) = class_at(text, at);
    if class & LETTER != 0 {
        return letters(text, next);
    }
    if class & NUMBER != 0 {
        return up_to_three_numbers(text, next);
    }
    if let Some(end) = contraction(text, at) {
        return end;
    }
    if class & NEWLINE == 0 && class_at(text, next).0 & LETTER != 0 {
        return letters(text, next);
    }
    if let Some(end) = punctuation(text, at) {
        return class_run(text, end, NEWLINE);
    }
    let blank = blank(text, at);
    if blank.newline > 0 && blank.end < text.len() {
        return blank.newline;
    }
    blank.before_next(text, at)
}
