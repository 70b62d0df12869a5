//! A batch of pieces: looked up in the cache, those that it lacks in the vocabulary, and what is
//! no token merged.
//!
//! Each of these is done for all pieces before the next, without a branch as far as possible, so
//! that the processor waits for the memory of many pieces at once. That is where most of the time
//! goes for text that is new.

use super::cache::Cache;
use super::lanes::Lanes;
use super::merge::{Merge, Stopped};
use super::piece::key;
use super::scan::Pattern;
use super::splits::Cursor;
use super::vocabulary::Vocabulary;

/// Pieces in a batch: some 4 KiB of text.
const SIZE: usize = 1024;

/// Where pieces begin, and after them where the last one ends.
type Bounds = [usize; SIZE + 1];

/// One batch, and what is kept from one to the next.
pub struct Batch {
    bounds: Box<Bounds>,
    cursor: Cursor,
    /// Which pieces are still to be counted.
    misses: Box<[u16; SIZE]>,
    /// Which of those are a token each.
    is_token: Box<[bool; SIZE]>,
    short: Lanes<16>,
    long: Lanes<64>,
    cache: Cache,
    merge: Merge,
}

impl Batch {
    pub fn new() -> Self {
        Self {
            bounds: Box::new([0; SIZE + 1]),
            cursor: Cursor::default(),
            misses: Box::new([0; SIZE]),
            is_token: Box::new([false; SIZE]),
            short: Lanes::new(),
            long: Lanes::new(),
            cache: Cache::new(),
            merge: Merge::new(),
        }
    }

    /// Cuts the pieces of a batch that begins at `at`, where the one before has ended; answers how
    /// many there are.
    pub fn cut(&mut self, pattern: &Pattern, text: &[u8], at: usize) -> usize {
        if at == 0 {
            self.cursor.reset();
        }
        self.bounds[0] = at;
        pattern.cut(text, &mut self.bounds[..], &mut self.cursor)
    }

    /// Where the first `pieces` pieces begin, and after them where the last one ends.
    pub fn bounds(&self, pieces: usize) -> &[usize] {
        &self.bounds[..=pieces]
    }

    /// The number of tokens of the first `pieces` pieces.
    pub fn count(
        &mut self,
        vocabulary: &Vocabulary,
        text: &[u8],
        pieces: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<usize, Stopped> {
        let (known, misses) = self.look_up(text, pieces);
        let (found, misses) = self.find(vocabulary, text, misses);
        let (merged, misses) = self.merge_short(vocabulary, text, misses);
        Ok(known + found + merged + self.merge_long(vocabulary, text, misses, stop)?)
    }

    /// The tokens of a piece, merged anew.
    pub fn tokens(
        &mut self,
        vocabulary: &Vocabulary,
        piece: &[u8],
        stop: &dyn Fn() -> bool,
    ) -> Result<&[u32], Stopped> {
        self.merge.tokens(vocabulary, piece, stop)
    }

    /// The number of tokens of all pieces that the cache knows; lists the others, and answers how
    /// many those are.
    fn look_up(&mut self, text: &[u8], pieces: usize) -> (usize, usize) {
        let mut total = 0;
        let mut misses = 0;
        for (piece, bounds) in self.bounds[..=pieces].windows(2).enumerate() {
            let count = self.cache.short(key(text, bounds[0], bounds[1]));
            total += count;
            self.misses[misses] = piece as u16;
            misses += usize::from(count == 0);
        }
        (total, misses)
    }

    /// How many of the listed pieces are a token each; lists the others, and answers how many
    /// those are.
    fn find(&mut self, vocabulary: &Vocabulary, text: &[u8], misses: usize) -> (usize, usize) {
        for (piece, is_token) in self.misses[..misses].iter().zip(&mut self.is_token[..]) {
            let (start, end) = piece_bounds(&self.bounds, *piece);
            *is_token = vocabulary.members().contains(key(text, start, end));
        }
        let mut rest = 0;
        for miss in 0..misses {
            let piece = self.misses[miss];
            if self.is_token[miss] {
                let (start, end) = piece_bounds(&self.bounds, piece);
                self.cache.insert_short(key(text, start, end), 1);
            } else {
                self.misses[rest] = piece;
                rest += 1;
            }
        }
        (misses - rest, rest)
    }

    /// The number of tokens of the listed pieces, as far as those are not too long; lists the
    /// others, and answers how many those are.
    fn merge_short(
        &mut self,
        vocabulary: &Vocabulary,
        text: &[u8],
        misses: usize,
    ) -> (usize, usize) {
        let mut total = 0;
        let mut rest = 0;
        let mut tokens = [0; 63];
        for miss in 0..misses {
            let bounds = piece_bounds(&self.bounds, self.misses[miss]);
            // It may have come before in this batch, or be too long for the first look-up.
            let known = self.cache.get(text, bounds);
            if known > 0 {
                total += known;
            } else if let Some(used) = vocabulary.split(&text[bounds.0..bounds.1], &mut tokens) {
                total += self.push(vocabulary, text, bounds, &tokens[..used]);
            } else {
                self.misses[rest] = self.misses[miss];
                rest += 1;
            }
        }
        total += drain(&mut self.short, &mut self.cache, vocabulary, text);
        total += drain(&mut self.long, &mut self.cache, vocabulary, text);
        (total, rest)
    }

    /// Gives a piece to the lanes that it fits; answers the number of tokens of those that had to
    /// leave them.
    #[inline]
    fn push(
        &mut self,
        vocabulary: &Vocabulary,
        text: &[u8],
        piece: (usize, usize),
        tokens: &[u32],
    ) -> usize {
        if tokens.len() < 16 {
            self.short.push(vocabulary, piece, tokens);
            if self.short.is_full() {
                drain(&mut self.short, &mut self.cache, vocabulary, text)
            } else {
                0
            }
        } else {
            self.long.push(vocabulary, piece, tokens);
            if self.long.is_full() {
                drain(&mut self.long, &mut self.cache, vocabulary, text)
            } else {
                0
            }
        }
    }

    /// The number of tokens of the listed pieces.
    fn merge_long(
        &mut self,
        vocabulary: &Vocabulary,
        text: &[u8],
        misses: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<usize, Stopped> {
        let mut total = 0;
        for piece in &self.misses[..misses] {
            let (start, end) = piece_bounds(&self.bounds, *piece);
            total += self.merge.tokens(vocabulary, &text[start..end], stop)?.len();
        }
        Ok(total)
    }
}

/// The number of tokens of the pieces in `lanes`, which are remembered.
fn drain<const N: usize>(
    lanes: &mut Lanes<N>,
    cache: &mut Cache,
    vocabulary: &Vocabulary,
    text: &[u8],
) -> usize {
    let mut total = 0;
    for (piece, count) in lanes.drain(vocabulary) {
        total += count;
        cache.insert(text, piece, count);
    }
    total
}

/// Where the piece of that number begins and ends.
#[inline]
fn piece_bounds(bounds: &Bounds, piece: u16) -> (usize, usize) {
    (bounds[piece as usize], bounds[piece as usize + 1])
}
