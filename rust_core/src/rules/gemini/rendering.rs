//! What a tool, a call or a result becomes before it is tokenised.

use crate::rules::{Context, Kind, Tally};
use crate::status::Status;

/// Texts that are tokenised one by one, and the control tokens between them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rendering {
    /// The texts.
    pub texts: Vec<String>,
    /// The control tokens.
    pub extra: u32,
}

impl Rendering {
    /// Goes on with a text.
    pub fn push(&mut self, text: &str) {
        match self.texts.last_mut() {
            Some(last) => last.push_str(text),
            None => self.texts.push(text.into()),
        }
    }

    /// A control token, after which a new text begins.
    pub fn mark(&mut self) {
        self.extra += 1;
        self.texts.push(String::new());
    }

    /// A text between control tokens.
    pub fn string(&mut self, text: &str) {
        self.mark();
        self.push(text);
        self.mark();
    }

    /// Adds it to a tally.
    pub fn add_to(
        &self,
        tally: &mut Tally,
        kind: Kind,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let mut tokens = self.extra;
        for text in &self.texts {
            tokens = tokens.saturating_add(context.count(text)?);
        }
        context.add_frame(tally, kind, tokens);
        Ok(())
    }
}

impl From<String> for Rendering {
    fn from(text: String) -> Self {
        Self { texts: vec![text], extra: 0 }
    }
}
