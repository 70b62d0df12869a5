//! The count of a text: cut a batch of pieces, look all of them up, merge the rest.

use std::cell::Cell;

use super::cache::Cache;
use super::merge::{Merge, Stopped};
use super::piece::{KEY_MAX, key};
use super::scan::Pattern;
use super::vocabulary::Vocabulary;

/// Pieces in a batch: some 4 KiB of text. Looked up one after another without a branch, their
/// cache misses overlap.
const BATCH: usize = 1024;

/// One encoding: how it cuts text, what it merges, and which of a thread's memories it uses.
pub struct Counter {
    pub pattern: Pattern,
    pub vocabulary: Vocabulary,
    pub slot: usize,
}

/// A thread's working memory for one encoding.
struct Scratch {
    /// Where the batch's pieces begin, and after them where the last one ends.
    bounds: Box<[usize; BATCH + 1]>,
    /// Which of them are no token.
    misses: Box<[u16; BATCH]>,
    cache: Cache,
    merge: Merge,
}

/// Encodings that don't share their tables with another.
pub const SLOTS: usize = 4;

thread_local! {
    static KEPT: [Cell<Option<Box<Scratch>>>; SLOTS] = const { [const { Cell::new(None) }; SLOTS] };
}

impl Counter {
    /// The number of tokens of `text`; if it is above `limit`, any number above `limit`.
    ///
    /// `stop` is asked every few KiB of text.
    pub fn count(
        &self,
        text: &[u8],
        limit: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<usize, Stopped> {
        self.with_scratch(|scratch| scratch.count(self, text, limit, stop))
    }

    /// The token boundaries nearest to the one after `tokens` tokens that are between characters
    /// too: the last one not after it, and the first one not before it.
    pub fn boundaries(&self, text: &str, tokens: usize) -> (usize, usize) {
        self.with_scratch(|scratch| scratch.boundaries(self, text, tokens))
    }

    /// The memory is taken rather than borrowed, because `stop` may itself count.
    fn with_scratch<T>(&self, run: impl FnOnce(&mut Scratch) -> T) -> T {
        let kept = KEPT.with(|kept| kept[self.slot].take());
        let mut scratch = kept.unwrap_or_else(|| Box::new(Scratch::new()));
        let result = run(&mut scratch);
        KEPT.with(|kept| kept[self.slot].set(Some(scratch)));
        result
    }
}

impl Scratch {
    fn new() -> Self {
        Self {
            bounds: Box::new([0; BATCH + 1]),
            misses: Box::new([0; BATCH]),
            cache: Cache::new(),
            merge: Merge::default(),
        }
    }

    fn count(
        &mut self,
        counter: &Counter,
        text: &[u8],
        limit: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<usize, Stopped> {
        let mut total = 0;
        let mut at = 0;
        while at < text.len() && total <= limit {
            if at > 0 && stop() {
                return Err(Stopped);
            }
            let pieces = self.cut(counter, text, at);
            total += self.batch(&counter.vocabulary, text, pieces, stop)?;
            at = self.bounds[pieces];
        }
        Ok(total)
    }

    /// Cuts the pieces of a batch that begins at `at`; answers how many there are.
    fn cut(&mut self, counter: &Counter, text: &[u8], at: usize) -> usize {
        self.bounds[0] = at;
        counter.pattern.cut(text, &mut self.bounds[..])
    }

    /// The number of tokens of the first `pieces` pieces.
    fn batch(
        &mut self,
        vocabulary: &Vocabulary,
        text: &[u8],
        pieces: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<usize, Stopped> {
        let (mut total, misses) = self.look_up(text, pieces);
        for miss in 0..misses {
            total += self.piece(vocabulary, text, self.misses[miss] as usize, stop)?;
        }
        Ok(total)
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

    /// The number of tokens of a piece.
    fn piece(
        &mut self,
        vocabulary: &Vocabulary,
        text: &[u8],
        piece: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<usize, Stopped> {
        let (start, end) = (self.bounds[piece], self.bounds[piece + 1]);
        let bytes = &text[start..end];
        if bytes.len() > KEY_MAX {
            let known = self.cache.long(bytes);
            if known > 0 {
                return Ok(known);
            }
            let count = self.merge.tokens(vocabulary, bytes, stop)?.len();
            self.cache.insert_long(bytes, count);
            return Ok(count);
        }
        let key = key(text, start, end);
        // It may have come before in this batch.
        let known = self.cache.short(key);
        if known > 0 {
            return Ok(known);
        }
        let is_token = vocabulary.members().contains(key);
        let count = if is_token { 1 } else { self.merge.tokens(vocabulary, bytes, stop)?.len() };
        self.cache.insert_short(key, count);
        Ok(count)
    }

    fn boundaries(&mut self, counter: &Counter, text: &str, tokens: usize) -> (usize, usize) {
        let (vocabulary, bytes) = (&counter.vocabulary, text.as_bytes());
        let mut left = tokens;
        let mut at = 0;
        while at < bytes.len() {
            let pieces = self.cut(counter, bytes, at);
            let Ok(count) = self.batch(vocabulary, bytes, pieces, &|| false) else { break };
            if count >= left {
                return self.boundaries_in_batch(vocabulary, text, pieces, left);
            }
            left -= count;
            at = self.bounds[pieces];
        }
        (bytes.len(), bytes.len())
    }

    fn boundaries_in_batch(
        &mut self,
        vocabulary: &Vocabulary,
        text: &str,
        pieces: usize,
        mut left: usize,
    ) -> (usize, usize) {
        for piece in self.bounds[..=pieces].windows(2) {
            let bytes = &text.as_bytes()[piece[0]..piece[1]];
            let Ok(tokens) = self.merge.tokens(vocabulary, bytes, &|| false) else { break };
            if tokens.len() >= left {
                return boundaries_in_piece(vocabulary, text, piece[0], tokens, left);
            }
            left -= tokens.len();
        }
        (self.bounds[pieces], self.bounds[pieces])
    }
}

/// The boundaries nearest to the one after `wanted` of the tokens that begin at `at`.
fn boundaries_in_piece(
    vocabulary: &Vocabulary,
    text: &str,
    mut at: usize,
    tokens: &[u32],
    wanted: usize,
) -> (usize, usize) {
    let mut before = at;
    for (index, token) in tokens.iter().enumerate() {
        if text.is_char_boundary(at) {
            before = if index <= wanted { at } else { before };
            if index >= wanted {
                return (before, at);
            }
        }
        at += vocabulary.length(*token);
    }
    (if tokens.len() == wanted { at } else { before }, at)
}
