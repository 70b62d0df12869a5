//! The short tokens of a vocabulary as a set: most pieces of ordinary text are one token.

use super::piece::{Bucket, Key, buckets, hash};

/// A read-only set of keys.
pub struct Members {
    buckets: Box<[Bucket]>,
    shift: u32,
}

impl Members {
    /// An empty set of `1 << bits` buckets, with room for at most three keys each.
    pub fn new(bits: u32) -> Self {
        Self { buckets: buckets(bits), shift: 64 - bits }
    }

    /// Adds `key`, to the next bucket if its own is full.
    pub fn insert(&mut self, key: Key) {
        let mut bucket = self.home(key);
        loop {
            if let Some(free) = self.buckets[bucket].0.iter_mut().find(|slot| **slot == 0) {
                *free = key;
                return;
            }
            bucket = (bucket + 1) & (self.buckets.len() - 1);
        }
    }

    /// Whether `key` is in the set.
    #[inline]
    pub fn contains(&self, key: Key) -> bool {
        let mut bucket = self.home(key);
        loop {
            let [a, b, c, d] = self.buckets[bucket].0;
            if (a == key) | (b == key) | (c == key) | (d == key) {
                return true;
            }
            if d == 0 {
                return false;
            }
            bucket = (bucket + 1) & (self.buckets.len() - 1);
        }
    }

    #[inline]
    fn home(&self, key: Key) -> usize {
        (hash(key) >> self.shift) as usize
    }
}
