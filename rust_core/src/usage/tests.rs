//! Every provider's shape, and what is refused or doubted.

use serde_json::{Value, json};

use super::*;

// Rows are written in place, as values.
#[allow(clippy::needless_pass_by_value)]
fn read(usage: Value) -> Bill {
    Bill::from_json(&usage).expect("a valid usage")
}

fn bill(input: u32, output: u32, cached: u32, reasoning: u32) -> Bill {
    Bill { input, output, cached, reasoning, doubt: None }
}

#[test]
fn every_shape_gives_one_convention() {
    let rows = [
        (
            "chat",
            json!({"prompt_tokens": 100, "completion_tokens": 30, "total_tokens": 130,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": 20}}),
            bill(100, 30, 64, 20),
        ),
        (
            "chat, thinking beside the output",
            json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 130,
                "completion_tokens_details": {"reasoning_tokens": 20}}),
            bill(100, 30, 0, 20),
        ),
        (
            "responses",
            json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 64},
                "output_tokens": 30, "output_tokens_details": {"reasoning_tokens": 20},
                "total_tokens": 130}),
            bill(100, 30, 64, 20),
        ),
        (
            "anthropic",
            json!({"input_tokens": 4, "cache_creation_input_tokens": 200,
                "cache_read_input_tokens": 1000, "output_tokens": 7}),
            bill(1204, 7, 1000, 0),
        ),
        (
            "gemini",
            json!({"promptTokenCount": 50, "cachedContentTokenCount": 16,
                "candidatesTokenCount": 5, "thoughtsTokenCount": 40, "totalTokenCount": 95}),
            bill(50, 45, 16, 40),
        ),
        (
            "gemini, snake case",
            json!({"prompt_token_count": 50, "candidates_token_count": null}),
            bill(50, 0, 0, 0),
        ),
        (
            "converse",
            json!({"inputTokens": 9, "outputTokens": 3, "totalTokens": 12,
                "cacheReadInputTokens": 90, "cacheWriteInputTokens": 1}),
            bill(100, 3, 90, 0),
        ),
    ];
    for (name, usage, wanted) in rows {
        assert_eq!(read(usage.clone()), wanted, "{name}");
        assert_eq!(read(json!({"id": "x", "usage": usage})), wanted, "{name} in a response");
    }
}

#[test]
fn the_usage_is_found_in_responses_and_events() {
    let gemini = json!({"usageMetadata": {"promptTokenCount": 5}});
    assert_eq!(read(gemini.clone()).input, 5);
    assert_eq!(read(json!([{"usageMetadata": {"promptTokenCount": 1}}, gemini])).input, 5);
    let event = json!({"type": "response.completed", "response": {"usage": {"input_tokens": 6,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1}}});
    assert_eq!(read(event).input, 6);
}

#[test]
fn thinking_is_not_visible() {
    assert_eq!(bill(10, 30, 0, 20).visible_output(), 10);
}

#[test]
fn bad_numbers_are_refused_with_their_path() {
    let rows = [
        (json!({"usage": {"prompt_tokens": -1}}), "usage.prompt_tokens", "negative"),
        (json!({"usage": {"prompt_tokens": 1.5}}), "usage.prompt_tokens", "whole"),
        (json!({"prompt_tokens": "12"}), "prompt_tokens", "number"),
        (json!({"prompt_tokens": 3_000_000_000u64}), "prompt_tokens", "2^31"),
        (json!({"prompt_tokens": 1e300}), "prompt_tokens", "2^31"),
        (json!({"prompt_tokens": 0}), "prompt_tokens", "at least 1"),
        (json!({"input_tokens_details": {}}), "input_tokens", "required"),
        (
            json!({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 6}}),
            "prompt_tokens_details.cached_tokens",
            "more than the input",
        ),
        (
            json!([{"usageMetadata": {"promptTokenCount": -2}}]),
            "[0].usageMetadata.promptTokenCount",
            "negative",
        ),
        (json!({"choices": []}), "", "no usage"),
        (json!([]), "", "no usage"),
        (json!(17), "", "no usage"),
    ];
    for (usage, field, message) in rows {
        let error = Bill::from_json(&usage).expect_err("refused");
        assert_eq!(error.reason, ErrorReason::InvalidUsage);
        assert_eq!(error.field, field);
        assert!(error.message.contains(message), "{error}");
    }
}

#[test]
fn a_typed_usage_is_checked_too() {
    let usage = wire::Usage { input_tokens: 10, output_tokens: 2, ..wire::Usage::default() };
    assert_eq!(Bill::from_usage(&usage), Ok(bill(10, 2, 0, 0)));
    let field = |usage: wire::Usage| Bill::from_usage(&usage).expect_err("refused").field;
    assert_eq!(field(wire::Usage::default()), "input_tokens");
    assert_eq!(field(wire::Usage { input_tokens: u32::MAX, ..usage }), "input_tokens");
    assert_eq!(field(wire::Usage { cached_input_tokens: 11, ..usage }), "cached_input_tokens");
    assert_eq!(field(wire::Usage { reasoning_tokens: 3, ..usage }), "reasoning_tokens");
}

#[test]
fn bills_of_something_else_are_implausible() {
    let edited = read(json!({"context_management": {"applied_edits": [{"type": "clear"}]},
        "usage": {"input_tokens": 100}}));
    assert!(edited.plausible(100, 100).is_err());
    let unedited = read(json!({"context_management": {"applied_edits": []},
        "usage": {"input_tokens": 100}}));
    assert_eq!(unedited.plausible(100, 100), Ok(()));
    let searched = read(json!({"output": [{"type": "web_search_call"}],
        "usage": {"input_tokens": 100, "input_tokens_details": {}}}));
    assert!(searched.plausible(100, 100).is_err());
    let stepped = read(json!({"promptTokenCount": 100, "toolUsePromptTokenCount": 50}));
    assert_eq!(stepped.input, 150);
    assert!(stepped.plausible(100, 100).is_err());
    assert!(bill(50_000, 0, 0, 0).plausible(9_000, 10_000).is_err());
    assert!(bill(2_000, 0, 0, 0).plausible(20_000, 21_000).is_err());
    assert_eq!(bill(1_500, 0, 0, 0).plausible(20, 21), Ok(()));
}
