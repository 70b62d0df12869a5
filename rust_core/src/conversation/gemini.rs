//! Reads Gemini generateContent, of the Developer API and of Vertex, as
//! <https://ai.google.dev/api/generate-content> describes it, and the SDKs' forms of it.
//!
//! Google's JSON takes every name in camel case and in snake case; so does this reader.

mod config;
mod parts;

use serde_json::Value;

use super::json::{Fields, wrong_type};
use super::provider::Reader;
use super::unknown::Unknown;
use super::{Conversation, Message, Part, Role};
use crate::status::Status;

/// The reader of this interface.
pub const READER: Reader = Reader { request, reply };

/// Objects that hold the request: of token counting and of the batch interface.
const WRAPPERS: [&str; 2] = ["generateContentRequest", "request"];

/// Objects that hold settings beside the body itself: the interface's and the SDKs'.
const CONFIGS: [&str; 2] = ["generationConfig", "config"];

fn request(body: Value) -> Result<Conversation, Status> {
    let mut body = fields(body)?;
    if let Some(wrapper) = WRAPPERS.into_iter().find(|wrapper| body.has(wrapper)) {
        return wrapped(wrapper, body);
    }
    let mut unknown = Unknown::default();
    let model = body.string("model")?.unwrap_or_default();
    let mut read = Conversation { model, ..Conversation::default() };
    read.messages = contents(body.take("contents"), &mut unknown)?;
    for config in CONFIGS {
        let value = body.take(config);
        if !value.is_null() {
            unknown
                .inside(config, |unknown| config::settings(fields(value)?, &mut read, unknown))?;
        }
    }
    config::settings(body, &mut read, &mut unknown)?;
    read.warnings = unknown.warnings;
    Ok(read)
}

/// The request inside a wrapper, which may name the model beside it.
fn wrapped(wrapper: &str, mut body: Fields) -> Result<Conversation, Status> {
    let mut read = request(body.take(wrapper)).map_err(|error| error.inside(wrapper))?;
    if read.model.is_empty() {
        read.model = body.string("model")?.unwrap_or_default();
    }
    Ok(read)
}

/// A response, a list of a stream's responses, a candidate or its content.
fn reply(reply: Value) -> Result<Vec<Message>, Status> {
    // Warnings about replies have no place in the answer; what may hold text is a part anyway.
    let parts = reply_parts(reply, &mut Unknown::default())?;
    Ok(vec![Message { role: Role::Assistant, parts, ..Message::default() }])
}

fn reply_parts(reply: Value, unknown: &mut Unknown) -> Result<Vec<Part>, Status> {
    if let Value::Array(chunks) = reply {
        let chunks = unknown.each("", chunks, content_of)?;
        return Ok(chunks.into_iter().flatten().collect());
    }
    content_of(reply, unknown)
}

/// The parts of what the first candidate said.
fn content_of(reply: Value, unknown: &mut Unknown) -> Result<Vec<Part>, Status> {
    let mut reply = fields(reply)?;
    for (key, index) in [("response", None), ("candidates", Some(0)), ("content", None)] {
        if !reply.has(key) {
            continue;
        }
        let mut inner = reply.take(key);
        if let Some(index) = index {
            inner = inner.get_mut(index).map_or(Value::Null, Value::take);
        }
        // A blocked or empty answer has no content.
        if inner.is_null() {
            return Ok(Vec::new());
        }
        reply = unknown.inside(key, |_| fields(inner))?;
    }
    if reply.has("parts") {
        return parts::list(reply.take("parts"), unknown);
    }
    let is_reply = ["role", "finishReason", "usageMetadata"].iter().any(|key| reply.has(key));
    let wanted = "required: candidates, a candidate's content, or parts";
    if is_reply { Ok(Vec::new()) } else { Err(Status::missing("candidates", wanted)) }
}

/// The conversation: a list of contents. SDKs also take one content, a text or a list of parts.
fn contents(value: Value, unknown: &mut Unknown) -> Result<Vec<Message>, Status> {
    let items = match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        one => vec![one],
    };
    let mut messages: Vec<Message> = Vec::with_capacity(items.len());
    // Parts that stand alone, one after the other, are one message of the user.
    let mut is_open = false;
    for (at, item) in items.into_iter().enumerate() {
        let is_content = item.get("parts").is_some() || item.get("role").is_some();
        let scope = format!("contents[{at}]");
        if is_content {
            messages.push(unknown.inside(&scope, |unknown| parts::content(item, unknown))?);
        } else {
            let parts = unknown.inside(&scope, |unknown| parts::part(item, unknown))?;
            match messages.last_mut().filter(|_| is_open) {
                Some(message) => message.parts.extend(parts),
                None => messages.push(Message { parts, ..Message::default() }),
            }
        }
        is_open = !is_content;
    }
    Ok(messages)
}

/// The fields of an object with their names in camel case.
fn fields(value: Value) -> Result<Fields, Status> {
    match value {
        Value::Object(map) => {
            Fields::of(map.into_iter().map(|(name, value)| (camel(name), value)).collect())
        }
        other => Err(Status::invalid("", wrong_type("an object", &other))),
    }
}

/// `function_call` in camel case.
fn camel(name: String) -> String {
    if !name.contains('_') {
        return name;
    }
    let mut after_underscore = false;
    name.char_indices()
        .filter_map(|(at, character)| {
            let raise = std::mem::replace(&mut after_underscore, character == '_' && at > 0);
            match character {
                '_' if at > 0 => None,
                _ if raise => Some(character.to_ascii_uppercase()),
                _ => Some(character),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
