//! The pattern of `o200k_base` and `o200k_harmony`, with `U` for `\p{Lu}\p{Lt}`, `B` for
//! `\p{Lm}\p{Lo}\p{M}`, `'c` for `(?i:'s|'t|'re|'ve|'m|'ll|'d)`:
//! `[^\r\n\p{L}\p{N}]?[UB]*[\p{Ll}B]+'c?|[^\r\n\p{L}\p{N}]?[UB]+[\p{Ll}B]*'c?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

use super::{blank, contraction, foreign_run, punctuation, up_to_three_numbers};
use crate::bpe::classes::{LETTER, LOWER, MARK, NEWLINE, NUMBER, OTHER_LETTER, UPPER, class_at};
use crate::bpe::runs::{Lowers, Uppers, run_end};

/// Characters that belong to a word's capitals as well as to what follows them.
const BOTH: u8 = OTHER_LETTER | MARK;
/// Characters that a word is made of.
const WORD: u8 = LETTER | MARK;

/// Where the piece ends that begins at `at`, which is inside `text`.
#[inline]
pub fn piece_end(text: &[u8], at: usize) -> usize {
    let (class, next) = class_at(text, at);
    if class & WORD != 0 {
        return word_or_mark(text, at, class, next);
    }
    if class & NUMBER != 0 {
        return up_to_three_numbers(text, next);
    }
    if class & NEWLINE == 0 && class_at(text, next).0 & WORD != 0 {
        return with_contraction(text, word(text, next));
    }
    if let Some(end) = punctuation(text, at) {
        return trailing(text, end);
    }
    let blank = blank(text, at);
    if blank.newline > 0 { blank.newline } else { blank.before_next(text, at) }
}

/// The piece that begins with a character of a word.
///
/// A mark first tries to be what stands before a word, and only where no word with a small letter
/// follows is it a word's first character.
#[inline]
fn word_or_mark(text: &[u8], at: usize, class: u8, next: usize) -> usize {
    if class & MARK != 0 && class_at(text, next).0 & WORD != 0 {
        let end = small_word(text, next).unwrap_or_else(|| word(text, at));
        return with_contraction(text, end);
    }
    with_contraction(text, word(text, at))
}

/// `[\r\n/]*` at `at`.
#[inline]
fn trailing(text: &[u8], at: usize) -> usize {
    let is_trailing = |byte: &&u8| matches!(byte, b'\r' | b'\n' | b'/');
    at + text[at..].iter().take_while(is_trailing).count()
}

#[inline]
fn with_contraction(text: &[u8], end: usize) -> usize {
    contraction(text, end).unwrap_or(end)
}

/// `[UB]*[\p{Ll}B]+|[UB]+[\p{Ll}B]*` at `at`, where a character of a word stands.
#[inline]
fn word(text: &[u8], at: usize) -> usize {
    let capitals = run_end::<Uppers>(text, at);
    let end = run_end::<Lowers>(text, capitals);
    if text.get(end).is_none_or(u8::is_ascii) {
        return end;
    }
    small_word(text, at).unwrap_or_else(|| capitals_of(text, at).0)
}

/// `[UB]*[\p{Ll}B]+` at `at`.
///
/// The capitals take all they can. If no small letter follows, the regex gives back characters
/// until one is left that is of both kinds: the last of those then ends the word.
fn small_word(text: &[u8], at: usize) -> Option<usize> {
    let (end, last_both) = capitals_of(text, at);
    let small = smalls(text, end);
    if small > end { Some(small) } else { last_both }
}

/// `[UB]*` at `at`: where it ends, and where its last character of both kinds ends.
fn capitals_of(text: &[u8], mut at: usize) -> (usize, Option<usize>) {
    let mut last_both = None;
    loop {
        at = run_end::<Uppers>(text, at);
        let (class, next) = class_at(text, at);
        if class & (UPPER | BOTH) == 0 {
            return (at, last_both);
        }
        if class & BOTH != 0 {
            last_both = Some(next);
        }
        at = next;
    }
}

/// `[\p{Ll}B]*` at `at`.
fn smalls(text: &[u8], mut at: usize) -> usize {
    loop {
        let end = foreign_run(text, run_end::<Lowers>(text, at), LOWER | BOTH);
        if end == at || text.get(end).is_none_or(|byte| !byte.is_ascii_lowercase()) {
            return end;
        }
        at = end;
    }
}
