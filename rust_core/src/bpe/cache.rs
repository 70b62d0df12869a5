//! What pieces were counted as before: piece → number of tokens.
//!
//! Asked before the vocabulary is: the pieces of a text are few beside the tokens of a vocabulary,
//! and lie close together here, four to a cache line.
//!
//! One for each thread and encoding, so without locks. Bounded; a new entry puts an older one out.
//! Keys are compared whole, so a lost or colliding entry costs time and never changes an answer.

use std::hint::select_unpredictable;

use super::piece::{KEY_MAX, Key, LENGTH_SHIFT, hash, key};

/// Short pieces: `1 << SHORT_BITS` buckets of 64 bytes.
const SHORT_BITS: u32 = 13;
/// Longer ones: `1 << LONG_BITS` entries of 64 bytes.
const LONG_BITS: u32 = 13;
/// The longest piece that is kept, in bytes.
const LONG_MAX: usize = 62;

/// A piece has no more tokens than bytes, so its number fits beside its length in a key.
const COUNT_SHIFT: u32 = LENGTH_SHIFT + 4;
const COUNT: u64 = 0xF << COUNT_SHIFT;

/// See the module. Takes 1 MiB, once it is full.
pub struct Cache {
    short: Box<[Short]>,
    long: Box<[Long]>,
}

/// Four short pieces with their numbers of tokens, one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Short([Key; 4]);

/// A piece longer than a key, one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Long {
    bytes: [u8; LONG_MAX],
    length: u8,
    count: u8,
}

impl Cache {
    pub fn new() -> Self {
        let short = Short([Key::default(); 4]);
        let long = Long { bytes: [0; LONG_MAX], length: 0, count: 0 };
        Self {
            short: vec![short; 1 << SHORT_BITS].into_boxed_slice(),
            long: vec![long; 1 << LONG_BITS].into_boxed_slice(),
        }
    }

    /// The number of tokens of the piece `text[bounds]`; 0 if unknown.
    #[inline]
    pub fn get(&self, text: &[u8], (start, end): (usize, usize)) -> usize {
        match end - start {
            ..=KEY_MAX => self.short(key(text, start, end)),
            _ => self.long(&text[start..end]),
        }
    }

    /// Remembers that the piece `text[bounds]` has `count` tokens, unless it is too long.
    #[inline]
    pub fn insert(&mut self, text: &[u8], (start, end): (usize, usize), count: usize) {
        match end - start {
            ..=KEY_MAX => self.insert_short(key(text, start, end), count),
            _ => self.insert_long(&text[start..end], count),
        }
    }

    /// The number of tokens of the piece of that key; 0 if unknown. Without a branch, so that what
    /// the processor learns of one piece doesn't hold up the next.
    #[inline]
    pub fn short(&self, key: Key) -> usize {
        let entries = &self.short[short_home(key)].0;
        let count = |entry: &Key| {
            let difference = (entry.low ^ key.low) | (entry.high & !COUNT ^ key.high);
            select_unpredictable(difference == 0, entry.high >> COUNT_SHIFT, 0)
        };
        entries.iter().fold(0, |sum, entry| sum | count(entry)) as usize
    }

    /// Remembers that the piece of that key has `count` tokens, first in its bucket.
    #[inline]
    pub fn insert_short(&mut self, key: Key, count: usize) {
        let entries = &mut self.short[short_home(key)].0;
        let [a, b, c, _] = *entries;
        let entry = Key { high: key.high | (count as u64) << COUNT_SHIFT, ..key };
        *entries = [entry, a, b, c];
    }

    /// The number of tokens of a piece that is too long for a key; 0 if unknown.
    #[inline]
    fn long(&self, piece: &[u8]) -> usize {
        if piece.len() > LONG_MAX {
            return 0;
        }
        let entry = &self.long[long_home(piece)];
        let same = entry.bytes.get(..entry.length as usize) == Some(piece);
        if same { entry.count as usize } else { 0 }
    }

    #[inline]
    fn insert_long(&mut self, piece: &[u8], count: usize) {
        if piece.len() > LONG_MAX {
            return;
        }
        let entry = &mut self.long[long_home(piece)];
        entry.bytes[..piece.len()].copy_from_slice(piece);
        entry.length = piece.len() as u8;
        entry.count = count as u8;
    }
}

#[inline]
fn short_home(key: Key) -> usize {
    (hash(key) >> (64 - SHORT_BITS)) as usize
}

#[inline]
fn long_home(piece: &[u8]) -> usize {
    let (words, rest) = piece.as_chunks::<8>();
    let mix =
        |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    let hash =
        words.iter().fold(piece.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let hash = rest.iter().fold(hash, |hash, byte| mix(hash, u64::from(*byte)));
    (hash.wrapping_mul(0xC2B2_AE3D_27D4_EB4F) >> (64 - LONG_BITS)) as usize
}
