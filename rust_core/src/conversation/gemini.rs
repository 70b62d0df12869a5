//! Reads Gemini generateContent, of the Developer API and of Vertex, as
//! <https://ai.google.dev/api/generate-content> describes it, and the SDKs' forms of it.
//!
//! Google's JSON takes every name in camel case and in snake case; so does this reader.

mod config;
mod parts;

use serde_json::Value;

use super::json::Fields;
use super::messages::Messages;
use super::provider::Reader;
use super::rest::Rest;
use super::unknown::Unknown;
use super::{Conversation, Memo, Message, Part, Role};
use crate::status::Status;

/// The reader of this interface.
pub const READER: Reader = Reader { messages: "contents", unbilled: &[], model, request, reply };

/// Objects that hold the request: of token counting and of the batch interface.
const WRAPPERS: [&str; 2] = ["generateContentRequest", "request"];

/// Objects that hold settings beside the body itself: the interface's and the SDKs'.
const CONFIGS: [&str; 2] = ["generationConfig", "config"];

fn request(mut rest: Rest<'_>, messages: Messages<'_>) -> Result<Conversation, Status> {
    if rest.has(is_wrapper) {
        let mut body = rest.into_values()?.renamed(camel);
        if let Some(wrapper) = WRAPPERS.into_iter().find(|wrapper| body.has(wrapper)) {
            return wrapped(body.take(wrapper), messages).map_err(|error| error.inside(wrapper));
        }
        rest = Rest::of_values(body);
    }
    let mut unknown = Unknown::default();
    let reading = messages.reading;
    let messages = contents(messages, &mut unknown)?;
    rest.before(messages, unknown, reading, |body, read, unknown| {
        let mut body = body.renamed(camel);
        for config in CONFIGS {
            let value = body.take(config);
            if !value.is_null() {
                unknown
                    .inside(config, |unknown| config::settings(fields(value)?, read, unknown))?;
            }
        }
        config::settings(body, read, unknown)
    })
}

/// The request inside a wrapper.
fn wrapped(body: Value, messages: Messages<'_>) -> Result<Conversation, Status> {
    let mut body = fields(body)?;
    let messages = messages.with(body.take("contents"));
    request(Rest::of_values(body), messages)
}

fn is_wrapper(name: &str) -> bool {
    WRAPPERS.contains(&name)
        || name.contains('_') && WRAPPERS.contains(&camel(name.to_owned()).as_str())
}

/// The model: a wrapper's own, else the one beside it. JSON is not nested deeper than 128.
fn model(rest: &mut Rest<'_>) -> Result<Option<String>, Status> {
    if !rest.has(is_wrapper) {
        return rest.string("model");
    }
    let mut body = std::mem::take(rest).into_values()?;
    let model = model_of(&mut body);
    *rest = Rest::of_values(body);
    model
}

fn model_of(body: &mut Fields) -> Result<Option<String>, Status> {
    for wrapper in WRAPPERS {
        let is_it =
            |name: &str| name == wrapper || name.contains('_') && camel(name.to_owned()) == wrapper;
        let Some(value) = body.get_mut(is_it).filter(|value| !value.is_null()) else { continue };
        let inside = |error: Status| error.inside(wrapper);
        let mut inner = Fields::of(value.take()).map_err(inside)?;
        let own = model_of(&mut inner).map_err(inside)?;
        *value = inner.into_value();
        if own.as_ref().is_some_and(|own| !own.is_empty()) {
            return Ok(own);
        }
        break;
    }
    body.string("model")
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
fn contents(mut sent: Messages<'_>, unknown: &mut Unknown) -> Result<Vec<Message>, Status> {
    if let Some(one) = sent.alone() {
        sent = sent.with(Value::Array(vec![one]));
    }
    let mut bare = Vec::new();
    let read = sent.read_indexed(unknown, |at, item, unknown| {
        if item.get("parts").is_some() || item.get("role").is_some() {
            return parts::content(item, unknown);
        }
        bare.push(at);
        let parts = parts::part(item, unknown)?;
        Ok(Message { parts, ..Message::default() })
    })?;
    let mut messages: Vec<Message> = Vec::with_capacity(read.len());
    // Parts that stand alone, one after the other, are one message of the user.
    let mut bare = bare.into_iter().peekable();
    let mut is_open = false;
    for (at, mut message) in read.into_iter().enumerate() {
        let is_bare = bare.next_if_eq(&at).is_some();
        // What such a message is depends on its neighbours, and media on the settings.
        if is_bare || message.parts.iter().any(parts::holds_media) {
            message.memo = Memo::None;
        }
        match messages.last_mut().filter(|_| is_open && is_bare) {
            Some(last) => last.parts.extend(message.parts),
            None => messages.push(message),
        }
        is_open = is_bare;
    }
    Ok(messages)
}

/// The fields of an object with their names in camel case.
fn fields(value: Value) -> Result<Fields, Status> {
    Ok(Fields::of(value)?.renamed(camel))
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
