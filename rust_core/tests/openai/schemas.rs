//! Parameters of functions as the TypeScript that models read.

use serde_json::json;
use tokencount_core::conversation::Function;
use tokencount_core::rules::openai::texts;
use tokencount_core::rules::openai::typescript::Style;

use super::{CHAT, tokens, weather_tool};

#[test]
fn schemas_are_written_as_typescript() {
    let parameters = json!({
        "$defs": {"Colour": {"enum": ["red", "blue"], "title": "Colour", "description": "A hue\n\n  of paint "},
                  "Tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Tree"}}}},
        "type": "object",
        "required": ["hue", "sizes", "boxes"],
        "properties": {
            "hue": {"$ref": "#/$defs/Colour"},
            "sizes": {"type": "array", "items": {"type": "integer"}},
            "boxes": {"type": "array", "items": {"type": "object", "properties": {"w": {"type": ["number", "null"]}}}},
            "label": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
            "count": {"type": "integer", "default": 3, "minimum": 1},
            "free": {"type": "object"},
            "tree": {"$ref": "#/$defs/Tree"}}});
    let function = |parameters| Function {
        name: "paint".into(),
        parameters: Some(parameters),
        ..Function::default()
    };
    let style = Style { titles: true, bounds: true, ..Style::default() };
    let (text, _) = texts::tools([function(parameters)].iter(), style);
    let expected = "type paint = (_:{\n// Colour\n// A hue\n//\n// of paint\nhue: \"red\" | \"blue\",\n\
        sizes: integer[],\nboxes: Array<\n{\nw?: number | null,\n}\n>,\nlabel?: string | null, // default: null\n\
        count?: integer, // default: 3 // minimum: 1\nfree?: object,\ntree?: ";
    assert!(text.contains(expected), "{text}");
    assert_eq!(text.matches("next?: ").count(), 5, "a recursion ends: {text}");
    assert!(text.contains("next?: any,\n"), "{text}");
    let (text, _) = texts::tools([function(json!({"type": "object"}))].iter(), style);
    assert!(text.contains("\n\ntype paint = () => any;\n\n}"), "{text}");
}

#[test]
fn comments_formats_and_items_are_written_where_bills_have_them() {
    let day = json!({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
                     "title": "Day", "description": "Which day"});
    let item = json!({"type": "object", "description": "One stop", "properties": {"at": day}});
    let parameters = json!({"type": "object", "title": "Trip", "description": "A journey",
        "properties": {"stops": {"type": "array", "items": item}}});
    let function =
        Function { name: "plan".into(), parameters: Some(parameters), ..Function::default() };
    let text = |style| texts::tools([&function].into_iter(), style);
    let style = Style { titles: true, own: true, ..Style::default() };
    let (written, beyond) = text(style);
    let expected = "type plan = (_: // Trip\n// A journey\n{\nstops?: Array<\n// One stop\n{\n\
        // Day\n// Which day\nat?: \n| string // format: date\n| null\n,\n}\n>,\n}) => any;";
    assert!(written.contains(expected), "{written}");
    assert_eq!(beyond, 0);
    let (written, beyond) = text(Style { gap: true, own: false, ..style });
    assert!(written.contains("// Day\n//\n// Which day\n"), "{written}");
    assert_eq!(beyond, 1);
}

#[test]
fn nested_references_cannot_multiply_without_end() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let properties = json!({"a": next, "b": next, "c": next, "d": next, "e": next, "f": next});
        definitions
            .insert(format!("d{level}"), json!({"type": "object", "properties": properties}));
    }
    let parameters = json!({"$defs": definitions, "type": "object",
                            "properties": {"x": {"$ref": "#/$defs/d0"}}});
    let tool = json!({"type": "function", "function": weather_tool(&parameters)});
    let body = json!({"model": "gpt-4o", "tools": [tool], "messages": []});
    assert!(tokens(CHAT, &body) < 1_000_000);
}
