//! Exact token counts of plain text, one counter per encoding.
//!
//! This module does no I/O and knows no model names. Text that looks like a special token
//! (`<|endoftext|>`) is counted as the ordinary text that it is inside a user's message.

mod batch;
mod byte_level;
mod cache;
mod characters;
mod classes;
mod counter;
mod lanes;
mod members;
mod merge;
mod pairs;
mod piece;
mod places;
mod runs;
mod scan;
mod serialise;
mod spelling;
mod splits;
mod trie;
mod truncate;
mod vocabulary;

use std::sync::LazyLock;

pub use byte_level::ByteLevel;
use counter::Counter;
pub use merge::Stopped;
use scan::Pattern;
pub use serialise::{Fault, Merges, serialise};
pub use spelling::bytes as spelled;
pub use truncate::Keep;
use vocabulary::Vocabulary;

/// A byte-pair encoding of `OpenAI`, by its public name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `gpt-4`, `gpt-3.5-turbo`, `text-embedding-3-*`.
    Cl100kBase,
    /// `gpt-4o`, `gpt-4.1`, `gpt-5.x`, the o-series.
    O200kBase,
    /// `gpt-oss`: the merges of `o200k_base` with more special tokens.
    O200kHarmony,
    /// `text-davinci-002` and `-003`, the Codex models.
    P50kBase,
    /// The first GPT-3 models.
    R50kBase,
}

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name))
    };
}

static COUNTERS: [LazyLock<Counter>; 4] = [
    LazyLock::new(|| load(Pattern::Cl100k, file!("cl100k.bin"), u32::MAX)),
    LazyLock::new(|| load(Pattern::O200k, file!("o200k.bin"), u32::MAX)),
    LazyLock::new(|| load(Pattern::P50k, file!("p50k.bin"), u32::MAX)),
    // The same vocabulary before its runs of spaces were added.
    LazyLock::new(|| load(Pattern::P50k, file!("p50k.bin"), 50_256)),
];

fn load(pattern: Pattern, file: &[u8], end_rank: u32) -> Counter {
    let vocabulary = Vocabulary::load(file, end_rank);
    Counter::new(pattern, vocabulary.unwrap_or_else(|fault| unreachable!("{fault}")))
}

impl Encoding {
    /// Every encoding, in the order in which help and errors list them.
    pub const ALL: [Self; 5] =
        [Self::Cl100kBase, Self::O200kBase, Self::O200kHarmony, Self::P50kBase, Self::R50kBase];

    /// The public name, such as `o200k_base`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cl100kBase => "cl100k_base",
            Self::O200kBase => "o200k_base",
            Self::O200kHarmony => "o200k_harmony",
            Self::P50kBase => "p50k_base",
            Self::R50kBase => "r50k_base",
        }
    }

    /// The encoding of that public name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|encoding| encoding.name() == name)
    }

    /// The exact number of tokens of `text`.
    #[must_use]
    pub fn count(self, text: &str) -> usize {
        let count = self.counter().count(text.as_bytes(), usize::MAX, &|| false);
        count.unwrap_or_else(|Stopped| unreachable!("nothing asked to stop"))
    }

    /// As [`Self::count`], asking `stop` every few KiB of text whether to go on.
    pub fn count_until(self, text: &str, stop: &dyn Fn() -> bool) -> Result<usize, Stopped> {
        self.counter().count(text.as_bytes(), usize::MAX, stop)
    }

    /// The exact number of tokens of `text` if it is at most `limit`. Otherwise `None`, as soon as
    /// that is known.
    #[must_use]
    pub fn count_up_to(self, text: &str, limit: usize) -> Option<usize> {
        let count = self.counter().count(text.as_bytes(), limit, &|| false);
        count.ok().filter(|count| *count <= limit)
    }

    /// The exact number of tokens of each text.
    #[must_use]
    pub fn count_many<'a>(self, texts: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
        texts.into_iter().map(|text| self.count(text)).collect()
    }

    /// The start or the end of `text` that has at most `limit` tokens.
    ///
    /// It is cut between characters and between tokens of `text`, at the last such place, or at an
    /// earlier one if what would be kept has more than `limit` tokens when it stands alone.
    #[must_use]
    pub fn truncate(self, text: &str, limit: usize, keep: Keep) -> &str {
        truncate::truncate(self.counter(), text, limit, keep)
    }

    /// Loads the vocabularies of current models, side by side, so that no request waits for them.
    /// Those of old models are loaded when first asked for.
    pub fn preload() {
        std::thread::scope(|scope| {
            scope.spawn(|| Self::Cl100kBase.counter());
            Self::O200kBase.counter();
        });
    }

    fn counter(self) -> &'static Counter {
        &COUNTERS[match self {
            Self::Cl100kBase => 0,
            // Only the special tokens differ, and none is counted as special here.
            Self::O200kBase | Self::O200kHarmony => 1,
            Self::P50kBase => 2,
            Self::R50kBase => 3,
        }]
    }
}
