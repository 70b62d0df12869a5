//! The count of a text, batch by batch, and where its tokens end.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use super::batch::Batch;
use super::merge::Stopped;
use super::scan::Pattern;
use super::vocabulary::Vocabulary;

/// One vocabulary: how it cuts text, and what it merges.
pub struct Counter {
    pattern: Pattern,
    vocabulary: Vocabulary,
    /// Which of a thread's memories are its own.
    id: u32,
}

thread_local! {
    /// A thread's working memories, each with the counter whose it is; the last used comes last.
    static KEPT: Cell<Vec<(u32, Box<Batch>)>> = const { Cell::new(Vec::new()) };
}

/// Memories that a thread keeps: each is a megabyte and more.
const KEPT_MAX: usize = 8;

impl Counter {
    pub fn new(pattern: Pattern, vocabulary: Vocabulary) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self { pattern, vocabulary, id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// The number of tokens of `text`; if it is above `limit`, any number above `limit`.
    ///
    /// `stop` is asked every few KiB of text.
    pub fn count(
        &self,
        text: &[u8],
        limit: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<usize, Stopped> {
        self.with_batch(|batch| {
            let mut total = 0;
            let mut at = 0;
            while at < text.len() && total <= limit {
                if at > 0 && stop() {
                    return Err(Stopped);
                }
                let pieces = batch.cut(&self.pattern, text, at);
                total += batch.count(&self.vocabulary, text, pieces, stop)?;
                at = batch.bounds(pieces)[pieces];
            }
            Ok(total)
        })
    }

    /// The token boundaries nearest to the one after `tokens` tokens that are between characters
    /// too: the last one not after it, and the first one not before it.
    pub fn boundaries(&self, text: &str, tokens: usize) -> (usize, usize) {
        self.with_batch(|batch| {
            let bytes = text.as_bytes();
            let mut left = tokens;
            let mut at = 0;
            while at < bytes.len() {
                let pieces = batch.cut(&self.pattern, bytes, at);
                let Ok(count) = batch.count(&self.vocabulary, bytes, pieces, &|| false) else {
                    break;
                };
                if count >= left {
                    return self.boundaries_in_batch(batch, text, pieces, left);
                }
                left -= count;
                at = batch.bounds(pieces)[pieces];
            }
            (bytes.len(), bytes.len())
        })
    }

    fn boundaries_in_batch(
        &self,
        batch: &mut Batch,
        text: &str,
        pieces: usize,
        mut left: usize,
    ) -> (usize, usize) {
        for piece in 0..pieces {
            let (start, end) = (batch.bounds(pieces)[piece], batch.bounds(pieces)[piece + 1]);
            let bytes = &text.as_bytes()[start..end];
            let Ok(tokens) = batch.tokens(&self.vocabulary, bytes, &|| false) else { break };
            if tokens.len() >= left {
                return boundaries_in_piece(&self.vocabulary, text, start, tokens, left);
            }
            left -= tokens.len();
        }
        let end = batch.bounds(pieces)[pieces];
        (end, end)
    }

    /// The memory is taken rather than borrowed, because `stop` may itself count.
    fn with_batch<T>(&self, run: impl FnOnce(&mut Batch) -> T) -> T {
        let mut kept = KEPT.take();
        let own = kept.iter().position(|(id, _)| *id == self.id);
        let mut batch = own.map_or_else(|| Box::new(Batch::new()), |at| kept.remove(at).1);
        KEPT.set(kept);
        let result = run(&mut batch);
        let mut kept = KEPT.take();
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        kept.push((self.id, batch));
        KEPT.set(kept);
        result
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
