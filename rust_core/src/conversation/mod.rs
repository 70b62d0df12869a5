//! The canonical conversation: what every form of a prompt becomes before it is counted.
//!
//! It leaves out what no provider bills or sends back differently (nulls, empty lists, cache
//! markers, item ids), so that a reply as it was received and the same reply as it is sent back
//! are one message with one digest.

mod anthropic;
mod bedrock;
mod blocks;
pub mod digest;
mod format;
mod gemini;
pub mod json;
mod lead;
mod memo;
mod messages;
mod openai;
mod openai_chat;
mod openai_responses;
pub mod provider;
mod rest;
mod thinking;
pub mod typed;
mod unknown;

use serde_json::Value;

use crate::wire;
pub use crate::wire::Format;
pub use memo::{Counted, Memo, Reading, Recognise};
pub use thinking::mark_thinking;

/// A prompt of any provider's shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// What stands before the messages.
    pub preamble: Preamble,
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// What was not understood.
    pub warnings: Vec<wire::Warning>,
}

/// What stands before the messages and may change from turn to turn without them.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts of a body")]
pub struct Preamble {
    /// The system and developer messages that lead the conversation, one each.
    pub system: Vec<Message>,
    /// Gemini: the system instruction carries a `role`, which is billed.
    pub system_has_role: bool,
    /// The tools in the order sent.
    pub tools: Vec<Tool>,
    /// How tools may be used.
    pub tool_choice: ToolChoice,
    /// The schema of the answer.
    pub response_schema: Option<ResponseSchema>,
    /// Extended thinking is on.
    pub thinking: bool,
    /// The model decides whether to think.
    pub may_think: bool,
    /// The first message is the model's.
    pub model_begins: bool,
    /// Fields of the body that were not understood but may be billed, as `(name, value)`.
    pub other: Vec<(String, Value)>,
    /// What is known by the bytes that it was sent in.
    pub memo: Memo,
}

impl Preamble {
    /// Nothing stands before the messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let known = matches!(self.memo, Memo::Known(_));
        !known && *self == Self { memo: self.memo, ..Self::default() }
    }
}

/// One message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Tells speakers of one role apart; empty means none.
    pub name: String,
    /// What is said, in order.
    pub parts: Vec<Part>,
    /// The message holds thinking that led to a tool call: providers keep that until the user
    /// speaks again, and drop what led to an answer.
    pub keeps_thinking: bool,
    /// What is known by the bytes that it was sent in.
    pub memo: Memo,
}

impl Message {
    /// The user speaks: not a tool's result that goes back to the model in the user's name.
    #[must_use]
    pub fn opens_turn(&self) -> bool {
        let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
        self.role == Role::User && !self.parts.is_empty() && !self.parts.iter().any(is_result)
    }
}

/// Who speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// The person or program that asks.
    #[default]
    User = 1,
    /// The model.
    Assistant = 2,
    /// An instruction.
    System = 3,
    /// Results of tool calls.
    Tool = 4,
    /// An instruction of the application's developer.
    Developer = 5,
}

impl Role {
    /// The role of a message that an interface gives as this one's: results that go back to the
    /// model in the user's name are the tools'.
    #[must_use]
    fn of_parts(self, parts: &[Part]) -> Self {
        let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
        let is_results = !parts.is_empty() && parts.iter().all(is_result);
        if self == Self::User && is_results { Self::Tool } else { self }
    }
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// A picture, recording, film or document.
    Media(Media),
    /// A call that the model made.
    ToolCall(ToolCall),
    /// What a call gave.
    ToolResult(ToolResult),
    /// The model's thinking as it is sent back.
    Reasoning(Reasoning),
    /// Gemini: a thought signature on the part before it.
    Signature(String),
    /// A part that was not understood, as the provider's JSON: counted as its text.
    Other(Value),
}

/// A call that the model made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    /// Ties the call to its result; empty means none.
    pub id: String,
    /// Name of the function.
    pub name: String,
    /// Arguments as JSON text, as sent.
    pub arguments: String,
    /// Responses: the call is an item with an `id` of its own, which is billed.
    pub has_item_id: bool,
}

/// What a call gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// The id of the call; empty means none.
    pub call_id: String,
    /// Name of the function; empty means unknown.
    pub name: String,
    /// Texts and media; `Other` where the result is a JSON value rather than text.
    pub parts: Vec<Part>,
    /// The call failed.
    pub is_error: bool,
}

/// The model's thinking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasoning {
    /// The text; empty means hidden.
    pub text: String,
    /// The opaque proof or the encrypted thinking; empty means none.
    pub signature: String,
}

/// What kind of media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum MediaKind {
    /// A picture.
    #[default]
    Image = 1,
    /// A recording.
    Audio = 2,
    /// A document.
    File = 3,
    /// A film.
    Video = 4,
}

/// A picture, recording, film or document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Media {
    /// What kind it is.
    pub kind: MediaKind,
    /// The bytes, decoded; empty where only a `uri` is known.
    pub data: bytes::Bytes,
    /// Where the provider finds the bytes; empty where `data` is given.
    pub uri: String,
    /// The kind of the bytes, such as `image/png`; empty means unknown.
    pub mime_type: String,
    /// Width in pixels; 0 means unknown.
    pub width: u32,
    /// Height in pixels; 0 means unknown.
    pub height: u32,
    /// Duration in seconds; 0 means unknown.
    pub duration: f64,
    /// Pages of a document; 0 means unknown.
    pub pages: u32,
    /// The resolution asked for; empty means the default.
    pub detail: String,
    /// Name of the document; empty means none.
    pub filename: String,
}

/// Something that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub enum Tool {
    /// A function.
    Function(Function),
    /// Another kind of tool, as the provider's JSON: counted as its text.
    Other(Value),
}

/// A function that the model may call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// Name of the function.
    pub name: String,
    /// Description; empty means none.
    pub description: String,
    /// The schema of the arguments.
    pub parameters: Option<Value>,
    /// Gemini: the schema was given as JSON Schema rather than in the OpenAPI dialect.
    pub json_schema: bool,
    /// Gemini: the schema of the function's answer.
    pub response: Option<Value>,
    /// The provider holds the model to the schema.
    pub strict: bool,
}

/// How tools may be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolChoice {
    /// The rule.
    pub mode: ToolChoiceMode,
    /// The function that must be called, with `Named`.
    pub name: String,
    /// Only one call at a time.
    pub no_parallel: bool,
}

/// The rule by which tools are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ToolChoiceMode {
    /// The provider's default, which is `Auto` where there are tools.
    #[default]
    Unspecified = 0,
    /// The model decides.
    Auto = 1,
    /// No calls.
    None = 2,
    /// Some call.
    Required = 3,
    /// A call of one function.
    Named = 4,
}

/// The schema of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseSchema {
    /// Name of the schema; empty means none.
    pub name: String,
    /// Description; empty means none.
    pub description: String,
    /// The schema.
    pub schema: Value,
    /// Gemini: the schema was given as JSON Schema rather than in the OpenAPI dialect.
    pub json_schema: bool,
    /// The provider holds the model to the schema.
    pub strict: bool,
}
