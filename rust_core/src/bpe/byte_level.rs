//! Vocabularies other than OpenAI's that count in the same way: bytes merge within the pieces that
//! regexes cut.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::counter::Counter;
use super::merge::Stopped;
use super::scan::Pattern;
use super::serialise::Fault;
use super::splits::Splits;
use super::vocabulary::Vocabulary;

/// A byte-level vocabulary, loaded.
pub struct ByteLevel {
    counter: Counter,
    composes: bool,
}

/// No character below this one composes with others.
const COMPOSING: u8 = 0xCC;

impl ByteLevel {
    /// Loads a vocabulary that [`super::serialise`] wrote. Text is cut by each of the patterns in
    /// turn; with `composes`, after it was brought into Unicode's form NFC.
    pub fn load<'a>(
        file: &[u8],
        patterns: impl IntoIterator<Item = &'a str>,
        composes: bool,
    ) -> Result<Self, Fault> {
        let pattern = Pattern::Splits(Splits::new(patterns)?);
        Ok(Self { counter: Counter::new(pattern, Vocabulary::load(file, u32::MAX)?), composes })
    }

    /// The exact number of tokens of `text`; `stop` is asked every few KiB whether to go on.
    pub fn count_until(&self, text: &str, stop: &dyn Fn() -> bool) -> Result<usize, Stopped> {
        let text = if self.alters(text) { Cow::Owned(composed(text, stop)?) } else { text.into() };
        self.counter.count(text.as_bytes(), usize::MAX, stop)
    }

    /// The most of `count`, which [`Self::count_until`] gave, and the tokens of the text where a
    /// host leaves it as it is: only Unicode's form may differ.
    pub fn count_at_most(
        &self,
        text: &str,
        count: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<usize, Stopped> {
        if self.alters(text) {
            let as_is = self.counter.count(text.as_bytes(), usize::MAX, stop)?;
            return Ok(count.max(as_is));
        }
        Ok(count)
    }

    /// Whether the text may not be in form NFC yet, and has to be.
    fn alters(&self, text: &str) -> bool {
        self.composes
            && text.bytes().any(|byte| byte >= COMPOSING)
            && is_nfc_quick(text.chars()) != IsNormalized::Yes
    }
}

/// Characters between two questions whether to stop.
const CHARACTERS: usize = 4096;

/// The text in Unicode's form NFC.
fn composed(text: &str, stop: &dyn Fn() -> bool) -> Result<String, Stopped> {
    let mut composed = String::with_capacity(text.len());
    for (number, character) in text.nfc().enumerate() {
        if number % CHARACTERS == 0 && stop() {
            return Err(Stopped);
        }
        composed.push(character);
    }
    Ok(composed)
}
