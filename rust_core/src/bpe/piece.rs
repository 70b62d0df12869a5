//! Short pieces as 16-byte keys, compared whole in one step.

/// The longest piece that a key holds, in bytes.
pub const KEY_MAX: usize = 15;

/// The piece's bytes, then its length in the highest byte; 0 is no key.
pub type Key = u128;

/// What no table holds, as the key of a piece that is too long for one.
const TOO_LONG: Key = 0xFF << LENGTH_SHIFT;
const LENGTH_SHIFT: u32 = 8 * KEY_MAX as u32;

/// What to keep of 16 bytes, and what to add, for each length.
const MASKS: [(Key, Key); KEY_MAX + 2] = {
    let mut masks = [(0, TOO_LONG); KEY_MAX + 2];
    let mut length = 0;
    while length <= KEY_MAX {
        masks[length] = ((1 << (8 * length)) - 1, (length as Key) << LENGTH_SHIFT);
        length += 1;
    }
    masks
};

/// The key of `text[start..end]`.
#[inline]
pub fn key(text: &[u8], start: usize, end: usize) -> Key {
    let (mask, length) = MASKS[(end - start).min(KEY_MAX + 1)];
    let bytes = match text.get(start..start + 16) {
        Some(bytes) => bytes.try_into().unwrap_or_default(),
        None => near_end(text, start),
    };
    Key::from_le_bytes(bytes) & mask | length
}

#[cold]
fn near_end(text: &[u8], start: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    let rest = &text[start..];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}

/// Spreads a key over the high bits.
///
/// Two independent multiplications are faster than a chain, and good enough for buckets of four.
#[inline]
pub fn hash(key: Key) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    low.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ high.wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
}

/// Four keys in one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Bucket(pub [Key; 4]);

/// `1 << bits` empty buckets.
pub fn buckets(bits: u32) -> Box<[Bucket]> {
    vec![Bucket([0; 4]); 1 << bits].into_boxed_slice()
}
