//! What `OpenAI`'s two interfaces write alike: content parts, functions, tool choice, schemas.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use super::json::{self, Fields};
use super::unknown::Unknown;
use super::{
    Format, Function, Media, MediaKind, Part, ResponseSchema, Role, Tool, ToolChoice,
    ToolChoiceMode,
};
use crate::status::Status;

/// Fields of parts and messages that are not billed, or that only replies have.
const UNBILLED_IN_PARTS: &[&str] =
    &["annotations", "cache_control", "id", "logprobs", "prompt_cache_breakpoint", "type"];

/// Takes the role, which must be there.
pub fn role(fields: &mut Fields) -> Result<Role, Status> {
    match fields.required_string("role")?.as_str() {
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "system" => Ok(Role::System),
        "developer" => Ok(Role::Developer),
        "tool" | "function" => Ok(Role::Tool),
        _ => Err(Status::invalid(
            "role",
            "must be user, assistant, system, developer, tool or function",
        )),
    }
}

/// Takes a text or a list of parts. Empty texts are left out.
pub fn content(fields: &mut Fields, key: &str, unknown: &mut Unknown) -> Result<Vec<Part>, Status> {
    match fields.take(key) {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(text_part(text).into_iter().collect()),
        Value::Array(items) => {
            let parts = unknown.each(key, items, part)?;
            Ok(parts.into_iter().flatten().collect())
        }
        other => Err(Status::invalid(key, json::wrong_type("a string or an array", &other))),
    }
}

fn text_part(text: String) -> Option<Part> {
    (!text.is_empty()).then_some(Part::Text(text))
}

fn part(item: Value, unknown: &mut Unknown) -> Result<Vec<Part>, Status> {
    if let Value::String(text) = item {
        return Ok(text_part(text).into_iter().collect());
    }
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
    let read = match kind {
        "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" => text,
        "refusal" => refusal,
        "image_url" | "input_image" => image,
        "input_audio" => audio,
        "file" | "input_file" => file,
        _ => return Ok(vec![Part::Other(item)]),
    };
    let mut fields = Fields::of(item)?;
    let mut parts: Vec<Part> = read(&mut fields)?.into_iter().collect();
    parts.extend(others(unknown.rest(fields, UNBILLED_IN_PARTS)));
    Ok(parts)
}

/// Fields that were not understood, as parts.
pub fn others(fields: Vec<(String, Value)>) -> impl Iterator<Item = Part> {
    fields
        .into_iter()
        .map(|(key, value)| Part::Other(Value::Object([(key, value)].into_iter().collect())))
}

fn text(fields: &mut Fields) -> Result<Option<Part>, Status> {
    Ok(text_part(fields.required_string("text")?))
}

fn refusal(fields: &mut Fields) -> Result<Option<Part>, Status> {
    Ok(text_part(fields.required_string("refusal")?))
}

/// Chat: `{"image_url": {"url", "detail"}}`; Responses: `{"image_url": url, "detail"}` or a file id.
fn image(fields: &mut Fields) -> Result<Option<Part>, Status> {
    let mut media = match fields.take("image_url") {
        Value::Null => Media { uri: fields.required_string("file_id")?, ..Media::default() },
        Value::String(url) => from_url(url),
        other => {
            let mut image = Fields::of(other).map_err(|error| error.inside("image_url"))?;
            let url = image.required_string("url").map_err(|error| error.inside("image_url"))?;
            let detail = image.string("detail").map_err(|error| error.inside("image_url"))?;
            Media { detail: detail.unwrap_or_default(), ..from_url(url) }
        }
    };
    if let Some(detail) = fields.string("detail")? {
        media.detail = detail;
    }
    if media.detail == "auto" {
        media.detail.clear();
    }
    Ok(Some(Part::Media(media)))
}

fn audio(fields: &mut Fields) -> Result<Option<Part>, Status> {
    let read = |fields: &mut Fields| -> Result<Media, Status> {
        let mut audio = fields
            .object("input_audio")?
            .ok_or_else(|| Status::missing("", "required, an object"))?;
        let data = audio.required_string("data")?;
        let format = audio.string("format")?.unwrap_or_default();
        Ok(Media {
            kind: MediaKind::Audio,
            mime_type: format!("audio/{format}"),
            ..from_base64(data)
        })
    };
    read(fields).map(|media| Some(Part::Media(media))).map_err(|error| error.inside("input_audio"))
}

/// Chat has the fields inside `file`, Responses beside `type`.
fn file(fields: &mut Fields) -> Result<Option<Part>, Status> {
    let nested = fields.object("file")?;
    let path = if nested.is_some() { "file" } else { "" };
    let mut inner = nested;
    let file = inner.as_mut().unwrap_or(fields);
    let mut read = || -> Result<Media, Status> {
        let filename = file.string("filename")?.unwrap_or_default();
        let media = match (file.string("file_data")?, file.string("file_url")?) {
            (Some(data), _) if data.starts_with("data:") => from_url(data),
            (Some(data), _) => from_base64(data),
            (None, Some(url)) => from_url(url),
            (None, None) => Media { uri: file.required_string("file_id")?, ..Media::default() },
        };
        Ok(Media { kind: MediaKind::File, filename, ..media })
    };
    read().map(|media| Some(Part::Media(media))).map_err(|error| error.inside(path))
}

/// A `data:` URL is decoded; any other stays what it is, and its size unknown.
fn from_url(url: String) -> Media {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let decoded = inline.and_then(|(mime, data)| Some((mime.to_owned(), decode(data)?)));
    match decoded {
        Some((mime_type, data)) => Media { data, mime_type, ..Media::default() },
        None => Media { uri: url, ..Media::default() },
    }
}

/// Bytes that don't decode are kept as they came, so that different ones stay different.
fn from_base64(data: String) -> Media {
    let data = decode(&data).unwrap_or_else(|| bytes::Bytes::from(data.into_bytes()));
    Media { data, ..Media::default() }
}

fn decode(base64: &str) -> Option<bytes::Bytes> {
    const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    const LENIENT: GeneralPurpose = GeneralPurpose::new(&STANDARD, CONFIG);
    LENIENT.decode(base64).ok().map(bytes::Bytes::from)
}

/// Takes the tools. Chat nests a function in `function`, Responses doesn't. Where both forms are
/// mixed, each bills its own only: in Responses a bare name.
pub fn tools(fields: &mut Fields, format: Format) -> Result<Vec<Tool>, Status> {
    json::each("tools", fields.array("tools")?, |value| tool(value, format))
}

fn tool(value: Value, format: Format) -> Result<Tool, Status> {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("function");
    if kind != "function" {
        return Ok(Tool::Other(value));
    }
    let mut fields = Fields::of(value)?;
    match fields.object("function")? {
        Some(inner) if format == Format::OpenaiChat || !fields.has("name") => {
            function(inner).map_err(|error| error.inside("function"))
        }
        _ => function(fields),
    }
    .map(Tool::Function)
}

/// A function's declaration. An empty schema is a schema; unknown fields of it are not billed.
pub fn function(mut fields: Fields) -> Result<Function, Status> {
    let parameters = match fields.take("parameters") {
        Value::Null => None,
        value if value.is_object() => Some(value),
        other => return Err(Status::invalid("parameters", json::wrong_type("an object", &other))),
    };
    Ok(Function {
        name: fields.required_string("name")?,
        description: fields.string("description")?.unwrap_or_default(),
        parameters,
        strict: fields.boolean("strict")?,
        ..Function::default()
    })
}

/// Takes `tool_choice` and `parallel_tool_calls`.
pub fn tool_choice(fields: &mut Fields) -> Result<ToolChoice, Status> {
    let no_parallel = fields.take("parallel_tool_calls") == Value::Bool(false);
    let choice = choice(fields.take("tool_choice")).map_err(|error| error.inside("tool_choice"))?;
    Ok(ToolChoice { no_parallel, ..choice })
}

/// A tool choice: a word, a function in either interface's form, or a set of allowed tools.
pub fn choice(value: Value) -> Result<ToolChoice, Status> {
    let mode = |word: &str| match word {
        "auto" => Ok(ToolChoiceMode::Auto),
        "none" => Ok(ToolChoiceMode::None),
        "required" | "any" => Ok(ToolChoiceMode::Required),
        _ => Err(Status::invalid("", "must be auto, none, required or an object")),
    };
    let of_mode = |mode| ToolChoice { mode, ..ToolChoice::default() };
    match value {
        Value::Null => Ok(ToolChoice::default()),
        Value::String(word) => mode(&word).map(of_mode),
        object => {
            let mut fields = Fields::of(object)?;
            let mut inner = fields.object("function")?;
            if let Some(name) = inner.as_mut().unwrap_or(&mut fields).string("name")? {
                return Ok(ToolChoice { name, ..of_mode(ToolChoiceMode::Named) });
            }
            let word = fields.string("mode")?;
            word.as_deref().map_or(Ok(ToolChoiceMode::Required), mode).map(of_mode)
        }
    }
}

/// The schema of a `response_format` or `text.format`. JSON without a schema has `null` for one:
/// hosts of gpt-oss bill it. Text has none.
pub fn response_schema(format: Option<Fields>) -> Result<Option<ResponseSchema>, Status> {
    let Some(mut format) = format else { return Ok(None) };
    match format.string("type")?.as_deref() {
        Some("json_schema") => {}
        Some("json_object") => return Ok(Some(ResponseSchema::default())),
        _ => return Ok(None),
    }
    let mut fields = format.object("json_schema")?.unwrap_or(format);
    let name = fields.string("name")?.unwrap_or_default();
    let description = fields.string("description")?.unwrap_or_default();
    let strict = fields.boolean("strict")?;
    let schema = match fields.take("schema") {
        // Some clients put the schema itself where its wrapper belongs.
        Value::Null => Value::Object(fields.rest(&["name", "description", "strict"]).collect()),
        schema => schema,
    };
    Ok(Some(ResponseSchema { name, description, schema, strict, ..ResponseSchema::default() }))
}
