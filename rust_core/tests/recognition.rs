//! Messages and preambles that are recognised by their bytes count as if they were read, whatever
//! stands beside them.

#![allow(missing_docs)]

mod common;

use common::count;
use prost::Message as _;
use serde_json::{Value, json};
use tokencount_core::engine::{Call, Rpc};
use tokencount_core::wire::{self, Format, count_messages_request::Prompt};

/// One engine counts bodies of each list of messages, in all orders of two; a new one counts each.
fn check(format: Format, model: &str, field: &str, lists: &[Value]) {
    let bodies: Vec<_> = lists.iter().map(|list| json!({ field: list })).collect();
    check_bodies(format, model, &bodies);
}

/// The same of whole bodies.
fn check_bodies(format: Format, model: &str, bodies: &[Value]) {
    let read: Vec<_> =
        bodies.iter().map(|body| count(&common::engine(), format, model, body)).collect();
    for first in 0..bodies.len() {
        for second in 0..bodies.len() {
            let engine = common::engine();
            for at in [first, second, first] {
                let recognised = count(&engine, format, model, &bodies[at]);
                assert_eq!(recognised, read[at], "{} after {}", bodies[at], bodies[first]);
            }
        }
    }
}

/// How many things an engine has recognised.
fn recognised(engine: &common::TestEngine) -> u64 {
    let metrics = engine.0.metrics();
    let lookups = metrics.iter().find(|metric| metric.name == "tokencount.cache.lookups");
    let points = &lookups.expect("the metric of look-ups").points;
    let hits = points.iter().find(|point| point.attributes.iter().any(|(_, text)| text == "hit"));
    hits.expect("a point of hits").value as u64
}

fn tools(description: &str) -> Value {
    json!([{"type": "function", "function": {"name": "look", "description": description}}])
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

#[test]
fn tools_are_recognised_beside_other_messages() {
    let body = |text: &str, seed: u32| {
        json!({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}],
            "tools": tools("Looks around."), "seed": seed, "metadata": {"call": text}})
    };
    let engine = common::engine();
    count(&engine, Format::OpenaiChat, "gpt-4o", &body("Hello", 1));
    for (number, text) in ["How are you?", "What is there?"].into_iter().enumerate() {
        let before = recognised(&engine);
        count(&engine, Format::OpenaiChat, "gpt-4o", &body(text, number as u32));
        assert_eq!(recognised(&engine) - before, 1, "{text}");
    }
}

#[test]
fn a_preamble_is_all_that_stands_before_the_messages() {
    let system = |text: &str| json!({"role": "system", "content": text});
    let user = json!({"role": "user", "content": "Hello"});
    let said = json!({"role": "assistant", "content": "Hello."});
    let brief = system("Be brief.");
    let strange = json!({"role": "system", "content": "Be brief.", "unheard_of": 1});
    let look = tools("Looks around.");
    check_bodies(
        Format::OpenaiChat,
        "gpt-4o",
        &[
            json!({"messages": [user], "tools": look}),
            json!({"messages": [user, brief], "tools": look}),
            json!({"messages": [brief, user], "tools": look}),
            json!({"messages": [system("Take your time, and explain it."), user], "tools": look}),
            json!({"messages": [brief, brief, user], "tools": look}),
            json!({"messages": [strange, user], "tools": look}),
            json!({"messages": [said, user], "tools": look}),
            json!({"messages": [brief], "tools": look}),
            json!({"messages": [user, said], "tools": tools("Listens.")}),
            json!({"messages": [user], "tools": look, "tool_choice": "required"}),
            json!({"messages": [user], "tools": look, "unheard_of": {"text": "a"}}),
            json!({"messages": [user, said], "tools": look, "unheard_of": {"text": "a"}}),
        ],
    );
}

#[test]
fn settings_and_wrappers_reach_the_messages() {
    let turn = |text: &str| json!({"role": "user", "parts": [{"text": text}]});
    let media = json!({"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]});
    let look =
        json!([{"functionDeclarations": [{"name": "look", "description": "Looks around."}]}]);
    let low = json!({"mediaResolution": "MEDIA_RESOLUTION_LOW"});
    check_bodies(
        Format::Gemini,
        "gemini-3-pro",
        &[
            json!({"contents": [turn("Hello"), media], "tools": look}),
            json!({"contents": [media], "tools": look, "generationConfig": low}),
            json!({"contents": [turn("Hello"), media], "tools": look, "generationConfig": low}),
            json!({"request": {"contents": [turn("Hello")], "tools": look}}),
            json!({"contents": [turn("Good day to all")], "request": {"contents": [turn("Hello")], "tools": look}}),
            json!({"contents": [turn("Good night")], "request": {"contents": [turn("Hello")], "tools": look}}),
            json!({"contents": [turn("Good night")], "request": null, "tools": look}),
        ],
    );
}

#[test]
fn what_was_counted_without_a_digest_is_digested_when_a_prefix_needs_it() {
    let typed = common::Turn::full(wire::Prompt {
        tools: vec![common::tool("look")],
        ..common::prompt("gpt-4o", [common::user("Hello"), common::assistant("Hello.")])
    });
    let counted_before = common::engine();
    let request = wire::CountMessagesRequest {
        prompt: Some(Prompt::Typed(typed.prompt.clone())),
        per_message: false,
    };
    let answer = counted_before.0.answer(
        Rpc::CountMessages,
        request.encode_to_vec().into(),
        &Call::default(),
    );
    answer.expect("a right request is answered");
    assert_eq!(counted_before.estimate(&typed), common::engine().estimate(&typed));
}

#[test]
fn a_prefix_keeps_its_preamble_unless_another_one_is_sent() {
    let engine = common::engine();
    let full = common::Turn::full(wire::Prompt {
        tools: vec![common::tool("look")],
        ..common::prompt("gpt-4o", [common::user("Hello")])
    });
    let base = engine.estimate(&full).prefix_key;
    let next = common::Turn::after(&base, [common::assistant("Hello."), common::user("Look.")]);
    let mut with_tools = next.clone();
    with_tools.prompt.tools = vec![common::tool("look"), common::tool("listen")];
    let (first, more) = (engine.estimate(&next), engine.estimate(&with_tools));
    assert!(more.tokens > first.tokens, "{} > {}", more.tokens, first.tokens);
    assert_eq!((engine.estimate(&next), engine.estimate(&with_tools)), (first, more));
}

#[test]
fn results_are_billed_by_how_many_calls_they_answer() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}});
    let result =
        |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
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
