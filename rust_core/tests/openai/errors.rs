//! Bodies that are refused, and the field that the error names.

use serde_json::json;

use super::{CHAT, RESPONSES, error_of};

#[test]
fn errors_name_the_field() {
    let cases = [
        (CHAT, json!([]), "body: must be an object, not an array"),
        (
            CHAT,
            json!({"messages": [{"content": "x"}]}),
            "body.messages[0].role: required, a string",
        ),
        (
            CHAT,
            json!({"messages": [{"role": "user", "content": [{"type": "text"}]}]}),
            "body.messages[0].content[0].text: required, a string",
        ),
        (
            CHAT,
            json!({"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]}),
            "body.messages[0].tool_calls[0].function.name: required, a string",
        ),
        (
            CHAT,
            json!({"messages": [], "tools": [{"type": "function", "function": {"name": 1}}]}),
            "body.tools[0].function.name: must be a string, not a number",
        ),
        (
            CHAT,
            json!({"messages": [], "tool_choice": "maybe"}),
            "body.tool_choice: must be auto, none, required or an object",
        ),
        (RESPONSES, json!({"input": 7}), "body.input: must be a string or an array, not a number"),
        (
            RESPONSES,
            json!({"input": [{"type": "function_call", "arguments": "{}"}]}),
            "body.input[0].name: required, a string",
        ),
        (
            RESPONSES,
            json!({"input": "x", "text": {"format": 1}}),
            "body.text.format: must be an object, not a number",
        ),
    ];
    for (format, body, expected) in cases {
        assert_eq!(error_of(format, &body), expected, "{body}");
    }
}
