//! Many pieces at once: the starts of all pieces in 64 ASCII bytes, as the bits of a word.
//!
//! A scanner that goes from piece to piece pays for a branch that the processor can't predict at
//! almost every one. Here each kind of character is a mask with a bit for each byte, and where
//! pieces start follows from a few operations on masks. A pattern looks at nothing before a
//! piece's start, so a window may begin at any.
//!
//! A window stops where what it sees doesn't decide (`Masks::unknown`): there text is cut piece by
//! piece.

use super::contraction;
use super::masks::{Masks, runs_from};

/// What the two patterns treat differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Cl100k,
    O200k,
}

/// Where pieces start among the 64 bytes from `at` on; the piece of the last start may be longer
/// than the window knows. Bit 0 is always set.
#[inline]
pub fn starts(text: &[u8], at: usize, style: Style) -> u64 {
    let masks = Masks::at(text, at, style);
    let (mut starts, mut quotes) = masks.starts(style);
    let mut after = usize::MAX;
    while quotes != 0 {
        let quote = quotes.trailing_zeros() as usize;
        quotes &= quotes - 1;
        // In o200k's pattern a contraction ends a word, so one can't follow another.
        if style == Style::O200k && quote == after {
            continue;
        }
        if let Some(end) = contraction(text, at + quote) {
            after = end - at;
            let inside = !0 << (quote + usize::from(style == Style::Cl100k));
            let from_end = u64::MAX.checked_shl(after as u32).unwrap_or(0);
            starts = starts & (!inside | from_end) | from_end & from_end.wrapping_neg();
        }
    }
    starts & masks.known() | 1
}

impl Masks {
    /// The starts, and where a quote is at the place of a contraction.
    #[inline]
    fn starts(&self, style: Style) -> (u64, u64) {
        let white = self.blank | self.newline;
        // Line ends (in o200k's pattern, slashes after them too) belong to the symbols before.
        let trailing = match style {
            Style::Cl100k => self.newline,
            Style::O200k => self.newline | self.slash,
        };
        let taken = runs_from(self.symbol << 1 & self.newline, trailing);
        let symbol = self.symbol & !taken;
        let free = white & !taken;
        // A space goes with the symbols after it, any blank or lone symbol with the letters.
        let symbol_start = symbol & !(symbol << 1) & !(self.space << 1);
        let joined = self.letter | self.blank | self.whole_characters(symbol_start);
        let mut word_start = self.letter & !(joined << 1);
        if style == Style::O200k {
            word_start |= self.upper & (self.letter & !self.upper) << 1;
        }
        // Whitespace starts a piece where it starts, after its last line end, and at its last
        // character if that ends no line.
        let last_blank = self.blank & !(white >> 1);
        let after_newline = self.blank & self.newline << 1 & !self.inner_blanks();
        let white_start = free & !(free << 1) | after_newline | last_blank;
        let starts = word_start | symbol_start | white_start | self.thirds();
        let quotes = match style {
            Style::Cl100k => symbol_start,
            Style::O200k => self.letter << 1,
        };
        (starts & !self.open_quote(), quotes & self.quote & self.letter >> 1)
    }

    /// A quote that may begin a contraction of which the window doesn't see the letters.
    #[inline]
    fn open_quote(&self) -> u64 {
        self.quote & (self.unknown >> 1 | 1 << 63)
    }

    /// The first characters of blanks between two line ends.
    #[inline]
    fn inner_blanks(&self) -> u64 {
        let first = self.blank & !(self.blank << 1);
        let before_newline = self.blank & self.newline >> 1;
        if before_newline == 0 {
            return 0;
        }
        let backwards = runs_from(before_newline.reverse_bits(), self.blank.reverse_bits());
        first & backwards.reverse_bits()
    }

    /// Every third digit of a run.
    #[inline]
    fn thirds(&self) -> u64 {
        let mut third = self.digit & !(self.digit << 1);
        let mut thirds = 0;
        let fourth = self.digit & self.digit << 1 & self.digit << 2 & self.digit << 3;
        while third != 0 {
            thirds |= third;
            third = third << 3 & fourth;
        }
        thirds
    }

    /// The positions at which a start is certain: up to where whitespace or what is unknown
    /// reaches the window's end, since how whitespace is cut depends on what follows it.
    #[inline]
    fn known(&self) -> u64 {
        let first_unknown = self.unknown & self.unknown.wrapping_neg();
        let unknown = first_unknown.wrapping_neg();
        let open = (self.blank | self.newline | unknown).leading_ones();
        u64::MAX.checked_shl(65 - open).map_or(u64::MAX, |beyond| !beyond) & !unknown
    }
}
