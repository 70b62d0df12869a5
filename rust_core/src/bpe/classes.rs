//! The class of a code point, and the decoding of UTF-8 that goes with it.
//!
//! Classes are single bits, so that a pattern's `[\p{L}\p{N}]` is one test against a mask.

include!(concat!(env!("OUT_DIR"), "/classes.rs"));

/// `\p{L}`
pub const LETTER: u8 = UPPER | LOWER | OTHER_LETTER;
/// `\s`
pub const WHITESPACE: u8 = SPACE | NEWLINE;
/// `[^\s\p{L}\p{N}]`
pub const PUNCTUATION: u8 = MARK | SYMBOL;

/// The class of a code point.
#[inline]
#[must_use]
pub fn class_of(code_point: u32) -> u8 {
    let block = BLOCK_OF[code_point as usize / BLOCKS[0].len()];
    BLOCKS[block as usize][code_point as usize % BLOCKS[0].len()]
}

/// The class of the character that begins at `at`, and where it ends; class 0 at the text's end.
///
/// `text` is valid UTF-8 and `at` is on a character's boundary. (Otherwise the answer is of no
/// use, but it is an answer.)
// A few instructions, asked for every character beyond ASCII.
#[allow(clippy::inline_always)]
#[inline(always)]
#[must_use]
pub fn class_at(text: &[u8], at: usize) -> (u8, usize) {
    match text.get(at) {
        None => (0, at),
        Some(&byte) if byte < 0x80 => (BLOCKS[0][byte as usize], at + 1),
        Some(&byte) => foreign_class(byte, text, at),
    }
}

/// [`class_at`] of a character that isn't ASCII and begins with the byte `first`.
#[inline]
fn foreign_class(first: u8, text: &[u8], at: usize) -> (u8, usize) {
    let (code_point, end) = decode(first, text, at);
    (class_of(code_point), end)
}

/// The code point that begins with the byte `first` at `at` and is not ASCII, and where it ends.
#[inline]
fn decode(first: u8, text: &[u8], at: usize) -> (u32, usize) {
    let next = |offset: usize| u32::from(text.get(at + offset).copied().unwrap_or(0)) & 0x3F;
    let first = u32::from(first);
    if first < 0xE0 {
        ((first & 0x1F) << 6 | next(1), at + 2)
    } else if first < 0xF0 {
        ((first & 0x0F) << 12 | next(1) << 6 | next(2), at + 3)
    } else {
        ((first & 0x07) << 18 | next(1) << 12 | next(2) << 6 | next(3), at + 4)
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    /// Against the regex that `tiktoken-rs` runs on.
    #[test]
    fn every_code_point_has_the_class_that_the_regex_gives_it() {
        let classes = [
            (NEWLINE, r"^[\r\n]$"),
            (SPACE, r"^[\s--\r\n]$"),
            (UPPER, r"^[\p{Lu}\p{Lt}]$"),
            (LOWER, r"^\p{Ll}$"),
            (OTHER_LETTER, r"^[\p{Lm}\p{Lo}]$"),
            (MARK, r"^\p{M}$"),
            (NUMBER, r"^\p{N}$"),
            (SYMBOL, r"^[^\s\p{L}\p{M}\p{N}]$"),
        ];
        let patterns = classes.map(|(class, pattern)| (class, Regex::new(pattern).unwrap()));
        let mut text = String::new();
        for character in '\0'..=char::MAX {
            text.clear();
            text.push(character);
            for (class, pattern) in &patterns {
                let expected = pattern.is_match(&text);
                assert_eq!(
                    class_of(character.into()) == *class,
                    expected,
                    "{character:?} {pattern}"
                );
            }
            let class = class_of(character.into());
            assert_eq!(class_at(text.as_bytes(), 0), (class, text.len()), "{character:?}");
        }
    }
}
