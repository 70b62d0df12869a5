//! What stands before the messages: declarations of tools, tool choice and response format.

use serde_json::Value;

use super::seam::Seam;
use super::typescript::Style;
use super::{Interface, Join, full_name, texts};
use crate::conversation::{Function, Preamble, ResponseSchema, Tool, ToolChoiceMode};
use crate::rules::{Context, Kind, Tally};
use crate::status::Status;

impl Interface {
    pub fn tools(
        &self,
        tally: &mut Tally,
        preamble: &Preamble,
        system: Option<&str>,
        style: Style,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        for tool in &preamble.tools {
            if let Tool::Other(value) = tool {
                self.other_tool(tally, value, context)?;
            }
        }
        let functions = || preamble.tools.iter().filter_map(function);
        let Some(first) = functions().next() else { return Ok(()) };
        let (text, beyond) = texts::tools(functions(), style);
        let (mut tokens, constant) = match (self.tools_join, system) {
            (Join::Text, Some(system)) => {
                (joined(system, &["\n\n", &text], context)?, self.tools_joined)
            }
            (Join::BlankLine, Some(system)) => {
                let blank_line = joined(system, &["\n\n"], context)?;
                (context.count(&text)? + blank_line, self.tools + self.tools_joined)
            }
            _ => (context.count(&text)?, self.tools),
        };
        tokens = tokens.saturating_add_signed(constant).saturating_add(beyond);
        tokens = tokens.saturating_add(context.profile.tools_extra);
        if !first.description.is_empty() {
            tokens = tokens.saturating_add(self.tools_described);
        }
        let bound = context.profile.margins.widen(Kind::Tools, tokens);
        tally.add(Kind::Tools, tokens, bound.saturating_add(self.tools_slack));
        self.named_choice(tally, preamble, context)
    }

    /// A tool of another kind, by its JSON text. One with a grammar was billed half as much again.
    fn other_tool(
        &self,
        tally: &mut Tally,
        tool: &Value,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let mut counted = Tally::default();
        context.add_unknown(&mut counted, Kind::Tools, &tool.to_string())?;
        counted.add(Kind::Tools, 0, counted.of(Kind::Tools) / 2 + self.tools_slack);
        *tally += counted;
        Ok(())
    }

    fn named_choice(
        &self,
        tally: &mut Tally,
        preamble: &Preamble,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let choice = &preamble.tool_choice;
        let Some(frame) = self.named_choice else { return Ok(()) };
        match (choice.mode, preamble.tools.first()) {
            (ToolChoiceMode::Named, _) => {
                context.add_frame(tally, Kind::Tools, frame);
                context.add_text(tally, Kind::Tools, &full_name(&choice.name))?;
            }
            // Of one function only; but another one more must not make the prompt cheaper.
            (ToolChoiceMode::Required, Some(Tool::Function(first))) if self.required_is_named => {
                let named = context.count(&full_name(&first.name))?;
                tally.add(Kind::Tools, 0, frame.saturating_add(named));
            }
            _ => {}
        }
        Ok(())
    }

    pub fn schema(
        &self,
        tally: &mut Tally,
        response: &ResponseSchema,
        system: Option<&str>,
        beside_tools: bool,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let text = texts::response_format(response);
        let tokens = match (self.schema_name, beside_tools) {
            (_, true) => context.count(&text)? + self.schema_beside_tools,
            (None, false) => context.count(&text)? + self.schema,
            (Some(name), false) => {
                let named = name + context.count(&response.name)?;
                named
                    + match system {
                        Some(system) => joined(system, &["\n\n", &text], context)?,
                        None => context.count(&text)? + self.schema,
                    }
            }
        };
        let bound = context.profile.margins.widen(Kind::ResponseSchema, tokens);
        tally.add(Kind::ResponseSchema, tokens, bound.saturating_add(self.schema_slack));
        Ok(())
    }
}

fn joined(before: &str, texts: &[&str], context: &Context<'_>) -> Result<u32, Status> {
    Seam::after(before).add(&texts.concat(), context)
}

const fn function(tool: &Tool) -> Option<&Function> {
    if let Tool::Function(function) = tool { Some(function) } else { None }
}
