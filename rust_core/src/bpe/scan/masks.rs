//! What the bytes of a window are, as masks with a bit for each byte.

use super::window::Style;
use crate::bpe::classes::{LETTER, MARK, OTHER_LETTER, SYMBOL, UPPER, class_at};

/// Bytes in a window.
pub const SIZE: usize = 64;

/// Which characters are what: bit `i` stands for byte `i`, and all bytes of a character have its
/// bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Masks {
    /// In o200k's pattern, marks too: a word has them.
    pub letter: u64,
    pub upper: u64,
    pub digit: u64,
    pub space: u64,
    pub newline: u64,
    /// Whitespace that ends no line.
    pub blank: u64,
    pub quote: u64,
    pub slash: u64,
    /// Everything else, quotes and slashes too.
    pub symbol: u64,
    /// Bytes from which on the window can't tell what is what: beyond the text, digits and spaces
    /// that aren't ASCII, and what only the rest of a word decides.
    pub unknown: u64,
    /// Bytes that continue a character.
    inner: u64,
}

impl Masks {
    /// The masks of the bytes from `at` on.
    #[inline]
    pub fn at(text: &[u8], at: usize, style: Style) -> Self {
        let window = bytes_at(text, at);
        let masks = Self::of(&window);
        if masks.unknown == 0 { masks } else { masks.with_foreign(text, at, style) }
    }

    /// Each of these first bytes with the others of its character.
    #[inline]
    pub fn whole_characters(&self, firsts: u64) -> u64 {
        let second = firsts << 1 & self.inner;
        let third = second << 1 & self.inner;
        firsts | second | third | third << 1 & self.inner
    }

    /// Tells the characters beyond ASCII apart, one by one.
    #[inline]
    fn with_foreign(self, text: &[u8], at: usize, style: Style) -> Self {
        let [mut letter, mut upper, mut mark, mut other, mut symbol] = [0; 5];
        let mut firsts = self.unknown & !self.inner;
        while firsts != 0 {
            let first = firsts.trailing_zeros();
            firsts &= firsts - 1;
            let class = class_at(text, at + first as usize).0;
            let bit = |classes: u8| u64::from(class & classes != 0) << first;
            symbol |= bit(SYMBOL);
            mark |= bit(MARK);
            letter |= bit(LETTER);
            upper |= bit(UPPER);
            other |= bit(OTHER_LETTER);
        }
        self.add(style, [letter, upper, mark, other, symbol])
    }

    /// Adds what the first bytes of foreign characters are.
    #[inline]
    fn add(mut self, style: Style, [letter, upper, mark, other, symbol]: [u64; 5]) -> Self {
        let (letter, symbol) = match style {
            Style::Cl100k => (letter, symbol | mark),
            Style::O200k => (letter | mark, symbol),
        };
        let [letter, symbol, upper, both] =
            [letter, symbol, upper, other | mark].map(|firsts| self.whole_characters(firsts));
        self.unknown &= !(letter | symbol);
        self.letter |= letter;
        self.symbol |= symbol;
        self.upper |= upper;
        if style == Style::O200k {
            // Whether a capital after a character of both kinds begins a word depends on what
            // follows it, and whether a mark after symbols is one of them on how many those are.
            self.unknown |= self.upper & both << 1 | self.letter & mark & self.symbol << 1;
        }
        self
    }
}

/// The window, filled up with bytes that are in no text.
#[inline]
fn bytes_at(text: &[u8], at: usize) -> [u8; SIZE] {
    let rest = &text[at..];
    if let Some(window) = rest.first_chunk() {
        return *window;
    }
    let mut window = [0xFF; SIZE];
    window[..rest.len()].copy_from_slice(rest);
    window
}

/// The members of `set` from each of `starts` to the end of its run of members.
#[inline]
pub fn runs_from(starts: u64, set: u64) -> u64 {
    (((starts & set).wrapping_add(set) ^ set) | starts) & set
}

impl Masks {
    /// All that is known of ASCII; the rest is unknown.
    #[inline]
    fn of(window: &[u8; SIZE]) -> Self {
        // SAFETY: every x86-64 processor has the instructions that it asks for.
        #[cfg(target_arch = "x86_64")]
        return unsafe { vector::masks(window) };
        #[cfg(not(target_arch = "x86_64"))]
        return words::masks(window);
    }

    /// With the masks that follow from others.
    #[inline]
    fn complete(mut self, white: u64) -> Self {
        self.blank = white & !self.newline;
        self.symbol = !(self.letter | self.digit | white | self.unknown);
        self
    }
}

/// Sixteen bytes at a time, with instructions that every x86-64 processor has.
#[cfg(target_arch = "x86_64")]
mod vector {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi8, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set_epi64x, _mm_set1_epi8, _mm_slli_epi16,
    };

    use super::{Masks, SIZE};

    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn masks(window: &[u8; SIZE]) -> Masks {
        let mut masks = Masks::default();
        let mut white = 0;
        let (quarters, _) = window.as_chunks::<16>();
        for (i, quarter) in quarters.iter().enumerate() {
            let (words, _) = quarter.as_chunks::<8>();
            let [low, high] = [words[0], words[1]].map(i64::from_le_bytes);
            let bytes = _mm_set_epi64x(high, low);
            let bits = |members: __m128i| {
                u64::from(_mm_movemask_epi8(members).cast_unsigned()) << (16 * i)
            };
            let newline = _mm_or_si128(equal(bytes, b'\n'), equal(bytes, b'\r'));
            let space = equal(bytes, b' ');
            let letter = bits(within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'a', b'z'));
            masks.letter |= letter;
            // Capitals lack the bit 0x20, which is moved to where masks are taken from.
            masks.upper |= letter & !bits(_mm_slli_epi16::<2>(bytes));
            masks.digit |= bits(within(bytes, b'0', b'9'));
            masks.space |= bits(space);
            masks.newline |= bits(newline);
            white |= bits(_mm_or_si128(space, within(bytes, b'\t', b'\r')));
            masks.quote |= bits(equal(bytes, b'\''));
            masks.slash |= bits(equal(bytes, b'/'));
            masks.unknown |= bits(bytes);
            masks.inner |= bits(_mm_cmplt_epi8(bytes, _mm_set1_epi8(-0x40)));
        }
        masks.complete(white)
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn equal(bytes: __m128i, byte: u8) -> __m128i {
        _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed()))
    }

    /// The bytes in `first..=last`, moved to the lower end of the signed ones to compare just once.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn within(bytes: __m128i, first: u8, last: u8) -> __m128i {
        let moved = _mm_add_epi8(bytes, _mm_set1_epi8(0x80_u8.wrapping_sub(first).cast_signed()));
        _mm_cmplt_epi8(moved, _mm_set1_epi8((0x81 + (last - first)).cast_signed()))
    }
}

/// Eight bytes at a time, in ordinary registers.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod words {
    use super::{Masks, SIZE};
    use crate::bpe::runs::{HIGH, repeat, within};

    #[inline]
    pub fn masks(window: &[u8; SIZE]) -> Masks {
        let mut masks = Masks::default();
        let mut white = 0;
        let (words, _) = window.as_chunks::<8>();
        for (i, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            let bits = |members: u64| gather(members) << (8 * i);
            let space = within(word, b' ', b' ');
            let newline = within(word, b'\n', b'\n') | within(word, b'\r', b'\r');
            masks.letter |= bits(within(word | repeat(0x20), b'a', b'z'));
            masks.upper |= bits(within(word, b'A', b'Z'));
            masks.digit |= bits(within(word, b'0', b'9'));
            masks.space |= bits(space);
            masks.newline |= bits(newline);
            white |= bits(space | within(word, b'\t', b'\r'));
            masks.quote |= bits(within(word, b'\'', b'\''));
            masks.slash |= bits(within(word, b'/', b'/'));
            masks.unknown |= bits(word & HIGH);
            masks.inner |= bits(word & !(word << 1) & HIGH);
        }
        masks.complete(white)
    }

    /// The high bits of eight bytes, as the bits of one: the multiplication moves each to its
    /// place.
    #[inline]
    fn gather(members: u64) -> u64 {
        (members >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{SIZE, vector, words};

    #[test]
    fn vectors_and_words_give_the_same_masks() {
        let mut state = 1_u64;
        for _ in 0..100_000 {
            let window: [u8; SIZE] = std::array::from_fn(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(3);
                (state >> 56) as u8
            });
            // SAFETY: every x86-64 processor has the instructions that it asks for.
            assert_eq!(unsafe { vector::masks(&window) }, words::masks(&window), "{window:?}");
        }
    }
}
