//! Walking a JSON schema with its references inlined, as Gemini's interfaces do it.

use serde_json::{Map, Value};

/// How often one reference is inlined inside itself.
const RECURSIONS: usize = 5;

/// Levels of objects, lists and references below which nothing is inlined.
const DEPTH: usize = 64;

/// Schemas visited in one declaration: references can multiply without end, bodies can't.
const VISITS: u32 = 100_000;

/// Keywords that hold a list of schemas, in either of Google's spellings.
pub const BRANCHES: [&str; 6] = ["anyOf", "any_of", "oneOf", "one_of", "allOf", "all_of"];

/// A walk through one schema.
pub struct Walk<'a> {
    root: &'a Value,
    references: Vec<&'a str>,
    depth: usize,
    visits: u32,
}

/// A schema with the one that it refers to, if it refers to one.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    own: &'a Map<String, Value>,
    target: Option<&'a Map<String, Value>>,
}

impl<'a> Walk<'a> {
    /// A walk that starts at `root`, where references start too.
    pub const fn new(root: &'a Value) -> Self {
        Self { root, references: Vec::new(), depth: 0, visits: 0 }
    }

    /// Applies `read` to a schema; `None` if it is none, or too deep.
    pub fn visit<T>(
        &mut self,
        schema: &'a Value,
        read: impl FnOnce(&mut Self, Node<'a>) -> T,
    ) -> Option<T> {
        self.visits += 1;
        let own = schema.as_object()?;
        if self.depth >= DEPTH || self.visits > VISITS {
            return None;
        }
        let reference = own.get("$ref").and_then(Value::as_str);
        let mut target = None;
        if let Some(reference) = reference {
            let inside = self.references.iter().filter(|open| **open == reference).count();
            if inside >= RECURSIONS {
                return None;
            }
            let pointer = reference.strip_prefix('#')?;
            target = Some(self.root.pointer(pointer)?.as_object()?);
            self.references.push(reference);
        }
        self.depth += 1;
        let result = read(self, Node { own, target });
        self.depth -= 1;
        if reference.is_some() {
            self.references.pop();
        }
        Some(result)
    }
}

impl<'a> Node<'a> {
    /// A keyword that is not `null`; what stands beside a reference wins.
    pub fn get(&self, keyword: &str) -> Option<&'a Value> {
        let found = self.own.get(keyword).or_else(|| self.target?.get(keyword));
        found.filter(|value| !value.is_null())
    }

    /// Every keyword but the reference.
    pub fn keywords(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let (own, target) = (self.own, self.target);
        let inherited = target.into_iter().flatten().filter(|(name, _)| !own.contains_key(*name));
        own.iter().chain(inherited).filter(|(name, _)| *name != "$ref")
    }

    /// A text, empty if there is none.
    pub fn text(&self, keyword: &str) -> &'a str {
        self.get(keyword).and_then(Value::as_str).unwrap_or_default()
    }

    /// Properties in the order sent.
    pub fn properties(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.get("properties").and_then(Value::as_object).into_iter().flatten()
    }

    /// Whether the property must be there.
    pub fn requires(&self, property: &str) -> bool {
        let required = self.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|name| name == property))
    }
}

/// The names of the types: their numbers in Google's interface are their places here.
const TYPES: [&str; 8] =
    ["TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

/// A type's name in capitals, from its name or its number.
pub fn type_name(kind: &Value) -> String {
    match kind {
        Value::String(name) => name.to_ascii_uppercase(),
        Value::Number(number) => {
            let at = number.as_u64().map_or(0, |at| at as usize);
            TYPES.get(at).copied().unwrap_or(TYPES[0]).into()
        }
        _ => String::new(),
    }
}

/// JSON with `", "` and `": "` between its items and its keys sorted.
pub fn spaced_json(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                spaced_json(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (at, (key, value)) in sorted(map).into_iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(": ");
                spaced_json(value, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// The fields of an object by name.
pub fn sorted(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = map.iter().collect();
    fields.sort_unstable_by_key(|(key, _)| *key);
    fields
}
