//! What pieces that are no token were merged into before: piece → number of tokens.
//!
//! One for each thread and encoding, so without locks. Bounded: a bucket is one cache line, a new
//! entry comes first in it and the last one falls out. Keys are compared whole, so a lost or
//! colliding entry costs time and never an answer.

use super::piece::{Bucket, KEY_MAX, Key, buckets, hash};

/// `1 << BITS` buckets of 64 bytes: 512 KiB.
const BITS: u32 = 13;
/// A piece has no more tokens than bytes, so its number fits beside its length in a key.
const COUNT_SHIFT: u32 = 8 * KEY_MAX as u32 + 4;
const COUNT: Key = 0xF << COUNT_SHIFT;

/// See the module.
pub struct Cache {
    buckets: Box<[Bucket]>,
}

impl Cache {
    pub fn new() -> Self {
        Self { buckets: buckets(BITS) }
    }

    /// The number of tokens of the piece of that key.
    #[inline]
    pub fn get(&self, key: Key) -> Option<usize> {
        let entries = &self.buckets[home(key)].0;
        let entry = entries.iter().find(|entry| **entry & !COUNT == key)?;
        Some((entry >> COUNT_SHIFT) as usize)
    }

    /// Remembers that the piece of that key has `count` tokens.
    #[inline]
    pub fn insert(&mut self, key: Key, count: usize) {
        let entries = &mut self.buckets[home(key)].0;
        let [a, b, c, _] = *entries;
        *entries = [key | (count as Key) << COUNT_SHIFT, a, b, c];
    }
}

#[inline]
fn home(key: Key) -> usize {
    (hash(key) >> (64 - BITS)) as usize
}
