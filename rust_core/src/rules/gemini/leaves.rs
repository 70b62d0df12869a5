//! Gemini 2.0 and older, and Gemini on Vertex: of tools and schemas only the leaves are billed,
//! each string tokenised by itself.

use serde_json::Value;

use super::rendering::Rendering;
use super::schema::{BRANCHES, Node, Walk};
use crate::conversation::Function;

/// Which leaves of a schema count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope {
    /// Types in other spellings than capitals cost a token.
    pub other_types: bool,
    /// Titles, the order of properties and minima are billed: a response schema's are, a tool's
    /// are not.
    pub is_response: bool,
    /// Every keyword and every value is billed.
    pub everything: bool,
}

/// The leaves of a declaration. A JSON schema is not billed.
pub fn of_function(function: &Function, scope: Scope) -> Rendering {
    let mut leaves = Leaves::default();
    leaves.text(&function.name);
    leaves.text(&function.description);
    if let Some(parameters) = function.parameters.as_ref().filter(|_| !function.json_schema) {
        // Not explained, but met by every recorded request.
        leaves.0.extra += if scope.everything { 6 } else { 0 };
        leaves.schema(parameters, scope);
    }
    leaves.0
}

/// The leaves of a response schema.
pub fn of_schema(schema: &Value, scope: Scope) -> Rendering {
    let mut leaves = Leaves::default();
    leaves.schema(schema, Scope { is_response: true, ..scope });
    leaves.0
}

/// The name, the keys and the values of a call's arguments or of its result.
pub fn of_value(name: &str, value: &Value) -> Rendering {
    let mut leaves = Leaves::default();
    leaves.text(name);
    leaves.value(value);
    leaves.0
}

#[derive(Default)]
struct Leaves(Rendering);

impl Leaves {
    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.0.texts.push(text.into());
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter().for_each(|item| self.value(item)),
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                self.text(key);
                self.value(value);
            }),
            scalar => self.0.texts.push(scalar.to_string()),
        }
    }

    fn schema(&mut self, root: &Value, scope: Scope) {
        if scope.everything {
            self.everything(root);
        } else {
            Walk::new(root).visit(root, |walk, node| self.node(walk, node, scope));
        }
    }

    /// Every key and leaf, but for empty containers.
    fn everything(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.everything(item)),
            Value::Object(map) => {
                for (key, value) in map {
                    let is_void = value.as_array().is_some_and(Vec::is_empty)
                        || value.as_object().is_some_and(serde_json::Map::is_empty);
                    if !is_void {
                        self.text(key);
                        self.everything(value);
                    }
                }
            }
            scalar => self.value(scalar),
        }
    }

    fn node<'a>(&mut self, walk: &mut Walk<'a>, node: Node<'a>, scope: Scope) {
        self.text(node.text("description"));
        if let Some(kind) = node.get("type") {
            self.kind(kind, scope);
        }
        if node.get("nullable").and_then(Value::as_bool) == Some(true) {
            self.0.extra += 1;
        }
        for keyword in ["required", "enum"] {
            node.get(keyword).into_iter().for_each(|values| self.value(values));
        }
        if scope.is_response {
            for keyword in ["title", "propertyOrdering", "property_ordering", "minimum"] {
                node.get(keyword).into_iter().for_each(|values| self.value(values));
            }
        }
        for (name, schema) in node.properties() {
            self.text(name);
            walk.visit(schema, |walk, node| self.node(walk, node, scope));
        }
        let branches = BRANCHES.iter().filter_map(|key| node.get(key)?.as_array());
        for schema in branches.flatten().chain(node.get("items")) {
            walk.visit(schema, |walk, node| self.node(walk, node, scope));
        }
    }

    /// A type in capitals costs what its name does.
    fn kind(&mut self, kind: &Value, scope: Scope) {
        match kind.as_str() {
            Some(name) if name.bytes().all(|byte| byte.is_ascii_uppercase()) => self.text(name),
            _ => self.0.extra += u32::from(scope.other_types),
        }
    }
}
