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
            if let Some(free) =
                self.buckets[bucket].0.iter_mut().find(|slot| **slot == Key::default())
            {
                *free = key;
                return;
            }
            bucket = (bucket + 1) & (self.buckets.len() - 1);
        }
    }

    /// Whether `key` is in the set.
    ///
    /// Without a branch as a rule, so that what the processor learns of one probe doesn't hold up
    /// the next: a full bucket that lacks the key is rare.
    #[inline]
    pub fn contains(&self, key: Key) -> bool {
        let bucket = self.home(key);
        let (found, full) = self.look(bucket, key);
        if !found & full { self.contains_beyond(bucket, key) } else { found }
    }

    #[cold]
    fn contains_beyond(&self, mut bucket: usize, key: Key) -> bool {
        loop {
            bucket = (bucket + 1) & (self.buckets.len() - 1);
            let (found, full) = self.look(bucket, key);
            if found || !full {
                return found;
            }
        }
    }

    /// Whether a bucket has `key`, and whether it is full.
    #[inline]
    // All four are compared without a branch: which one it is can't be predicted.
    #[allow(clippy::needless_bitwise_bool)]
    fn look(&self, bucket: usize, key: Key) -> (bool, bool) {
        let [a, b, c, d] = self.buckets[bucket].0;
        ((a == key) | (b == key) | (c == key) | (d == key), d != Key::default())
    }

    #[inline]
    fn home(&self, key: Key) -> usize {
        (hash(key) >> self.shift) as usize
    }
}
