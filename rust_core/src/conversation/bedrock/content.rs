//! Converse's content blocks.

use serde_json::Value;

use crate::conversation::blocks::{arguments, base64_bytes, others};
use crate::conversation::json::Fields;
use crate::conversation::unknown::Unknown;
use crate::conversation::{Media, MediaKind, Part, Reasoning, ToolCall, ToolResult};
use crate::status::Status;

/// The kinds of media, by the name of their content block.
const MEDIA: [(&str, MediaKind); 4] = [
    ("image", MediaKind::Image),
    ("document", MediaKind::File),
    ("video", MediaKind::Video),
    ("audio", MediaKind::Audio),
];

/// One content block: an object with a single field, whose name is its kind. What it holds beyond
/// that follows it as parts of its own; a cache marker is no part.
pub fn block(value: Value, unknown: &mut Unknown) -> Result<Vec<Part>, Status> {
    let mut fields = Fields::of(value)?;
    let mut parts = Vec::new();
    if let Some(text) = fields.string("text")? {
        parts.push(Part::Text(text));
    }
    if let Some(call) = fields.object("toolUse")? {
        parts.push(unknown.inside("toolUse", |unknown| tool_use(call, unknown))?);
    }
    if let Some(result) = fields.object("toolResult")? {
        parts.push(unknown.inside("toolResult", |unknown| tool_result(result, unknown))?);
    }
    if let Some(reasoning) = fields.object("reasoningContent")? {
        parts.push(unknown.inside("reasoningContent", |unknown| thinking(reasoning, unknown))?);
    }
    for (name, kind) in MEDIA {
        if let Some(fields) = fields.object(name)? {
            parts.push(unknown.inside(name, |unknown| media(kind, fields, unknown))?);
        }
    }
    // The JSON of a tool's result is an ordinary result, not something unknown.
    let json = fields.take("json");
    if !json.is_null() {
        parts.push(Part::Other(json));
    }
    parts.extend(others(unknown.rest(fields, &["cachePoint"])));
    Ok(parts)
}

fn tool_use(mut fields: Fields, unknown: &mut Unknown) -> Result<Part, Status> {
    let call = ToolCall {
        id: fields.string("toolUseId")?.unwrap_or_default(),
        name: fields.required_string("name")?,
        arguments: arguments(&fields.take("input")),
        has_item_id: false,
    };
    unknown.rest(fields, &["type"]);
    Ok(Part::ToolCall(call))
}

fn tool_result(mut fields: Fields, unknown: &mut Unknown) -> Result<Part, Status> {
    let result = ToolResult {
        call_id: fields.string("toolUseId")?.unwrap_or_default(),
        name: String::new(),
        parts: unknown.each("content", fields.array("content")?, block)?.concat(),
        is_error: fields.string("status")?.as_deref() == Some("error"),
    };
    unknown.rest(fields, &["type"]);
    Ok(Part::ToolResult(result))
}

fn thinking(mut fields: Fields, unknown: &mut Unknown) -> Result<Part, Status> {
    let mut reasoning = Reasoning::default();
    if let Some(mut shown) = fields.object("reasoningText")? {
        unknown.inside("reasoningText", |unknown| {
            reasoning.text = shown.string("text")?.unwrap_or_default();
            reasoning.signature = shown.string("signature")?.unwrap_or_default();
            unknown.rest(shown, &[]);
            Ok(())
        })?;
    }
    if let Some(redacted) = fields.string("redactedContent")? {
        reasoning.signature = redacted;
    }
    unknown.rest(fields, &[]);
    Ok(Part::Reasoning(reasoning))
}

/// Media inline or at an S3 address. A document given as text is left as its JSON.
fn media(kind: MediaKind, mut fields: Fields, unknown: &mut Unknown) -> Result<Part, Status> {
    let mut source =
        fields.object("source")?.ok_or_else(|| Status::missing("source", "required, an object"))?;
    if !source.has("bytes") && !source.has("s3Location") {
        return Ok(Part::Other(source.into_value()));
    }
    let mut media = Media { kind, ..Media::default() };
    if let Some(data) = source.string("bytes").map_err(|error| error.inside("source"))? {
        media.data = base64_bytes("source.bytes", &data)?;
    }
    if let Some(mut location) = source.object("s3Location")? {
        media.uri = location.string("uri")?.unwrap_or_default();
    }
    if let Some(format) = fields.string("format")? {
        media.mime_type = mime_type(kind, &format);
    }
    media.filename = fields.string("name")?.unwrap_or_default();
    unknown.rest(fields, &["citations"]);
    Ok(Part::Media(media))
}

/// Converse names formats (`png`, `pdf`), the canonical form MIME types.
fn mime_type(kind: MediaKind, format: &str) -> String {
    let group = match kind {
        MediaKind::Image => "image",
        MediaKind::Audio => "audio",
        MediaKind::Video => "video",
        MediaKind::File => "application",
    };
    format!("{group}/{format}")
}
