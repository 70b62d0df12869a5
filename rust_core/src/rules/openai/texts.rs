//! The texts that `OpenAI` puts before a model for tools, response formats and calls.

use serde_json::Value;

use super::typescript::{Style, Writer};
use crate::conversation::{Function, ResponseSchema, ToolCall};
use crate::rules::json::{dense_ascii, spaced_ascii};

/// The declarations of functions: a TypeScript namespace under a heading, and the tokens that are
/// billed beyond its text.
#[must_use]
pub fn tools<'a>(functions: impl Iterator<Item = &'a Function>, style: Style) -> (String, u32) {
    let mut writer = Writer::new(style);
    writer.push("# Tools\n\n## functions\n\nnamespace functions {\n\n");
    for function in functions {
        writer.comment(&function.description);
        writer.push("type ");
        writer.push(&function.name);
        writer.push(" = ");
        writer.parameters(function.parameters.as_ref());
        writer.push(" => any;\n\n");
    }
    writer.push("} // namespace functions");
    writer.finish()
}

/// The response format: a heading, the description and the schema as JSON.
#[must_use]
pub fn response_format(response: &ResponseSchema) -> String {
    let mut writer = Writer::new(Style::default());
    writer.push("# Response Formats\n\n## ");
    writer.push(&response.name);
    writer.push("\n\n");
    writer.comment(&response.description);
    let mut schema = response.schema.clone();
    strip(&mut schema, false);
    writer.push(&dense_ascii(&schema));
    writer.finish().0
}

/// Takes out what the model isn't shown. `names` says that the keys are names of properties.
fn strip(schema: &mut Value, names: bool) {
    const HIDDEN: [&str; 9] = [
        "additionalProperties",
        "required",
        "$schema",
        "default",
        "format",
        "minimum",
        "maximum",
        "minLength",
        "maxItems",
    ];
    match schema {
        Value::Object(fields) => {
            if !names {
                fields.retain(|key, _| !HIDDEN.contains(&key.as_str()));
            }
            for (key, value) in fields {
                strip(value, !names && matches!(key.as_str(), "properties" | "$defs"));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, false)),
        _ => {}
    }
}

/// Parallel calls, as the one call of a wrapper that they become.
#[must_use]
pub fn parallel_calls<'a>(calls: impl Iterator<Item = &'a ToolCall>) -> String {
    let mut text = String::from("{\"tool_uses\":[");
    for (index, call) in calls.enumerate() {
        text.push_str(if index > 0 { ",{" } else { "{" });
        text.push_str("\"recipient_name\":\"functions.");
        text.push_str(&call.name);
        text.push_str("\",\"parameters\":");
        text.push_str(&minified(&call.arguments));
        text.push('}');
    }
    text.push_str("]}");
    text
}

/// A result as an item of the list that answers several calls, and the tokens of it that frame an
/// item: the value that its text holds as JSON, or else its text as a string. Beyond ASCII some
/// models are shown it as it is: in fewer tokens.
#[must_use]
pub fn list_item(result: &str) -> (String, u32) {
    match serde_json::from_str::<Value>(result) {
        Ok(value @ (Value::Array(_) | Value::Object(_))) => (spaced_ascii(&value), 1),
        Ok(value) => (spaced_ascii(&value), u32::from(value.is_string()) * 2),
        Err(_) => (spaced_ascii(&result), 2),
    }
}

/// JSON text without spaces; as it is if it isn't JSON.
#[must_use]
pub fn minified(json: &str) -> String {
    serde_json::from_str::<Value>(json).map_or_else(|_| json.to_owned(), |value| value.to_string())
}
