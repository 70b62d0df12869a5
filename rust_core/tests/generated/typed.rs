//! The typed form of a prompt.

use prost::Message as _;
use tokencount_core::conversation::Format;
use tokencount_core::wire::{self, part::Content as Part};

use crate::spec::{Choice, Content, Message, Spec, Tool};
use crate::{body, spec};

pub fn of(format: Format, spec: &Spec) -> wire::Prompt {
    wire::Prompt {
        model: spec.model.clone(),
        system: spec.system.iter().map(|system| part(Part::Text(system.clone()))).collect(),
        messages: spec
            .messages
            .iter()
            .flat_map(|it| messages(format, it))
            .map(|it| it.encode_to_vec().into())
            .collect(),
        tools: spec.tools.iter().map(tool).collect(),
        tool_choice: Some(choice(&spec.choice)),
        response_schema: spec.schema.as_ref().map(|schema| wire::ResponseSchema {
            // Only OpenAI's interfaces name the schema.
            name: if body::names_schema(format) { body::SCHEMA_NAME.into() } else { String::new() },
            schema: schema.to_string(),
            ..wire::ResponseSchema::default()
        }),
        format: format as i32,
        thinking: spec.thinking && body::has_thinking(format),
    }
}

/// A message of the spec. With Chat each result is a message of its own.
fn messages(format: Format, message: &Message) -> Vec<wire::Message> {
    let (role, parts) = match message {
        Message::User(contents) => (wire::Role::User, contents.iter().map(content).collect()),
        Message::Model { thinking, texts, calls } => {
            let thinking =
                thinking.iter().map(|thinking| Part::Reasoning(reasoning(format, thinking)));
            let texts = texts.iter().map(|text| Part::Text(text.clone()));
            let calls = calls.iter().map(|call| {
                Part::ToolCall(wire::ToolCall {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    arguments: call.arguments.to_string(),
                })
            });
            (wire::Role::Assistant, thinking.chain(texts).chain(calls).map(part).collect())
        }
        Message::Results(results) => {
            let results: Vec<_> = results.iter().map(|it| result(format, it)).collect();
            if format == Format::OpenaiChat {
                return results.into_iter().map(|it| of_role(wire::Role::Tool, vec![it])).collect();
            }
            (wire::Role::Tool, results)
        }
    };
    vec![of_role(role, parts)]
}

fn of_role(role: wire::Role, parts: Vec<wire::Part>) -> wire::Message {
    wire::Message { role: role as i32, parts, ..wire::Message::default() }
}

fn part(content: Part) -> wire::Part {
    wire::Part { content: Some(content) }
}

fn content(content: &Content) -> wire::Part {
    part(match content {
        Content::Text(text) => Part::Text(text.clone()),
        Content::Image(image) => Part::Image(wire::Media {
            source: Some(wire::media::Source::Data(body::png(image).into())),
            mime_type: "image/png".into(),
            ..wire::Media::default()
        }),
    })
}

/// Chat has no signatures.
fn reasoning(format: Format, thinking: &spec::Thinking) -> wire::Reasoning {
    let signature =
        if format == Format::OpenaiChat { String::new() } else { thinking.signature.clone() };
    wire::Reasoning { text: thinking.text.clone(), signature }
}

fn result(format: Format, result: &spec::ToolResult) -> wire::Part {
    part(Part::ToolResult(wire::ToolResult {
        call_id: result.id.clone(),
        // Elsewhere the call's id is all that names it.
        name: if body::names_results(format) { result.name.clone() } else { String::new() },
        parts: vec![part(Part::Text(result.text.clone()))],
        ..wire::ToolResult::default()
    }))
}

fn tool(tool: &Tool) -> wire::Tool {
    wire::Tool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: tool.parameters.as_ref().map(ToString::to_string).unwrap_or_default(),
        strict: tool.strict,
    }
}

fn choice(choice: &Choice) -> wire::ToolChoice {
    use wire::ToolChoiceMode as Mode;
    let (mode, name) = match choice {
        Choice::Unspecified => (Mode::Unspecified, ""),
        Choice::Auto => (Mode::Auto, ""),
        Choice::Required => (Mode::Required, ""),
        Choice::Named(name) => (Mode::Named, name.as_str()),
    };
    wire::ToolChoice { mode: mode as i32, name: name.into(), no_parallel: false }
}
