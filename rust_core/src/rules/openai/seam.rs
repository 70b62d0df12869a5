//! Texts that are joined before they are tokenised, counted one by one in linear time.

use crate::rules::Context;
use crate::status::Status;

/// How far back a place is looked for where tokens can't reach across.
const LONGEST_TAIL: usize = 256;

/// The end of a text to which another may be joined.
#[derive(Debug, Default)]
pub struct Seam {
    tail: String,
}

impl Seam {
    /// The end of a text that is counted already.
    #[must_use]
    pub fn after(text: &str) -> Self {
        Self { tail: tail(text).to_owned() }
    }

    /// The tokens that `text` adds when it is joined to what came before; never less than none,
    /// although tokens may merge across the seam, so that a longer prompt never counts less.
    pub fn add(&mut self, text: &str, context: &Context<'_>) -> Result<u32, Status> {
        if self.tail.is_empty() {
            tail(text).clone_into(&mut self.tail);
            return context.count(text);
        }
        let before = context.count(&self.tail)?;
        self.tail.push_str(text);
        let after = context.count(&self.tail)?;
        let keep = tail(&self.tail).len();
        self.tail.drain(..self.tail.len() - keep);
        Ok(after.saturating_sub(before))
    }
}

/// The end of `text` from the last space between two letters: every vocabulary of `OpenAI` begins
/// a token there. Without one, nothing: a text that follows is counted by itself.
fn tail(text: &str) -> &str {
    let mut start = text.len().saturating_sub(LONGEST_TAIL);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let end = &text[start..];
    let letters = |window: &[u8]| {
        window[0].is_ascii_lowercase() && window[1] == b' ' && window[2].is_ascii_alphabetic()
    };
    match end.as_bytes().windows(3).rposition(letters) {
        Some(at) => &end[at + 1..],
        None if start == 0 => end,
        None => "",
    }
}
