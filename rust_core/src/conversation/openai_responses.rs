//! Reads `OpenAI` Responses: every item of the input is a message of its own.

use serde_json::Value;

use super::json::{self, Fields};
use super::messages::Messages;
use super::openai;
use super::provider::Reader;
use super::rest::Rest;
use super::unknown::Unknown;
use super::{
    Conversation, Format, Memo, Message, Part, Preamble, Reasoning, Role, ToolCall, ToolResult,
};
use crate::status::Status;
use crate::wire::Warning;

/// The reader of this interface.
pub const READER: Reader = Reader {
    messages: "input",
    unbilled: UNBILLED,
    model: |body| body.string("model"),
    request,
    reply,
};

/// Settings: they are never part of the prompt.
const UNBILLED: &[&str] = &[
    "background",
    "include",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "moderation",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "provider",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// Fields that name what the provider keeps: nobody else can count it.
const SERVER_STATE: &[&str] = &["previous_response_id", "conversation", "prompt"];

/// Fields of an item that are not billed, or that only replies have.
const UNBILLED_IN_ITEM: &[&str] = &["cache_control", "created_by", "id", "phase", "status", "type"];

fn request(rest: Rest<'_>, mut messages: Messages<'_>) -> Result<Conversation, Status> {
    let mut unknown = Unknown::default();
    let reading = messages.reading;
    let mut messages = match messages.alone() {
        None => messages.read(&mut unknown, item)?,
        Some(Value::String(text)) => vec![said(Role::User, text)],
        Some(other) => {
            return Err(Status::invalid("input", json::wrong_type("a string or an array", &other)));
        }
    };
    bill_item_ids(&mut messages);
    rest.before(messages, unknown, reading, |mut fields, read, unknown| {
        unknown.warnings.extend(server_state(&mut fields));
        let before = std::mem::take(&mut read.preamble);
        read.preamble = Preamble { memo: before.memo, ..preamble(&mut fields)? };
        read.preamble.other = unknown.rest(fields, &[]);
        Ok(())
    })
}

/// Calls that were made at once are not billed their items' ids.
fn bill_item_ids(messages: &mut [Message]) {
    let rows = messages.chunk_by_mut(|a, b| a.has_call() && b.has_call());
    for row in rows.filter(|row| row.len() > 1) {
        for message in row {
            for part in &mut message.parts {
                if let Part::ToolCall(call @ ToolCall { has_item_id: true, .. }) = part {
                    call.has_item_id = false;
                    // Alone, the same bytes are billed otherwise.
                    message.memo = Memo::None;
                }
            }
        }
    }
}

fn server_state(fields: &mut Fields) -> Vec<Warning> {
    let kept = SERVER_STATE.iter().filter(|key| !fields.take(key).is_null());
    kept.map(|key| Warning {
        code: "server_state".into(),
        message: "what the provider keeps under this name is billed, and not counted here".into(),
        field: (*key).into(),
    })
    .collect()
}

fn preamble(fields: &mut Fields) -> Result<Preamble, Status> {
    let instructions = fields.string("instructions")?.filter(|text| !text.is_empty());
    let format = match fields.object("text")? {
        Some(mut text) => text.object("format").map_err(|error| error.inside("text"))?,
        None => None,
    };
    Ok(Preamble {
        system: instructions.map(|text| said(Role::System, text)).into_iter().collect(),
        tools: openai::tools(fields, Format::OpenaiResponses)?,
        tool_choice: openai::tool_choice(fields)?,
        response_schema: openai::response_schema(format)
            .map_err(|error| error.inside("text.format"))?,
        ..Preamble::default()
    })
}

fn said(role: Role, text: String) -> Message {
    let parts = if text.is_empty() { Vec::new() } else { vec![Part::Text(text)] };
    Message { role, parts, ..Message::default() }
}

fn item(value: Value, unknown: &mut Unknown) -> Result<Message, Status> {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("message");
    let read = match kind {
        "message" => message,
        "function_call" => function_call,
        "custom_tool_call" => custom_tool_call,
        "function_call_output" | "custom_tool_call_output" => output,
        "reasoning" => reasoning,
        _ => return built_in(value),
    };
    let mut fields = Fields::of(value)?;
    let mut message = read(&mut fields, unknown)?;
    message.parts.extend(openai::others(unknown.rest(fields, UNBILLED_IN_ITEM)));
    Ok(message)
}

fn message(fields: &mut Fields, unknown: &mut Unknown) -> Result<Message, Status> {
    let role = openai::role(fields)?;
    // An empty text is billed its frame, an empty list of parts is not.
    let empty = fields.is_empty_text("content");
    let mut parts = openai::content(fields, "content", unknown)?;
    parts.extend(empty.then(|| Part::Text(String::new())));
    Ok(Message { role, parts, ..Message::default() })
}

fn function_call(fields: &mut Fields, _unknown: &mut Unknown) -> Result<Message, Status> {
    call(fields, "arguments")
}

fn custom_tool_call(fields: &mut Fields, _unknown: &mut Unknown) -> Result<Message, Status> {
    call(fields, "input")
}

fn call(fields: &mut Fields, arguments: &str) -> Result<Message, Status> {
    let call = ToolCall {
        id: fields.string("call_id")?.unwrap_or_default(),
        name: fields.required_string("name")?,
        arguments: fields.string(arguments)?.unwrap_or_default(),
        has_item_id: fields.has("id"),
    };
    Ok(Message { role: Role::Assistant, parts: vec![Part::ToolCall(call)], ..Message::default() })
}

fn output(fields: &mut Fields, unknown: &mut Unknown) -> Result<Message, Status> {
    let call_id = fields.string("call_id")?.unwrap_or_default();
    let parts = openai::content(fields, "output", unknown)?;
    let result = ToolResult { call_id, parts, ..ToolResult::default() };
    Ok(Message { role: Role::Tool, parts: vec![Part::ToolResult(result)], ..Message::default() })
}

/// Thinking: the summary or the text that is visible, and the rest encrypted.
fn reasoning(fields: &mut Fields, unknown: &mut Unknown) -> Result<Message, Status> {
    let mut texts = Vec::new();
    for key in ["summary", "content"] {
        for part in openai::content(fields, key, unknown)? {
            match part {
                Part::Text(text) => texts.push(text),
                other => texts.extend(as_json(&other)),
            }
        }
    }
    let signature = fields.string("encrypted_content")?.unwrap_or_default();
    let reasoning = Reasoning { text: texts.join("\n\n"), signature };
    let parts = vec![Part::Reasoning(reasoning)];
    Ok(Message { role: Role::Assistant, parts, ..Message::default() })
}

fn as_json(part: &Part) -> Option<String> {
    if let Part::Other(value) = part { Some(value.to_string()) } else { None }
}

/// Items of built-in tools: counted as their JSON, without what changes between reply and request.
fn built_in(value: Value) -> Result<Message, Status> {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    let role = if kind.ends_with("_output") { Role::Tool } else { Role::Assistant };
    let fields = Fields::of(value)?.rest(&["id", "status"]);
    let parts = vec![Part::Other(Value::Object(fields.collect()))];
    Ok(Message { role, parts, ..Message::default() })
}

/// A whole response, its list of items, or one item.
fn reply(reply: Value) -> Result<Vec<Message>, Status> {
    let mut unused = Unknown::default();
    if let Value::Array(items) = reply {
        let mut messages = unused.each("", items, item)?;
        bill_item_ids(&mut messages);
        return Ok(messages);
    }
    let mut fields = Fields::of(reply)?;
    if fields.has("output") && !fields.has("type") {
        let mut messages = unused.each("output", fields.array("output")?, item)?;
        bill_item_ids(&mut messages);
        return Ok(messages);
    }
    Ok(vec![item(fields.into_value(), &mut unused)?])
}
