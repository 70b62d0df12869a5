//! The vocabularies of models whose weights are public, as far as their licences let them be part of
//! the binary; `NOTICE` names those. A vocabulary is loaded when it first counts.

use std::sync::LazyLock;

use super::{Checkpoint, Counter, stoppable};
use crate::bpe::ByteLevel;
use crate::status::Status;

/// The vocabulary of one family of models.
#[derive(Clone, Copy)]
pub struct Weights(&'static Row);

struct Row {
    name: &'static str,
    counter: LazyLock<ByteLevel>,
}

macro_rules! row {
    ($name:literal, $file:literal, $composes:literal, $patterns:expr) => {
        Row {
            name: $name,
            counter: LazyLock::new(|| {
                let file = include_bytes!(concat!(env!("OUT_DIR"), "/", $file));
                let counter = ByteLevel::load(file, $patterns, $composes);
                counter.unwrap_or_else(|fault| unreachable!("{}: {fault}", $name))
            }),
        }
    };
}

/// The patterns are those of the models' own tokenizer files.
static ROWS: [Row; 4] = [
    row!(
        "deepseek_v3",
        "deepseek.bin",
        false,
        [
            r"\p{N}{1,3}",
            r"[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+",
            r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
        ]
    ),
    row!(
        "glm4",
        "glm.bin",
        false,
        [
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ]
    ),
    row!(
        "qwen3",
        "qwen.bin",
        true,
        [
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ]
    ),
    row!(
        "tekken",
        "tekken.bin",
        false,
        [
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ]
    ),
];

impl Weights {
    /// Every one, in the order in which help and errors list them.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(Self)
    }

    /// The name by which the profile table asks for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }
}

impl Counter for Weights {
    fn name(&self) -> &str {
        self.0.name
    }

    fn count(&self, text: &str, checkpoint: Checkpoint<'_>) -> Result<u32, Status> {
        stoppable(checkpoint, |stop| self.0.counter.count_until(text, stop))
    }

    fn bound(&self, text: &str, count: u32, checkpoint: Checkpoint<'_>) -> Result<u32, Status> {
        stoppable(checkpoint, |stop| self.0.counter.count_at_most(text, count as usize, stop))
    }
}
