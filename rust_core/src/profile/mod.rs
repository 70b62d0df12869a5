//! Which rules count a model: a table of families and models, embedded and extendable by a file.

mod table;

use std::sync::Arc;

use serde::Deserialize;

use crate::conversation::Format;
use crate::rules::media::MediaRules;
use crate::rules::{Kind, Rules};
use crate::vocabulary::Counter;
use crate::wire;

pub use table::{Profiles, TableError};

/// Everything that decides what a prompt to one model costs.
pub struct Profile {
    /// Name of the row, such as `gpt-4o`; answers carry it.
    pub name: String,
    /// Name of the family, such as `openai-4`.
    pub family: String,
    /// Tokens that the model takes in all; 0 means unknown.
    pub window: u32,
    /// The interface of a typed prompt that names none.
    pub format: Format,
    /// The vocabulary that counts the text.
    pub vocabulary: Arc<dyn Counter>,
    /// The rules around the text.
    pub rules: Arc<dyn Rules>,
    /// What media cost.
    pub media: MediaRules,
    /// How much wider the bound is than the estimate.
    pub margins: Margins,
    /// A gateway's name for the model: it sends Chat Completions on as Responses.
    pub is_gateway: bool,
    /// What the host adds if there are tools.
    pub tools_extra: u32,
    /// What a reply costs when it is sent back.
    pub reply: ReplyCost,
    /// What was measured on recorded requests, if anything was.
    pub accuracy: Option<wire::Accuracy>,
}

/// What a recorded reply costs as input on the next turn.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ReplyCost {
    /// The billed output and the message's frame: truer where the vocabulary is an approximation.
    #[default]
    Billed,
    /// The rules' own count: truer where the rules are exact, since output and input differ by
    /// control tokens.
    Counted,
}

/// How far a bill may be above the estimate, as a share of it, by what was estimated.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Margins {
    /// Of a recorded bill.
    pub recorded: f64,
    /// Of plain text and its framing.
    pub text: f64,
    /// Of tool declarations.
    pub tools: f64,
    /// Of a response schema.
    pub schema: f64,
    /// Of tool calls and their results.
    pub calls: f64,
}

impl Margins {
    /// The bound of `tokens` of a kind, rounded up.
    #[must_use]
    pub fn widen(&self, kind: Kind, tokens: u32) -> u32 {
        (f64::from(tokens) * (1.0 + self.of(kind))).ceil() as u32
    }

    const fn of(&self, kind: Kind) -> f64 {
        match kind {
            Kind::Tools => self.tools,
            Kind::ResponseSchema => self.schema,
            Kind::ToolCalls | Kind::ToolResults => self.calls,
            // Media rules give their own bounds.
            Kind::Media => 0.0,
            _ => self.text,
        }
    }
}
