//! The tokens that a merge may begin with: whole characters, wherever that is the same as
//! beginning with bytes.
//!
//! The bytes of a character merge with each other before they merge with anything else, unless a
//! token of the vocabulary joins a part of the character with a neighbour of it: no such token, no
//! such merge. (A merge that needs the whole character has a higher rank than those that make it.)
//! Vocabularies have some hundred such tokens, so nearly all characters can be taken whole, which
//! saves two thirds of the steps in most scripts.

/// The characters of the basic plane.
const PLANE: usize = 1 << 16;

/// What is known of a vocabulary's characters.
pub struct Characters {
    /// The token that is one character of two or three bytes, by code point; 0 if there is none.
    tokens: Box<[u32]>,
    /// A bit for every two bytes on both sides of a character's boundary that some token spans
    /// without having the whole character on one of the sides.
    torn: Box<[u64]>,
}

impl Characters {
    pub fn new() -> Self {
        Self {
            tokens: vec![0; PLANE].into_boxed_slice(),
            torn: vec![0; PLANE / 64].into_boxed_slice(),
        }
    }

    /// Takes note of a token's bytes, if they matter here.
    pub fn add(&mut self, bytes: &[u8], rank: u32) {
        if let Some((code_point, rest)) = decode(bytes)
            && rest.is_empty()
        {
            self.tokens[code_point] = rank;
            return;
        }
        let is_inner = |byte: &&u8| **byte & 0xC0 == 0x80;
        let suffix = bytes.iter().take_while(is_inner).count();
        let inner = bytes.iter().rev().take_while(is_inner).count();
        if suffix == bytes.len() {
            return;
        }
        let last = bytes.len() - inner - 1;
        let is_prefix = inner < (bytes[last].leading_ones() as usize).saturating_sub(1);
        for boundary in [(suffix > 0).then_some(suffix), is_prefix.then_some(last)] {
            if let Some([left, right]) = boundary.and_then(|at| bytes.get(at.checked_sub(1)?..=at))
            {
                let pair = pair(*left, *right);
                self.torn[pair / 64] |= 1 << (pair % 64);
            }
        }
    }

    /// Fills `tokens` with those that merging `piece` may begin with; answers how many those are,
    /// or none if there are more than fit.
    #[inline]
    pub fn split(&self, single: &[u32; 256], piece: &[u8], tokens: &mut [u32]) -> Option<usize> {
        let mut used = 0;
        let mut rest = piece;
        let mut before = 0;
        while let [first, after @ ..] = rest {
            let (token, after) =
                self.whole(before, rest).unwrap_or((single[*first as usize], after));
            *tokens.get_mut(used)? = token;
            used += 1;
            before = piece[piece.len() - after.len() - 1];
            rest = after;
        }
        Some(used)
    }

    /// The token of the first character of `text`, and what follows, if it can be taken whole.
    #[inline]
    fn whole<'a>(&self, before: u8, text: &'a [u8]) -> Option<(u32, &'a [u8])> {
        let (code_point, after) = decode(text)?;
        let token = self.tokens[code_point];
        let last = text[text.len() - after.len() - 1];
        let torn = self.is_torn(before, text[0])
            || after.first().is_some_and(|next| self.is_torn(last, *next));
        (token != 0 && !torn).then_some((token, after))
    }

    #[inline]
    fn is_torn(&self, left: u8, right: u8) -> bool {
        let pair = pair(left, right);
        self.torn[pair / 64] >> (pair % 64) & 1 == 1
    }
}

#[inline]
fn pair(left: u8, right: u8) -> usize {
    u16::from_be_bytes([left, right]).into()
}

/// The code point of the character of two or three bytes that `text` begins with, and what follows.
#[inline]
fn decode(text: &[u8]) -> Option<(usize, &[u8])> {
    let low = |byte: &u8| (*byte & 0x3F) as usize;
    match text {
        [a @ 0xC2..0xE0, b @ 0x80..0xC0, after @ ..] => {
            Some(((*a as usize & 0x1F) << 6 | low(b), after))
        }
        [a @ 0xE0..0xF0, b @ 0x80..0xC0, c @ 0x80..0xC0, after @ ..] => {
            Some(((*a as usize & 0x0F) << 12 | low(b) << 6 | low(c), after))
        }
        _ => None,
    }
}
