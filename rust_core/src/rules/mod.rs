//! What a family of models bills beside the bare text: one set of rules for each family.
//!
//! Rules are additive, message by message, so that a conversation that grows costs only what is
//! new. Constants live in the profile table; code is only what a table can't say.

pub mod claude;
pub mod gemini;
pub mod generic;
pub mod harmony;
pub mod json;
pub mod media;
pub mod openai;
pub mod tally;

pub use tally::{Caveats, Kind, Tally};

use crate::conversation::{Format, Media, Message, Part, Preamble, Role};
use crate::profile::Profile;
use crate::status::Status;
use crate::vocabulary::Checkpoint;

/// The rules of one family.
pub trait Rules: Send + Sync {
    /// The cost of everything before the messages, and of the prompt's own frame.
    fn preamble(&self, preamble: &Preamble, context: &Context<'_>) -> Result<Tally, Status>;

    /// The cost of one message with its frame. It depends on nothing but the message.
    fn message(&self, message: &Message, context: &Context<'_>) -> Result<Tally, Status>;
}

/// What the rules count with.
pub struct Context<'a> {
    /// The model's row of the profile table.
    pub profile: &'a Profile,
    /// The interface that the prompt goes through; never `Unspecified`.
    pub format: Format,
    /// Stops a long count when the caller goes away.
    pub checkpoint: Checkpoint<'a>,
}

impl Context<'_> {
    /// The tokens of `text` in the profile's vocabulary.
    pub fn count(&self, text: &str) -> Result<u32, Status> {
        self.profile.vocabulary.count(text, self.checkpoint)
    }

    /// Adds a text with the margin of its kind.
    pub fn add_text(&self, tally: &mut Tally, kind: Kind, text: &str) -> Result<(), Status> {
        let tokens = self.count(text)?;
        let bound = self.profile.vocabulary.bound(text, tokens, self.checkpoint)?;
        tally.add(kind, tokens, self.profile.margins.widen(kind, bound));
        Ok(())
    }

    /// Adds a constant of the framing with the margin of its kind.
    pub fn add_frame(&self, tally: &mut Tally, kind: Kind, tokens: u32) {
        tally.add(kind, tokens, self.profile.margins.widen(kind, tokens));
    }

    /// Adds an image, recording, film or document by the profile's media rules.
    pub fn add_media(&self, tally: &mut Tally, media: &Media) {
        self.profile.media.add(tally, media);
    }

    /// Adds hidden thinking by its length: providers bill up to 0.3 tokens a character of it.
    pub fn add_opaque(&self, tally: &mut Tally, signature: &str) {
        if !signature.is_empty() {
            tally.caveats.insert(Caveats::OPAQUE_REASONING);
            tally.add(Kind::Reasoning, 0, (signature.len() as f64 * 0.3).ceil() as u32);
        }
    }

    /// Adds the fields of a body that were not understood, as their JSON text.
    pub fn add_unknown_fields(&self, tally: &mut Tally, preamble: &Preamble) -> Result<(), Status> {
        preamble
            .other
            .iter()
            .try_for_each(|(_, value)| self.add_text(tally, Kind::Overhead, &value.to_string()))
    }

    /// Adds a part in the way that most families count it. Calls and results are left out: each
    /// family writes them in its own way.
    pub fn add_part(&self, tally: &mut Tally, kind: Kind, part: &Part) -> Result<(), Status> {
        match part {
            Part::Text(text) => self.add_text(tally, kind, text),
            Part::Media(media) => {
                self.add_media(tally, media);
                Ok(())
            }
            Part::Reasoning(reasoning) => {
                self.add_opaque(tally, &reasoning.signature);
                self.add_text(tally, Kind::Reasoning, &reasoning.text)
            }
            Part::Signature(signature) => {
                self.add_opaque(tally, signature);
                Ok(())
            }
            Part::Other(value) => self.add_unknown(tally, kind, &value.to_string()),
            Part::ToolCall(_) | Part::ToolResult(_) => Ok(()),
        }
    }

    /// Adds the JSON text of what was not understood. A tool's result may well be JSON.
    pub fn add_unknown(&self, tally: &mut Tally, kind: Kind, json: &str) -> Result<(), Status> {
        if kind != Kind::ToolResults {
            tally.caveats.insert(Caveats::COUNTED_AS_JSON);
        }
        self.add_text(tally, kind, json)
    }
}

/// The kind of a role's plain text.
#[must_use]
pub const fn text_of(role: Role) -> Kind {
    match role {
        Role::User => Kind::User,
        Role::Assistant => Kind::Assistant,
        Role::System | Role::Developer => Kind::System,
        Role::Tool => Kind::ToolResults,
    }
}
