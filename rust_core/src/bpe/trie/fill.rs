//! Fills a trie with tokens in the order of their bytes, so that a token follows all its prefixes.

use std::ops::RangeInclusive;

use super::{
    BITS_SHIFT, BLOCK_SHIFT, Block, EXACT, FIRST, NONE, ODD_BELOW, SLOTS_MAX, SYMBOL_SHIFT, Trie,
    USED, odd_symbol, pair_symbol,
};

/// How many children each node has, in the order in which [`Fill::add`] adds nodes.
#[derive(Default)]
pub struct Children {
    counts: Vec<u32>,
    way: Way,
}

/// The nodes that lead to the token that was added last.
struct Way {
    /// The number of bytes that they stand for.
    length: usize,
    /// The one at the first `2 * n` bytes.
    nodes: [usize; 128],
}

/// How far a trie is filled.
pub struct Fill {
    children: std::vec::IntoIter<u32>,
    way: Way,
}

impl Children {
    /// Forgets what comes after the first `shared` bytes of the token before.
    pub fn keep(&mut self, shared: usize) {
        self.way.keep(shared);
    }

    /// Counts in a token of so many bytes.
    pub fn add(&mut self, length: usize) {
        for half in self.way.extend(length) {
            if half > 1 {
                self.counts[self.way.nodes[half - 1]] += 1;
            }
            self.way.nodes[half] = self.counts.len();
            self.counts.push(0);
        }
        if length % 2 == 1 && length > 1 {
            self.counts[self.way.nodes[length / 2]] += 1;
        }
    }

    /// A trie with room for these nodes; none if they are too many.
    pub fn trie(self) -> Option<(Trie, Fill)> {
        let sizes = self.counts.iter().filter(|count| **count > 0).map(|count| 1 << bits(*count));
        let slots = FIRST + sizes.sum::<usize>();
        (slots <= SLOTS_MAX).then(|| {
            let mut trie = Trie { slots: Vec::with_capacity(slots) };
            trie.slots.resize(FIRST, 0);
            (trie, Fill { children: self.counts.into_iter(), way: Way::default() })
        })
    }
}

impl Fill {
    /// Forgets what comes after the first `shared` bytes of the token before.
    pub fn keep(&mut self, shared: usize) {
        self.way.keep(shared);
    }

    /// Adds to `trie` the token that is `bytes`; `ranks[n]` is the one that is the first `n` of them, or
    /// [`NONE`].
    ///
    /// A node carries the token that ends there, or else the one that ends a byte before, so that a
    /// walk needs no look at single bytes on its way.
    pub fn add(&mut self, trie: &mut Trie, bytes: &[u8], ranks: &[u32]) {
        let length = bytes.len();
        for half in self.way.extend(length) {
            let depth = 2 * half;
            let symbol = pair_symbol([bytes[depth - 2], bytes[depth - 1]]);
            let content = match ranks[depth] {
                NONE => u64::from(ranks[depth - 1]),
                rank => u64::from(rank) | EXACT,
            };
            let slot = match half {
                1 => symbol as usize,
                _ => trie.free(self.way.nodes[half - 1], symbol),
            };
            let block = self.children.next().map_or(0, |count| trie.append_block(count));
            trie.slots[slot] = content | USED | symbol << (SYMBOL_SHIFT + 1) | block;
            self.way.nodes[half] = slot;
        }
        if length % 2 == 1 && length > 1 {
            let node = self.way.nodes[length / 2];
            trie.slots[node] |= ODD_BELOW;
            let symbol = odd_symbol(bytes[length - 1]);
            let slot = trie.free(node, symbol);
            trie.slots[slot] = u64::from(ranks[length]) | USED | symbol << (SYMBOL_SHIFT + 1);
        }
    }
}

impl Trie {
    /// A free slot for a node's child.
    fn free(&self, node: usize, symbol: u64) -> usize {
        let block = Block::of(self.slots[node]);
        let mut place = block.home(symbol);
        while self.slots[block.first + place] != 0 {
            place = (place + 1) & block.mask;
        }
        block.first + place
    }

    /// Appends a block for so many children, if any; answers what their parent's slot says of it.
    fn append_block(&mut self, children: u32) -> u64 {
        if children == 0 {
            return 0;
        }
        let (first, bits) = (self.slots.len(), bits(children));
        self.slots.resize(first + (1 << bits), 0);
        (first as u64) << BLOCK_SHIFT | u64::from(bits) << BITS_SHIFT
    }
}

impl Default for Way {
    fn default() -> Self {
        Self { length: 0, nodes: [0; 128] }
    }
}

impl Way {
    fn keep(&mut self, shared: usize) {
        self.length = self.length.min(shared);
    }

    /// Goes on to a token of `length` bytes: half the lengths at which there are new nodes.
    fn extend(&mut self, length: usize) -> RangeInclusive<usize> {
        let known = std::mem::replace(&mut self.length, length);
        known / 2 + 1..=length / 2
    }
}

/// The binary logarithm of the size of a block for `children`, at least one. At most half of it is
/// used, but for a single child: most blocks are asked for what they lack.
fn bits(children: u32) -> u32 {
    (2 * children - 1).next_power_of_two().trailing_zeros()
}
