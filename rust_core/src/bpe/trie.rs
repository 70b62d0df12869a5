//! The longest token that a text begins with.
//!
//! A trie that takes two bytes a step, in one array of 8-byte slots. The slot of a node tells where
//! the block of its children is, a small hash table of their own: a step is one multiplication and
//! one load. Blocks come one after another in the order of the tokens' bytes, so that filling them
//! seldom waits for memory. (One hash table of all nodes took most of the time of loading.)

mod fill;

pub use fill::{Children, Fill};

/// No token.
pub const NONE: u32 = (1 << 18) - 1;

/// The nodes two bytes below the root have the slots of those bytes' number, before all blocks: the
/// root itself has none.
const FIRST: usize = 1 << 16;
/// The symbol of a single byte, which ends a token of odd length, is the byte plus this.
const ODD: u64 = 1 << 16;

// A slot, from the lowest bit: token (18), the token ends here rather than a byte before (1), has
// a single byte below (1), is used (1), symbol (17), binary logarithm of the size of the children's
// block (5), number of its first slot (21), or 0 without children.
const EXACT: u64 = 1 << 18;
const ODD_BELOW: u64 = 1 << 19;
const USED: u64 = 1 << 20;
const SYMBOL_SHIFT: u32 = 20;
/// With the bit that says that the slot is used.
const SYMBOL: u64 = (1 << 18) - 1;
const BITS_SHIFT: u32 = 38;
const BLOCK_SHIFT: u32 = 43;
/// The most slots of a trie: their numbers fit.
const SLOTS_MAX: usize = 1 << 21;

/// See the module.
pub struct Trie {
    slots: Vec<u64>,
}

impl Trie {
    /// The longest token that `text` begins with and its length in bytes; `single`, the token of its
    /// first byte, if no longer one.
    ///
    /// The length follows from the way that is taken, so that the processor can guess where the
    /// next token begins before it has read this one.
    #[inline]
    pub fn longest(&self, text: &[u8], single: u32) -> (u32, usize) {
        let [a, b, rest @ ..] = text else {
            return (single, 1);
        };
        let mut rest = rest;
        let mut node = self.slots[pair_symbol([*a, *b]) as usize];
        let mut longest = (single, 1);
        let mut depth = 2;
        loop {
            if let Some(token) = token_of(node) {
                longest = (token, if node & EXACT == 0 { depth - 1 } else { depth });
            }
            let [a, b, after @ ..] = rest else { break };
            let Some(child) = self.child(node, pair_symbol([*a, *b])) else { break };
            (node, rest) = (child, after);
            depth += 2;
        }
        if node & ODD_BELOW != 0
            && let [a, ..] = rest
            && let Some(child) = self.child(node, odd_symbol(*a))
        {
            longest = (child as u32 & NONE, depth + 1);
        }
        longest
    }

    /// The slot of a node's child.
    #[inline]
    fn child(&self, node: u64, symbol: u64) -> Option<u64> {
        if node >> BLOCK_SHIFT == 0 {
            return None;
        }
        let block = Block::of(node);
        let mut place = block.home(symbol);
        // A block may be full.
        for _ in 0..=block.mask {
            let slot = self.slots[block.first + place];
            if slot >> SYMBOL_SHIFT & SYMBOL == symbol << 1 | 1 {
                return Some(slot);
            }
            if slot == 0 {
                return None;
            }
            place = (place + 1) & block.mask;
        }
        None
    }
}

/// The slots of a node's children.
struct Block {
    first: usize,
    bits: u32,
    mask: usize,
}

impl Block {
    #[inline]
    fn of(node: u64) -> Self {
        let bits = (node >> BITS_SHIFT & 0x1F) as u32;
        Self { first: (node >> BLOCK_SHIFT) as usize, bits, mask: (1 << bits) - 1 }
    }

    /// Where in the block to look for a symbol first.
    #[inline]
    fn home(&self, symbol: u64) -> usize {
        // 32 bits, for a block of one slot shifts by all of them.
        let hash = u64::from((symbol as u32).wrapping_mul(0x9E37_79B9));
        (hash << self.bits >> 32) as usize
    }
}

/// The token of a slot.
#[inline]
fn token_of(slot: u64) -> Option<u32> {
    let token = slot as u32 & NONE;
    (slot & USED != 0 && token != NONE).then_some(token)
}

#[inline]
fn pair_symbol(pair: [u8; 2]) -> u64 {
    u16::from_be_bytes(pair).into()
}

#[inline]
fn odd_symbol(byte: u8) -> u64 {
    ODD | u64::from(byte)
}
