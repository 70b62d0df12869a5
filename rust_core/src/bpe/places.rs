//! From keys to places in a table of any size.

/// Mixes all bits of `key` into all bits of the answer (a multiplication, folded).
#[inline]
pub fn hash(key: u64) -> u64 {
    let product = u128::from(key) * 0x9E37_79B9_7F4A_7C15;
    (product >> 64) as u64 ^ product as u64
}

/// The place of `hash` among `places`, in proportion: by its high bits.
///
/// Tables needn't be powers of two then, so none is larger than its content asks for.
#[inline]
pub fn place(hash: u64, places: usize) -> usize {
    ((u128::from(hash) * places as u128) >> 64) as usize
}
