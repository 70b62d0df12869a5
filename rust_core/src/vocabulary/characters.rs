//! An estimate from the number of characters, for models whose vocabulary can't be had.

use super::{Checkpoint, Counter};
use crate::status::Status;

/// Characters per token of Latin text: low for prose, about right for code.
const LATIN_CHARACTERS_PER_TOKEN: f64 = 3.5;

/// Counts characters instead of tokens.
#[derive(Clone, Copy, Debug)]
pub struct Characters;

impl Characters {
    /// The name by which the profile table asks for it.
    pub const NAME: &str = "characters";
}

impl Counter for Characters {
    fn name(&self) -> &str {
        Self::NAME
    }

    /// ASCII at 3.5 characters a token; any other character one token for each two bytes, since
    /// the same ratio would halve the count of CJK text.
    fn count(&self, text: &str, checkpoint: Checkpoint<'_>) -> Result<u32, Status> {
        checkpoint()?;
        let ascii = text.bytes().filter(u8::is_ascii).count() as f64;
        let other = text.len() as f64 - ascii;
        Ok((ascii / LATIN_CHARACTERS_PER_TOKEN + other / 2.0).ceil() as u32)
    }

    /// One token for each byte: the only limit that no byte-level vocabulary exceeds.
    fn bound(&self, text: &str, _count: u32, _checkpoint: Checkpoint<'_>) -> Result<u32, Status> {
        Ok(text.len() as u32)
    }
}
