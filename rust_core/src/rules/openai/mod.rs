//! What `OpenAI` bills beside the bare text: Chat Completions and Responses, each by family.
//!
//! Source of the constants: recorded bills, unless said otherwise.

mod content;
mod preamble;
pub mod seam;
pub mod texts;
pub mod typescript;

use serde::Deserialize;

use super::{Caveats, Context, Kind, Rules, Tally, text_of};
use crate::conversation::{Format, Message, Part, Preamble, Role, ToolCall};
use crate::status::Status;
use content::{content, listed};
use typescript::Style;

/// Constants of a family.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenAi {
    /// How declarations of tools are written.
    style: Style,
    /// Encrypted thinking that is sent back.
    encrypted: Encrypted,
    /// Chat Completions.
    chat: Interface,
    /// Responses.
    responses: Interface,
}

/// What encrypted thinking costs within a loop of tool calls; it is dropped by the provider when it
/// led to an answer or when the user speaks again. Summaries aren't billed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Encrypted {
    /// Characters that cost nothing: the envelope.
    envelope: u32,
    /// Tokens for each further character.
    per_character: f64,
    /// The most tokens for a character.
    most_per_character: f64,
}

/// Constants of one interface, in tokens. Those named `…_slack` widen only the bound: they are
/// what bills were above the rule by date or host, which a body doesn't tell.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Interface {
    /// Added once to every prompt.
    prompt: u32,
    #[serde(default)]
    prompt_slack: u32,
    /// Added to every message.
    message: u32,
    /// Added to every text of the model in the history.
    #[serde(default)]
    assistant: u32,
    /// What such a text is billed beside a response format: its name is paid again.
    #[serde(default)]
    assistant_slack: u32,
    /// An item of the model with an empty list of parts costs nothing.
    #[serde(default)]
    skips_empty: bool,
    /// Where declarations of tools stand.
    tools_join: Join,
    /// Added to the declarations; to those joined to a system message, `tools_joined`.
    tools: i32,
    #[serde(default)]
    tools_joined: i32,
    /// Added if the first tool is described.
    #[serde(default)]
    tools_described: u32,
    #[serde(default)]
    tools_slack: u32,
    /// Added for a named tool choice, with the function's full name. Absent: it is free.
    named_choice: Option<u32>,
    /// Demanding a call is billed as naming the function, if there is one only: the bound has it.
    #[serde(default)]
    required_is_named: bool,
    /// Added for each call, with so many times its name, bare and as `functions.NAME`.
    call: u32,
    call_names: u32,
    call_full_names: u32,
    #[serde(default)]
    call_slack: u32,
    /// Added for a call that is sent back with its item's id.
    #[serde(default)]
    call_id: u32,
    #[serde(default)]
    call_id_slack: u32,
    /// Added to the text of parallel calls, whose results are shown as one list. Absent: each call
    /// and each result stands by itself.
    parallel_calls: Option<u32>,
    /// Added to the response format.
    schema: u32,
    /// Added to it beside tools.
    schema_beside_tools: u32,
    /// Without tools it is joined to the system message, and its name is paid again with this.
    schema_name: Option<u32>,
    #[serde(default)]
    schema_slack: u32,
}

/// How declarations of tools are joined to a leading system message.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Join {
    /// They stand by themselves.
    Apart,
    /// They follow its text after a blank line, in one text.
    Text,
    /// They stand by themselves, but the system message gets a blank line.
    BlankLine,
}

impl Rules for OpenAi {
    fn preamble(&self, preamble: &Preamble, context: &Context<'_>) -> Result<Tally, Status> {
        self.covered(context, |interface| self.preamble_of(interface, preamble, context))
    }

    fn message(&self, message: &Message, context: &Context<'_>) -> Result<Tally, Status> {
        self.covered(context, |interface| self.message_of(interface, message, context))
    }
}

impl OpenAi {
    /// Counts by the interface that the prompt goes through. Gateways send Chat Completions on as
    /// Responses, but not all do: the bound covers both.
    fn covered(
        &self,
        context: &Context<'_>,
        count: impl Fn(&Interface) -> Result<Tally, Status>,
    ) -> Result<Tally, Status> {
        if context.format == Format::OpenaiResponses {
            return count(&self.responses);
        }
        let chat = count(&self.chat)?;
        if !context.profile.is_gateway {
            return Ok(chat);
        }
        let mut tally = count(&self.responses)?;
        tally.cover(&chat);
        Ok(tally)
    }

    fn preamble_of(
        &self,
        interface: &Interface,
        preamble: &Preamble,
        context: &Context<'_>,
    ) -> Result<Tally, Status> {
        let mut tally = Tally::default();
        tally.add(Kind::Overhead, interface.prompt, interface.prompt + interface.prompt_slack);
        for message in &preamble.system {
            tally += self.message_of(interface, message, context)?;
        }
        let system = preamble.system.first().map(last_text);
        interface.tools(&mut tally, preamble, system, self.style, context)?;
        if let Some(response) = preamble.response_schema.as_ref().filter(|it| !it.schema.is_null())
        {
            let beside_tools = !preamble.tools.is_empty();
            interface.schema(&mut tally, response, system, beside_tools, context)?;
        }
        context.add_unknown_fields(&mut tally, preamble)?;
        Ok(tally)
    }

    fn message_of(
        &self,
        interface: &Interface,
        message: &Message,
        context: &Context<'_>,
    ) -> Result<Tally, Status> {
        let mut tally = Tally::default();
        if interface.skips_empty && message.role == Role::Assistant && message.parts.is_empty() {
            tally.add(Kind::Overhead, 0, interface.message);
            return Ok(tally);
        }
        if is_reasoning(message) {
            return self.reasoning(message, context);
        }
        context.add_frame(&mut tally, Kind::Overhead, interface.message);
        if !message.name.is_empty() {
            context.add_frame(&mut tally, Kind::Overhead, 1);
            context.add_text(&mut tally, Kind::Overhead, &message.name)?;
        }
        interface.parts(&mut tally, message, context)?;
        Ok(tally)
    }

    fn reasoning(&self, message: &Message, context: &Context<'_>) -> Result<Tally, Status> {
        let mut tally = Tally::default();
        for part in &message.parts {
            if let Part::Reasoning(reasoning) = part {
                tally.caveats.insert(Caveats::OPAQUE_REASONING);
                let summary = context.count(&reasoning.text)?;
                tally.add(Kind::Reasoning, 0, summary);
                self.encrypted.add(&mut tally, reasoning.signature.len(), message.keeps_thinking);
            }
        }
        Ok(tally)
    }
}

impl Encrypted {
    fn add(&self, tally: &mut Tally, length: usize, keeps: bool) {
        let beyond = length.saturating_sub(self.envelope as usize) as f64;
        let most = (length as f64 * self.most_per_character).ceil() as u32;
        let tokens = if keeps { (beyond * self.per_character) as u32 } else { 0 };
        tally.add_passing(Kind::Reasoning, tokens, most);
    }
}

impl Interface {
    fn parts(
        &self,
        tally: &mut Tally,
        message: &Message,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let said = message.parts.iter().any(|part| matches!(part, Part::Text(_)));
        if said && message.role == Role::Assistant {
            let most = self.assistant + self.assistant_slack;
            tally.add(Kind::Assistant, self.assistant, most);
        }
        content(tally, text_of(message.role), &message.parts, context)?;
        if self.parallel_calls.is_some() {
            listed(tally, &message.parts, context)?;
        }
        self.calls(tally, &message.parts, context)
    }

    fn calls(
        &self,
        tally: &mut Tally,
        parts: &[Part],
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let calls = || parts.iter().filter_map(call);
        match self.parallel_calls {
            Some(frame) if calls().nth(1).is_some() => {
                let tokens = context.count(&texts::parallel_calls(calls()))? + frame;
                let mut most = 0;
                for call in calls() {
                    most = most.max(self.call_tokens(call, context)?);
                }
                self.add_calls(tally, tokens.max(most), 0, context);
            }
            _ => {
                for call in calls() {
                    let (id, slack) =
                        if call.has_item_id { (self.call_id, self.call_id_slack) } else { (0, 0) };
                    let tokens = self.call_tokens(call, context)? + id;
                    self.add_calls(tally, tokens, slack, context);
                }
            }
        }
        Ok(())
    }

    fn add_calls(&self, tally: &mut Tally, tokens: u32, slack: u32, context: &Context<'_>) {
        let bound = context.profile.margins.widen(Kind::ToolCalls, tokens);
        tally.add(Kind::ToolCalls, tokens, bound.saturating_add(self.call_slack + slack));
    }

    fn call_tokens(&self, call: &ToolCall, context: &Context<'_>) -> Result<u32, Status> {
        let arguments = if context.format == Format::OpenaiResponses {
            context.count(&call.arguments)?
        } else {
            context.count(&texts::minified(&call.arguments))?
        };
        let names = self.call_names * context.count(&call.name)?
            + self.call_full_names * context.count(&full_name(&call.name))?;
        Ok(self.call + names + arguments)
    }
}

fn is_reasoning(message: &Message) -> bool {
    !message.parts.is_empty() && message.parts.iter().all(|part| matches!(part, Part::Reasoning(_)))
}

fn last_text(message: &Message) -> &str {
    let text = message.parts.iter().rev().find_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    text.unwrap_or_default()
}

const fn call(part: &Part) -> Option<&ToolCall> {
    if let Part::ToolCall(call) = part { Some(call) } else { None }
}

fn full_name(name: &str) -> String {
    format!("functions.{name}")
}
