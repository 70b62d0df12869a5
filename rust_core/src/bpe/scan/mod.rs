//! Pre-tokenisation: cutting text into the pieces that are merged one by one.
//!
//! One hand-written scanner for each pattern in place of a backtracking regex. A scanner looks at
//! a byte only a bounded number of times, so it is linear in any text.

mod cl100k;
mod masks;
mod o200k;
mod p50k;
#[cfg(test)]
mod tests;
mod window;

use super::classes::{LETTER, NUMBER, PUNCTUATION, WHITESPACE, class_at};
use super::runs::{Letters, Newlines, Spaces, run_end};
use super::splits::{Cursor, Splits};
use window::Style;

/// A pre-tokeniser's pattern, by the first encoding that has it.
pub enum Pattern {
    /// See `scan/cl100k.rs`.
    Cl100k,
    /// See `scan/o200k.rs`.
    O200k,
    /// See `scan/p50k.rs`.
    P50k,
    /// Any other.
    Splits(Splits),
}

impl Pattern {
    /// Fills `bounds` with the ends of the pieces from `bounds[0]` on, as many as there are, fit and
    /// begin within [`REACH`]; answers how many.
    pub fn cut(&self, text: &[u8], bounds: &mut [usize], cursor: &mut Cursor) -> usize {
        match self {
            Self::Cl100k => cut_windows(text, bounds, Style::Cl100k, cl100k::piece_end),
            Self::O200k => cut_windows(text, bounds, Style::O200k, o200k::piece_end),
            Self::P50k => cut(text, bounds, p50k::piece_end),
            Self::Splits(splits) => {
                cut(text, bounds, |text, at| splits.piece_end(text, at, cursor))
            }
        }
    }
}

/// Bytes from the first piece's start within which the others start.
const REACH: usize = 1 << 14;

/// One piece after another.
#[inline]
fn cut(
    text: &[u8],
    bounds: &mut [usize],
    mut piece_end: impl FnMut(&[u8], usize) -> usize,
) -> usize {
    let mut at = bounds[0];
    let end = text.len().min(at + REACH);
    let mut pieces = 0;
    for bound in &mut bounds[1..] {
        if at >= end {
            break;
        }
        at = piece_end(text, at);
        *bound = at;
        pieces += 1;
    }
    pieces
}

/// Pieces to cut one after another where a window had hardly any.
const SINGLE: usize = 4;

/// As many pieces at once as a window of ASCII has.
#[inline]
fn cut_windows(
    text: &[u8],
    bounds: &mut [usize],
    style: Style,
    piece_end: impl Fn(&[u8], usize) -> usize,
) -> usize {
    let end = text.len().min(bounds[0] + REACH);
    let mut pieces = 0;
    while bounds[pieces] < end && pieces + 1 < bounds.len() {
        let room = &mut bounds[pieces..];
        let in_window = if room.len() > masks::SIZE { cut_window(text, room, style) } else { 0 };
        pieces += in_window;
        if in_window < SINGLE / 2 {
            let room = &mut bounds[pieces..];
            let end = room.len().min(SINGLE + 1);
            pieces += cut(text, &mut room[..end], &piece_end);
        }
    }
    pieces
}

/// The pieces that end in the window at `bounds[0]`.
#[inline]
fn cut_window(text: &[u8], bounds: &mut [usize], style: Style) -> usize {
    let at = bounds[0];
    let mut ends = window::starts(text, at, style) & !1;
    let pieces = ends.count_ones() as usize;
    for bound in &mut bounds[1..=pieces] {
        *bound = at + ends.trailing_zeros() as usize;
        ends &= ends - 1;
    }
    pieces
}

/// Where the run of characters of `classes` that begins at `at` ends.
#[inline]
fn class_run(text: &[u8], mut at: usize, classes: u8) -> usize {
    loop {
        let (class, next) = class_at(text, at);
        if class & classes == 0 {
            return at;
        }
        at = next;
    }
}

/// `\p{L}*`
#[inline]
fn letters(text: &[u8], mut at: usize) -> usize {
    loop {
        at = run_end::<Letters>(text, at);
        if text.get(at).is_none_or(u8::is_ascii) {
            return at;
        }
        let end = foreign_run(text, at, LETTER);
        if end == at {
            return at;
        }
        at = end;
    }
}

/// The characters of `classes` from `at` on that are not ASCII.
#[inline]
fn foreign_run(text: &[u8], mut at: usize, classes: u8) -> usize {
    while text.get(at).is_some_and(|byte| !byte.is_ascii()) {
        let (class, next) = class_at(text, at);
        if class & classes == 0 {
            break;
        }
        at = next;
    }
    at
}

/// `\p{N}{1,3}`, of which the first ends at `at`.
#[inline]
fn up_to_three_numbers(text: &[u8], mut at: usize) -> usize {
    for _ in 0..2 {
        let (class, next) = class_at(text, at);
        if class & NUMBER == 0 {
            break;
        }
        at = next;
    }
    at
}

/// ` ?[^\s\p{L}\p{N}]+` at `at`.
#[inline]
fn punctuation(text: &[u8], at: usize) -> Option<usize> {
    let first = at + usize::from(text[at] == b' ');
    let end = class_run(text, first, PUNCTUATION);
    (end > first).then_some(end)
}

/// `'(?i:[sdmt]|ll|ve|re)` at `at`.
///
/// Without regard to case, `s` also stands for U+017F (long s), the only such letter here.
#[inline]
fn contraction(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(b"'")?;
    match rest {
        [0xC5, 0xBF, ..] => Some(at + 3),
        [a, ..] if matches!(a | 0x20, b's' | b'd' | b'm' | b't') => Some(at + 2),
        [a, b, ..] if matches!(&[a | 0x20, b | 0x20], b"ll" | b"ve" | b"re") => Some(at + 3),
        _ => None,
    }
}

/// A run of whitespace.
struct Blank {
    /// Where it ends.
    end: usize,
    /// Where its last character begins.
    last: usize,
    /// Where its last CR or LF ends; 0 when it has none.
    newline: usize,
}

/// The run of whitespace at `at`.
#[inline]
fn blank(text: &[u8], at: usize) -> Blank {
    let mut run = Blank { end: at, last: at, newline: 0 };
    loop {
        let spaces = run_end::<Spaces>(text, run.end);
        let end = run_end::<Newlines>(text, spaces);
        if end > run.end {
            let newline = if end > spaces { end } else { run.newline };
            run = Blank { end, last: end - 1, newline };
            continue;
        }
        let (class, next) = class_at(text, run.end);
        if class & WHITESPACE == 0 {
            return run;
        }
        run = Blank { end: next, last: run.end, ..run };
    }
}

impl Blank {
    /// `\s+(?!\S)|\s`: what follows keeps the last character, unless that is all there is.
    #[inline]
    fn before_next(&self, text: &[u8], at: usize) -> usize {
        if self.end == text.len() || self.last == at { self.end } else { self.last }
    }
}
