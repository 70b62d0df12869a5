//! Contents and their parts.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use super::super::json::{Fields, wrong_type};
use super::super::unknown::Unknown;
use super::super::{Media, MediaKind, Message, Part, Reasoning, Role, ToolCall, ToolResult};
use super::fields;
use crate::status::Status;

/// Fields of calls and their results that the model doesn't see.
const CALL_UNBILLED: &[&str] = &["scheduling", "willContinue"];

/// One content. Results of calls come under the role `user`, `function` or `tool`; canonically
/// they are the tools' message.
pub fn content(value: Value, unknown: &mut Unknown) -> Result<Message, Status> {
    let mut content = fields(value)?;
    let role = match content.string("role")?.as_deref() {
        None | Some("" | "user") => Role::User,
        Some("model" | "assistant") => Role::Assistant,
        Some("function" | "tool") => Role::Tool,
        Some("system") => Role::System,
        Some(_) => return Err(Status::invalid("role", "must be user, model or function")),
    };
    let mut parts = list(content.take("parts"), unknown)?;
    parts.extend(others(unknown.rest(content, &[])));
    Ok(Message { role: role.of_parts(&parts), parts, ..Message::default() })
}

/// The list in `parts`. SDKs also take one part or a text.
pub fn list(value: Value, unknown: &mut Unknown) -> Result<Vec<Part>, Status> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => {
            Ok(unknown.each("parts", items, part)?.into_iter().flatten().collect())
        }
        one => unknown.inside("parts", |unknown| part(one, unknown)),
    }
}

/// Whether the part is of media, or a result that holds some.
pub fn holds_media(part: &Part) -> bool {
    match part {
        Part::Media(_) => true,
        Part::ToolResult(result) => result.parts.iter().any(holds_media),
        _ => false,
    }
}

/// One part; its signature, and what it holds beyond its kind's fields, follow it.
pub fn part(value: Value, unknown: &mut Unknown) -> Result<Vec<Part>, Status> {
    if let Value::String(text) = value {
        return Ok(vec![Part::Text(text)]);
    }
    let mut part = fields(value)?;
    let thought = part.boolean("thought")?;
    let signature = part.string("thoughtSignature")?.unwrap_or_default();
    let resolution = resolution(&mut part)?;
    let mut read = Vec::with_capacity(1);
    if part.has("inlineData") {
        read.push(media("inlineData", part.take("inlineData"), resolution, unknown)?);
    } else if part.has("fileData") {
        read.push(media("fileData", part.take("fileData"), resolution, unknown)?);
    } else if part.has("functionCall") {
        let call = part.take("functionCall");
        read.push(unknown.inside("functionCall", |unknown| tool_call(call, unknown))?);
    } else if part.has("functionResponse") {
        let result = part.take("functionResponse");
        read.push(unknown.inside("functionResponse", |unknown| tool_result(result, unknown))?);
    } else if thought || part.has("text") {
        let text = part.string("text")?.unwrap_or_default();
        if thought {
            // The signature of a thought is part of it, and free.
            let mut read = vec![Part::Reasoning(Reasoning { text, signature })];
            read.extend(others(unknown.rest(part, &[])));
            return Ok(read);
        }
        read.push(Part::Text(text));
    } else {
        // Code execution, calls of server tools and kinds to come.
        let rest: Vec<_> = part.rest(&[]).collect();
        read.extend(others(rest));
        part = Fields::of(Value::Object(serde_json::Map::new()))?;
    }
    if !signature.is_empty() {
        read.push(Part::Signature(signature));
    }
    read.extend(others(unknown.rest(part, &[])));
    Ok(read)
}

/// Sets the resolution of all media that have none of their own.
pub fn set_resolution(messages: &mut [Message], resolution: &str) {
    let parts = messages.iter_mut().flat_map(|message| &mut message.parts);
    for part in parts {
        let inner = match part {
            Part::ToolResult(result) => result.parts.as_mut_slice(),
            part => std::slice::from_mut(part),
        };
        for part in inner {
            if let Part::Media(Media { detail, .. }) = part
                && detail.is_empty()
            {
                resolution.clone_into(detail);
            }
        }
    }
}

/// `MEDIA_RESOLUTION_HIGH` as `high`; a part's own stands in an object. Empty means the default.
pub fn resolution(fields: &mut Fields) -> Result<String, Status> {
    const FIELD: &str = "mediaResolution";
    let level = match fields.take(FIELD) {
        Value::Null => return Ok(String::new()),
        Value::Object(mut object) => object.remove("level").unwrap_or_default(),
        level => level,
    };
    let Value::String(level) = level else {
        return Err(Status::invalid(FIELD, wrong_type("a string", &level)));
    };
    let level = level.to_ascii_lowercase();
    let level = level.trim_start_matches("media_resolution_");
    Ok(if level == "unspecified" { String::new() } else { level.to_owned() })
}

/// Fields that were not understood, as parts of the message that holds them.
fn others(rest: Vec<(String, Value)>) -> impl Iterator<Item = Part> {
    rest.into_iter().map(|(name, value)| Part::Other(serde_json::json!({ name: value })))
}

fn media(scope: &str, value: Value, detail: String, unknown: &mut Unknown) -> Result<Part, Status> {
    unknown.inside(scope, |unknown| {
        let mut source = fields(value)?;
        let mime_type = source.string("mimeType")?.unwrap_or_default();
        let mut media = Media { detail, ..Media::default() };
        if scope == "inlineData" {
            media.data = base64_bytes("data", &source.required_string("data")?)?;
        } else {
            media.uri = source.required_string("fileUri")?;
        }
        media.kind = kind(&mime_type, &media.uri);
        media.mime_type = mime_type;
        media.filename = source.string("displayName")?.unwrap_or_default();
        unknown.rest(source, &[]);
        Ok(Part::Media(media))
    })
}

/// The kind of a medium by its MIME type; a link to a film site has none.
fn kind(mime_type: &str, uri: &str) -> MediaKind {
    match mime_type.split('/').next() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        Some("video") => MediaKind::Video,
        Some("") if uri.contains("youtu") => MediaKind::Video,
        _ => MediaKind::File,
    }
}

/// The bytes of the base64 text in `field`, in either alphabet, padded or not.
fn base64_bytes(field: &str, text: &str) -> Result<bytes::Bytes, Status> {
    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let bytes = if text.contains(['-', '_']) {
        ENGINE.decode(text.replace('-', "+").replace('_', "/"))
    } else {
        ENGINE.decode(text)
    };
    bytes.map(Into::into).map_err(|error| Status::invalid(field, format!("not base64: {error}")))
}

fn tool_call(value: Value, unknown: &mut Unknown) -> Result<Part, Status> {
    let mut call = fields(value)?;
    let args = call.take("args");
    let read = ToolCall {
        id: call.string("id")?.unwrap_or_default(),
        name: call.required_string("name")?,
        arguments: if args.is_null() { "{}".into() } else { args.to_string() },
        has_item_id: false,
    };
    unknown.rest(call, CALL_UNBILLED);
    Ok(Part::ToolCall(read))
}

/// The response is a JSON value; media may stand beside it.
fn tool_result(value: Value, unknown: &mut Unknown) -> Result<Part, Status> {
    let mut result = fields(value)?;
    let response = result.take("response");
    let mut read = ToolResult {
        call_id: result.string("id")?.unwrap_or_default(),
        name: result.required_string("name")?,
        ..ToolResult::default()
    };
    if !response.is_null() {
        read.parts.push(Part::Other(response));
    }
    read.parts.extend(list(result.take("parts"), unknown)?);
    read.parts.extend(others(unknown.rest(result, CALL_UNBILLED)));
    Ok(Part::ToolResult(read))
}
