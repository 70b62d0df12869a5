//! One vocabulary's tables, filled from the file that the build has prepared.

use super::characters::Characters;
use super::members::Members;
use super::pairs::{NO_MERGE, Pairs};
use super::piece::{KEY_MAX, Key, SHORT_MAX, key};
use super::serialise::{Fault, WHOLE};
use super::trie::{self, Children, Fill, Trie};

/// What is known of a token apart from its bytes, in one word.
///
/// From the lowest bit: the left and the right part that its last merge joined (18 each; those of a
/// single byte mean nothing), the longest token that it begins with apart from itself (18), or
/// [`trie::NONE`], its number of bytes (8).
#[derive(Clone, Copy, Default)]
struct Token(u64);

impl Token {
    fn new(left: u32, right: u32, shorter: u32, length: usize) -> Self {
        let [left, right, shorter] = [left, right, shorter].map(u64::from);
        Self(left | right << 18 | shorter << 36 | (length as u64) << 54)
    }

    #[inline]
    fn left(self) -> u32 {
        self.0 as u32 & trie::NONE
    }

    #[inline]
    fn right(self) -> u32 {
        (self.0 >> 18) as u32 & trie::NONE
    }

    #[inline]
    fn shorter(self) -> u32 {
        (self.0 >> 36) as u32 & trie::NONE
    }

    #[inline]
    fn length(self) -> usize {
        (self.0 >> 54) as usize
    }
}

/// The tables of one vocabulary.
pub struct Vocabulary {
    members: Members,
    trie: Trie,
    pairs: Pairs,
    tokens: Vec<Token>,
    single: [u32; 256],
    characters: Characters,
}

impl Vocabulary {
    /// Fills the tables with the tokens of `file` (see `serialise.rs`) below `end_rank`.
    pub fn load(file: &[u8], end_rank: u32) -> Result<Self, Fault> {
        let (mut vocabulary, filler) = Self::empty(Sizes::of(file, end_rank))?;
        let mut path = Path::new(filler);
        let mut scattered = Scattered::default();
        for record in Records(file) {
            path.follow(record.shared, record.added);
            let merges = record.merges(end_rank);
            if merges {
                vocabulary.add(&mut path, &mut scattered, &record);
            }
            if path.length <= KEY_MAX && (merges || record.split == WHOLE) {
                scattered.keys.push(key(&path.bytes, 0, path.length));
            }
            if scattered.keys.len() == Scattered::BATCH {
                vocabulary.insert(&mut scattered);
            }
        }
        vocabulary.insert(&mut scattered);
        Ok(vocabulary)
    }

    fn empty(sizes: Sizes) -> Result<(Self, Fill), Fault> {
        let Sizes { tokens, short, long, children } = sizes;
        let trie = children.trie();
        let (trie, filler) = trie.ok_or_else(|| format!("{tokens} tokens are too many"))?;
        let vocabulary = Self {
            members: Members::new(short, long),
            trie,
            pairs: Pairs::new(tokens),
            tokens: vec![Token::default(); tokens],
            single: [0; 256],
            characters: Characters::new(),
        };
        Ok((vocabulary, filler))
    }

    fn add(&mut self, path: &mut Path, new: &mut Scattered, record: &Record<'_>) {
        let Record { rank, right, split, .. } = *record;
        let length = path.length;
        let shorter = path.ranks[1..length].iter().rev().find(|rank| **rank != trie::NONE);
        let left = path.ranks[split as usize];
        let shorter = shorter.copied().unwrap_or(trie::NONE);
        new.tokens.push((rank, Token::new(left, right, shorter, length)));
        path.ranks[length] = rank;
        path.fill.add(&mut self.trie, &path.bytes[..length], &path.ranks);
        if length == 1 {
            self.single[path.bytes[0] as usize] = rank;
        } else {
            new.merges.push([left, right, rank]);
        }
        self.characters.add(&path.bytes[..length], rank);
    }

    fn insert(&mut self, new: &mut Scattered) {
        for (rank, token) in new.tokens.drain(..) {
            self.tokens[rank as usize] = token;
        }
        new.keys.drain(..).for_each(|key| self.members.insert(key));
        new.merges.drain(..).for_each(|[left, right, whole]| self.pairs.insert(left, right, whole));
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
        let shorter = self.tokens[token as usize].shorter();
        (shorter != trie::NONE).then_some(shorter)
    }

    /// The number of bytes of `token`.
    #[inline]
    pub fn length(&self, token: u32) -> usize {
        self.tokens[token as usize].length()
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
                left = self.tokens[left as usize].right();
            } else {
                next = right + 1;
                right = self.tokens[right as usize].left();
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

impl Record<'_> {
    /// Whether merging makes the token, below that rank.
    fn merges(&self, end_rank: u32) -> bool {
        self.split != WHOLE && self.rank < end_rank
    }
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

/// What the tables of a file need room for.
#[derive(Default)]
struct Sizes {
    tokens: usize,
    /// Tokens whose keys take one word, and two.
    short: usize,
    long: usize,
    children: Children,
}

impl Sizes {
    fn of(file: &[u8], end_rank: u32) -> Self {
        let mut sizes = Self::default();
        for record in Records(file) {
            let length = record.shared + record.added.len();
            sizes.tokens += 1;
            sizes.short += usize::from(length <= SHORT_MAX);
            sizes.long += usize::from(length > SHORT_MAX && length <= KEY_MAX);
            sizes.children.keep(record.shared);
            if record.merges(end_rank) {
                sizes.children.add(length);
            }
        }
        sizes
    }
}

/// What waits to be written to places all over the tables: many at once, so that the processor
/// waits for the memory of many at once, and nothing else waits for it.
#[derive(Default)]
struct Scattered {
    tokens: Vec<(u32, Token)>,
    keys: Vec<Key>,
    /// Left part, right part, and the whole.
    merges: Vec<[u32; 3]>,
}

impl Scattered {
    /// Keys in a batch.
    const BATCH: usize = 1024;
}

/// The token being added and its way through the trie.
struct Path {
    bytes: [u8; 256],
    length: usize,
    /// The rank of the token that is the first `n` bytes.
    ranks: [u32; 256],
    fill: Fill,
}

impl Path {
    fn new(fill: Fill) -> Self {
        Self { bytes: [0; 256], length: 0, ranks: [trie::NONE; 256], fill }
    }

    /// Keeps the first `shared` bytes and appends `added`.
    fn follow(&mut self, shared: usize, added: &[u8]) {
        self.length = shared + added.len();
        self.bytes[shared..self.length].copy_from_slice(added);
        self.ranks[shared + 1..=self.length].fill(trie::NONE);
        self.fill.keep(shared);
    }
}
