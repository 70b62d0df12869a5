//! The short tokens of a vocabulary as a set: most pieces of ordinary text are one token.
//!
//! As small as exact answers allow, since new text waits for this table's memory: two tokens in
//! three are at most 7 bytes long and take one word, the others take two.

use std::hint::select_unpredictable;

use super::piece::{Key, hash};
use super::places::place;

/// Words in a cache line.
const WORDS: usize = 8;
/// Set in a bucket's last word from which keys went on to the next bucket.
const BEYOND: u64 = 1 << 63;

/// One cache line: eight keys of one word or four of two, filled in order; 0 is free.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket([u64; WORDS]);

/// A read-only set of keys.
pub struct Members {
    /// First those of one word, then those of two.
    buckets: Box<[Bucket]>,
    short: usize,
}

impl Members {
    /// An empty set with room for so many keys of one word, and of two.
    pub fn new(short: usize, long: usize) -> Self {
        // Of four or eight places two or five are used on average: one bucket in twenty overflows.
        let (short, long) = (short / 5 + 1, long / 2 + 1);
        Self { buckets: vec![Bucket([0; WORDS]); short + long].into_boxed_slice(), short }
    }

    /// Adds `key`, to the next bucket if its own is full.
    pub fn insert(&mut self, key: Key) {
        let mut bucket = self.home(key);
        let last = key.words() - 1;
        loop {
            let words = &mut self.buckets[bucket].0;
            // Counted rather than searched: without a branch, many inserts wait side by side.
            let used = |place: &usize| place & last == last && words[*place] != 0;
            let free = (0..WORDS).filter(used).count() << last;
            if free < WORDS {
                [words[free], words[free | last]] = key.pattern();
                return;
            }
            words[WORDS - 1] |= BEYOND;
            bucket = self.after(bucket);
        }
    }

    /// Whether `key` is in the set.
    ///
    /// Without a branch as a rule, so that what the processor learns of one probe doesn't hold up
    /// the next: few buckets have keys beyond them.
    #[inline]
    pub fn contains(&self, key: Key) -> bool {
        let bucket = self.home(key);
        let (found, beyond) = self.look(bucket, key);
        if !found & beyond { self.contains_beyond(bucket, key) } else { found }
    }

    #[cold]
    fn contains_beyond(&self, mut bucket: usize, key: Key) -> bool {
        loop {
            bucket = self.after(bucket);
            let (found, beyond) = self.look(bucket, key);
            if found || !beyond {
                return found;
            }
        }
    }

    /// Whether a bucket has `key`, and whether to look in the next one too.
    #[inline]
    // All are compared without a branch: which one it is can't be predicted.
    #[allow(clippy::needless_bitwise_bool)]
    fn look(&self, bucket: usize, key: Key) -> (bool, bool) {
        let mut words = self.buckets[bucket].0;
        let beyond = words[WORDS - 1] & BEYOND;
        words[WORDS - 1] ^= beyond;
        let [first, second] = key.pattern();
        let is_short = key.is_short();
        let found = words.as_chunks().0.iter().fold(false, |found, [even, odd]| {
            let (even, odd) = (*even == first, *odd == second);
            found | (even & odd) | (is_short & (even | odd))
        });
        (found, beyond != 0)
    }

    #[inline]
    fn home(&self, key: Key) -> usize {
        let hash = hash(key);
        let long = self.short + place(hash, self.buckets.len() - self.short);
        select_unpredictable(key.is_short(), place(hash, self.short), long)
    }

    /// The next bucket of the same kind.
    fn after(&self, bucket: usize) -> usize {
        match bucket + 1 {
            next if next == self.short => 0,
            next if next == self.buckets.len() => self.short,
            next => next,
        }
    }
}
