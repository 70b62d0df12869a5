//! Rules for models of which nothing but a vocabulary is known: framing by a few constants, tools
//! and schemas as their JSON text.

use serde::Deserialize;
use serde_json::Value;

use super::{Caveats, Context, Kind, Rules, Tally, text_of};
use crate::conversation::{Message, Part, Preamble, ResponseSchema, Role, Tool};
use crate::status::Status;

/// Constants of a family, in tokens unless said otherwise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generic {
    /// Added once to every prompt.
    pub per_prompt: u32,
    /// Added to every message that none of the next two is for.
    pub per_message: u32,
    /// Added to every system message; `per_message` if left out.
    pub per_system: Option<u32>,
    /// Added to every message of the model's; `per_message` if left out.
    pub per_assistant: Option<u32>,
    /// Added once if there are tools.
    pub per_tools: u32,
    /// Added for each tool, beside its JSON text.
    pub per_tool: u32,
    /// Added for each call, beside its name and arguments.
    pub per_call: u32,
    /// Added for each result, beside its content.
    pub per_result: u32,
    /// Added for a response schema, beside its JSON text.
    pub per_schema: u32,
    /// What some hosts or versions add to every prompt; only the bound has it.
    #[serde(default)]
    pub prompt_slack: u32,
    /// What some hosts or versions add if there are tools; only the bound has it.
    #[serde(default)]
    pub tools_slack: u32,
    /// What some models' templates or hosts add where no system message leads; only the bound has
    /// it.
    #[serde(default)]
    pub bare_slack: u32,
    /// What some hosts keep of the thinking before a call; only the bound has it.
    #[serde(default)]
    pub call_slack: u32,
    /// What some hosts add for JSON without a schema; only the bound has it.
    #[serde(default = "json_slack")]
    pub json_slack: u32,
}

const fn json_slack() -> u32 {
    70
}

impl Rules for Generic {
    fn preamble(&self, preamble: &Preamble, context: &Context<'_>) -> Result<Tally, Status> {
        let mut tally = Tally::default();
        let bare = if preamble.system.is_empty() { self.bare_slack } else { 0 };
        let most = self.per_prompt + self.prompt_slack + bare;
        tally.add(Kind::Overhead, self.per_prompt, most);
        for message in &preamble.system {
            tally += self.message(message, context)?;
        }
        if !preamble.tools.is_empty() {
            context.add_frame(&mut tally, Kind::Tools, self.per_tools);
            tally.add(Kind::Tools, 0, self.tools_slack);
        }
        for tool in &preamble.tools {
            context.add_frame(&mut tally, Kind::Tools, self.per_tool);
            let json = tool_json(tool, &mut tally.caveats);
            context.add_text(&mut tally, Kind::Tools, &json)?;
        }
        if let Some(response) = &preamble.response_schema {
            self.response_schema(&mut tally, response, context)?;
        }
        context.add_unknown_fields(&mut tally, preamble)?;
        Ok(tally)
    }

    fn message(&self, message: &Message, context: &Context<'_>) -> Result<Tally, Status> {
        let mut tally = Tally::default();
        let own = match message.role {
            Role::System | Role::Developer => self.per_system,
            Role::Assistant => self.per_assistant,
            Role::User | Role::Tool => None,
        };
        context.add_frame(&mut tally, Kind::Overhead, own.unwrap_or(self.per_message));
        if !message.name.is_empty() {
            context.add_frame(&mut tally, Kind::Overhead, 1);
            context.add_text(&mut tally, Kind::Overhead, &message.name)?;
        }
        for part in &message.parts {
            self.part(&mut tally, message.role, part, context)?;
        }
        Ok(tally)
    }
}

impl Generic {
    /// JSON without a schema is free; some hosts say in the prompt what it asks for.
    fn response_schema(
        &self,
        tally: &mut Tally,
        response: &ResponseSchema,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        if response.schema.is_null() {
            tally.add(Kind::ResponseSchema, 0, self.json_slack);
            return Ok(());
        }
        context.add_frame(tally, Kind::ResponseSchema, self.per_schema);
        for text in [&response.name, &response.description, &response.schema.to_string()] {
            context.add_text(tally, Kind::ResponseSchema, text)?;
        }
        Ok(())
    }

    fn part(
        &self,
        tally: &mut Tally,
        role: Role,
        part: &Part,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        match part {
            Part::ToolCall(call) => {
                context.add_frame(tally, Kind::ToolCalls, self.per_call);
                tally.add(Kind::ToolCalls, 0, self.call_slack);
                context.add_text(tally, Kind::ToolCalls, &call.name)?;
                context.add_text(tally, Kind::ToolCalls, &call.arguments)
            }
            Part::ToolResult(result) => {
                context.add_frame(tally, Kind::ToolResults, self.per_result);
                context.add_text(tally, Kind::ToolResults, &result.name)?;
                result.parts.iter().try_for_each(|part| self.part(tally, Role::Tool, part, context))
            }
            part => context.add_part(tally, text_of(role), part),
        }
    }
}

/// The tool's JSON text in the shape that most providers take.
fn tool_json(tool: &Tool, caveats: &mut Caveats) -> String {
    match tool {
        Tool::Function(function) => serde_json::json!({
            "name": function.name,
            "description": function.description,
            "parameters": function.parameters.clone().unwrap_or(Value::Null),
        })
        .to_string(),
        Tool::Other(value) => {
            caveats.insert(Caveats::COUNTED_AS_JSON);
            value.to_string()
        }
    }
}
