//! Messages that are recognised by their bytes count as if they were read, whatever stands beside
//! them.

#![allow(missing_docs)]

mod common;

use prost::Message as _;
use serde_json::{Value, json};
use tokencount_core::bpe::Encoding;
use tokencount_core::engine::{Call, Rpc};
use tokencount_core::wire::{self, Format, count_messages_request::Prompt};

fn count(engine: &common::TestEngine, format: Format, model: &str, body: &Value) -> wire::Count {
    let prompt = Prompt::ProviderRequest(wire::ProviderRequest {
        format: format as i32,
        model: model.into(),
        body: body.to_string().into_bytes().into(),
    });
    let request = wire::CountMessagesRequest { prompt: Some(prompt), per_message: true };
    let answer =
        engine.0.answer(Rpc::CountMessages, request.encode_to_vec().into(), &Call::default());
    let answer = answer.unwrap_or_else(|status| panic!("{status}: {body}"));
    let answer = wire::CountMessagesResponse::decode(answer.as_slice()).expect("an answer decodes");
    answer.count.expect("an answer has a count")
}

/// One engine counts bodies of each list of messages, in all orders of two; a new one counts each.
fn check(format: Format, model: &str, field: &str, lists: &[Value]) {
    let body = |list: &Value| json!({ field: list });
    for first in lists {
        for second in lists {
            let engine = common::engine();
            count(&engine, format, model, &body(first));
            for list in [second, first] {
                let recognised = count(&engine, format, model, &body(list));
                let read = count(&common::engine(), format, model, &body(list));
                assert_eq!(recognised, read, "{list} after {first}");
            }
        }
    }
}

#[test]
fn ids_of_calls_are_billed_by_their_neighbours() {
    let call = |number: u32| {
        json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
            "name": "look", "arguments": "{}"})
    };
    let nameless =
        json!({"type": "function_call", "call_id": "call_9", "name": "look", "arguments": "{}"});
    let user = json!({"role": "user", "content": "What is there?"});
    check(
        Format::OpenaiResponses,
        "gpt-5",
        "input",
        &[
            json!([user, call(1)]),
            json!([user, call(1), call(2)]),
            json!([user, nameless, call(1)]),
            json!([user, nameless]),
            json!([call(2), user, call(1)]),
        ],
    );
}

#[test]
fn thinking_is_billed_by_what_follows_it() {
    let thought = json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "Let me see where it is.", "signature": "c2lnbmF0dXJl"},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]});
    let result = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "On the shelf."}]});
    let user = json!({"role": "user", "content": "Where is it?"});
    let said = json!({"role": "assistant", "content": "On the shelf."});
    check(
        Format::Anthropic,
        "claude-opus-4-5",
        "messages",
        &[
            json!([user, thought, result]),
            json!([user, thought, result, said, user]),
            json!([user, said, thought, result]),
            json!([user, said]),
        ],
    );
}

#[test]
fn instructions_move_to_the_preamble_where_they_lead() {
    let system = json!({"role": "system", "content": "Be brief."});
    let user = json!({"role": "user", "content": "Hello", "unheard_of": 1});
    let said = json!({"role": "assistant", "content": "Hello."});
    check(
        Format::OpenaiChat,
        "gpt-4o",
        "messages",
        &[
            json!([system, user]),
            json!([user, system]),
            json!([user, said, user]),
            json!([said, user]),
        ],
    );
}

#[test]
fn parts_that_stand_alone_are_one_message_with_their_neighbours() {
    let content = json!({"role": "user", "parts": [{"text": "Hello"}]});
    let media = json!({"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]});
    check(
        Format::Gemini,
        "gemini-2.5-flash",
        "contents",
        &[
            json!([{"text": "Hello"}, {"text": "there"}]),
            json!([{"text": "Hello"}, content, {"text": "there"}]),
            json!([{"text": "there"}]),
            json!([content, media]),
            json!(["Hello", "there"]),
        ],
    );
    let engine = common::engine();
    for resolution in ["MEDIA_RESOLUTION_LOW", "MEDIA_RESOLUTION_HIGH", "MEDIA_RESOLUTION_LOW"] {
        let body =
            json!({"contents": [media], "generationConfig": {"mediaResolution": resolution}});
        let recognised = count(&engine, Format::Gemini, "gemini-2.5-flash", &body);
        let read = count(&common::engine(), Format::Gemini, "gemini-2.5-flash", &body);
        assert_eq!(recognised, read, "{resolution}");
    }
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

#[test]
fn results_are_billed_by_how_many_calls_they_answer() {
    let user = json!({"role": "user", "content": "Read both."});
    let one = json!({"role": "assistant", "content": null, "tool_calls": [call("a")]});
    let two = json!({"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]});
    let (first, second) = (result("a", "one\ntwo\n\tthree"), result("b", "{\n  \"é\": 1\n}"));
    check(
        Format::OpenaiChat,
        "gpt-4o",
        "messages",
        &[
            json!([user, one, first]),
            json!([user, two, first, second]),
            json!([user, two, second, first, user]),
            json!([first, second]),
        ],
    );
}

#[test]
fn results_of_several_calls_are_one_list() {
    let tokens = |calls: &[&str], results: &[Value]| {
        let calls: Vec<Value> = calls.iter().map(|id| call(id)).collect();
        let mut messages = vec![json!({"role": "assistant", "content": null, "tool_calls": calls})];
        messages.extend_from_slice(results);
        let body = json!({ "messages": messages });
        count(&common::engine(), Format::OpenaiChat, "gpt-4o", &body).tokens
    };
    let n = |text: &str| u32::try_from(Encoding::O200kBase.count(text)).expect("a small text");
    let (lines, object) = ("one\ntwo\n\tthree", "{\n  \"é\": 1\n}");
    // Alone, a result is its text in a frame of 4.
    let alone = tokens(&["a"], &[]);
    assert_eq!(tokens(&["a"], &[result("a", lines)]), alone + 4 + n(lines));
    // Beside another, both are items of one list, in one frame.
    let both = tokens(&["a", "b"], &[]);
    let list = r#"["one\ntwo\n\tthree", {"\u00e9": 1}]"#;
    let listed = tokens(&["a", "b"], &[result("a", lines), result("b", object)]);
    assert_eq!(listed, both + 4 + n(list));
}
