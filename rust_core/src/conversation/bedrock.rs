//! Reads Bedrock Converse, as
//! <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html> describes it.

mod content;

use serde_json::Value;

use super::blocks::{others, output_config, read_thinking, role};
use super::json::Fields;
use super::messages::Messages;
use super::provider::Reader;
use super::rest::Rest;
use super::unknown::Unknown;
use super::{
    Conversation, Function, Message, Preamble, ResponseSchema, Role, Tool, ToolChoice,
    ToolChoiceMode,
};
use crate::status::Status;
use content::block;

/// The reader of this interface.
pub const READER: Reader = Reader {
    messages: "messages",
    unbilled: UNBILLED,
    model: |body| body.string("modelId"),
    request,
    reply,
};

/// What the body hands on to the model as it is.
const MODEL_FIELDS: &str = "additionalModelRequestFields";

/// Settings of the request that add nothing to the prompt.
const UNBILLED: &[&str] = &[
    "additionalModelResponseFieldPaths",
    "guardrailConfig",
    "inferenceConfig",
    "performanceConfig",
    "requestMetadata",
    "serviceTier",
];

/// Settings among `additionalModelRequestFields`.
const MODEL_UNBILLED: &[&str] =
    &["anthropic_beta", "inferenceConfig", "max_tokens", "reasoning_effort", "top_k", "top_p"];

/// Fields of a reply beside its message.
const REPLY_UNBILLED: &[&str] = &[
    "ResponseMetadata",
    "additionalModelResponseFields",
    "metrics",
    "performanceConfig",
    "serviceTier",
    "stopReason",
    "trace",
    "usage",
];

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
    let system = unknown.each("system", body.array("system")?, block)?.concat();
    if !system.is_empty() {
        let message = Message { role: Role::System, parts: system, ..Message::default() };
        preamble.system.push(message);
    }
    if let Some(config) = body.object("toolConfig")? {
        unknown.inside("toolConfig", |unknown| tools(config, preamble, unknown))?;
    }
    if let Some(config) = body.object("outputConfig")? {
        preamble.response_schema =
            unknown.inside("outputConfig", |unknown| text_format(config, unknown))?;
    }
    if let Some(fields) = body.object(MODEL_FIELDS)? {
        unknown.inside(MODEL_FIELDS, |unknown| model_fields(fields, preamble, unknown))?;
    }
    preamble.other.extend(unknown.rest(body, &[]));
    Ok(())
}

/// A reply is the whole response, the `output` in it, or the message in that.
fn reply(reply: Value) -> Result<Vec<Message>, Status> {
    // Warnings about replies have no place in the answer; what may hold text is a part anyway.
    let mut unknown = Unknown::default();
    let mut fields = Fields::of(reply)?;
    let mut scopes = Vec::new();
    for scope in ["output", "message"] {
        if let Some(inner) = fields.object(scope)? {
            unknown.rest(fields, REPLY_UNBILLED);
            fields = inner;
            scopes.push(scope);
        }
    }
    if !fields.has("content") {
        return Err(Status::missing("content", "required, the reply's content blocks")
            .inside(&scopes.join(".")));
    }
    fields.string("role")?;
    let parts = unknown.each("content", fields.array("content")?, block)?.concat();
    Ok(vec![Message { role: Role::Assistant, parts, ..Message::default() }])
}

fn message(value: Value, unknown: &mut Unknown) -> Result<Message, Status> {
    let mut fields = Fields::of(value)?;
    let role = role(&mut fields)?;
    let mut parts = unknown.each("content", fields.array("content")?, block)?.concat();
    parts.extend(others(unknown.rest(fields, &[])));
    Ok(Message { role: role.of_parts(&parts), parts, ..Message::default() })
}

fn tools(mut config: Fields, preamble: &mut Preamble, unknown: &mut Unknown) -> Result<(), Status> {
    let tools = unknown.each("tools", config.array("tools")?, tool)?;
    preamble.tools.extend(tools.into_iter().flatten());
    if let Some(choice) = config.object("toolChoice")? {
        preamble.tool_choice =
            unknown.inside("toolChoice", |unknown| tool_choice(choice, unknown))?;
    }
    preamble.other.extend(unknown.rest(config, &[]));
    Ok(())
}

/// A tool; a cache marker between them is none.
fn tool(value: Value, unknown: &mut Unknown) -> Result<Option<Tool>, Status> {
    let mut fields = Fields::of(value)?;
    let Some(mut spec) = fields.object("toolSpec")? else {
        let other = fields.has("systemTool") || !fields.has("cachePoint");
        return Ok(other.then(|| Tool::Other(fields.into_value())));
    };
    unknown.inside("toolSpec", |unknown| {
        let schema = spec.object("inputSchema")?.map(|mut schema| schema.take("json"));
        let function = Function {
            name: spec.required_string("name")?,
            description: spec.string("description")?.unwrap_or_default(),
            parameters: schema.filter(|schema| !schema.is_null()),
            strict: spec.boolean("strict")?,
            ..Function::default()
        };
        unknown.rest(spec, &[]);
        Ok(Some(Tool::Function(function)))
    })
}

fn tool_choice(mut fields: Fields, unknown: &mut Unknown) -> Result<ToolChoice, Status> {
    let mut choice = ToolChoice::default();
    for (name, mode) in [("auto", ToolChoiceMode::Auto), ("any", ToolChoiceMode::Required)] {
        if fields.object(name)?.is_some() {
            choice.mode = mode;
        }
    }
    if let Some(mut tool) = fields.object("tool")? {
        choice.mode = ToolChoiceMode::Named;
        choice.name = tool.required_string("name").map_err(|error| error.inside("tool"))?;
    }
    unknown.rest(fields, &[]);
    Ok(choice)
}

/// `textFormat.structure.jsonSchema`, whose schema is JSON text.
fn text_format(
    mut config: Fields,
    unknown: &mut Unknown,
) -> Result<Option<ResponseSchema>, Status> {
    let path = ["textFormat", "structure", "jsonSchema"];
    for (depth, scope) in path.iter().enumerate() {
        let Some(inner) =
            config.object(scope).map_err(|error| error.inside(&path[..depth].join(".")))?
        else {
            return Ok(None);
        };
        unknown.rest(config, &["type"]);
        config = inner;
    }
    let schema = match config.take("schema") {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        value => value,
    };
    let name = config.string("name")?.unwrap_or_default();
    let description = config.string("description")?.unwrap_or_default();
    unknown.rest(config, &[]);
    Ok(Some(ResponseSchema { name, description, schema, ..ResponseSchema::default() }))
}

/// Fields in the model's own dialect: Claude's thinking, output settings and tool choice.
fn model_fields(
    mut fields: Fields,
    preamble: &mut Preamble,
    unknown: &mut Unknown,
) -> Result<(), Status> {
    for name in ["thinking", "reasoning_config", "reasoningConfig"] {
        // Some clients send a bare string here, which the provider ignores.
        if let Value::Object(map) = fields.take(name) {
            let thinking = Fields::of(Value::Object(map))?;
            unknown.inside(name, |unknown| read_thinking(thinking, preamble, unknown))?;
        }
    }
    if let Some(config) = fields.object("output_config")?
        && let Some(schema) =
            unknown.inside("output_config", |unknown| output_config(config, unknown))?
    {
        preamble.response_schema = Some(schema);
    }
    preamble.other.extend(unknown.rest(fields, MODEL_UNBILLED));
    Ok(())
}
