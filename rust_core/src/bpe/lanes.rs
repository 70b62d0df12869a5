//! The number of tokens of many short pieces at once.
//!
//! Merging one piece means waiting for memory at every step, since each merge decides which pairs
//! are asked for next. So many pieces take one step each in turn: what one waits for arrives while
//! the others take theirs.
//!
//! Each step joins the pair of lowest rank, the leftmost of equal ones: byte-pair encoding by its
//! definition. A step looks at all pairs of a piece, which for pieces this short is faster than a
//! heap, and than the search of `merge`.

use std::hint::select_unpredictable;

use super::pairs::NO_TOKEN;
use super::vocabulary::Vocabulary;

/// Pieces that are merged in turns.
const COUNT: usize = 64;

/// No merge: above every step.
const NO_STEP: i32 = i32::MAX;
/// A step is its rank (18 bits) above its place, so that the lowest is the next one.
const PLACE_BITS: u32 = 6;

/// One piece that begins as at most `N - 1` tokens. What some of those merge into is at the place
/// of the first of them; the last place holds a token that merges with nothing.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Lane<const N: usize> {
    /// The step that joins the token at each place with the next one.
    steps: [i32; N],
    tokens: [u32; N],
    /// A bit for each place where a token begins.
    begins: u64,
    /// Where the piece begins and ends in its text.
    piece: (usize, usize),
}

/// Up to [`COUNT`] pieces that begin as at most `N - 1` tokens each, `N` at most 64.
pub struct Lanes<const N: usize> {
    lanes: Box<[Lane<N>; COUNT]>,
    used: usize,
}

impl<const N: usize> Lanes<N> {
    /// No pieces.
    pub fn new() -> Self {
        let lane = Lane { steps: [NO_STEP; N], tokens: [NO_TOKEN; N], begins: 0, piece: (0, 0) };
        Self { lanes: Box::new([lane; COUNT]), used: 0 }
    }

    /// Whether there is no room for another piece.
    pub fn is_full(&self) -> bool {
        self.used == COUNT
    }

    /// Adds a piece that merging begins with these tokens, at least one and less than `N`.
    #[inline]
    pub fn push(&mut self, vocabulary: &Vocabulary, piece: (usize, usize), tokens: &[u32]) {
        let lane = &mut self.lanes[self.used];
        lane.fill(vocabulary, tokens);
        lane.piece = piece;
        self.used += 1;
    }

    /// Merges all pieces and takes them out, each with its number of tokens.
    pub fn drain(
        &mut self,
        vocabulary: &Vocabulary,
    ) -> impl Iterator<Item = ((usize, usize), usize)> {
        let mut open: [u8; COUNT] = std::array::from_fn(|lane| lane as u8);
        let mut left = self.used;
        while left > 0 {
            let mut kept = 0;
            for turn in 0..left {
                let lane = open[turn];
                open[kept] = lane;
                kept += usize::from(self.lanes[lane as usize].step(vocabulary));
            }
            left = kept;
        }
        let used = std::mem::take(&mut self.used);
        self.lanes[..used].iter().map(|lane| (lane.piece, lane.begins.count_ones() as usize - 1))
    }
}

impl<const N: usize> Lane<N> {
    #[inline]
    fn fill(&mut self, vocabulary: &Vocabulary, tokens: &[u32]) {
        self.steps = [NO_STEP; N];
        for ((place, pair), next) in tokens.windows(2).enumerate().zip(&mut self.steps) {
            *next = step(vocabulary.whole(pair[0], pair[1]), place);
        }
        self.tokens[..tokens.len()].copy_from_slice(tokens);
        self.tokens[N - 1] = NO_TOKEN;
        self.begins = ((1 << tokens.len()) - 1) | (1 << (N - 1));
    }

    /// Merges one pair; false if none is left.
    #[inline]
    fn step(&mut self, vocabulary: &Vocabulary) -> bool {
        let next = self.steps.iter().copied().fold(NO_STEP, i32::min);
        if next == NO_STEP {
            return false;
        }
        let place = next as usize % N;
        let whole = (next >> PLACE_BITS) as u32;
        let joined = self.after(place);
        self.begins &= !(1 << joined);
        self.steps[joined] = NO_STEP;
        self.tokens[place] = whole;
        let (before, after) = (self.before(place), self.after(place));
        let left = vocabulary.whole(self.tokens[before], whole);
        let right = vocabulary.whole(whole, self.tokens[after]);
        self.steps[before] = step(left, before);
        self.steps[place] = step(right, place);
        true
    }

    /// The place of the token after the one at `place`.
    #[inline]
    fn after(&self, place: usize) -> usize {
        let from = place as u32 + 1;
        (self.begins.rotate_right(from).trailing_zeros() + from) as usize % N
    }

    /// The place of the token before the one at `place`; for the first one, the last place.
    #[inline]
    fn before(&self, place: usize) -> usize {
        let gap = self.begins.rotate_right(place as u32).leading_zeros() as usize;
        (place + 63 - gap) % 64 % N
    }
}

/// The step at `place` that makes `whole`; none if that is 0.
#[inline]
fn step(whole: u32, place: usize) -> i32 {
    let step = (whole << PLACE_BITS | place as u32).cast_signed();
    select_unpredictable(whole == 0, NO_STEP, step)
}
