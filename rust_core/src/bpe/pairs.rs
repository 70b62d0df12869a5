//! Which token two neighbouring tokens merge into.

use std::hint::select_unpredictable;

/// No merge: above every rank.
pub const NO_MERGE: u32 = u32::MAX;
/// Stands beside a piece's last token: merges with nothing.
pub const NO_TOKEN: u32 = (1 << RANK_BITS) - 1;

const RANK_BITS: u32 = 18;
/// The bits of a slot that hold the whole.
const WHOLE: u64 = (1 << RANK_BITS) - 1;
/// Set in the last slot of a bucket from which pairs went on to the next.
const BEYOND: u64 = 1 << 63;
/// Bits of the filter for each slot: `1 << FILTER`.
const FILTER: u32 = 3;

/// Four slots: both parts (18 bits each), then the whole (18 bits); 0 is free.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Bucket([u64; 4]);

/// A read-only hash table.
///
/// Most questions are about tokens that don't merge. A bit for each hash, which is small enough to
/// stay in the processor's nearer caches, answers nine in ten of those. (Asking the table at once,
/// as its answer waits for no branch, was 10 % slower on text that is new.)
pub struct Pairs {
    buckets: Box<[Bucket]>,
    shift: u32,
    filter: Box<[u64]>,
}

impl Pairs {
    /// An empty table of `1 << bits` slots, of which at most half should be used, and a bucket that
    /// stays empty.
    pub fn new(bits: u32) -> Self {
        Self {
            buckets: vec![Bucket::default(); (1 << (bits - 2)) + 1].into_boxed_slice(),
            shift: 64 - (bits - 2),
            filter: vec![0; 1 << (bits + FILTER - 6)].into_boxed_slice(),
        }
    }

    /// Records that `left` and `right` merge into `whole`, which isn't 0.
    pub fn insert(&mut self, left: u32, right: u32, whole: u32) {
        let key = key(left, right);
        let (word, bit) = self.filter_bit(key);
        self.filter[word] |= bit;
        let mut bucket = self.home(key);
        loop {
            let slots = &mut self.buckets[bucket].0;
            if let Some(free) = slots.iter_mut().find(|slot| **slot == 0) {
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
        if !self.may_merge(key) {
            return NO_MERGE;
        }
        match self.find(self.home(key), key) {
            0 => NO_MERGE,
            whole => whole,
        }
    }

    /// The token that `left` and `right` merge into, or 0; without a branch. A pair that the
    /// filter excludes is looked for in a bucket that is always empty and always near.
    #[inline]
    pub fn whole(&self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let nowhere = self.buckets.len() - 1;
        self.find(select_unpredictable(self.may_merge(key), self.home(key), nowhere), key)
    }

    /// What the filter says.
    #[inline]
    fn may_merge(&self, key: u64) -> bool {
        let (word, bit) = self.filter_bit(key);
        self.filter[word] & bit != 0
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

    /// The word and the bit of the filter that stand for `key`.
    #[inline]
    fn filter_bit(&self, key: u64) -> (usize, u64) {
        let bit = hash(key) >> (self.shift - 2 - FILTER);
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    #[inline]
    fn home(&self, key: u64) -> usize {
        (hash(key) >> self.shift) as usize
    }

    /// The next bucket; none comes after the one that is always empty.
    fn after(&self, bucket: usize) -> usize {
        (bucket + 1) % (self.buckets.len() - 1)
    }
}

#[inline]
fn hash(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Both parts, where a slot has them.
#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << (2 * RANK_BITS) | u64::from(right) << RANK_BITS
}
