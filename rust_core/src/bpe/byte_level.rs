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

    /// The number of tokens where a host leaves the text as it is: only Unicode's form may differ.
    #[must_use]
    pub fn count_as_is(&self, text: &str) -> Option<usize> {
        let count = || self.counter.count(text.as_bytes(), usize::MAX, &|| false).ok();
        if self.alters(text) { count() } else { None }
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
