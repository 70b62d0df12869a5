//! Bodies of content blocks: Anthropic Messages and Bedrock Converse.

use serde_json::{Map, Value, json};

use super::{base64_png, function, system};
use crate::spec::{Choice, Content, Message, Spec};

pub fn anthropic(spec: &Spec, body: &mut Map<String, Value>) {
    body.insert("max_tokens".into(), 100.into());
    body.insert("system".into(), system(spec, "text").into());
    let messages = spec.messages.iter().map(|message| match message {
        Message::User(contents) => {
            let content: Vec<_> = contents.iter().map(|content| match content {
                Content::Text(text) => json!({"type": "text", "text": text}),
                Content::Image(image) => {
                    let data = base64_png(image);
                    let source = json!({"type": "base64", "media_type": "image/png", "data": data});
                    json!({"type": "image", "source": source})
                }
            }).collect();
            json!({"role": "user", "content": content})
        }
        Message::Model { thinking, texts, calls } => {
            let thinking = thinking.iter().map(|it| {
                json!({"type": "thinking", "thinking": it.text, "signature": it.signature})
            });
            let texts = texts.iter().map(|text| json!({"type": "text", "text": text}));
            let calls = calls.iter().map(|call| {
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
            });
            let content: Vec<_> = thinking.chain(texts).chain(calls).collect();
            json!({"role": "assistant", "content": content})
        }
        Message::Results(results) => {
            let content: Vec<_> = results.iter().map(|result| {
                json!({"type": "tool_result", "tool_use_id": result.id, "content": result.text})
            }).collect();
            json!({"role": "user", "content": content})
        }
    });
    body.insert("messages".into(), messages.collect());
    body.insert("tools".into(), spec.tools.iter().map(|it| function(it, "input_schema")).collect());
    let choice = match &spec.choice {
        Choice::Unspecified => Value::Null,
        Choice::Auto => json!({"type": "auto"}),
        Choice::Required => json!({"type": "any"}),
        Choice::Named(name) => json!({"type": "tool", "name": name}),
    };
    body.insert("tool_choice".into(), choice);
    if spec.thinking {
        body.insert("thinking".into(), json!({"type": "enabled", "budget_tokens": 1024}));
    }
    if let Some(schema) = &spec.schema {
        let format = json!({"type": "json_schema", "schema": schema});
        body.insert("output_config".into(), json!({"format": format}));
    }
}

pub fn bedrock(spec: &Spec, body: &mut Map<String, Value>) {
    let text = |text: &String| json!({"text": text});
    body.insert("system".into(), spec.system.iter().map(text).collect());
    let messages = spec.messages.iter().map(|message| match message {
        Message::User(contents) => {
            let content: Vec<_> = contents
                .iter()
                .map(|content| match content {
                    Content::Text(text) => json!({"text": text}),
                    Content::Image(image) => {
                        let source = json!({"bytes": base64_png(image)});
                        json!({"image": {"format": "png", "source": source}})
                    }
                })
                .collect();
            json!({"role": "user", "content": content})
        }
        Message::Model { thinking, texts, calls } => {
            let thinking = thinking.iter().map(|it| {
                let text = json!({"text": it.text, "signature": it.signature});
                json!({"reasoningContent": {"reasoningText": text}})
            });
            let calls = calls.iter().map(|call| {
                let call =
                    json!({"toolUseId": call.id, "name": call.name, "input": call.arguments});
                json!({"toolUse": call})
            });
            let content: Vec<_> = thinking.chain(texts.iter().map(text)).chain(calls).collect();
            json!({"role": "assistant", "content": content})
        }
        Message::Results(results) => {
            let content: Vec<_> = results
                .iter()
                .map(|result| {
                    let content = json!([{"text": result.text}]);
                    json!({"toolResult": {"toolUseId": result.id, "content": content}})
                })
                .collect();
            json!({"role": "user", "content": content})
        }
    });
    body.insert("messages".into(), messages.collect());
    let tools: Vec<_> = spec
        .tools
        .iter()
        .map(|tool| {
            let mut spec = function(tool, "inputSchema");
            if let Some(schema) = spec.get_mut("inputSchema") {
                *schema = json!({"json": schema.take()});
            }
            json!({"toolSpec": spec})
        })
        .collect();
    let choice = match &spec.choice {
        Choice::Unspecified => Value::Null,
        Choice::Auto => json!({"auto": {}}),
        Choice::Required => json!({"any": {}}),
        Choice::Named(name) => json!({"tool": {"name": name}}),
    };
    body.insert("toolConfig".into(), json!({"tools": tools, "toolChoice": choice}));
    if spec.thinking {
        let thinking = json!({"type": "enabled", "budget_tokens": 1024});
        body.insert("additionalModelRequestFields".into(), json!({"thinking": thinking}));
    }
    if let Some(schema) = &spec.schema {
        let structure = json!({"jsonSchema": {"schema": schema.to_string()}});
        let format = json!({"type": "json_schema", "structure": structure});
        body.insert("outputConfig".into(), json!({"textFormat": format}));
    }
}
