//! The number of tokens that a piece merges into, whatever its length, in linear time.
//!
//! Merging bytes in the order of ranks gives the one sequence of tokens in which every two
//! neighbours stay apart (`Vocabulary::stay_apart`). So the sequence is found from left to right:
//! take the longest token that fits, and go back where none does. Every position from which there
//! is no way on is remembered, so none is tried twice. (Why this is right: github.com/github/rust-gems,
//! crate `bpe`.)

use super::vocabulary::Vocabulary;

/// Working memory, kept between pieces.
pub struct Merge {
    tokens: Vec<u32>,
    /// A bit for each position from which there is no way on; empty until there is one.
    dead: Vec<u64>,
    /// Counted over all pieces, so that many of medium length are asked about too.
    steps: usize,
    /// Pairs of tokens that were found to stay apart, each at the place that its hash gives it.
    apart: Box<[u64; 1 << APART_BITS]>,
}

/// 128 KiB: long runs of a few kinds of characters ask about the same pairs again and again.
const APART_BITS: u32 = 14;

/// The caller asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Steps between two questions whether to stop: a few KiB of text.
const STEPS: usize = 1024;

impl Merge {
    pub fn new() -> Self {
        let apart = vec![0; 1 << APART_BITS].into_boxed_slice();
        let apart = apart.try_into().unwrap_or_else(|_| unreachable!("it has that length"));
        Self { tokens: Vec::new(), dead: Vec::new(), steps: 0, apart }
    }

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
            // Remembering the last answer halves the time of runs, and costs other texts a tenth.
            let (token, length) = vocabulary.longest(&piece[at..]);
            at = if !self.is_dead(at + length) && self.may_follow(vocabulary, token) {
                self.tokens.push(token);
                at + length
            } else {
                self.retreat(vocabulary, piece, at, token)
            };
        }
        Ok(&self.tokens)
    }

    /// Appends the longest token shorter than `token` that may follow at `at`, or goes back until
    /// one may.
    fn retreat(
        &mut self,
        vocabulary: &Vocabulary,
        piece: &[u8],
        mut at: usize,
        mut token: u32,
    ) -> usize {
        loop {
            if let Some(shorter) = vocabulary.shorter(token) {
                token = shorter;
                let end = at + vocabulary.length(token);
                if !self.is_dead(end) && self.may_follow(vocabulary, token) {
                    self.tokens.push(token);
                    return end;
                }
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
    fn may_follow(&mut self, vocabulary: &Vocabulary, token: u32) -> bool {
        let Some(last) = self.tokens.last() else { return true };
        // A bit beyond the ranks tells every pair from a place that is still empty.
        let pair = u64::from(*last) << 32 | u64::from(token) | 1 << 31;
        let home = pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - APART_BITS);
        if self.apart[home as usize] == pair {
            return true;
        }
        let apart = vocabulary.stay_apart(*last, token);
        if apart {
            self.apart[home as usize] = pair;
        }
        apart
    }

    #[inline]
    fn is_dead(&self, at: usize) -> bool {
        self.dead.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }
}
