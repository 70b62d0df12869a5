//! JSON schemas as the TypeScript that `OpenAI`'s models read.
//!
//! Found by forming texts and comparing their tokens with recorded bills; `OpenAI` publishes the
//! form only for gpt-oss (github.com/openai/harmony), which differs in spacing and a few types.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::conversation::json::field;

/// References followed inside one another before a type becomes `any`: schemas may be recursive.
const MAX_REFERENCES: u32 = 5;

/// Schemas rendered for one set of tools; references could multiply them without end.
const MAX_NODES: u32 = 20_000;

/// What differs between families.
// Each is a fact of its own, and any may hold with any other.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Style {
    /// Titles are written above descriptions.
    pub titles: bool,
    /// An empty comment stands between a title and a description, and an object of which any
    /// property has a comment is billed one token more.
    pub gap: bool,
    /// The schema of the parameters is described, beside its properties.
    pub own: bool,
    /// The least and the most of a number are written behind it.
    pub bounds: bool,
    /// gpt-oss: a space before the parameters' brace, and integers are numbers.
    pub harmony: bool,
}

/// Writes schemas into a text.
pub struct Writer<'a> {
    text: String,
    root: &'a Value,
    style: Style,
    nodes: u32,
    beyond: u32,
}

impl<'a> Writer<'a> {
    /// A writer of an empty text.
    #[must_use]
    pub const fn new(style: Style) -> Self {
        Self { text: String::new(), root: &Value::Null, style, nodes: 0, beyond: 0 }
    }

    /// The text, and the tokens that are billed beyond it.
    #[must_use]
    pub fn finish(self) -> (String, u32) {
        (self.text, self.beyond)
    }

    /// Adds a text as it is.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a comment, line by line; nothing if it is blank.
    pub fn comment(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        for line in text.lines() {
            self.push("// ");
            self.push(line.trim());
            if line.trim().is_empty() {
                self.text.truncate(self.text.len() - 1);
            }
            self.push("\n");
        }
    }

    /// Adds the title and the description of a schema as comments.
    fn comments(&mut self, schema: &Value) {
        let title = text_of(schema, "title").filter(|_| self.style.titles);
        let description = text_of(schema, "description");
        self.comment(title.unwrap_or_default());
        if self.style.gap && title.is_some() && description.is_some() {
            self.push("//\n");
        }
        self.comment(description.unwrap_or_default());
    }

    /// Adds the parameter list of a function: `(_:{…})`, or `()` without properties.
    pub fn parameters(&mut self, schema: Option<&'a Value>) {
        let Some(schema) = schema.filter(|schema| has_properties(schema)) else {
            return self.push("()");
        };
        self.root = schema;
        self.push(if self.style.harmony { "(_: " } else { "(_:" });
        if self.style.own && self.is_commented(schema) {
            self.push(" ");
            self.comments(schema);
        }
        self.schema(schema, 0);
        self.push(")");
    }

    fn is_commented(&self, schema: &Value) -> bool {
        let titled = self.style.titles && text_of(schema, "title").is_some();
        titled || text_of(schema, "description").is_some()
    }

    fn schema(&mut self, schema: &'a Value, references: u32) {
        self.nodes += 1;
        let Some(fields) = schema.as_object().filter(|_| self.nodes < MAX_NODES) else {
            return self.push("any");
        };
        if let Some(target) = field(fields, "$ref").and_then(Value::as_str) {
            return match self.resolve(target) {
                Some(target) if references < MAX_REFERENCES => {
                    self.schema(target, references + 1);
                }
                _ => self.push("any"),
            };
        }
        let union =
            ["anyOf", "oneOf", "allOf"].iter().find_map(|key| field(fields, key)?.as_array());
        match (union, field(fields, "enum").and_then(Value::as_array), field(fields, "const")) {
            (Some(schemas), ..) => self.union(schemas, references),
            (_, Some(values), _) => self.each(values, |out, value| out.push(&value.to_string())),
            (_, _, Some(value)) => self.push(&value.to_string()),
            _ => self.typed(fields, references),
        }
    }

    /// A union; on lines of its own if the format of any member is written behind it.
    fn union(&mut self, schemas: &'a [Value], references: u32) {
        let format = |schema: &'a Value| keyword(schema, "format").and_then(Value::as_str);
        if !schemas.iter().any(|schema| format(schema).is_some()) {
            return self.each(schemas, |out, schema| out.schema(schema, references));
        }
        for schema in schemas {
            self.push("\n| ");
            self.schema(schema, references);
            if let Some(format) = format(schema) {
                self.push(" // format: ");
                self.push(format);
            }
        }
        self.push("\n");
    }

    fn typed(&mut self, fields: &'a Map<String, Value>, references: u32) {
        match field(fields, "type") {
            Some(Value::String(name)) => self.named(name, fields, references),
            Some(Value::Array(names)) => self.each(names, |out, name| {
                out.named(name.as_str().unwrap_or("any"), fields, references);
            }),
            _ if field(fields, "properties").is_some() => self.named("object", fields, references),
            _ => self.push("any"),
        }
    }

    fn named(&mut self, name: &str, fields: &'a Map<String, Value>, references: u32) {
        match name {
            "object" => match field(fields, "properties").and_then(Value::as_object) {
                Some(properties) if !properties.is_empty() => {
                    self.object(properties, field(fields, "required"), references);
                }
                _ => self.push("object"),
            },
            "array" => self.array(field(fields, "items"), references),
            "integer" if self.style.harmony => self.push("number"),
            _ => self.push(name),
        }
    }

    fn array(&mut self, items: Option<&'a Value>, references: u32) {
        let Some(items) = items else { return self.push("any[]") };
        let start = self.text.len();
        // What a reference leads to isn't described here.
        self.comment(text_of(items, "description").unwrap_or_default());
        self.schema(items, references);
        if self.text[start..].contains('\n') {
            self.text.insert_str(start, "Array<\n");
            self.push("\n>");
        } else {
            self.push("[]");
        }
    }

    fn object(
        &mut self,
        properties: &'a Map<String, Value>,
        required: Option<&'a Value>,
        references: u32,
    ) {
        let required = required.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let required: HashSet<&str> = required.iter().filter_map(Value::as_str).collect();
        self.push("{\n");
        for (key, schema) in properties {
            self.property(key, schema, required.contains(key.as_str()), references);
        }
        self.push("}");
        self.beyond += u32::from(self.is_beyond(properties));
    }

    /// Whether an object is billed one token more than its text: if a property is an enum of one
    /// or two values and none has a comment; in some families also if any has one.
    fn is_beyond(&self, properties: &'a Map<String, Value>) -> bool {
        let mut described = properties.values().map(|schema| self.described(schema));
        if described.clone().any(|schema| self.is_commented(schema)) {
            return self.style.gap;
        }
        described.any(is_short_enum)
    }

    fn property(&mut self, key: &str, schema: &'a Value, required: bool, references: u32) {
        self.comments(self.described(schema));
        self.push(key);
        self.push(if required { ": " } else { "?: " });
        self.schema(schema, references);
        self.push(",");
        self.remark("default", keyword(schema, "default"));
        if self.style.bounds {
            self.remark("minimum", keyword(schema, "minimum"));
            self.remark("maximum", keyword(schema, "maximum"));
        }
        self.push("\n");
    }

    fn remark(&mut self, name: &str, value: Option<&Value>) {
        if let Some(value) = value {
            self.push(" // ");
            self.push(name);
            self.push(": ");
            self.push(&value.to_string());
        }
    }

    /// The schema that describes a property: itself, or the one that it refers to.
    fn described(&self, schema: &'a Value) -> &'a Value {
        let reference = keyword(schema, "$ref").and_then(Value::as_str);
        reference.and_then(|target| self.resolve(target)).unwrap_or(schema)
    }

    fn resolve(&self, target: &str) -> Option<&'a Value> {
        self.root.pointer(target.strip_prefix('#')?)
    }

    fn each<T>(&mut self, items: &'a [T], mut write: impl FnMut(&mut Self, &'a T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.push(" | ");
            }
            write(self, item);
        }
    }
}

fn keyword<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    field(schema.as_object()?, key)
}

fn has_properties(schema: &Value) -> bool {
    let properties = keyword(schema, "properties").and_then(Value::as_object);
    properties.is_some_and(|properties| !properties.is_empty())
}

fn is_short_enum(schema: &Value) -> bool {
    keyword(schema, "enum").and_then(Value::as_array).is_some_and(|values| values.len() <= 2)
}

fn text_of<'a>(schema: &'a Value, key: &str) -> Option<&'a str> {
    keyword(schema, key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}
