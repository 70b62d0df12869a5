//! Everything beside the contents: system instruction, tools and settings. They stand in the body,
//! in its `generationConfig` or, in the SDKs, in a `config`.

use serde_json::Value;

use super::super::json::{Fields, wrong_type};
use super::super::unknown::Unknown;
use super::super::{
    Conversation, Function, Memo, Message, Preamble, ResponseSchema, Role, Tool, ToolChoice,
    ToolChoiceMode,
};
use super::{fields, parts};
use crate::status::Status;
use crate::wire::Warning;

/// Settings that add nothing to the prompt.
const UNBILLED: &[&str] = &[
    "abortSignal",
    "audioTimestamp",
    "automaticFunctionCalling",
    "candidateCount",
    "enableAffectiveDialog",
    "enableEnhancedCivicAnswers",
    "frequencyPenalty",
    "httpOptions",
    "imageConfig",
    "labels",
    "logprobs",
    "maxOutputTokens",
    "modelArmorConfig",
    "modelSelectionConfig",
    "presencePenalty",
    "responseLogprobs",
    "responseMimeType",
    "responseModalities",
    "routingConfig",
    "safetySettings",
    "seed",
    "serviceTier",
    "shouldReturnHttpResponse",
    "speechConfig",
    "stopSequences",
    "store",
    "stream",
    "temperature",
    "topK",
    "topP",
];

/// Fields of a function declaration that the model doesn't see.
const FUNCTION_UNBILLED: &[&str] = &["behavior"];

/// Fields of the tool configuration beside the choice of functions.
const TOOL_CONFIG_UNBILLED: &[&str] = &["includeServerSideToolInvocations", "retrievalConfig"];

/// Reads the settings in one of the objects that hold them.
pub fn settings(
    mut settings: Fields,
    read: &mut Conversation,
    unknown: &mut Unknown,
) -> Result<(), Status> {
    let preamble = &mut read.preamble;
    system(settings.take("systemInstruction"), preamble, unknown)?;
    tools(settings.take("tools"), preamble, unknown)?;
    let tool_config = settings.take("toolConfig");
    if !tool_config.is_null() {
        preamble.tool_choice =
            unknown.inside("toolConfig", |unknown| tool_choice(tool_config, unknown))?;
    }
    schema(&mut settings, preamble);
    let thinking = settings.take("thinkingConfig");
    if !thinking.is_null() {
        let thinking = fields(thinking).map_err(|error| error.inside("thinkingConfig"))?;
        preamble.thinking = is_thinking(thinking);
    }
    let resolution = parts::resolution(&mut settings)?;
    if !resolution.is_empty() {
        parts::set_resolution(&mut read.messages, &resolution);
        // Not of the preamble alone.
        preamble.memo = Memo::None;
    }
    if settings.string("cachedContent")?.is_some() {
        unknown.warnings.push(Warning {
            code: "cached_content".into(),
            message: "what the provider cached is billed too, but is not in the body: add its size"
                .into(),
            field: "cachedContent".into(),
        });
    }
    preamble.other.extend(unknown.rest(settings, UNBILLED));
    Ok(())
}

/// The system instruction: a content, or in the SDKs a text or a list of parts.
fn system(value: Value, preamble: &mut Preamble, unknown: &mut Unknown) -> Result<(), Status> {
    if value.is_null() {
        return Ok(());
    }
    let parts = unknown.inside("systemInstruction", |unknown| match value {
        Value::Object(_) if value.get("parts").is_some() || value.get("role").is_some() => {
            preamble.system_has_role = value.get("role").is_some_and(|role| !role.is_null());
            Ok(parts::content(value, unknown)?.parts)
        }
        Value::Array(items) => {
            let parts = unknown.each("", items, parts::part)?;
            Ok(parts.into_iter().flatten().collect())
        }
        one => parts::part(one, unknown),
    })?;
    if !parts.is_empty() {
        preamble.system.push(Message { role: Role::System, parts, ..Message::default() });
    }
    Ok(())
}

/// Tools: a list, or one.
fn tools(value: Value, preamble: &mut Preamble, unknown: &mut Unknown) -> Result<(), Status> {
    let tools = match value {
        Value::Null => Vec::new(),
        Value::Array(tools) => unknown.each("tools", tools, tool)?,
        one => vec![unknown.inside("tools", |unknown| tool(one, unknown))?],
    };
    preamble.tools.extend(tools.into_iter().flatten());
    Ok(())
}

/// One tool: function declarations, or a built-in tool with its settings.
fn tool(value: Value, unknown: &mut Unknown) -> Result<Vec<Tool>, Status> {
    const DECLARATIONS: &str = "functionDeclarations";
    let mut tool = fields(value)?;
    let mut read = match tool.take(DECLARATIONS) {
        Value::Null => Vec::new(),
        Value::Array(items) => unknown.each(DECLARATIONS, items, function)?,
        one => vec![unknown.inside(DECLARATIONS, |unknown| function(one, unknown))?],
    };
    let built_in = tool.rest(&[]);
    read.extend(built_in.map(|(name, value)| Tool::Other(serde_json::json!({ name: value }))));
    Ok(read)
}

fn function(value: Value, unknown: &mut Unknown) -> Result<Tool, Status> {
    let mut function = fields(value)?;
    let schema = |value: Value| Some(value).filter(|schema| !schema.is_null());
    let parameters = schema(function.take("parameters"));
    let json_schema = schema(function.take("parametersJsonSchema"));
    let response = schema(function.take("response"));
    let read = Function {
        name: function.required_string("name")?,
        description: function.string("description")?.unwrap_or_default(),
        json_schema: parameters.is_none() && json_schema.is_some(),
        parameters: parameters.or(json_schema),
        response: response.or_else(|| schema(function.take("responseJsonSchema"))),
        strict: false,
    };
    unknown.rest(function, FUNCTION_UNBILLED);
    Ok(Tool::Function(read))
}

fn tool_choice(value: Value, unknown: &mut Unknown) -> Result<ToolChoice, Status> {
    let mut config = fields(value)?;
    let calling = config.take("functionCallingConfig");
    unknown.rest(config, TOOL_CONFIG_UNBILLED);
    if calling.is_null() {
        return Ok(ToolChoice::default());
    }
    unknown.inside("functionCallingConfig", |unknown| {
        let mut calling = fields(calling)?;
        let mut names = calling.array("allowedFunctionNames")?;
        let mode = match calling.take("mode") {
            Value::String(mode) => mode_of(&mode)?,
            // Some SDKs send the enum's number.
            Value::Null | Value::Number(_) => ToolChoiceMode::Unspecified,
            other => return Err(Status::invalid("mode", wrong_type("a string", &other))),
        };
        unknown.rest(calling, &["streamFunctionCallArguments"]);
        let name = if names.len() == 1 { names.pop() } else { None };
        match (mode, name) {
            (ToolChoiceMode::Required, Some(Value::String(name))) => {
                Ok(ToolChoice { mode: ToolChoiceMode::Named, name, no_parallel: false })
            }
            (mode, _) => Ok(ToolChoice { mode, ..ToolChoice::default() }),
        }
    })
}

fn mode_of(mode: &str) -> Result<ToolChoiceMode, Status> {
    match mode.to_ascii_uppercase().as_str() {
        "AUTO" | "VALIDATED" => Ok(ToolChoiceMode::Auto),
        "ANY" => Ok(ToolChoiceMode::Required),
        "NONE" => Ok(ToolChoiceMode::None),
        "MODE_UNSPECIFIED" => Ok(ToolChoiceMode::Unspecified),
        _ => Err(Status::invalid("mode", "must be AUTO, ANY, NONE or VALIDATED")),
    }
}

fn schema(settings: &mut Fields, preamble: &mut Preamble) {
    const SCHEMAS: [(&str, bool); 3] =
        [("responseSchema", false), ("responseJsonSchema", true), ("_responseJsonSchema", true)];
    for (field, json_schema) in SCHEMAS {
        let schema = settings.take(field);
        if !schema.is_null() {
            let schema = ResponseSchema { schema, json_schema, ..ResponseSchema::default() };
            preamble.response_schema = Some(schema);
        }
    }
}

/// Thinking is on unless its budget is nothing.
fn is_thinking(mut thinking: Fields) -> bool {
    thinking.take("thinkingBudget").as_f64() != Some(0.0)
}
