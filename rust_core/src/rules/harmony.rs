//! gpt-oss: the public harmony format (github.com/openai/harmony), as hosts fill it in.
//!
//! Hosts add texts of their own, which a body doesn't tell: constants named `…_slack` widen the
//! bound by what bills showed of them.

use serde::Deserialize;

use super::openai::seam::Seam;
use super::openai::texts;
use super::openai::typescript::Style;
use super::{Caveats, Context, Kind, Rules, Tally, text_of};
use crate::conversation::{
    Function, Message, Part, Preamble, Reasoning, ResponseSchema, Role, Tool, ToolCall,
};
use crate::status::Status;

/// Constants of the format, in tokens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harmony {
    /// How declarations of tools are written.
    style: Style,
    /// The system message that every prompt begins with, and the start of the answer.
    prompt: u32,
    prompt_slack: u32,
    /// Added to every message.
    message: u32,
    message_slack: u32,
    /// Added to the developer message, which holds instructions and tools.
    developer: u32,
    /// Added to every text of the model in the history.
    assistant: u32,
    /// Added to thinking, beside its text and `message`.
    thinking: u32,
    /// Added if there are tools.
    tools: u32,
    tools_slack: u32,
    /// Added for each call, beside its name and arguments.
    call: u32,
    /// Added for each result, beside its content.
    result: u32,
    result_slack: u32,
    schema_slack: u32,
    /// The most for JSON without a schema.
    json_slack: u32,
}

impl Rules for Harmony {
    fn preamble(&self, preamble: &Preamble, context: &Context<'_>) -> Result<Tally, Status> {
        let mut tally = Tally::default();
        tally.add(Kind::Overhead, self.prompt, self.prompt + self.prompt_slack);
        for message in &preamble.system {
            tally += self.message(message, context)?;
        }
        self.tools(&mut tally, preamble, context)?;
        if let Some(response) = &preamble.response_schema {
            self.schema(&mut tally, response, context)?;
        }
        context.add_unknown_fields(&mut tally, preamble)?;
        Ok(tally)
    }

    fn message(&self, message: &Message, context: &Context<'_>) -> Result<Tally, Status> {
        let mut tally = Tally::default();
        let frame = match message.role {
            Role::System | Role::Developer => self.message + self.developer,
            Role::Assistant if has_text(message) => self.message + self.assistant,
            Role::Assistant | Role::Tool => 0,
            Role::User => self.message,
        };
        tally.add(Kind::Overhead, frame, frame + self.message_slack);
        let mut seam = Seam::default();
        for part in &message.parts {
            self.part(&mut tally, &mut seam, message, part, context)?;
        }
        Ok(tally)
    }
}

impl Harmony {
    fn tools(
        &self,
        tally: &mut Tally,
        preamble: &Preamble,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        if preamble.tools.is_empty() {
            return Ok(());
        }
        let alone = if preamble.system.is_empty() { self.message } else { 0 };
        let (text, _) = texts::tools(preamble.tools.iter().filter_map(function), self.style);
        let mut tokens = self.tools + alone + context.count(&text)?;
        for tool in &preamble.tools {
            if let Tool::Other(value) = tool {
                tally.caveats.insert(Caveats::COUNTED_AS_JSON);
                tokens += context.count(&value.to_string())?;
            }
        }
        let bound = context.profile.margins.widen(Kind::Tools, tokens);
        tally.add(Kind::Tools, tokens, bound.saturating_add(self.tools_slack));
        Ok(())
    }

    /// Some hosts bill nothing for a schema, others its text and more; some bill JSON without one.
    fn schema(
        &self,
        tally: &mut Tally,
        response: &ResponseSchema,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        if response.schema.is_null() {
            tally.add(Kind::ResponseSchema, 0, self.json_slack);
            return Ok(());
        }
        let tokens = context.count(&texts::response_format(response))?;
        let bound = context.profile.margins.widen(Kind::ResponseSchema, tokens);
        tally.add(Kind::ResponseSchema, tokens, bound.saturating_add(self.schema_slack));
        Ok(())
    }

    fn part(
        &self,
        tally: &mut Tally,
        seam: &mut Seam,
        message: &Message,
        part: &Part,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let kind = text_of(message.role);
        match part {
            Part::Text(text) => {
                let tokens = seam.add(text, context)?;
                tally.add(kind, tokens, context.profile.margins.widen(kind, tokens));
                Ok(())
            }
            Part::ToolCall(call) => self.call(tally, call, context),
            Part::ToolResult(result) => {
                tally.add(Kind::ToolResults, self.result, self.result + self.result_slack);
                let inside = Message { role: Role::Tool, ..Message::default() };
                let mut seam = Seam::default();
                result
                    .parts
                    .iter()
                    .try_for_each(|part| self.part(tally, &mut seam, &inside, part, context))
            }
            Part::Reasoning(Reasoning { text, .. }) => {
                self.thinking(tally, text, message.keeps_thinking, context)
            }
            part => context.add_part(tally, kind, part),
        }
    }

    /// The format drops the analysis that led to an answer, and that of earlier turns.
    fn thinking(
        &self,
        tally: &mut Tally,
        text: &str,
        keeps: bool,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let tokens = (self.message + self.thinking).saturating_add(context.count(text)?);
        let bound = context.profile.margins.widen(Kind::Reasoning, tokens) + self.message_slack;
        if keeps {
            tally.add_passing(Kind::Reasoning, tokens, bound);
        } else {
            tally.add(Kind::Reasoning, 0, bound);
        }
        Ok(())
    }

    fn call(
        &self,
        tally: &mut Tally,
        call: &ToolCall,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let frame = self.call + context.count(&call.name)?;
        context.add_frame(tally, Kind::ToolCalls, frame);
        context.add_text(tally, Kind::ToolCalls, &call.arguments)
    }
}

fn has_text(message: &Message) -> bool {
    message.parts.iter().any(|part| matches!(part, Part::Text(_)))
}

const fn function(tool: &Tool) -> Option<&Function> {
    if let Tool::Function(function) = tool { Some(function) } else { None }
}
