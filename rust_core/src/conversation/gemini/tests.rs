//! Contents of both spellings, replies, and what is refused.

use serde_json::json;

use super::super::provider::{self, Body};
use super::super::{
    Format, Function, Media, MediaKind, Preamble, Reasoning, Tool, ToolCall, ToolResult,
};
use super::*;

#[allow(clippy::needless_pass_by_value, reason = "rows read better")]
fn read(body: Value) -> Conversation {
    open(&body).expect("a valid body")
}

fn open(body: &Value) -> Result<Conversation, Status> {
    provider::request(Format::Gemini, body.to_string().as_bytes())
}

fn text(role: Role, text: &str) -> Message {
    Message { role, parts: vec![Part::Text(text.into())], ..Message::default() }
}

#[test]
fn both_spellings_are_one_conversation() {
    let camel = json!({
        "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Weather?"},
                {"inlineData": {"mimeType": "image/png", "data": "AAEC"}}]},
            {"role": "model", "parts": [
                {"text": "Let me see.", "thought": true, "thoughtSignature": "c2ln"},
                {"functionCall": {"id": "1", "name": "weather", "args": {"city": "Bonn"}},
                    "thoughtSignature": "c2lnMg=="}]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "1", "name": "weather", "response": {"sky": "blue"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "weather", "parametersJsonSchema": {}}]},
            {"googleSearch": {}}],
        "generationConfig": {"responseSchema": {"type": "STRING"}, "mediaResolution":
            "MEDIA_RESOLUTION_LOW", "thinkingConfig": {"thinkingBudget": 100}, "topK": 3},
        "safetySettings": [{"category": "X"}],
    });
    let snake = json!({
        "system_instruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Weather?"},
                {"inline_data": {"mime_type": "image/png", "data": "AAEC"}}]},
            {"role": "model", "parts": [
                {"text": "Let me see.", "thought": true, "thought_signature": "c2ln"},
                {"function_call": {"id": "1", "name": "weather", "args": {"city": "Bonn"}},
                    "thought_signature": "c2lnMg=="}]},
            {"role": "function", "parts": [
                {"function_response": {"id": "1", "name": "weather", "response": {"sky": "blue"}}}]},
        ],
        "tools": [{"function_declarations": [{"name": "weather", "parameters_json_schema": {}}]},
            {"google_search": {}}],
        "generation_config": {"response_schema": {"type": "STRING"}, "media_resolution":
            "MEDIA_RESOLUTION_LOW", "thinking_config": {"thinking_budget": 100}, "top_k": 3},
        "safety_settings": [{"category": "X"}],
    });
    let media = Media {
        kind: MediaKind::Image,
        data: vec![0, 1, 2].into(),
        mime_type: "image/png".into(),
        detail: "low".into(),
        ..Media::default()
    };
    let reasoning = Reasoning { text: "Let me see.".into(), signature: "c2ln".into() };
    let call = ToolCall {
        id: "1".into(),
        name: "weather".into(),
        arguments: r#"{"city":"Bonn"}"#.into(),
        has_item_id: false,
    };
    let result = ToolResult {
        call_id: "1".into(),
        name: "weather".into(),
        parts: vec![Part::Other(json!({"sky": "blue"}))],
        is_error: false,
    };
    let call =
        [Part::Reasoning(reasoning), Part::ToolCall(call), Part::Signature("c2lnMg==".into())];
    let wanted = Conversation {
        preamble: Preamble {
            system: vec![text(Role::System, "Be brief.")],
            system_has_role: true,
            tools: vec![
                Tool::Function(Function {
                    name: "weather".into(),
                    parameters: Some(json!({})),
                    json_schema: true,
                    ..Function::default()
                }),
                Tool::Other(json!({"googleSearch": {}})),
            ],
            response_schema: Some(super::super::ResponseSchema {
                schema: json!({"type": "STRING"}),
                ..super::super::ResponseSchema::default()
            }),
            thinking: true,
            ..Preamble::default()
        },
        messages: vec![
            Message {
                parts: vec![Part::Text("Weather?".into()), Part::Media(media)],
                ..Message::default()
            },
            Message { role: Role::Assistant, parts: call.into(), ..Message::default() },
            Message {
                role: Role::Tool,
                parts: vec![Part::ToolResult(result)],
                ..Message::default()
            },
        ],
        ..Conversation::default()
    };
    assert_eq!(read(camel), wanted);
    assert_eq!(read(snake), wanted);
}

#[test]
fn the_sdks_forms_are_read() {
    let wanted = vec![text(Role::User, "Hi")];
    assert_eq!(read(json!({"contents": "Hi"})).messages, wanted);
    assert_eq!(read(json!({"contents": ["Hi"]})).messages, wanted);
    assert_eq!(read(json!({"contents": {"parts": {"text": "Hi"}}})).messages, wanted);
    let two = read(json!({"contents": ["Hi", {"text": "there"}, {"role": "user", "parts": []}]}));
    assert_eq!(two.messages.len(), 2);
    assert_eq!(two.messages[0].parts.len(), 2);
    let sdk = read(json!({"model": "gemini-2.5-pro", "contents": "Hi", "config": {
        "systemInstruction": "Be brief.", "tools": [{"codeExecution": {}}], "temperature": 1}}));
    assert_eq!(sdk.preamble.system, [text(Role::System, "Be brief.")]);
    assert_eq!(sdk.preamble.tools, [Tool::Other(json!({"codeExecution": {}}))]);
    assert!(sdk.warnings.is_empty(), "{:?}", sdk.warnings);
    let counting = json!({"generateContentRequest": {"model": "m", "contents": "Hi"}});
    let opened = Body::of(Format::Gemini, counting.clone()).expect("a valid body");
    assert_eq!((opened.model.as_str(), read(counting).messages), ("m", wanted));
    let beside = json!({"model": "m", "request": {"model": "", "contents": "Hi"}});
    assert_eq!(Body::of(Format::Gemini, beside).expect("a valid body").model, "m");
}

#[test]
fn a_reply_is_one_message_however_it_comes() {
    let content = json!({"role": "model", "parts": [{"text": "Hello"},
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}]});
    let candidate = json!({"content": content, "finishReason": "STOP", "index": 0});
    let response = json!({"candidates": [candidate], "usageMetadata": {}, "modelVersion": "x"});
    let stream = json!([
        {"candidates": [{"content": {"parts": [{"text": "Hello"}]}}]},
        {"candidates": [{"content": {"parts": [
            {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}]}}]},
        {"usageMetadata": {}},
    ]);
    let sent_back = read(json!({"contents": [content]})).messages;
    for form in [content, candidate, response, stream] {
        assert_eq!(reply(form).expect("a valid reply"), sent_back);
    }
}

#[test]
fn unknown_fields_are_reported_and_counted() {
    let read = read(json!({
        "contents": [{"parts": [{"text": "Hi", "novel": {"a": 1}}], "tone": 3}],
        "novelty": {"text": "something new"},
        "cachedContent": "cachedContents/1",
        "topK": 1,
    }));
    let fields: Vec<_> = read.warnings.iter().map(|warning| warning.field.as_str()).collect();
    let wanted = ["contents[0].parts[0].novel", "contents[0].tone", "cachedContent", "novelty"];
    assert_eq!(fields, wanted);
    assert_eq!(read.preamble.other, [("novelty".into(), json!({"text": "something new"}))]);
    assert_eq!(read.messages[0].parts[1], Part::Other(json!({"novel": {"a": 1}})));
}

#[test]
fn parts_of_other_kinds_are_kept_as_their_json() {
    let code = json!({"executableCode": {"language": "PYTHON", "code": "print(1)"}});
    let parts = &read(json!({"contents": [{"role": "model", "parts": [code]}]})).messages[0].parts;
    assert_eq!(parts, &[Part::Other(code)]);
}

#[test]
fn errors_name_the_field() {
    let rows = [
        (json!([]), ""),
        (json!({"contents": 5}), "contents[0]"),
        (json!({"contents": [{"role": "boss"}]}), "contents[0].role"),
        (json!({"contents": [{"parts": [{"text": 1}]}]}), "contents[0].parts[0].text"),
        (
            json!({"contents": [{"parts": [{"inlineData": {"data": "!"}}]}]}),
            "contents[0].parts[0].inlineData.data",
        ),
        (
            json!({"contents": [{"parts": [{"functionCall": {}}]}]}),
            "contents[0].parts[0].functionCall.name",
        ),
        (
            json!({"tools": [{"functionDeclarations": [{"name": 1}]}]}),
            "tools[0].functionDeclarations[0].name",
        ),
        (
            json!({"toolConfig": {"functionCallingConfig": {"mode": "SOME"}}}),
            "toolConfig.functionCallingConfig.mode",
        ),
        (json!({"generationConfig": []}), "generationConfig"),
        (json!({"generate_content_request": {"model": 1}}), "generateContentRequest.model"),
        (json!({"request": []}), "request"),
        (json!({"systemInstruction": 1}), "systemInstruction"),
    ];
    for (body, field) in rows {
        let path = format!("body.{field}");
        assert_eq!(open(&body).expect_err("refused").field, path.trim_end_matches('.'));
    }
    assert_eq!(reply(json!({"text": "x"})).expect_err("refused").field, "candidates");
}
