//! One vocabulary's tables, filled from the file that the build has prepared.

use super::characters::Characters;
use super::members::Members;
use super::pairs::{NO_MERGE, Pairs};
use super::piece::{KEY_MAX, key};
use super::serialise::{Fault, WHOLE};
use super::trie::{self, Trie};

/// What is known of a token apart from its bytes.
#[derive(Clone, Copy, Default)]
struct Token {
    /// The parts that its last merge joined; those of a single byte mean nothing.
    left: u32,
    right: u32,
    /// The longest token that it begins with, apart from itself, or [`trie::NONE`].
    shorter: u32,
    /// Bytes.
    length: u32,
}

/// The tables of one vocabulary.
pub struct Vocabulary {
    members: Members,
    trie: Trie,
    pairs: Pairs,
    tokens: Vec<Token>,
    single: [u32; 256],
    /// The token that is two bytes, or 0, at the number that the two make.
    pair: Box<[u32; 1 << 16]>,
    characters: Characters,
}

impl Vocabulary {
    /// Fills the tables with the tokens of `file` (see `serialise.rs`) below `end_rank`.
    pub fn load(file: &[u8], end_rank: u32) -> Result<Self, Fault> {
        let (tokens, slots) = sizes(file);
        let bits = usize::BITS - tokens.leading_zeros();
        let trie_bits = usize::BITS - (slots / 4 * 5).leading_zeros();
        if trie_bits > trie::BITS_MAX {
            return Err(format!("{tokens} tokens are too many of this length"));
        }
        let mut vocabulary = Self {
            members: Members::new(bits - 1),
            trie: Trie::new(trie_bits),
            pairs: Pairs::new(bits + 1),
            tokens: vec![Token::default(); 1 << bits],
            single: [0; 256],
            pair: vec![0; 1 << 16].into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!()),
            characters: Characters::new(),
        };
        let mut path = Path::new();
        for record in Records(file) {
            path.follow(record.shared, record.added);
            if record.split == WHOLE {
                vocabulary.add_member(&path);
            } else if record.rank < end_rank {
                vocabulary.add(&mut path, record.rank, record.right, record.split as usize);
            }
        }
        Ok(vocabulary)
    }

    fn add(&mut self, path: &mut Path, rank: u32, right: u32, split: usize) {
        let length = path.length;
        let shorter = path.ranks[1..length].iter().rev().find(|rank| **rank != trie::NONE);
        let token = Token {
            left: path.ranks[split],
            right,
            shorter: shorter.copied().unwrap_or(trie::NONE),
            length: length as u32,
        };
        path.ranks[length] = rank;
        path.add_to(&mut self.trie);
        if length == 1 {
            self.single[path.bytes[0] as usize] = rank;
        } else {
            self.pairs.insert(token.left, right, rank);
        }
        self.characters.add(&path.bytes[..length], rank);
        if length == 2 {
            self.pair[usize::from(u16::from_be_bytes([path.bytes[0], path.bytes[1]]))] = rank;
        }
        self.add_member(path);
        self.tokens[rank as usize] = token;
    }

    fn add_member(&mut self, path: &Path) {
        if path.length <= KEY_MAX {
            self.members.insert(key(&path.bytes, 0, path.length));
        }
    }

    /// The tokens that are single pieces of up to [`KEY_MAX`] bytes.
    #[inline]
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Fills `tokens` with those that merging `piece` may begin with; answers how many those are,
    /// or none if there are more than fit.
    #[inline]
    pub fn split(&self, piece: &[u8], tokens: &mut [u32]) -> Option<usize> {
        self.characters.split(&self.single, piece, tokens)
    }

    /// The token that `left` and `right` merge into, or 0.
    #[inline]
    pub fn whole(&self, left: u32, right: u32) -> u32 {
        self.pairs.whole(left, right)
    }

    /// The longest token that `text` begins with and its length; `text` isn't empty.
    #[inline]
    pub fn longest(&self, text: &[u8]) -> (u32, usize) {
        self.trie.longest(text, self.single[text[0] as usize])
    }

    /// The longest token that `token` begins with apart from itself.
    #[inline]
    pub fn shorter(&self, token: u32) -> Option<u32> {
        let shorter = self.tokens[token as usize].shorter;
        (shorter != trie::NONE).then_some(shorter)
    }

    /// The number of bytes of `token`.
    #[inline]
    pub fn length(&self, token: u32) -> usize {
        self.tokens[token as usize].length as usize
    }

    /// Whether merging the bytes of `left` and `right` gives these two tokens again.
    ///
    /// Goes backwards through the merges that made the two, last one first. What is left of them
    /// beside their boundary at each point would have merged with each other, had that merge a
    /// lower rank than the one that came next. Of equal ranks the leftmost merges first.
    #[inline]
    pub fn stay_apart(&self, mut left: u32, mut right: u32) -> bool {
        let mut next = NO_MERGE;
        loop {
            if self.pairs.get(left, right) < next {
                return false;
            }
            if left < 256 && right < 256 {
                return true;
            }
            if left > right {
                next = left;
                left = self.tokens[left as usize].right;
            } else {
                next = right + 1;
                right = self.tokens[right as usize].left;
            }
        }
    }
}

/// One record of a file.
struct Record<'a> {
    shared: usize,
    added: &'a [u8],
    split: u8,
    rank: u32,
    right: u32,
}

struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let ([shared, added, split], rest) = self.0.split_first_chunk()?;
        let (rank, rest) = rest.split_first_chunk::<3>()?;
        let (right, rest) = rest.split_first_chunk::<3>()?;
        let (added, rest) = rest.split_at_checked(*added as usize)?;
        self.0 = rest;
        let number = |[low, middle, high]: [u8; 3]| u32::from_le_bytes([low, middle, high, 0]);
        Some(Record {
            shared: *shared as usize,
            added,
            split: *split,
            rank: number(*rank),
            right: number(*right),
        })
    }
}

/// How many tokens a file has, and how many slots of the trie those take at most.
fn sizes(file: &[u8]) -> (usize, usize) {
    let slots = |record: Record<'_>| record.added.len().div_ceil(2) + 1;
    Records(file).map(slots).fold((0, 0), |(tokens, sum), slots| (tokens + 1, sum + slots))
}

/// The token being added and its way through the trie.
struct Path {
    bytes: [u8; 256],
    length: usize,
    /// How many bytes the trie already has a way for.
    known: usize,
    /// The rank of the token that is the first `n` bytes.
    ranks: [u32; 256],
    /// The trie's node at the first `2 * n` bytes.
    nodes: [usize; 128],
}

impl Path {
    fn new() -> Self {
        Self { bytes: [0; 256], length: 0, known: 0, ranks: [trie::NONE; 256], nodes: [0; 128] }
    }

    /// Keeps the first `shared` bytes and appends `added`.
    fn follow(&mut self, shared: usize, added: &[u8]) {
        self.length = shared + added.len();
        self.bytes[shared..self.length].copy_from_slice(added);
        self.ranks[shared + 1..=self.length].fill(trie::NONE);
        self.known = self.known.min(shared);
    }

    /// Adds the token to `trie`. A node carries the token that ends there, or else the one that
    /// ends a byte before, so that a walk needs no look at single bytes on its way.
    fn add_to(&mut self, trie: &mut Trie) {
        for depth in (self.known / 2 * 2 + 2..=self.length).step_by(2) {
            let pair = [self.bytes[depth - 2], self.bytes[depth - 1]];
            let is_exact = self.ranks[depth] != trie::NONE;
            let token = self.ranks[if is_exact { depth } else { depth - 1 }];
            self.nodes[depth / 2] = match depth {
                2 => trie.add_first(pair, token, is_exact),
                _ => trie.add_pair(self.nodes[depth / 2 - 1], pair, token, is_exact),
            };
        }
        if self.length % 2 == 1 && self.length > 1 {
            let node = self.nodes[self.length / 2];
            trie.add_odd(node, self.bytes[self.length - 1], self.ranks[self.length]);
        }
        self.known = self.length;
    }
}
