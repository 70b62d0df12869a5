//! Exact token counts of plain text, one counter per encoding.
//!
//! This module does no I/O and knows no model names. Text that looks like a special token
//! (`<|endoftext|>`) is counted as the ordinary text that it is inside a user's message.

use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;

/// A byte-pair encoding of `OpenAI`, by its public name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `gpt-4`, `gpt-3.5-turbo`, `text-embedding-3-*`.
    Cl100kBase,
    /// `gpt-4o`, `gpt-4.1`, `gpt-5.x`, the o-series.
    O200kBase,
    /// `gpt-oss`: the merges of `o200k_base` with more special tokens.
    O200kHarmony,
}

impl Encoding {
    /// Every encoding, in the order in which help and errors list them.
    pub const ALL: [Self; 3] = [Self::Cl100kBase, Self::O200kBase, Self::O200kHarmony];

    /// The public name, such as `o200k_base`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cl100kBase => "cl100k_base",
            Self::O200kBase => "o200k_base",
            Self::O200kHarmony => "o200k_harmony",
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
        self.bpe().count_ordinary(text)
    }

    /// Loads every vocabulary, so that no request waits for it.
    pub fn preload() {
        for encoding in Self::ALL {
            encoding.bpe();
        }
    }

    fn bpe(self) -> &'static CoreBPE {
        static CL100K: LazyLock<CoreBPE> = LazyLock::new(|| load(tiktoken_rs::cl100k_base()));
        static O200K: LazyLock<CoreBPE> = LazyLock::new(|| load(tiktoken_rs::o200k_base()));
        match self {
            Self::Cl100kBase => &CL100K,
            // Only the special tokens differ, and none is counted as special here.
            Self::O200kBase | Self::O200kHarmony => &O200K,
        }
    }
}

fn load<E: std::fmt::Debug>(vocabulary: Result<CoreBPE, E>) -> CoreBPE {
    vocabulary.expect("the vocabulary is part of the binary")
}
