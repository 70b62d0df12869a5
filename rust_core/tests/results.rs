//! Results of tool calls, alone and beside others.

#![allow(missing_docs)]

mod common;

use common::count;
use serde_json::{Value, json};
use tokencount_core::bpe::Encoding;
use tokencount_core::wire::Format;

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
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
    // The items are counted one by one, though tokens may reach from one to the next.
    assert!(listed.abs_diff(both + 4 + n(list)) <= 1, "{listed}");
}
