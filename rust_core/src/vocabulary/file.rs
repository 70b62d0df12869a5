//! Byte-level vocabularies from files: a `tokenizer.json` of Hugging Face, or lines of base64 and
//! rank, as tiktoken has them, with the pattern that those leave out.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

use super::hugging_face::Tokenizer;
use super::{Checkpoint, Counter, stoppable};
use crate::bpe::{ByteLevel, Fault, Merges, serialise};
use crate::status::Status;

/// A vocabulary that a profile table adds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRow {
    /// A path, from the table's directory on if it is relative.
    file: PathBuf,
    /// The regex that cuts texts, for a file in the form of tiktoken.
    pattern: Option<String>,
}

/// Counts in the vocabulary of a file.
pub struct FileVocabulary {
    name: String,
    counter: ByteLevel,
}

impl FileVocabulary {
    /// Reads and prepares the vocabulary. The fault names the field and says what to do.
    pub fn load(name: &str, row: &FileRow, directory: &Path) -> Result<Self, Fault> {
        let path = directory.join(&row.file);
        let fault = |what: String| format!("vocabularies.{name}.file: {}: {what}", path.display());
        let bytes = fs::read(&path).map_err(|error| {
            fault(format!(
                "{error}; give the path of a `tokenizer.json`, or of a tiktoken file with its `pattern`"
            ))
        })?;
        let counter = match &row.pattern {
            Some(pattern) => tiktoken(&bytes, pattern),
            None => Tokenizer::parse(&bytes).and_then(Tokenizer::load),
        };
        Ok(Self { name: name.to_owned(), counter: counter.map_err(fault)? })
    }
}

/// The vocabulary of lines `base64 rank`.
fn tiktoken(file: &[u8], pattern: &str) -> Result<ByteLevel, Fault> {
    let lines = file.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    let ranks: Option<Vec<_>> = lines.clone().map(|(_, line)| ranked(line)).collect();
    let Some(ranks) = ranks else {
        let wrong = lines.into_iter().find(|(_, line)| ranked(line).is_none());
        let number = wrong.map_or(0, |(number, _)| number + 1);
        return Err(format!(
            "line {number} is not a token in base64 and its rank; for a `tokenizer.json` leave out `pattern`"
        ));
    };
    ByteLevel::load(&serialise(&Merges::of_ranks(ranks), true)?, [pattern], false)
}

fn ranked(line: &[u8]) -> Option<(Vec<u8>, u32)> {
    let (token, rank) = str::from_utf8(line).ok()?.trim().split_once(' ')?;
    Some((BASE64_STANDARD.decode(token).ok()?, rank.parse().ok()?))
}

impl Counter for FileVocabulary {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str, checkpoint: Checkpoint<'_>) -> Result<u32, Status> {
        stoppable(checkpoint, |stop| self.counter.count_until(text, stop))
    }

    fn bound(&self, text: &str, count: u32, checkpoint: Checkpoint<'_>) -> Result<u32, Status> {
        stoppable(checkpoint, |stop| self.counter.count_at_most(text, count as usize, stop))
    }
}
