//! What Claude bills beside the text: its hidden prompts and how tools, calls and schemas are
//! written out before the model reads them.
//!
//! Anthropic publishes some of it (the hidden prompt of tools by model and choice); the texts and
//! the other constants were found by comparing with recorded bills. Bedrock bills alike.

mod texts;

use serde::Deserialize;

use super::{Caveats, Context, Kind, Rules, Tally, json, text_of};
use crate::conversation::{
    Format, Message, Part, Preamble, Reasoning, ResponseSchema, Role, Tool, ToolCall, ToolChoice,
    ToolChoiceMode,
};
use crate::status::Status;

/// Constants of a family, in tokens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claude {
    /// Added once to every prompt.
    pub per_prompt: u32,
    /// Added to every message; system prompts have no frame of their own.
    pub per_message: u32,
    /// What a message or a system prompt may cost beyond that: its last character may not merge
    /// with what follows.
    pub message_slack: u32,
    /// The hidden prompt of tools.
    pub hidden: Hidden,
    /// The first call of a message, beside its text; its result included.
    pub first_call: u32,
    /// Each further call of a message.
    pub further_call: u32,
    /// A tool of Anthropic's own (computer, bash, text editor), beside its JSON text, and the most
    /// that one costs.
    pub own_tool: u32,
    /// See `own_tool`.
    pub own_tool_most: u32,
    /// A response schema, beside its text, and the most that it costs.
    pub per_schema: u32,
    /// See `per_schema`.
    pub per_schema_most: u32,
    /// Extended thinking.
    pub thinking: u32,
    /// Thinking between calls, which a header asks for that no body shows: only the bound has it.
    pub interleaved: u32,
    /// Thinking of earlier turns stays in the prompt.
    #[serde(default)]
    pub keeps_thinking: bool,
    /// What was seen above the text of a message's thinking.
    #[serde(default = "thinking_slack")]
    pub thinking_slack: u32,
    /// A conversation that the model begins: a user's turn is put before it.
    #[serde(default = "model_begins")]
    pub model_begins: u32,
}

const fn thinking_slack() -> u32 {
    14
}

const fn model_begins() -> u32 {
    11
}

/// What bills were seen above the frame of extended thinking, without tools.
const THINKING_SLACK: u32 = 4;

/// What a system prompt with an empty text was billed for it.
const EMPTY_SYSTEM: u32 = 3;

/// The hidden prompt that explains tools, by tool choice. `single` is for one call at a time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hidden {
    /// The model decides, or must not call.
    pub auto: u32,
    /// Some call is demanded.
    pub required: u32,
    /// A call of one function is demanded.
    pub named: u32,
    /// As `auto`, one call at a time.
    pub single_auto: u32,
    /// As `required`, one call at a time.
    pub single_required: u32,
    /// As `named`, one call at a time.
    pub single_named: u32,
    /// What was seen above these.
    pub slack: u32,
}

impl Hidden {
    const fn of(&self, choice: &ToolChoice) -> u32 {
        use ToolChoiceMode::{Auto, Named, None, Required, Unspecified};
        match (choice.mode, choice.no_parallel) {
            (Unspecified | Auto | None, false) => self.auto,
            (Required, false) => self.required,
            (Named, false) => self.named,
            (Unspecified | Auto | None, true) => self.single_auto,
            (Required, true) => self.single_required,
            (Named, true) => self.single_named,
        }
    }
}

impl Rules for Claude {
    fn preamble(&self, preamble: &Preamble, context: &Context<'_>) -> Result<Tally, Status> {
        let mut tally = Tally::default();
        tally.add(Kind::Overhead, self.per_prompt, self.per_prompt);
        for message in &preamble.system {
            tally.add(Kind::Overhead, 0, self.message_slack);
            for part in &message.parts {
                if matches!(part, Part::Text(text) if text.is_empty()) {
                    tally.add(Kind::Overhead, EMPTY_SYSTEM, EMPTY_SYSTEM);
                }
                self.part(&mut tally, message, part, context)?;
            }
        }
        self.tools(&mut tally, preamble, context)?;
        if let Some(response) = &preamble.response_schema {
            self.response_schema(&mut tally, response, context)?;
        }
        if preamble.thinking {
            let most = if preamble.tools.is_empty() { THINKING_SLACK } else { self.interleaved };
            tally.add(Kind::Overhead, self.thinking, self.thinking + most);
        }
        // Adaptive thinking is mostly free.
        if preamble.may_think {
            tally.add(Kind::Overhead, 0, self.thinking);
        }
        if preamble.model_begins {
            tally.add(Kind::Overhead, self.model_begins, self.model_begins);
        }
        context.add_unknown_fields(&mut tally, preamble)?;
        Ok(tally)
    }

    fn message(&self, message: &Message, context: &Context<'_>) -> Result<Tally, Status> {
        let mut tally = Tally::default();
        tally.add(Kind::Overhead, self.per_message, self.per_message + self.message_slack);
        let mut call_frame = self.first_call;
        for part in &message.parts {
            if matches!(part, Part::ToolCall(_)) {
                context.add_frame(&mut tally, Kind::ToolCalls, call_frame);
                call_frame = self.further_call;
            }
            self.part(&mut tally, message, part, context)?;
        }
        Ok(tally)
    }
}

impl Claude {
    fn tools(
        &self,
        tally: &mut Tally,
        preamble: &Preamble,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        if !preamble.tools.is_empty() {
            let hidden = self.hidden.of(&preamble.tool_choice);
            tally.add(Kind::Tools, hidden, hidden + self.hidden.slack);
        }
        for tool in &preamble.tools {
            let text = match tool {
                Tool::Function(function) => texts::function(function),
                Tool::Other(value) => {
                    tally.caveats.insert(Caveats::COUNTED_AS_JSON);
                    tally.add(Kind::Tools, self.own_tool, self.own_tool_most);
                    json::spaced(value)
                }
            };
            context.add_text(tally, Kind::Tools, &text)?;
        }
        Ok(())
    }

    fn response_schema(
        &self,
        tally: &mut Tally,
        response: &ResponseSchema,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        if response.schema.is_null() {
            tally.add(Kind::ResponseSchema, 0, self.per_schema_most);
            return Ok(());
        }
        // Some gateways make a tool of the schema, which brings the hidden prompt of tools.
        let is_own = matches!(context.format, Format::Anthropic | Format::BedrockConverse);
        let tool = if is_own { 0 } else { self.hidden.named };
        let most = self.per_schema_most.saturating_add(tool);
        tally.add(Kind::ResponseSchema, self.per_schema, most);
        let schema = texts::indented_json(&response.schema);
        context.add_text(tally, Kind::ResponseSchema, &schema)
    }

    fn part(
        &self,
        tally: &mut Tally,
        message: &Message,
        part: &Part,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let kind = text_of(message.role);
        match part {
            Part::ToolCall(ToolCall { name, arguments, .. }) => {
                context.add_text(tally, Kind::ToolCalls, &texts::call(name, arguments))
            }
            Part::ToolResult(result) => {
                let inside = Message { role: Role::Tool, ..Message::default() };
                let frame = media_frame(&result.parts);
                tally.add(Kind::Media, frame, frame);
                result.parts.iter().try_for_each(|part| self.part(tally, &inside, part, context))
            }
            Part::Reasoning(reasoning) => {
                let keeps = self.keeps_thinking || message.keeps_thinking;
                self.thinking(tally, reasoning, keeps, context)
            }
            Part::Other(value) => context.add_unknown(tally, kind, &json::spaced(value)),
            part => context.add_part(tally, kind, part),
        }
    }

    /// Thinking that is sent back: dropped with the turn, or as soon as it led to an answer. Its
    /// signature was never billed beside its text; what is redacted has nothing but that.
    fn thinking(
        &self,
        tally: &mut Tally,
        reasoning: &Reasoning,
        keeps: bool,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let mut thinking = Tally::default();
        context.add_text(&mut thinking, Kind::Reasoning, &reasoning.text)?;
        if reasoning.text.is_empty() {
            context.add_opaque(&mut thinking, &reasoning.signature);
        }
        let bound = thinking.upper_bound().saturating_add(self.thinking_slack);
        match (keeps, self.keeps_thinking) {
            (false, _) => tally.add(Kind::Reasoning, 0, bound),
            (_, true) => tally.add(Kind::Reasoning, thinking.tokens(), bound),
            (_, false) => tally.add_passing(Kind::Reasoning, thinking.tokens(), bound),
        }
        tally.caveats.insert(thinking.caveats);
        Ok(())
    }
}

/// What media in a result cost beside their size: each brings a few tokens, and makes blocks of the
/// texts beside it.
fn media_frame(parts: &[Part]) -> u32 {
    const MEDIUM: usize = 5;
    const TEXT: usize = 10;
    let media = parts.iter().filter(|part| matches!(part, Part::Media(_))).count();
    let texts = parts.iter().filter(|part| matches!(part, Part::Text(_))).count();
    if media == 0 { 0 } else { (media * MEDIUM + texts * TEXT) as u32 }
}
