//! Bodies of Gemini's generateContent.

use serde_json::{Map, Value, json};

use super::{base64_png, function};
use crate::spec::{Choice, Content, Message, Spec};

fn content(message: &Message) -> Value {
    match message {
        Message::User(contents) => {
            let parts: Vec<_> = contents
                .iter()
                .map(|content| match content {
                    Content::Text(text) => json!({"text": text}),
                    Content::Image(image) => {
                        json!({"inlineData": {"mimeType": "image/png", "data": base64_png(image)}})
                    }
                })
                .collect();
            json!({"role": "user", "parts": parts})
        }
        Message::Model { thinking, texts, calls } => {
            let thinking = thinking.iter().map(
                |it| json!({"text": it.text, "thought": true, "thoughtSignature": it.signature}),
            );
            let texts = texts.iter().map(|text| json!({"text": text}));
            let calls = calls.iter().map(|call| {
                json!({"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}})
            });
            let parts: Vec<_> = thinking.chain(texts).chain(calls).collect();
            json!({"role": "model", "parts": parts})
        }
        Message::Results(results) => {
            let parts: Vec<_> = results
                .iter()
                .map(|result| {
                    json!({"functionResponse": {
                        "id": result.id, "name": result.name, "response": {"result": result.text},
                    }})
                })
                .collect();
            json!({"role": "user", "parts": parts})
        }
    }
}

pub fn request(spec: &Spec, body: &mut Map<String, Value>) {
    body.insert("contents".into(), spec.messages.iter().map(content).collect());
    let parts: Vec<_> = spec.system.iter().map(|text| json!({"text": text})).collect();
    if !parts.is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": parts}));
    }
    let declarations: Vec<_> = spec.tools.iter().map(|it| function(it, "parameters")).collect();
    if !declarations.is_empty() {
        body.insert("tools".into(), json!([{"functionDeclarations": declarations}]));
    }
    let config = match &spec.choice {
        Choice::Unspecified => Value::Null,
        Choice::Auto => json!({"mode": "AUTO"}),
        Choice::Required => json!({"mode": "ANY"}),
        Choice::Named(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    body.insert("toolConfig".into(), json!({"functionCallingConfig": config}));
    if let Some(schema) = &spec.schema {
        let config = json!({"responseMimeType": "application/json", "responseSchema": schema});
        body.insert("generationConfig".into(), config);
    }
}
