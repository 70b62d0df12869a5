//! What can't be wrong whatever the body, on generated ones.

use proptest::prelude::*;
use serde_json::{Value, json};
use tokencount_core::conversation::provider;

use super::{CHAT, RESPONSES, tally};

/// JSON that has the words of the interfaces in it, in places where they may not belong.
fn any_json() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        Just("text"),
        Just("type"),
        Just("role"),
        Just("user"),
        Just("assistant"),
        Just("tool"),
        Just("system"),
        Just("content"),
        Just("function"),
        Just("name"),
        Just("arguments"),
        Just("image_url"),
        Just("url"),
        Just("reasoning"),
        Just("summary"),
        Just("function_call"),
        Just("function_call_output"),
        Just("output"),
        Just("call_id"),
        Just("properties"),
        Just("$ref"),
        Just("#"),
        Just("object"),
        Just("array"),
        Just("items"),
        Just("enum"),
        Just("data:image/png;base64,iVBORw0KGgo"),
        Just("json_schema"),
        Just("schema"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((words.clone(), inner), 0..6).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(key, value)| (key.into(), value)).collect())
            }),
        ]
    })
}

const MODELS: [&str; 7] =
    ["gpt-3.5-turbo", "gpt-4", "gpt-4o", "gpt-5-mini", "gpt-5.4", "o3", "gpt-oss-120b"];

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "integer", "minimum": 1, "default": 3})),
        Just(json!({"enum": ["a", "b"], "description": "One of two"})),
        Just(json!({"$ref": "#"})),
        Just(json!({"type": ["string", "null"], "default": null})),
        Just(json!({"type": "string", "title": "Day", "format": "date", "maxLength": 10})),
        Just(json!({"type": "array", "items": {"type": "string", "description": "One"}})),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(("[a-z]{1,8}", inner.clone()), 0..4).prop_map(|properties| {
                let properties: serde_json::Map<String, Value> = properties.into_iter().collect();
                json!({"type": "object", "title": "T", "properties": properties})
            }),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            prop::collection::vec(inner, 1..3).prop_map(|any| json!({"anyOf": any})),
        ]
    })
}

fn any_tool() -> impl Strategy<Value = Value> {
    ("[a-z_]{1,16}", ".{0,40}", any_schema(), any::<bool>()).prop_map(
        |(name, description, parameters, strict)| {
            let parameters = json!({"type": "object", "properties": {"p": parameters}});
            json!({"type": "function", "function": {"name": name, "description": description,
                   "parameters": parameters, "strict": strict}})
        },
    )
}

fn any_message() -> impl Strategy<Value = Value> {
    let call = ("[a-z]{1,12}", ".{0,20}").prop_map(
        |(name, text)| json!({"id": "c", "type": "function",
                              "function": {"name": name, "arguments": json!({"x": text}).to_string()}}),
    );
    prop_oneof![
        ("user|system|assistant|developer", prop::collection::vec(".{0,60}", 0..4)).prop_map(
            |(role, texts)| {
                let parts: Vec<Value> =
                    texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
                json!({"role": role, "content": parts})
            }
        ),
        (prop::option::of(".{0,30}"), prop::collection::vec(call, 1..4)).prop_map(
            |(content, calls)| json!({"role": "assistant", "content": content, "tool_calls": calls})
        ),
        ".{0,60}".prop_map(|text| json!({"role": "tool", "tool_call_id": "c", "content": text})),
    ]
}

fn any_body() -> impl Strategy<Value = Value> {
    let schema = prop::option::of(any_schema());
    let messages = prop::collection::vec(any_message(), 1..6);
    let tools = prop::collection::vec(any_tool(), 0..4);
    (prop::sample::select(&MODELS[..]), messages, tools, schema).prop_map(
        |(model, messages, tools, schema)| {
            let format = schema.map(|schema| {
                json!({"type": "json_schema", "json_schema": {"name": "out", "schema": schema}})
            });
            json!({"model": model, "messages": messages, "tools": tools, "response_format": format})
        },
    )
}

fn push(body: &Value, list: &str, item: Value) -> Value {
    let mut more = body.clone();
    if let Some(items) = more[list].as_array_mut() {
        items.push(item);
    }
    more
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_json_is_read_or_refused(body in any_json(), inner in any_json()) {
        let nested = [
            body.clone(),
            json!({"messages": [inner.clone()], "tools": [body.clone()], "response_format": inner.clone()}),
            json!({"input": [inner.clone(), body.clone()], "tools": [inner], "tool_choice": body}),
        ];
        for body in &nested {
            for format in [CHAT, RESPONSES] {
                let text = body.to_string();
                let _ = provider::reply(format, text.as_bytes());
                if provider::request(format, text.as_bytes()).is_ok() {
                    let tally = tally(format, body);
                    prop_assert!(tally.tokens() <= tally.upper_bound());
                }
            }
        }
    }

    #[test]
    fn more_never_counts_less(
        body in any_body(), message in any_message(), tool in any_tool(), text in ".{0,30}",
    ) {
        let before = tally(CHAT, &body);
        prop_assert!(before.tokens() <= before.upper_bound());
        let mut longer = body.clone();
        let last = longer["messages"].as_array().map_or(0, Vec::len) - 1;
        let content = &mut longer["messages"][last]["content"];
        if content.is_array() {
            *content = push(&json!({"content": content}), "content", json!({"type": "text", "text": text}))["content"].take();
        }
        for more in [push(&body, "messages", message), push(&body, "tools", tool), longer] {
            let after = tally(CHAT, &more);
            prop_assert!(after.tokens() >= before.tokens(), "{body} against {more}");
            prop_assert!(after.upper_bound() >= before.upper_bound(), "{body} against {more}");
        }
    }
}
