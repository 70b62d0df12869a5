//! Which token two neighbouring tokens merge into.

use std::hint::select_unpredictable;

use super::places::{hash, place};

/// No merge: above every rank.
pub const NO_MERGE: u32 = u32::MAX;
/// Stands beside a piece's last token: merges with nothing.
pub const NO_TOKEN: u32 = (1 << RANK_BITS) - 1;

const RANK_BITS: u32 = 18;
/// The bits of a slot that hold the whole.
const WHOLE: u64 = (1 << RANK_BITS) - 1;
/// Set in the last slot of a bucket from which pairs went on to the next.
const BEYOND: u64 = 1 << 63;
/// Bits of the filter for each pair.
const FILTER: usize = 10;

/// Four slots: both parts (18 bits each), then the whole (18 bits); 0 is free.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Bucket([u64; 4]);

/// A read-only hash table.
///
/// Most questions are about tokens that don't merge. A filter with two bits for each pair, both in
/// one word, is small enough to stay in the processor's nearer caches and answers nine in ten of
/// those. (Asking the table at once, as its answer waits for no branch, was 10 % slower on text that
/// is new.)
pub struct Pairs {
    buckets: Box<[Bucket]>,
    filter: Box<[u64]>,
}

impl Pairs {
    /// An empty table with room for so many pairs, and a bucket that stays empty.
    pub fn new(pairs: usize) -> Self {
        // Of four slots two are used on average: one bucket in twenty overflows.
        Self {
            buckets: vec![Bucket::default(); pairs / 2 + 2].into_boxed_slice(),
            filter: vec![0; pairs * FILTER / 64 + 1].into_boxed_slice(),
        }
    }

    /// Records that `left` and `right` merge into `whole`, which isn't 0.
    pub fn insert(&mut self, left: u32, right: u32, whole: u32) {
        let key = key(left, right);
        let hash = hash(key);
        self.filter[place(hash, self.filter.len())] |= filter_bits(hash);
        let mut bucket = self.home(hash);
        loop {
            let slots = &mut self.buckets[bucket].0;
            // Counted rather than searched: without a branch, many inserts wait side by side.
            let used = slots.iter().filter(|slot| **slot != 0).count();
            if let Some(free) = slots.get_mut(used) {
                *free = key | u64::from(whole);
                return;
            }
            slots[3] |= BEYOND;
            bucket = self.after(bucket);
        }
    }

    /// The token that `left` and `right` merge into, or [`NO_MERGE`].
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let hash = hash(key);
        if !self.may_merge(hash) {
            return NO_MERGE;
        }
        match self.find(self.home(hash), key) {
            0 => NO_MERGE,
            whole => whole,
        }
    }

    /// The token that `left` and `right` merge into, or 0; without a branch. A pair that the
    /// filter excludes is looked for in a bucket that is always empty and always near.
    #[inline]
    pub fn whole(&self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let hash = hash(key);
        let nowhere = self.buckets.len() - 1;
        self.find(select_unpredictable(self.may_merge(hash), self.home(hash), nowhere), key)
    }

    /// What the filter says.
    #[inline]
    fn may_merge(&self, hash: u64) -> bool {
        let bits = filter_bits(hash);
        self.filter[place(hash, self.filter.len())] & bits == bits
    }

    #[inline]
    fn find(&self, bucket: usize, key: u64) -> u32 {
        let (whole, beyond) = self.look(bucket, key);
        if beyond && whole == 0 { self.find_beyond(bucket, key) } else { whole }
    }

    #[cold]
    fn find_beyond(&self, mut bucket: usize, key: u64) -> u32 {
        loop {
            bucket = self.after(bucket);
            let (whole, beyond) = self.look(bucket, key);
            if whole != 0 || !beyond {
                return whole;
            }
        }
    }

    /// The whole in a bucket, or 0, and whether to look in the next bucket too.
    #[inline]
    fn look(&self, bucket: usize, key: u64) -> (u32, bool) {
        let [a, b, c, d] = self.buckets[bucket].0;
        let whole = |slot: u64| {
            let difference = slot ^ key;
            select_unpredictable(difference <= WHOLE, difference, 0)
        };
        let found = whole(a) | whole(b) | whole(c) | whole(d & !BEYOND);
        (found as u32, d & BEYOND != 0)
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        place(hash, self.buckets.len() - 1)
    }

    /// The next bucket; none comes after the one that is always empty.
    fn after(&self, bucket: usize) -> usize {
        (bucket + 1) % (self.buckets.len() - 1)
    }
}

/// The bits of a filter's word that stand for a hash; its high bits choose the word.
#[inline]
fn filter_bits(hash: u64) -> u64 {
    1 << (hash % 64) | 1 << (hash / 64 % 64)
}

/// Both parts, where a slot has them.
#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << (2 * RANK_BITS) | u64::from(right) << RANK_BITS
}
