//! Gemini 2.5 on the Developer API: tools, calls and results as Python.
//!
//! The form was found by comparing bills with renderings; the bills of 84 requests with tools that
//! were not used to find it are met exactly.

use std::fmt::Write;

use serde_json::Value;

use super::schema::{BRANCHES, Node, Walk, sorted, spaced_json, type_name};
use crate::conversation::Function;

/// What stands where nothing is known of a type.
const ANY: &str = "Any";

/// A declaration, after the classes of its parameters.
pub fn declaration(function: &Function) -> String {
    let mut classes = String::new();
    let fields = function.parameters.as_ref().and_then(|parameters| {
        let path = camel(&function.name);
        Walk::new(parameters)
            .visit(parameters, |walk, node| fields(walk, node, &path, &mut classes))
    });
    let mut out = classes;
    let _ = writeln!(out, "def {}(", function.name);
    let fields = fields.unwrap_or_default();
    for field in &fields {
        let _ = writeln!(out, "    {}: {},", field.name, field.annotation);
    }
    let _ = write!(out, ") -> dict:\n  \"\"\"{}\n\n  Args:\n", indented(&function.description));
    for field in &fields {
        let _ = writeln!(out, "    {}: {}", field.name, field.description);
    }
    out.push_str("  \"\"\"\n");
    out
}

/// A call.
pub fn call(name: &str, arguments: &Value) -> String {
    let mut out = format!("print(default_api.{name}(");
    let arguments = arguments.as_object().map(sorted).unwrap_or_default();
    for (at, (key, value)) in arguments.into_iter().enumerate() {
        let _ = write!(out, "{}{key} = ", if at > 0 { ", " } else { "" });
        spaced_json(value, &mut out);
    }
    out.push_str("))");
    out
}

/// What a call gave.
pub fn response(name: &str, response: &Value) -> String {
    let mut out = format!("{{\"{name}_response\": ");
    spaced_json(response, &mut out);
    out.push('}');
    out
}

/// A parameter of a function, or a field of a class.
struct Field<'a> {
    name: &'a str,
    annotation: String,
    description: &'a str,
}

fn fields<'a>(
    walk: &mut Walk<'a>,
    object: Node<'a>,
    path: &str,
    classes: &mut String,
) -> Vec<Field<'a>> {
    let properties = object.properties();
    properties
        .map(|(name, schema)| {
            let path = format!("{path}{}", camel(name));
            let read = walk.visit(schema, |walk, node| {
                let mut annotation = annotation(walk, node, &path, classes);
                annotation.push_str(&default(node, &annotation, object.requires(name)));
                (annotation, node.text("description"))
            });
            let (annotation, description) = read.unwrap_or_else(|| (ANY.into(), ""));
            Field { name, annotation, description }
        })
        .collect()
}

/// What follows the type of a field: its default, or that it may be left out.
fn default(node: Node<'_>, annotation: &str, required: bool) -> String {
    match node.get("default").filter(|default| is_truthy(default)) {
        Some(default) => format!(" = {}", repr(default)),
        None if required => String::new(),
        None if annotation.ends_with("| None") => " = None".into(),
        None => " | None = None".into(),
    }
}

/// The type of a schema. Classes of objects with properties are written first.
fn annotation<'a>(walk: &mut Walk<'a>, node: Node<'a>, path: &str, classes: &mut String) -> String {
    let mut name = bare_annotation(walk, node, path, classes);
    let nullable = node.get("nullable").and_then(Value::as_bool) == Some(true);
    if nullable && !name.ends_with("| None") {
        name.push_str(" | None");
    }
    name
}

fn bare_annotation<'a>(
    walk: &mut Walk<'a>,
    node: Node<'a>,
    path: &str,
    classes: &mut String,
) -> String {
    if let Some(values) = node.get("enum").and_then(Value::as_array) {
        let values: Vec<_> = values.iter().map(Value::to_string).collect();
        return format!("Literal[{}]", values.join(", "));
    }
    if let Some(value) = node.get("const") {
        return format!("Literal[{value}]");
    }
    let branches = BRANCHES.iter().find_map(|key| node.get(key)?.as_array());
    if let Some(branches) = branches {
        let branches = branches.iter().map(|branch| inner(walk, Some(branch), path, classes));
        return union(branches.collect());
    }
    match node.get("type") {
        Some(Value::Array(kinds)) => {
            let kinds = kinds.iter().map(|kind| simple(walk, node, kind, path, classes));
            union(kinds.collect())
        }
        Some(kind) => simple(walk, node, kind, path, classes),
        None if node.properties().next().is_some() => {
            simple(walk, node, &Value::from("OBJECT"), path, classes)
        }
        None => ANY.into(),
    }
}

/// A type without alternatives.
fn simple<'a>(
    walk: &mut Walk<'a>,
    node: Node<'a>,
    kind: &Value,
    path: &str,
    classes: &mut String,
) -> String {
    match type_name(kind).as_str() {
        "STRING" => "str".into(),
        "INTEGER" => "int".into(),
        "NUMBER" => "float".into(),
        "BOOLEAN" => "bool".into(),
        "NULL" => "None".into(),
        "ARRAY" if node.get("prefixItems").is_some() => "list[Any]".into(),
        "ARRAY" => format!("list[{}]", inner(walk, node.get("items"), path, classes)),
        "OBJECT" if node.properties().next().is_some() => {
            let fields = fields(walk, node, path, classes);
            class(path, node.text("description"), &fields, classes);
            path.into()
        }
        "OBJECT" => {
            let values = node.get("additionalProperties");
            format!("dict[str, {}]", inner(walk, values, path, classes))
        }
        _ => ANY.into(),
    }
}

fn inner<'a>(
    walk: &mut Walk<'a>,
    schema: Option<&'a Value>,
    path: &str,
    classes: &mut String,
) -> String {
    let read = schema
        .and_then(|schema| walk.visit(schema, |walk, node| annotation(walk, node, path, classes)));
    read.unwrap_or_else(|| ANY.into())
}

/// `A | B`, each once, `None` at the end.
fn union(names: Vec<String>) -> String {
    let mut seen: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen.sort_by_key(|name| name == "None");
    seen.join(" | ")
}

fn class(name: &str, description: &str, fields: &[Field<'_>], out: &mut String) {
    let _ = write!(
        out,
        "@dataclasses.dataclass(kw_only=True)\nclass {name}:\n  \"\"\"{}\n\n  Attributes:\n",
        indented(description)
    );
    for field in fields {
        let _ = writeln!(out, "    {}: {}", field.name, field.description);
    }
    out.push_str("  \"\"\"\n");
    for field in fields {
        let _ = writeln!(out, "  {}: {}", field.name, field.annotation);
    }
}

/// A description with the lines after its first indented; blank lines stay blank.
fn indented(description: &str) -> String {
    let mut out = String::with_capacity(description.len());
    for (at, line) in description.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
            out.push_str(if line.trim().is_empty() { "" } else { "  " });
        }
        out.push_str(line);
    }
    out
}

/// `get_weather` as `GetWeather`.
fn camel(name: &str) -> String {
    let words = name.split(|character: char| !character.is_alphanumeric());
    words
        .flat_map(|word| {
            let mut characters = word.chars();
            let first = characters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(characters).collect::<Vec<_>>()
        })
        .collect()
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// A value as Python writes it.
fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{text}'"),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(repr).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| format!("'{key}': {}", repr(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}
