//! Which token two neighbouring tokens merge into.

/// No merge: above every rank.
pub const NO_MERGE: u32 = u32::MAX;

const RANK_BITS: u32 = 18;
const EMPTY: u64 = u64::MAX;

/// A read-only hash table of 8-byte slots: both parts (18 bits each) and the whole (18 bits).
///
/// Most questions are about tokens that don't merge. A bit for each hash, which is small enough
/// to stay in the processor's nearer caches, answers nine in ten of those.
pub struct Pairs {
    slots: Box<[u64]>,
    shift: u32,
    filter: Box<[u64]>,
}

/// Bits of the filter for each slot: `1 << FILTER`.
const FILTER: u32 = 3;

impl Pairs {
    /// An empty table of `1 << bits` slots, of which at most three quarters should be used.
    pub fn new(bits: u32) -> Self {
        Self {
            slots: vec![EMPTY; 1 << bits].into_boxed_slice(),
            shift: 64 - bits,
            filter: vec![0; 1 << (bits + FILTER - 6)].into_boxed_slice(),
        }
    }

    /// Records that `left` and `right` merge into `whole`.
    pub fn insert(&mut self, left: u32, right: u32, whole: u32) {
        let key = key(left, right);
        let (word, bit) = self.filter_bit(hash(key));
        self.filter[word] |= bit;
        let mut slot = self.home(hash(key));
        while self.slots[slot] != EMPTY {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = key << RANK_BITS | u64::from(whole);
    }

    /// The token that `left` and `right` merge into, or [`NO_MERGE`].
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let (word, bit) = self.filter_bit(hash(key));
        if self.filter[word] & bit == 0 {
            return NO_MERGE;
        }
        let mut slot = self.home(hash(key));
        loop {
            let content = self.slots[slot];
            if content >> RANK_BITS == key {
                return content as u32 & ((1 << RANK_BITS) - 1);
            }
            if content == EMPTY {
                return NO_MERGE;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// The word and the bit of the filter that stand for `hash`.
    #[inline]
    fn filter_bit(&self, hash: u64) -> (usize, u64) {
        let bit = hash >> (self.shift - FILTER);
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }
}

#[inline]
fn hash(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << RANK_BITS | u64::from(right)
}
