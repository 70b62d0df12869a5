//! Reads `OpenAI` Chat Completions.

use serde_json::Value;

use super::json::Fields;
use super::messages::Messages;
use super::openai;
use super::provider::Reader;
use super::rest::Rest;
use super::unknown::Unknown;
use super::{
    Conversation, Format, Media, MediaKind, Message, Part, Preamble, Reasoning, Role, Tool,
    ToolCall, ToolResult, json,
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

/// Settings: they are never part of the prompt.
const UNBILLED: &[&str] = &[
    "audio",
    "background",
    "cache_control",
    "chat_template_args",
    "chat_template_kwargs",
    "clear_thinking",
    "disable_search",
    "enable_search",
    "enable_thinking",
    "frequency_penalty",
    "include_reasoning",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "min_p",
    "modalities",
    "moderation",
    "n",
    "prediction",
    "presence_penalty",
    "private",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "provider",
    "random_seed",
    "reasoning_format",
    "repetition_penalty",
    "return_images",
    "return_related_questions",
    "safe_prompt",
    "safety_identifier",
    "search_parameters",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "top_k",
    "top_logprobs",
    "top_p",
    "usage",
    "user",
    "verbosity",
    "web_search_options",
];

/// Fields of a message that are not billed, or that only replies have.
const UNBILLED_IN_MESSAGE: &[&str] =
    &["annotations", "cache_control", "id", "index", "prefix", "status", "type"];

fn request(rest: Rest<'_>, messages: Messages<'_>) -> Result<Conversation, Status> {
    rest.conversation(messages, message, |mut fields, read, unknown| {
        let before = std::mem::take(&mut read.preamble);
        read.preamble = Preamble { memo: before.memo, ..preamble(&mut fields)? };
        read.preamble.other = unknown.rest(fields, &[]);
        Ok(())
    })
}

fn preamble(fields: &mut Fields) -> Result<Preamble, Status> {
    let mut tools = openai::tools(fields, Format::OpenaiChat)?;
    for function in json::each("functions", fields.array("functions")?, legacy_function)? {
        tools.push(Tool::Function(function));
    }
    let mut tool_choice = openai::tool_choice(fields)?;
    if fields.has("function_call") {
        tool_choice = openai::choice(fields.take("function_call"))
            .map_err(|error| error.inside("function_call"))?;
    }
    let format = fields.object("response_format")?;
    let response_schema =
        openai::response_schema(format).map_err(|error| error.inside("response_format"))?;
    let switches = [fields.take("reasoning"), fields.take("thinking")];
    let thinking = switches.iter().any(is_on) || has_effort(fields)?;
    Ok(Preamble { tools, tool_choice, response_schema, thinking, ..Preamble::default() })
}

/// Whether `reasoning_effort` asks for thinking: free with `OpenAI`'s models, but gateways switch
/// other vendors' thinking on by it.
fn has_effort(fields: &mut Fields) -> Result<bool, Status> {
    let effort = fields.string("reasoning_effort")?;
    Ok(effort.is_some_and(|effort| !matches!(effort.as_str(), "none" | "minimal")))
}

/// Whether a gateway's `reasoning` or `thinking` switches thinking on.
fn is_on(field: &Value) -> bool {
    let off = field["effort"] == "none" || field["enabled"] == false || field["type"] == "disabled";
    field.is_object() && !off
}

fn legacy_function(value: Value) -> Result<super::Function, Status> {
    openai::function(Fields::of(value)?)
}

fn message(value: Value, unknown: &mut Unknown) -> Result<Message, Status> {
    let mut fields = Fields::of(value)?;
    let role = openai::role(&mut fields)?;
    let mut name = fields.string("name")?.unwrap_or_default();
    let mut parts = reasoning(&mut fields)?;
    let content = openai::content(&mut fields, "content", unknown)?;
    if role == Role::Tool {
        let call_id = fields.string("tool_call_id")?.unwrap_or_default();
        let name = std::mem::take(&mut name);
        let result = ToolResult { call_id, name, parts: content, is_error: false };
        parts.push(Part::ToolResult(result));
    } else {
        parts.extend(content);
    }
    if let Some(text) = fields.string("refusal")?.filter(|text| !text.is_empty()) {
        parts.push(Part::Text(text));
    }
    parts.extend(spoken(&mut fields)?);
    for call in json::each("tool_calls", fields.array("tool_calls")?, tool_call)? {
        parts.push(call);
    }
    if let Some(call) = fields.object("function_call")? {
        let call = function_call(call, String::new());
        parts.push(call.map_err(|error| error.inside("function_call"))?);
    }
    parts.extend(openai::others(unknown.rest(fields, UNBILLED_IN_MESSAGE)));
    Ok(Message { role, name, parts, ..Message::default() })
}

/// The thinking, as hosts of open-weight models write it.
fn reasoning(fields: &mut Fields) -> Result<Vec<Part>, Status> {
    let texts = [fields.string("reasoning_content")?, fields.string("reasoning")?];
    let text = texts.into_iter().flatten().find(|text| !text.is_empty());
    Ok(text
        .map(|text| Part::Reasoning(Reasoning { text, ..Reasoning::default() }))
        .into_iter()
        .collect())
}

/// What the model said aloud: sent back by its id only.
fn spoken(fields: &mut Fields) -> Result<Option<Part>, Status> {
    let Some(mut audio) = fields.object("audio")? else { return Ok(None) };
    let uri = audio.required_string("id").map_err(|error| error.inside("audio"))?;
    Ok(Some(Part::Media(Media { kind: MediaKind::Audio, uri, ..Media::default() })))
}

fn tool_call(value: Value) -> Result<Part, Status> {
    let mut fields = Fields::of(value)?;
    let id = fields.string("id")?.unwrap_or_default();
    if let Some(function) = fields.object("function")? {
        return function_call(function, id).map_err(|error| error.inside("function"));
    }
    match fields.object("custom")? {
        Some(mut custom) => {
            let arguments = custom.string("input")?.unwrap_or_default();
            let name = custom.required_string("name").map_err(|error| error.inside("custom"))?;
            Ok(Part::ToolCall(ToolCall { id, name, arguments, has_item_id: false }))
        }
        None => Err(Status::missing("function", "required, an object")),
    }
}

fn function_call(mut fields: Fields, id: String) -> Result<Part, Status> {
    let name = fields.required_string("name")?;
    let arguments = match fields.take("arguments") {
        Value::Null => String::new(),
        Value::String(text) => text,
        // Some hosts give the arguments as JSON rather than as its text.
        value => value.to_string(),
    };
    Ok(Part::ToolCall(ToolCall { id, name, arguments, has_item_id: false }))
}

/// A whole response, one of its choices, a message, or a list of messages.
fn reply(reply: Value) -> Result<Vec<Message>, Status> {
    let mut unused = Unknown::default();
    if let Value::Array(items) = reply {
        return unused.each("", items, message);
    }
    let mut fields = Fields::of(reply)?;
    if !fields.has("choices") {
        return chosen(fields.into_value(), &mut unused);
    }
    let first = fields.array("choices")?.into_iter().next();
    let first = first.ok_or_else(|| Status::invalid("choices", "must not be empty"))?;
    unused.inside("choices[0]", |unused| chosen(first, unused))
}

fn chosen(value: Value, unused: &mut Unknown) -> Result<Vec<Message>, Status> {
    let mut fields = Fields::of(value)?;
    let read = if fields.has("message") {
        unused.inside("message", |unused| message(fields.take("message"), unused))
    } else {
        message(fields.into_value(), unused)
    };
    Ok(vec![read?])
}
