//! Reads a typed prompt.

use bytes::Bytes;
use prost::Message as _;
use serde_json::Value;

use super::{
    Conversation, Format, Function, Media, MediaKind, Memo, Message, Part, Preamble, Reading,
    Reasoning, Recognise, ResponseSchema, Role, Tool, ToolCall, ToolChoice, ToolChoiceMode,
    ToolResult, json,
};
use crate::status::Status;
use crate::wire::{self, ErrorReason};

/// The conversation of a typed prompt, but for what is known.
pub fn request(mut prompt: wire::Prompt, reading: Reading<'_>) -> Result<Conversation, Status> {
    let messages = std::mem::take(&mut prompt.messages);
    let messages = indexed("messages", messages, |sent| encoded(sent, reading.known))?;
    let sent = prompt.encode_to_vec();
    reading.preamble(messages, Some(vec![&sent]), |read| {
        let before = std::mem::take(&mut read.preamble);
        read.preamble = Preamble { memo: before.memo, ..preamble(prompt)? };
        Ok(())
    })
}

fn preamble(prompt: wire::Prompt) -> Result<Preamble, Status> {
    let choice = prompt.tool_choice.map(tool_choice).transpose()?.unwrap_or_default();
    let schema = prompt.response_schema.map(response_schema).transpose()?;
    Ok(Preamble {
        system: system(prompt.system)?,
        tools: indexed("tools", prompt.tools, tool)?,
        tool_choice: choice,
        response_schema: schema,
        thinking: prompt.thinking,
        ..Preamble::default()
    })
}

/// A message as it came over the wire.
fn encoded(sent: Bytes, known: &dyn Recognise) -> Result<Message, Status> {
    let memo = known.find(&[&sent]);
    if let Memo::Known(known) = memo {
        return Ok(Message::known(known));
    }
    let decoded = wire::Message::decode(sent).map_err(|error| {
        let message = format!("the bytes are no message: {error}");
        Status::in_field(ErrorReason::MalformedRequest, "", message)
    })?;
    Ok(Message { memo, ..message(decoded)? })
}

/// One typed message.
pub fn message(message: wire::Message) -> Result<Message, Status> {
    let role = match wire::Role::try_from(message.role) {
        Ok(wire::Role::User) => Role::User,
        Ok(wire::Role::Assistant) => Role::Assistant,
        Ok(wire::Role::System) => Role::System,
        Ok(wire::Role::Tool) => Role::Tool,
        Ok(wire::Role::Developer) => Role::Developer,
        Ok(wire::Role::Unspecified) => {
            return Err(Status::missing("role", "required: who speaks"));
        }
        Err(_) => return Err(Status::invalid("role", "is not a known role")),
    };
    let parts = indexed("parts", message.parts, part)?;
    Ok(Message { role: role.of_parts(&parts), name: message.name, parts, ..Message::default() })
}

/// A message as the interface holds it: in Responses, each call is an item of its own.
#[must_use]
pub fn in_format(message: Message, format: Format) -> Vec<Message> {
    match format {
        Format::OpenaiResponses => items(message),
        _ => vec![message],
    }
}

/// Responses has an item for each part of a message but its texts and media, which share one.
fn items(message: Message) -> Vec<Message> {
    let mut items: Vec<Message> = Vec::new();
    let mut open = false;
    for part in message.parts {
        let shares = matches!(part, Part::Text(_) | Part::Media(_));
        match items.last_mut() {
            Some(last) if open && shares => last.parts.push(part),
            _ => items.push(Message {
                role: message.role,
                name: message.name.clone(),
                parts: vec![part],
                ..Message::default()
            }),
        }
        open = shares;
    }
    if items.is_empty() {
        let (role, name) = (message.role, message.name);
        items.push(Message { role, name, ..Message::default() });
    }
    if let [alone] = items.as_mut_slice() {
        alone.memo = message.memo;
    }
    items
}

fn indexed<T, U>(
    field: &str,
    items: Vec<T>,
    read: impl Fn(T) -> Result<U, Status>,
) -> Result<Vec<U>, Status> {
    let numbered = items.into_iter().enumerate();
    numbered
        .map(|(index, item)| read(item).map_err(|error| error.inside(&format!("{field}[{index}]"))))
        .collect()
}

fn system(parts: Vec<wire::Part>) -> Result<Vec<Message>, Status> {
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    let parts = indexed("system", parts, part)?;
    Ok(vec![Message { role: Role::System, parts, ..Message::default() }])
}

fn part(part: wire::Part) -> Result<Part, Status> {
    use wire::part::Content;
    let Some(content) = part.content else {
        return Err(Status::missing("content", "required: exactly one kind of content"));
    };
    Ok(match content {
        Content::Text(text) => Part::Text(text),
        Content::Image(medium) => Part::Media(media(MediaKind::Image, medium)),
        Content::Audio(medium) => Part::Media(media(MediaKind::Audio, medium)),
        Content::File(medium) => Part::Media(media(MediaKind::File, medium)),
        Content::Video(medium) => Part::Media(media(MediaKind::Video, medium)),
        Content::ToolCall(call) => Part::ToolCall(tool_call(call)?),
        Content::ToolResult(result) => Part::ToolResult(tool_result(result)?),
        Content::Reasoning(reasoning) => {
            Part::Reasoning(Reasoning { text: reasoning.text, signature: reasoning.signature })
        }
    })
}

fn media(kind: MediaKind, media: wire::Media) -> Media {
    let (data, uri) = match media.source {
        Some(wire::media::Source::Data(data)) => (data, String::new()),
        Some(wire::media::Source::Uri(uri)) => (bytes::Bytes::new(), uri),
        None => (bytes::Bytes::new(), String::new()),
    };
    Media {
        kind,
        data,
        uri,
        mime_type: media.mime_type,
        width: media.width,
        height: media.height,
        duration: media.duration_seconds,
        pages: media.pages,
        // "auto" is the default by another name.
        detail: if media.detail == "auto" { String::new() } else { media.detail },
        filename: media.filename,
    }
}

fn tool_call(call: wire::ToolCall) -> Result<ToolCall, Status> {
    if call.name.is_empty() {
        return Err(Status::missing("tool_call.name", "required: the function's name"));
    }
    let arguments = if call.arguments.is_empty() { "{}".into() } else { call.arguments };
    Ok(ToolCall { id: call.id, name: call.name, arguments, has_item_id: false })
}

fn tool_result(result: wire::ToolResult) -> Result<ToolResult, Status> {
    let parts = indexed("tool_result.parts", result.parts, |content| match part(content)? {
        part @ (Part::Text(_) | Part::Media(_)) => Ok(part),
        _ => Err(Status::invalid("content", "a tool result holds only texts and media")),
    })?;
    Ok(ToolResult { call_id: result.call_id, name: result.name, parts, is_error: result.is_error })
}

fn tool(tool: wire::Tool) -> Result<Tool, Status> {
    if tool.name.is_empty() {
        return Err(Status::missing("name", "required: the function's name"));
    }
    let parameters = match tool.parameters.as_str() {
        "" => None,
        text => Some(schema("parameters", text)?),
    };
    Ok(Tool::Function(Function {
        name: tool.name,
        description: tool.description,
        parameters,
        strict: tool.strict,
        ..Function::default()
    }))
}

fn tool_choice(choice: wire::ToolChoice) -> Result<ToolChoice, Status> {
    use wire::ToolChoiceMode as Mode;
    let mode = match Mode::try_from(choice.mode) {
        Ok(Mode::Unspecified) => ToolChoiceMode::Unspecified,
        Ok(Mode::Auto) => ToolChoiceMode::Auto,
        Ok(Mode::None) => ToolChoiceMode::None,
        Ok(Mode::Required) => ToolChoiceMode::Required,
        Ok(Mode::Named) if choice.name.is_empty() => {
            let message = "required with TOOL_CHOICE_MODE_NAMED";
            return Err(Status::missing("tool_choice.name", message));
        }
        Ok(Mode::Named) => ToolChoiceMode::Named,
        Err(_) => return Err(Status::invalid("tool_choice.mode", "is not a known mode")),
    };
    Ok(ToolChoice { mode, name: choice.name, no_parallel: choice.no_parallel })
}

fn response_schema(response: wire::ResponseSchema) -> Result<ResponseSchema, Status> {
    let schema = schema("response_schema.schema", &response.schema)?;
    Ok(ResponseSchema {
        name: response.name,
        description: response.description,
        schema,
        strict: response.strict,
        ..ResponseSchema::default()
    })
}

fn schema(field: &str, text: &str) -> Result<Value, Status> {
    match json::parse_text(field, text)? {
        value @ (Value::Object(_) | Value::Bool(_)) => Ok(value),
        other => Err(Status::invalid(field, json::wrong_type("a JSON schema object", &other))),
    }
}
