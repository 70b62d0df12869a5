//! Short pieces as 16-byte keys, compared whole in one step.

use std::hint::select_unpredictable;

/// The longest piece that a key holds, in bytes.
pub const KEY_MAX: usize = 15;
/// The longest piece whose key fits one word, in bytes.
pub const SHORT_MAX: usize = 7;

/// The piece's bytes, then its length in the highest byte; both words 0 is no key.
///
/// Two words rather than one of 128 bits, which is taken apart through memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    pub low: u64,
    pub high: u64,
}

impl Key {
    /// Whether the key fits one word.
    #[inline]
    pub fn is_short(self) -> bool {
        self.high >> LENGTH_SHIFT <= SHORT_MAX as u64
    }

    /// How many words the key takes.
    pub fn words(self) -> usize {
        if self.is_short() { 1 } else { 2 }
    }

    /// The key's two words, or twice its only one.
    #[inline]
    pub fn pattern(self) -> [u64; 2] {
        // The bytes of a short piece and its length don't overlap.
        let word = self.low | self.high;
        let is_short = self.is_short();
        [
            select_unpredictable(is_short, word, self.low),
            select_unpredictable(is_short, word, self.high),
        ]
    }
}

/// Where the highest byte begins.
pub const LENGTH_SHIFT: u32 = 56;

/// What to keep of 16 bytes (low, high), and what to add to the high ones, for each length. What
/// is too long for a key gets one that no table holds.
const MASKS: [[u64; 3]; KEY_MAX + 2] = {
    let mut masks = [[0, 0, 0xFF << LENGTH_SHIFT]; KEY_MAX + 2];
    let mut length = 0;
    while length <= KEY_MAX {
        let kept = (1_u128 << (8 * length)) - 1;
        masks[length] = [kept as u64, (kept >> 64) as u64, (length as u64) << LENGTH_SHIFT];
        length += 1;
    }
    masks
};

/// The key of `text[start..end]`.
#[inline]
pub fn key(text: &[u8], start: usize, end: usize) -> Key {
    let [low, high, length] = MASKS[(end - start).min(KEY_MAX + 1)];
    let [first, second] = sixteen(text, start);
    Key { low: first & low, high: second & high | length }
}

/// The 16 bytes from `start` on, filled up with zeros beyond the text.
#[inline]
fn sixteen(text: &[u8], start: usize) -> [u64; 2] {
    let rest = &text[start..];
    match rest.as_chunks::<8>() {
        ([first, second, ..], _) => [u64::from_le_bytes(*first), u64::from_le_bytes(*second)],
        _ => near_end(rest),
    }
}

#[cold]
fn near_end(rest: &[u8]) -> [u64; 2] {
    let mut bytes = [0; 16];
    bytes[..rest.len()].copy_from_slice(rest);
    let both = u128::from_le_bytes(bytes);
    [both as u64, (both >> 64) as u64]
}

/// Spreads a key over the high bits.
///
/// Two independent multiplications are faster than a chain, and good enough for buckets of four.
#[inline]
pub fn hash(key: Key) -> u64 {
    key.low.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ key.high.wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
}
