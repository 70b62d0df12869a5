//! Gemini 3 on the Developer API: tools, calls and results between control tokens.
//!
//! The form was found by comparing bills with renderings. The names of the control tokens are not
//! known, but each is one token, and the text between two of them is tokenised by itself.

use serde_json::Value;

use super::rendering::Rendering;
use super::schema::{BRANCHES, Node, Walk, sorted, type_name};
use crate::conversation::Function;

/// Keywords of a schema that are left out.
const DROPPED: &[&str] = &[
    "$defs",
    "$schema",
    "additionalProperties",
    "default",
    "definitions",
    "propertyOrdering",
    "property_ordering",
];

/// A declaration.
pub fn declaration(function: &Function) -> Rendering {
    let mut out = Rendering::default();
    out.mark();
    out.push("declaration:");
    out.push(&function.name);
    out.push("{");
    if !function.description.is_empty() {
        out.push("description:");
        out.string(&function.description);
        out.push(",");
    }
    out.push("parameters:");
    match &function.parameters {
        Some(parameters) => schema(parameters, &mut out),
        None => empty_object(&mut out),
    }
    if let Some(response) = &function.response {
        out.push(",response:");
        schema(response, &mut out);
    }
    out.push("}");
    out.mark();
    out
}

/// A call with its arguments as JSON text, or what a call gave.
pub fn exchange(kind: &str, name: &str, content: &Value) -> Rendering {
    let mut out = Rendering::default();
    out.mark();
    out.push(kind);
    out.push(":");
    out.push(name);
    value(content, &mut out);
    out.mark();
    out
}

fn schema(root: &Value, out: &mut Rendering) {
    let is_empty = root.as_object().is_none_or(serde_json::Map::is_empty);
    let mut walk = Walk::new(root);
    if is_empty || walk.visit(root, |walk, node| object(walk, node, out)).is_none() {
        empty_object(out);
    }
}

fn empty_object(out: &mut Rendering) {
    out.push("{type:");
    out.string("OBJECT");
    out.push("}");
}

/// The keywords of a schema by name.
fn object<'a>(walk: &mut Walk<'a>, node: Node<'a>, out: &mut Rendering) {
    let is_kept = |name: &str, value: &Value| !DROPPED.contains(&name) && !is_void(value);
    let mut keywords: Vec<_> =
        node.keywords().filter(|(name, value)| is_kept(name, value)).collect();
    keywords.sort_unstable_by_key(|(name, _)| *name);
    out.push("{");
    for (at, (name, value)) in keywords.into_iter().enumerate() {
        out.push(if at > 0 { "," } else { "" });
        out.push(name);
        out.push(":");
        keyword(walk, name, value, out);
    }
    out.push("}");
}

fn keyword<'a>(walk: &mut Walk<'a>, name: &str, content: &'a Value, out: &mut Rendering) {
    match (name, content) {
        ("type", Value::String(_) | Value::Number(_)) => out.string(&type_name(content)),
        ("properties", Value::Object(map)) => {
            out.push("{");
            for (at, (name, content)) in sorted(map).into_iter().enumerate() {
                out.push(if at > 0 { "," } else { "" });
                out.push(name);
                out.push(":");
                inner(walk, content, out);
            }
            out.push("}");
        }
        ("items", _) => inner(walk, content, out),
        (list, Value::Array(branches)) if list == "prefixItems" || BRANCHES.contains(&list) => {
            out.push("[");
            for (at, branch) in branches.iter().enumerate() {
                out.push(if at > 0 { "," } else { "" });
                inner(walk, branch, out);
            }
            out.push("]");
        }
        _ => value(content, out),
    }
}

fn inner<'a>(walk: &mut Walk<'a>, schema: &'a Value, out: &mut Rendering) {
    let is_schema = schema.is_object();
    if !is_schema {
        value(schema, out);
    } else if walk.visit(schema, |walk, node| object(walk, node, out)).is_none() {
        empty_object(out);
    }
}

/// Any JSON value, keys sorted, strings between control tokens.
fn value(content: &Value, out: &mut Rendering) {
    match content {
        Value::String(text) => out.string(text),
        Value::Array(items) => {
            out.push("[");
            for (at, item) in items.iter().enumerate() {
                out.push(if at > 0 { "," } else { "" });
                value(item, out);
            }
            out.push("]");
        }
        Value::Object(map) => {
            out.push("{");
            for (at, (key, item)) in sorted(map).into_iter().enumerate() {
                out.push(if at > 0 { "," } else { "" });
                out.push(key);
                out.push(":");
                value(item, out);
            }
            out.push("}");
        }
        scalar => out.push(&scalar.to_string()),
    }
}

/// Nothing is written of nothing.
fn is_void(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
