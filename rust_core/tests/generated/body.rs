//! Providers' bodies of a prompt.

mod blocks;
mod gemini;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tokencount_core::conversation::Format;

use crate::spec::{Choice, Content, Image, Message, Spec, Tool};

pub const SCHEMA_NAME: &str = "answer";

/// Whether the interface gives the response schema a name.
pub fn names_schema(format: Format) -> bool {
    matches!(format, Format::OpenaiChat | Format::OpenaiResponses)
}

/// Whether the interface gives results the function's name.
pub fn names_results(format: Format) -> bool {
    matches!(format, Format::Gemini | Format::GeminiVertex)
}

/// Whether a body of the interface may say that thinking is on.
pub fn has_thinking(format: Format) -> bool {
    matches!(format, Format::Anthropic | Format::BedrockConverse)
}

pub fn of(format: Format, spec: &Spec) -> Value {
    let mut body = Map::new();
    match format {
        Format::OpenaiChat => chat(spec, &mut body),
        Format::OpenaiResponses => responses(spec, &mut body),
        Format::Anthropic => blocks::anthropic(spec, &mut body),
        Format::BedrockConverse => blocks::bedrock(spec, &mut body),
        _ => gemini::request(spec, &mut body),
    }
    Value::Object(body)
}

/// The head of a PNG file of that size.
pub fn png(image: &Image) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(image.width.to_be_bytes());
    bytes.extend(image.height.to_be_bytes());
    bytes
}

fn base64_png(image: &Image) -> String {
    STANDARD.encode(png(image))
}

fn url(image: &Image) -> String {
    format!("data:image/png;base64,{}", base64_png(image))
}

fn chat(spec: &Spec, body: &mut Map<String, Value>) {
    let mut messages: Vec<Value> = system(spec, "text")
        .map(|content| json!({"role": "system", "content": content}))
        .into_iter()
        .collect();
    for message in &spec.messages {
        match message {
            Message::User(contents) => {
                let content: Vec<_> = contents
                    .iter()
                    .map(|content| match content {
                        Content::Text(text) => json!({"type": "text", "text": text}),
                        Content::Image(image) => {
                            json!({"type": "image_url", "image_url": {"url": url(image)}})
                        }
                    })
                    .collect();
                messages.push(json!({"role": "user", "content": content}));
            }
            Message::Model { thinking, texts, calls } => {
                let thinking = thinking.as_ref().map(|thinking| &thinking.text);
                let texts: Vec<_> =
                    texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
                let calls: Vec<_> = calls
                    .iter()
                    .map(|call| {
                        let function =
                            json!({"name": call.name, "arguments": call.arguments.to_string()});
                        json!({"id": call.id, "type": "function", "function": function})
                    })
                    .collect();
                messages.push(json!({
                    "role": "assistant",
                    "reasoning_content": thinking,
                    "content": texts,
                    "tool_calls": calls,
                }));
            }
            Message::Results(results) => messages.extend(results.iter().map(
                |result| json!({"role": "tool", "tool_call_id": result.id, "content": result.text}),
            )),
        }
    }
    body.insert("messages".into(), messages.into());
    let function =
        |tool: &Tool| json!({"type": "function", "function": function(tool, "parameters")});
    body.insert("tools".into(), spec.tools.iter().map(function).collect());
    body.insert("tool_choice".into(), openai_choice(&spec.choice, true));
    if let Some(schema) = &spec.schema {
        let schema = json!({"name": SCHEMA_NAME, "schema": schema});
        body.insert(
            "response_format".into(),
            json!({"type": "json_schema", "json_schema": schema}),
        );
    }
}

fn responses(spec: &Spec, body: &mut Map<String, Value>) {
    let mut input: Vec<Value> = system(spec, "input_text")
        .map(|content| json!({"role": "system", "content": content}))
        .into_iter()
        .collect();
    for message in &spec.messages {
        match message {
            Message::User(contents) => {
                let content: Vec<_> = contents.iter().map(|content| match content {
                    Content::Text(text) => json!({"type": "input_text", "text": text}),
                    Content::Image(image) => json!({"type": "input_image", "image_url": url(image)}),
                }).collect();
                input.push(json!({"role": "user", "content": content}));
            }
            Message::Model { thinking, texts, calls } => {
                input.extend(thinking.iter().map(|thinking| {
                    let summary = json!([{"type": "summary_text", "text": thinking.text}]);
                    let content = &thinking.signature;
                    json!({"type": "reasoning", "summary": summary, "encrypted_content": content})
                }));
                let content: Vec<_> =
                    texts.iter().map(|text| json!({"type": "output_text", "text": text})).collect();
                let is_empty = thinking.is_none() && calls.is_empty();
                if is_empty || !content.is_empty() {
                    input.push(json!({"role": "assistant", "content": content}));
                }
                input.extend(calls.iter().map(|call| {
                    let arguments = call.arguments.to_string();
                    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
                }));
            }
            Message::Results(results) => input.extend(results.iter().map(|result| {
                json!({"type": "function_call_output", "call_id": result.id, "output": result.text})
            })),
        }
    }
    body.insert("input".into(), input.into());
    let function = |tool: &Tool| {
        let mut function = function(tool, "parameters");
        function["type"] = "function".into();
        function
    };
    body.insert("tools".into(), spec.tools.iter().map(function).collect());
    body.insert("tool_choice".into(), openai_choice(&spec.choice, false));
    if let Some(schema) = &spec.schema {
        let format = json!({"type": "json_schema", "name": SCHEMA_NAME, "schema": schema});
        body.insert("text".into(), json!({"format": format}));
    }
}

fn system(spec: &Spec, kind: &str) -> Option<Vec<Value>> {
    let parts = spec.system.iter().map(|text| json!({"type": kind, "text": text}));
    (!spec.system.is_empty()).then(|| parts.collect())
}

/// A function's declaration, whose schema stands under `schema_key`.
fn function(tool: &Tool, schema_key: &str) -> Value {
    let mut fields = Map::new();
    fields.insert("name".into(), tool.name.as_str().into());
    if !tool.description.is_empty() {
        fields.insert("description".into(), tool.description.as_str().into());
    }
    if let Some(parameters) = &tool.parameters {
        fields.insert(schema_key.into(), parameters.clone());
    }
    if !matches!(schema_key, "inputSchema") && tool.strict {
        fields.insert("strict".into(), true.into());
    }
    Value::Object(fields)
}

fn openai_choice(choice: &Choice, nested: bool) -> Value {
    match choice {
        Choice::Unspecified => Value::Null,
        Choice::Auto => "auto".into(),
        Choice::Required => "required".into(),
        Choice::Named(name) if nested => json!({"type": "function", "function": {"name": name}}),
        Choice::Named(name) => json!({"type": "function", "name": name}),
    }
}
