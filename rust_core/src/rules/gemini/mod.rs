//! What Gemini puts before the model, on the Developer API and on Vertex, by generation.
//!
//! Text is counted part by part. Tools, calls and results are rendered as the model reads them,
//! which differs by generation and host: see the modules. No part of this is published; it was
//! found by comparing recorded bills with renderings.

mod leaves;
mod markup;
mod python;
mod rendering;
mod schema;
mod signature;

use serde::Deserialize;
use serde_json::Value;

use super::{Context, Kind, Rules, Tally, text_of};
use crate::conversation::{
    Format, Function, Message, Part, Preamble, ResponseSchema, Role, Tool, ToolCall, ToolResult,
};
use crate::status::Status;
use leaves::Scope;
use rendering::Rendering;
use signature::Signature;

/// The rules of one generation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gemini {
    /// On the Developer API, and wherever it is not known.
    api: Dialect,
    /// On Vertex.
    vertex: Dialect,
    /// What the Developer API may bill instead, which the bound covers.
    #[serde(default)]
    or: Vec<Dialect>,
}

/// How one host bills one generation, in tokens unless said otherwise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Dialect {
    /// How tools, calls and results are written.
    style: Style,
    /// Added to every content.
    per_content: u32,
    /// Added to a system instruction that has a role.
    per_system_role: u32,
    /// Added to one that has none.
    per_bare_system: u32,
    /// Added for a response schema.
    per_schema: u32,
    /// A response schema's leaves are billed, unless it is a JSON schema.
    schema_leaves: bool,
    /// What some histories with calls were billed for each; only the bound has it.
    #[serde(default)]
    call_slack: u32,
    /// What a thought signature on a call costs.
    call_signature: Signature,
    /// What a thought signature on other parts costs.
    text_signature: Signature,
}

/// How tools, calls and results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Style {
    /// As Python.
    Python,
    /// Between control tokens.
    Markup,
    /// Leaves, types among them.
    Leaves,
    /// Leaves, and of types only those in capitals.
    CapitalLeaves,
    /// Leaves and keywords.
    Keywords,
}

impl Rules for Gemini {
    fn preamble(&self, preamble: &Preamble, context: &Context<'_>) -> Result<Tally, Status> {
        self.covered(context, |dialect| dialect.preamble(preamble, context))
    }

    fn message(&self, message: &Message, context: &Context<'_>) -> Result<Tally, Status> {
        self.covered(context, |dialect| dialect.message(message, context))
    }
}

impl Gemini {
    /// Counts as the host does. The bound covers all that may be billed where that is not known:
    /// gateways send most prompts to Vertex, but some to the Developer API.
    fn covered(
        &self,
        context: &Context<'_>,
        count: impl Fn(&Dialect) -> Result<Tally, Status>,
    ) -> Result<Tally, Status> {
        let (host, others) = match context.format {
            Format::Gemini => (&self.api, None),
            Format::GeminiVertex => return count(&self.vertex),
            _ => (&self.vertex, Some(&self.api)),
        };
        let mut tally = count(host)?;
        for other in self.or.iter().chain(others) {
            tally.cover(&count(other)?);
        }
        Ok(tally)
    }
}

impl Dialect {
    fn preamble(&self, preamble: &Preamble, context: &Context<'_>) -> Result<Tally, Status> {
        let mut tally = Tally::default();
        for message in &preamble.system {
            let has_role = preamble.system_has_role;
            let frame = if has_role { self.per_system_role } else { self.per_bare_system };
            // A gateway may give the instruction a role.
            let most = if is_own(context.format) { frame } else { frame.max(self.per_system_role) };
            tally.add(Kind::Overhead, frame, most);
            self.parts(&mut tally, message, context)?;
        }
        for tool in &preamble.tools {
            match tool {
                Tool::Function(function) => {
                    self.declaration(function).add_to(&mut tally, Kind::Tools, context)?;
                }
                Tool::Other(value) => {
                    context.add_unknown(&mut tally, Kind::Tools, &value.to_string())?;
                }
            }
        }
        if let Some(response) = &preamble.response_schema {
            self.schema(response, context).add_to(&mut tally, Kind::ResponseSchema, context)?;
        }
        context.add_unknown_fields(&mut tally, preamble)?;
        Ok(tally)
    }

    fn message(&self, message: &Message, context: &Context<'_>) -> Result<Tally, Status> {
        let mut tally = Tally::default();
        tally.add(Kind::Overhead, self.per_content, self.per_content);
        if !message.name.is_empty() {
            context.add_text(&mut tally, Kind::Overhead, &message.name)?;
        }
        self.parts(&mut tally, message, context)?;
        Ok(tally)
    }

    fn parts(
        &self,
        tally: &mut Tally,
        message: &Message,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let mut before = None;
        for part in &message.parts {
            match part {
                Part::Signature(signature) => {
                    let rule = self.signature_rule(before);
                    rule.add(tally, signature, message.keeps_thinking);
                }
                part => self.part(tally, message.role, part, context)?,
            }
            before = Some(part);
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
            // The signature of a thought is free, its text is not.
            Part::Reasoning(reasoning) => context.add_text(tally, Kind::Reasoning, &reasoning.text),
            Part::ToolCall(call) => {
                // Gateways pass the id on, which is billed then.
                if !is_own(context.format) {
                    tally.add(Kind::ToolCalls, 0, context.count(&call.id)?);
                }
                tally.add(Kind::ToolCalls, 0, self.call_slack);
                self.call(call).add_to(tally, Kind::ToolCalls, context)
            }
            Part::ToolResult(result) => self.result(tally, result, context),
            part => context.add_part(tally, text_of(role), part),
        }
    }

    /// A result is a JSON value; texts of the typed form stand in it as Google's SDKs put them.
    fn result(
        &self,
        tally: &mut Tally,
        result: &ToolResult,
        context: &Context<'_>,
    ) -> Result<(), Status> {
        let mut response = Value::Null;
        let mut texts = String::new();
        for part in &result.parts {
            match part {
                Part::Other(value) if response.is_null() => response = value.clone(),
                Part::Text(text) => texts.push_str(text),
                part => self.part(tally, Role::Tool, part, context)?,
            }
        }
        if response.is_null() {
            let key = if result.is_error { "error" } else { "result" };
            response = serde_json::json!({ key: texts });
        }
        // Where results have no name, gateways send their id as one.
        let name = if result.name.is_empty() { &result.call_id } else { &result.name };
        self.exchange("response", name, &response).add_to(tally, Kind::ToolResults, context)
    }

    const fn signature_rule(&self, before: Option<&Part>) -> &Signature {
        match before {
            Some(Part::ToolCall(_)) => &self.call_signature,
            _ => &self.text_signature,
        }
    }

    fn declaration(&self, function: &Function) -> Rendering {
        match self.style {
            Style::Python => python::declaration(function).into(),
            Style::Markup => markup::declaration(function),
            _ => leaves::of_function(function, self.scope()),
        }
    }

    fn call(&self, call: &ToolCall) -> Rendering {
        match serde_json::from_str(&call.arguments) {
            Ok(arguments) => self.exchange("call", &call.name, &arguments),
            Err(_) => format!("{} {}", call.name, call.arguments).into(),
        }
    }

    /// A call or a response.
    fn exchange(&self, kind: &str, name: &str, content: &Value) -> Rendering {
        match self.style {
            Style::Python if kind == "call" => python::call(name, content).into(),
            Style::Python => python::response(name, content).into(),
            Style::Markup => markup::exchange(kind, name, content),
            _ => leaves::of_value(name, content),
        }
    }

    /// Gateways give the schema as JSON Schema.
    fn schema(&self, response: &ResponseSchema, context: &Context<'_>) -> Rendering {
        let is_openapi = is_own(context.format) && !response.json_schema;
        let mut rendering = if self.schema_leaves && is_openapi {
            leaves::of_schema(&response.schema, self.scope())
        } else {
            Rendering::default()
        };
        rendering.extra += self.per_schema;
        rendering
    }

    fn scope(&self) -> Scope {
        Scope {
            other_types: self.style == Style::Leaves,
            everything: self.style == Style::Keywords,
            is_response: false,
        }
    }
}

/// Whether the format is Google's own rather than a gateway's.
const fn is_own(format: Format) -> bool {
    matches!(format, Format::Gemini | Format::GeminiVertex)
}

#[cfg(test)]
mod tests;
