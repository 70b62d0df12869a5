//! The longest token that a text begins with.
//!
//! A trie that takes two bytes a step, in one hash table of 8-byte slots. The number of a node is
//! the number of the slot that leads to it, so a step is one multiplication and one load.

/// No token.
pub const NONE: u32 = (1 << 18) - 1;

/// The nodes two bytes below the root, which has no number itself, are numbered by those bytes:
/// common pairs of letters then share cache lines. Their slots come before the hashed ones.
const FIRST: usize = 1 << 16;
/// The symbol of a single byte, which ends a token of odd length, is the byte plus this.
const ODD: usize = 1 << 16;

/// The most bits of a trie: a node's number fits its field.
pub const BITS_MAX: u32 = 20;

// A slot, from the lowest bit: token (18), has pairs below (1), has a single byte below (1), the
// token ends here rather than a byte before (1), is used (1), symbol (17), parent (21).
const PAIRS_BELOW: u64 = 1 << 18;
const ODD_BELOW: u64 = 1 << 19;
const EXACT: u64 = 1 << 20;
const USED: u64 = 1 << 21;
const KEY_SHIFT: u32 = 21;

/// See the module.
pub struct Trie {
    slots: Box<[u64]>,
    shift: u32,
}

impl Trie {
    /// An empty trie with `1 << bits` hashed slots, of which at most four fifths should be used.
    pub fn new(bits: u32) -> Self {
        assert!(bits <= BITS_MAX, "a node's number fits its field");
        Self { slots: vec![0; FIRST + (1 << bits)].into_boxed_slice(), shift: 64 - bits }
    }

    /// Makes `token` the longest that ends in the first two bytes `pair`, in both or in one of
    /// them; answers their node.
    pub fn add_first(&mut self, pair: [u8; 2], token: u32, is_exact: bool) -> usize {
        let node = pair_symbol(pair);
        self.slots[node] = USED | content(token, is_exact);
        node
    }

    /// Adds the node two bytes below `node`, with `token`, which ends there or a byte before.
    pub fn add_pair(&mut self, node: usize, pair: [u8; 2], token: u32, is_exact: bool) -> usize {
        self.slots[node] |= PAIRS_BELOW;
        self.add(node, pair_symbol(pair), content(token, is_exact))
    }

    /// Makes `token` the one that ends a byte below `node`.
    pub fn add_odd(&mut self, node: usize, byte: u8, token: u32) {
        self.slots[node] |= ODD_BELOW;
        self.add(node, odd_symbol(byte), u64::from(token));
    }

    fn add(&mut self, node: usize, symbol: usize, content: u64) -> usize {
        let key = key(node, symbol);
        let mut slot = self.home(key);
        while self.slots[slot] != 0 {
            slot = self.after(slot);
        }
        self.slots[slot] = key << KEY_SHIFT | content;
        slot
    }

    /// The longest token that `text` begins with and its length; `single`, the token of its first
    /// byte, if no longer one.
    ///
    /// The length follows from the way that is taken, so that the processor can guess where the
    /// next token begins before it has read this one.
    #[inline]
    pub fn longest(&self, text: &[u8], single: u32) -> (u32, usize) {
        let [a, b, rest @ ..] = text else { return (single, 1) };
        let mut rest = rest;
        let mut node = pair_symbol([*a, *b]);
        let mut below = self.slots[node];
        let mut longest = (single, 1);
        let mut depth = 2;
        loop {
            if let Some(token) = token_of(below) {
                longest = (token, if below & EXACT == 0 { depth - 1 } else { depth });
            }
            let [a, b, after @ ..] = rest else { break };
            if below & PAIRS_BELOW == 0 {
                break;
            }
            let Some((slot, content)) = self.find(key(node, pair_symbol([*a, *b]))) else { break };
            (node, below, rest) = (slot, content, after);
            depth += 2;
        }
        if below & ODD_BELOW != 0
            && let [a, ..] = rest
            && let Some((_, content)) = self.find(key(node, odd_symbol(*a)))
        {
            longest = (content as u32 & NONE, depth + 1);
        }
        longest
    }

    #[inline]
    fn find(&self, key: u64) -> Option<(usize, u64)> {
        let mut slot = self.home(key);
        loop {
            let content = self.slots[slot];
            if content >> KEY_SHIFT == key {
                return Some((slot, content));
            }
            if content == 0 {
                return None;
            }
            slot = self.after(slot);
        }
    }

    #[inline]
    fn home(&self, key: u64) -> usize {
        FIRST + (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    #[inline]
    fn after(&self, slot: usize) -> usize {
        FIRST + ((slot + 1 - FIRST) & (self.slots.len() - FIRST - 1))
    }
}

/// The token of a slot.
#[inline]
fn token_of(slot: u64) -> Option<u32> {
    let token = slot as u32 & NONE;
    (slot & USED != 0 && token != NONE).then_some(token)
}

fn content(token: u32, is_exact: bool) -> u64 {
    u64::from(token) | if is_exact { EXACT } else { 0 }
}

#[inline]
fn key(node: usize, symbol: usize) -> u64 {
    ((node as u64) << 17 | symbol as u64) << 1 | 1
}

#[inline]
fn pair_symbol(pair: [u8; 2]) -> usize {
    u16::from_be_bytes(pair) as usize
}

#[inline]
fn odd_symbol(byte: u8) -> usize {
    ODD | byte as usize
}
