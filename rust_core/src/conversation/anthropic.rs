//! Reads Anthropic Messages, as <https://docs.anthropic.com/en/api/messages> describes them.

use serde_json::Value;

use super::blocks::{
    arguments, base64_bytes, others, output_config, output_format, read_thinking, role,
};
use super::json::{Fields, wrong_type};
use super::messages::Messages;
use super::provider::Reader;
use super::rest::Rest;
use super::unknown::Unknown;
use super::{
    Conversation, Function, Media, MediaKind, Message, Part, Preamble, Reasoning, ResponseSchema,
    Role, Tool, ToolCall, ToolChoice, ToolChoiceMode, ToolResult,
};
use crate::status::Status;

/// The reader of this interface.
pub const READER: Reader = Reader {
    messages: "messages",
    unbilled: UNBILLED,
    model: |body| body.string("model"),
    request,
    reply,
};

/// Settings of the request that add nothing to the prompt. Context management can only shorten it.
const UNBILLED: &[&str] = &[
    "anthropic_beta",
    "anthropic_version",
    "betas",
    "cache_control",
    "context_management",
    "inference_geo",
    "max_tokens",
    "metadata",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "temperature",
    "top_k",
    "top_p",
];

/// Fields of a reply beside its role and content.
const REPLY_UNBILLED: &[&str] = &[
    "container",
    "context_management",
    "id",
    "model",
    "stop_details",
    "stop_reason",
    "stop_sequence",
    "type",
    "usage",
];

/// Fields of a content block that add nothing. Cited text is not billed when it is sent back.
const BLOCK_UNBILLED: &[&str] = &["cache_control", "caller", "citations", "type"];

/// Fields of a tool that add nothing beside its name, description and schema.
const TOOL_UNBILLED: &[&str] =
    &["allowed_callers", "cache_control", "defer_loading", "eager_input_streaming", "type"];

fn request(rest: Rest<'_>, messages: Messages<'_>) -> Result<Conversation, Status> {
    rest.conversation(messages, message, |body, read, unknown| {
        preamble(body, &mut read.preamble, unknown)
    })
}

fn preamble(
    mut body: Fields,
    preamble: &mut Preamble,
    unknown: &mut Unknown,
) -> Result<(), Status> {
    let system = unknown.inside("system", |unknown| blocks(body.take("system"), unknown))?;
    if !system.is_empty() {
        preamble.system.push(Message { role: Role::System, parts: system, ..Message::default() });
    }
    let tools = unknown.each("tools", body.array("tools")?, tool)?;
    for (tool, other) in tools {
        preamble.tools.push(tool);
        preamble.other.extend(other);
    }
    if let Some(choice) = body.object("tool_choice")? {
        preamble.tool_choice =
            unknown.inside("tool_choice", |unknown| tool_choice(choice, unknown))?;
    }
    if let Some(thinking) = body.object("thinking")? {
        unknown.inside("thinking", |unknown| read_thinking(thinking, preamble, unknown))?;
    }
    preamble.response_schema = response_schema(&mut body, unknown)?;
    preamble.other.extend(unknown.rest(body, &[]));
    Ok(())
}

fn reply(reply: Value) -> Result<Vec<Message>, Status> {
    // Warnings about replies have no place in the answer; what may hold text is a part anyway.
    let mut unknown = Unknown::default();
    let parts = match reply {
        Value::Array(_) => blocks(reply, &mut unknown)?,
        reply => {
            let mut reply = Fields::of(reply)?;
            if !reply.has("content") {
                return Err(Status::missing("content", "required, the reply's content blocks"));
            }
            reply.string("role")?;
            let content = reply.take("content");
            let mut parts = unknown.inside("content", |unknown| blocks(content, unknown))?;
            parts.extend(others(unknown.rest(reply, REPLY_UNBILLED)));
            parts
        }
    };
    Ok(vec![Message { role: Role::Assistant, parts, ..Message::default() }])
}

fn message(value: Value, unknown: &mut Unknown) -> Result<Message, Status> {
    let mut fields = Fields::of(value)?;
    let role = role(&mut fields)?;
    let content = fields.take("content");
    let mut parts = unknown.inside("content", |unknown| blocks(content, unknown))?;
    // A reply may be sent back with all its fields.
    parts.extend(others(unknown.rest(fields, REPLY_UNBILLED)));
    Ok(Message { role: role.of_parts(&parts), parts, ..Message::default() })
}

/// Text, or a list of content blocks.
fn blocks(value: Value, unknown: &mut Unknown) -> Result<Vec<Part>, Status> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![Part::Text(text)]),
        Value::Array(items) => Ok(unknown.each("", items, block)?.into_iter().flatten().collect()),
        other => Err(Status::invalid("", wrong_type("a string or an array", &other))),
    }
}

/// One content block; what it holds beyond its kind's fields follows it as parts of its own.
fn block(value: Value, unknown: &mut Unknown) -> Result<Vec<Part>, Status> {
    if let Value::String(text) = value {
        return Ok(vec![Part::Text(text)]);
    }
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut fields = Fields::of(value)?;
    let part = match kind.as_str() {
        "text" => Part::Text(fields.required_string("text")?),
        "image" => media(MediaKind::Image, &mut fields, unknown)?,
        "document" => media(MediaKind::File, &mut fields, unknown)?,
        "tool_use" => Part::ToolCall(ToolCall {
            id: fields.string("id")?.unwrap_or_default(),
            name: fields.required_string("name")?,
            arguments: arguments(&fields.take("input")),
            has_item_id: false,
        }),
        "tool_result" => tool_result(&mut fields, unknown)?,
        "thinking" => Part::Reasoning(Reasoning {
            text: fields.string("thinking")?.unwrap_or_default(),
            signature: fields.string("signature")?.unwrap_or_default(),
        }),
        "redacted_thinking" => Part::Reasoning(Reasoning {
            text: String::new(),
            signature: fields.string("data")?.unwrap_or_default(),
        }),
        "" => return Err(Status::missing("type", "required, the kind of the content block")),
        // Blocks of server tools, search results and kinds to come.
        _ => {
            fields.take("cache_control");
            return Ok(vec![Part::Other(fields.into_value())]);
        }
    };
    let rest = unknown.rest(fields, BLOCK_UNBILLED);
    Ok(std::iter::once(part).chain(others(rest)).collect())
}

fn tool_result(fields: &mut Fields, unknown: &mut Unknown) -> Result<Part, Status> {
    let content = fields.take("content");
    Ok(Part::ToolResult(ToolResult {
        call_id: fields.string("tool_use_id")?.unwrap_or_default(),
        name: String::new(),
        parts: unknown.inside("content", |unknown| blocks(content, unknown))?,
        is_error: fields.boolean("is_error")?,
    }))
}

/// An image or a document. A document given as text or as blocks is left as its JSON.
fn media(kind: MediaKind, fields: &mut Fields, unknown: &mut Unknown) -> Result<Part, Status> {
    let source = fields.take("source");
    let source_kind = source.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !matches!(source_kind.as_str(), "base64" | "url" | "file") {
        return if source.is_object() {
            Ok(Part::Other(source))
        } else {
            Err(Status::invalid("source", wrong_type("an object", &source)))
        };
    }
    unknown.inside("source", |unknown| {
        let mut source = Fields::of(source)?;
        let mut media = Media { kind, ..Media::default() };
        media.mime_type = source.string("media_type")?.unwrap_or_default();
        match source_kind.as_str() {
            "base64" => media.data = base64_bytes("data", &source.required_string("data")?)?,
            "url" => media.uri = source.required_string("url")?,
            _ => media.uri = source.required_string("file_id")?,
        }
        media.filename = fields.string("title")?.unwrap_or_default();
        unknown.rest(source, BLOCK_UNBILLED);
        Ok(Part::Media(media))
    })
}

/// A tool, and what of it may hold text beyond a function's fields.
fn tool(value: Value, unknown: &mut Unknown) -> Result<(Tool, Vec<(String, Value)>), Status> {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("custom").to_owned();
    let mut fields = Fields::of(value)?;
    if kind != "custom" {
        fields.take("cache_control");
        return Ok((Tool::Other(fields.into_value()), Vec::new()));
    }
    let function = Function {
        name: fields.required_string("name")?,
        description: fields.string("description")?.unwrap_or_default(),
        parameters: Some(fields.take("input_schema")).filter(|schema| !schema.is_null()),
        strict: fields.boolean("strict")?,
        ..Function::default()
    };
    Ok((Tool::Function(function), unknown.rest(fields, TOOL_UNBILLED)))
}

fn tool_choice(mut fields: Fields, unknown: &mut Unknown) -> Result<ToolChoice, Status> {
    let mode = match fields.required_string("type")?.as_str() {
        "auto" => ToolChoiceMode::Auto,
        "any" => ToolChoiceMode::Required,
        "tool" => ToolChoiceMode::Named,
        "none" => ToolChoiceMode::None,
        _ => return Err(Status::invalid("type", "must be auto, any, tool or none")),
    };
    let name = fields.string("name")?.unwrap_or_default();
    let no_parallel = fields.boolean("disable_parallel_tool_use")?;
    unknown.rest(fields, &[]);
    Ok(ToolChoice { mode, name, no_parallel })
}

/// The schema in `output_config.format`, or in the older `output_format`.
fn response_schema(
    body: &mut Fields,
    unknown: &mut Unknown,
) -> Result<Option<ResponseSchema>, Status> {
    let mut schema = None;
    if let Some(config) = body.object("output_config")? {
        schema = unknown.inside("output_config", |unknown| output_config(config, unknown))?;
    }
    if let Some(format) = body.object("output_format")? {
        schema = Some(unknown.inside("output_format", |unknown| output_format(format, unknown))?);
    }
    Ok(schema)
}
