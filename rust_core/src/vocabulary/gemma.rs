//! The Gemma 4 vocabulary, which counts Gemini's text exactly.
//!
//! The data is the crate `splintr-vocab-gemma4` (Apache-2.0): pieces by id and the order of merges.
//! The counter is our own, since the crate's companion holds ten times the memory and gives special
//! tokens their own ids inside user text. Text that looks like one is ordinary text here.

use std::collections::BinaryHeap;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use splintr_vocab_gemma4::{GEMMA4_MERGES_PACKED, GEMMA4_VOCAB_PACKED};

use super::{Checkpoint, Counter};
use crate::status::Status;

/// Bytes of magic and count before the entries of a packed file.
const HEADER: usize = 12;

/// How the vocabulary writes a space.
const SPACE: char = '\u{2581}';

/// Pieces that merging never reaches as a whole, though each is the result of a merge. Every other
/// piece that stands alone is one token: a test tries them all.
const UNREACHED: [&str; 4] =
    ["\u{2581}::::::::", "\u{2581}YYYY", "\u{2581}diffformul", "\u{2581}yyyy"];

/// Merges between two checkpoints.
const CHECK_EVERY: u32 = 4096;

/// Counts in the Gemma 4 vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Gemma4;

impl Gemma4 {
    /// The name by which the profile table asks for it.
    pub const NAME: &str = "gemma4";
}

impl Counter for Gemma4 {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn count(&self, text: &str, checkpoint: Checkpoint<'_>) -> Result<u32, Status> {
        let mut merger = Merger::new(&PIECES, checkpoint);
        let mut tokens = 0u32;
        for piece in split(text) {
            tokens = tokens.saturating_add(merger.count(piece)?);
        }
        checkpoint()?;
        Ok(tokens)
    }
}

/// Every piece that merging can reach, with its priority: the lowest merges first. Single
/// characters, from which merging starts, have none.
static PIECES: LazyLock<FxHashMap<&'static [u8], u32>> = LazyLock::new(|| {
    let vocabulary = entries();
    let mut pieces = FxHashMap::default();
    pieces.reserve(vocabulary.len());
    let single = |piece: &[u8]| {
        piece.utf8_chunks().map(|part| part.valid().chars().count()).sum::<usize>() == 1
    };
    pieces.extend(vocabulary.iter().filter(|piece| single(piece)).map(|piece| (*piece, u32::MAX)));
    let mut merges = &GEMMA4_MERGES_PACKED[HEADER..];
    let mut priority = 0;
    while let Some(id) = varint(&mut merges) {
        varint(&mut merges);
        pieces.entry(vocabulary[id]).or_insert(priority);
        priority += 1;
    }
    pieces
});

/// The pieces of the vocabulary by id.
fn entries() -> Vec<&'static [u8]> {
    let mut rest = &GEMMA4_VOCAB_PACKED[HEADER..];
    let mut pieces = Vec::new();
    while let (Some(_), Some(length)) = (varint(&mut rest), varint(&mut rest)) {
        let (piece, after) = rest.split_at(length);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Takes a little-endian base-128 number; `None` at the end.
fn varint(bytes: &mut &[u8]) -> Option<usize> {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= usize::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}

/// Splits a text where no piece of the vocabulary crosses, so that long texts merge word by word.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut characters = rest.char_indices();
        let mut before = characters.next()?.1;
        let end = characters.find(|(_, after)| {
            let crosses = !is_boundary(before, *after);
            before = *after;
            !crosses
        });
        let (piece, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = after;
        Some(piece)
    })
}

/// Whether no piece holds these two characters side by side: spaces only begin pieces (but for
/// `>▁</`), and line feeds stand with nothing but line feeds.
fn is_boundary(before: char, after: char) -> bool {
    let space = |character| character == ' ' || character == SPACE;
    (space(after) && !space(before) && before != '>') || ((before == '\n') != (after == '\n'))
}

/// A run of characters that was merged; a list in the order of the text.
struct Symbol {
    start: u32,
    end: u32,
    before: u32,
    after: u32,
}

/// No symbol.
const NONE: u32 = u32::MAX;

/// A possible merge, first by priority, then by place.
type Candidate = std::cmp::Reverse<(u32, u32, u32)>;

/// Merges the characters of a piece, best pair first: byte-pair encoding in `n log n`.
struct Merger<'a> {
    pieces: &'a FxHashMap<&'static [u8], u32>,
    checkpoint: Checkpoint<'a>,
    merges: u32,
    text: Vec<u8>,
    symbols: Vec<Symbol>,
    queue: BinaryHeap<Candidate>,
}

impl<'a> Merger<'a> {
    fn new(pieces: &'a FxHashMap<&'static [u8], u32>, checkpoint: Checkpoint<'a>) -> Self {
        let (text, symbols, queue) = (Vec::new(), Vec::new(), BinaryHeap::new());
        Self { pieces, checkpoint, merges: 0, text, symbols, queue }
    }

    /// The tokens of a piece of text.
    fn count(&mut self, piece: &str) -> Result<u32, Status> {
        self.write(piece);
        if self.pieces.contains_key(self.text.as_slice())
            && !UNREACHED.iter().any(|unreached| unreached.as_bytes() == self.text)
        {
            return Ok(1);
        }
        self.merged()
    }

    /// The tokens of the text that was written.
    fn merged(&mut self) -> Result<u32, Status> {
        self.seed();
        while let Some(std::cmp::Reverse((_, left, end))) = self.queue.pop() {
            self.merges += 1;
            if self.merges.is_multiple_of(CHECK_EVERY) {
                (self.checkpoint)()?;
            }
            self.merge(left, end);
        }
        Ok(self.symbols.iter().map(|symbol| self.tokens(symbol)).sum())
    }

    /// Takes the piece in the vocabulary's spelling.
    fn write(&mut self, piece: &str) {
        self.text.clear();
        for run in piece.split_inclusive(' ') {
            let word = run.strip_suffix(' ');
            self.text.extend_from_slice(word.unwrap_or(run).as_bytes());
            if word.is_some() {
                self.text.extend_from_slice(SPACE.encode_utf8(&mut [0; 3]).as_bytes());
            }
        }
    }

    /// One symbol for each character.
    fn seed(&mut self) {
        self.symbols.clear();
        let starts_character = |at: &usize| !matches!(self.text.get(*at), Some(0x80..0xC0));
        let mut start = 0;
        for end in (1..=self.text.len()).filter(starts_character) {
            let at = self.symbols.len() as u32;
            let symbol =
                Symbol { start, end: end as u32, before: at.wrapping_sub(1), after: at + 1 };
            start = symbol.end;
            self.symbols.push(symbol);
        }
        if let Some(last) = self.symbols.last_mut() {
            last.after = NONE;
        }
        for left in 0..self.symbols.len() as u32 {
            self.propose(left);
        }
    }

    /// Queues the merge of a symbol with the one after it, if the vocabulary has one.
    fn propose(&mut self, left: u32) {
        let Some(symbol) = self.symbols.get(left as usize) else { return };
        let Some(right) = self.symbols.get(symbol.after as usize) else { return };
        let whole = &self.text[symbol.start as usize..right.end as usize];
        if let Some(priority) = self.pieces.get(whole) {
            self.queue.push(std::cmp::Reverse((*priority, left, right.end)));
        }
    }

    /// Merges `left` with the symbol after it, unless either has changed since it was proposed.
    fn merge(&mut self, left: u32, end: u32) {
        let Symbol { start, before, after, .. } = self.symbols[left as usize];
        let stale = self.symbols.get(after as usize).is_none_or(|right| right.end != end);
        if stale || start == self.symbols[left as usize].end {
            return;
        }
        let right = &mut self.symbols[after as usize];
        let next = right.after;
        // An empty symbol is one that was merged away.
        right.end = right.start;
        self.symbols[left as usize].end = end;
        self.symbols[left as usize].after = next;
        if let Some(next) = self.symbols.get_mut(next as usize) {
            next.before = left;
        }
        self.propose(left);
        self.propose(before);
    }

    /// A character that the vocabulary lacks is one token for each byte.
    fn tokens(&self, symbol: &Symbol) -> u32 {
        let bytes = &self.text[symbol.start as usize..symbol.end as usize];
        if bytes.is_empty() || self.pieces.contains_key(bytes) {
            u32::from(!bytes.is_empty())
        } else {
            bytes.len() as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> u32 {
        Gemma4.count(text, &|| Ok(())).expect("never stopped")
    }

    #[test]
    fn no_piece_crosses_a_boundary() {
        for piece in PIECES.keys() {
            let text = std::str::from_utf8(piece).expect("pieces are UTF-8");
            assert_eq!(split(text).count(), 1, "{text:?}");
        }
    }

    /// Merges without the shortcut for pieces that stand alone.
    fn merged(text: &str) -> u32 {
        let mut merger = Merger::new(&PIECES, &|| Ok(()));
        merger.write(text);
        merger.merged().expect("never stopped")
    }

    #[test]
    fn every_piece_but_the_unreached_is_one_token() {
        let texts = PIECES.keys().map(|piece| std::str::from_utf8(piece).expect("UTF-8"));
        let mut broken: Vec<_> = texts.filter(|text| merged(text) != 1).collect();
        broken.sort_unstable();
        assert_eq!(broken, UNREACHED);
    }

    #[test]
    fn special_tokens_in_a_text_are_text() {
        assert_eq!(count("<bos>"), 3);
        assert_eq!(count("<|turn>x"), 5);
        assert_eq!(count("<0x41>"), 6);
    }

    #[test]
    fn characters_beyond_the_vocabulary_fall_back_to_bytes() {
        assert_eq!(count("\u{10FFFF}"), 4);
    }
}
