//! The number of tokens that a piece merges into, whatever its length, in linear time.
//!
//! Merging bytes in the order of ranks gives the one sequence of tokens in which every two
//! neighbours stay apart (`Vocabulary::stay_apart`). So the sequence is found from left to right:
//! take the longest token that fits, and go back where none does. Every position from which there
//! is no way on is remembered, so none is tried twice. (Why this is right: github.com/github/rust-gems,
//! crate `bpe`.)

use super::vocabulary::Vocabulary;

/// Working memory, kept between pieces.
#[derive(Default)]
pub struct Merge {
    tokens: Vec<u32>,
    /// A bit for each position from which there is no way on; empty until there is one.
    dead: Vec<u64>,
    /// Counted over all pieces, so that many of medium length are asked about too.
    steps: usize,
}

/// The caller asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Steps between two questions whether to stop: a few KiB of text.
const STEPS: usize = 1024;

impl Merge {
    /// The tokens of `piece`, which isn't empty.
    pub fn tokens(
        &mut self,
        vocabulary: &Vocabulary,
        piece: &[u8],
        stop: &dyn Fn() -> bool,
    ) -> Result<&[u32], Stopped> {
        self.tokens.clear();
        self.dead.clear();
        let mut at = 0;
        while at < piece.len() {
            self.steps += 1;
            if self.steps.is_multiple_of(STEPS) && stop() {
                return Err(Stopped);
            }
            let longest = vocabulary.longest(&piece[at..]);
            at = self.advance(vocabulary, piece, at, longest);
        }
        Ok(&self.tokens)
    }

    /// Appends the longest token that may follow at `at`, or goes back until one may.
    #[inline]
    fn advance(
        &mut self,
        vocabulary: &Vocabulary,
        piece: &[u8],
        mut at: usize,
        longest: u32,
    ) -> usize {
        let mut token = longest;
        loop {
            let end = at + vocabulary.length(token);
            if !self.is_dead(end) && self.may_follow(vocabulary, token) {
                self.tokens.push(token);
                return end;
            }
            if let Some(shorter) = vocabulary.shorter(token) {
                token = shorter;
                continue;
            }
            let Some(last) = self.tokens.pop() else { unreachable!("some sequence fits") };
            self.dead.resize(piece.len() / 64 + 1, 0);
            self.dead[at / 64] |= 1 << (at % 64);
            at -= vocabulary.length(last);
            token = last;
        }
    }

    #[inline]
    fn may_follow(&self, vocabulary: &Vocabulary, token: u32) -> bool {
        let [before @ .., last] = &self.tokens[..] else { return true };
        // In a run of one character, what was true of the same two tokens is true again.
        if *last == token && before.last() == Some(&token) {
            return true;
        }
        vocabulary.stay_apart(*last, token)
    }

    #[inline]
    fn is_dead(&self, at: usize) -> bool {
        self.dead.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }
}
