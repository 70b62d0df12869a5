//! The vocabularies that texts are counted with, by name: one interface over all of them.

mod characters;
mod claude;
mod file;
mod gemma;
mod hugging_face;
mod weights;

use std::cell::Cell;
use std::sync::Arc;

pub use characters::Characters;
pub use claude::Claude;
pub use file::{FileRow, FileVocabulary};
pub use gemma::Gemma4;
pub use weights::Weights;

use crate::bpe::{Encoding, Stopped};
use crate::status::Status;

/// Counts the tokens of plain text in one vocabulary.
pub trait Counter: Send + Sync {
    /// The vocabulary's public name, such as `o200k_base`.
    fn name(&self) -> &str;

    /// The number of tokens of `text`. `checkpoint` is called every few KiB and may stop it.
    fn count(&self, text: &str, checkpoint: Checkpoint<'_>) -> Result<u32, Status>;

    /// A number of tokens that no tokeniser of this family exceeds on `text`, given the `count`
    /// that [`Counter::count`] gave for it. An exact vocabulary's is the count itself.
    fn bound(&self, _text: &str, count: u32, _checkpoint: Checkpoint<'_>) -> Result<u32, Status> {
        Ok(count)
    }
}

/// Says whether to go on; an error stops the count and becomes the call's status.
pub type Checkpoint<'a> = &'a dyn Fn() -> Result<(), Status>;

/// Names of every vocabulary, in the order in which help and errors list them.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let encodings = Encoding::ALL.iter().map(Counter::name);
    let claude = Claude::ALL.iter().map(Counter::name);
    let weights = Weights::all().map(Weights::name);
    encodings.chain(claude).chain([Gemma4::NAME]).chain(weights).chain([Characters::NAME]).collect()
}

/// The vocabulary of that name. A large one is loaded when it first counts.
#[must_use]
pub fn by_name(name: &str) -> Option<Arc<dyn Counter>> {
    if name == Characters::NAME {
        return Some(Arc::new(Characters));
    }
    if name == Gemma4::NAME {
        return Some(Arc::new(Gemma4));
    }
    if let Some(claude) = Claude::ALL.into_iter().find(|claude| claude.name() == name) {
        return Some(Arc::new(claude));
    }
    if let Some(weights) = Weights::all().find(|weights| weights.name() == name) {
        return Some(Arc::new(weights));
    }
    Some(Arc::new(Encoding::from_name(name)?))
}

impl Counter for Encoding {
    fn name(&self) -> &str {
        Encoding::name(*self)
    }

    fn count(&self, text: &str, checkpoint: Checkpoint<'_>) -> Result<u32, Status> {
        stoppable(checkpoint, |stop| self.count_until(text, stop))
    }
}

/// A count that asks whether to stop, with the status of the checkpoint that stopped it.
fn stoppable(
    checkpoint: Checkpoint<'_>,
    count: impl FnOnce(&dyn Fn() -> bool) -> Result<usize, Stopped>,
) -> Result<u32, Status> {
    let stopped_by = Cell::new(None);
    let stop = || match checkpoint() {
        Ok(()) => false,
        Err(status) => {
            stopped_by.set(Some(status));
            true
        }
    };
    match count(&stop) {
        Ok(count) => Ok(count as u32),
        Err(Stopped) => Err(stopped_by.take().unwrap_or_else(Status::stopped)),
    }
}
