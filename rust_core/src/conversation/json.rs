//! Reading JSON objects field by field, with errors that name the field.
//!
//! A field that was read is taken out, so what is left at the end was not understood.

use serde_json::{Map, Value};

use crate::status::Status;
use crate::wire::ErrorReason;

/// The fields of a JSON object. `null` reads as absent.
///
/// A list rather than a map: objects of prompts have a handful of fields, and every reader asks for
/// a dozen, which are found faster by comparing than by hashing.
#[derive(Debug, Default)]
pub struct Fields(Vec<(String, Value)>);

impl Fields {
    /// The fields of `value`, which must be an object.
    pub fn of(value: Value) -> Result<Self, Status> {
        match value {
            Value::Object(map) => Ok(Self(map.into_iter().collect())),
            other => Err(Status::invalid("", wrong_type("an object", &other))),
        }
    }

    /// The same fields under the names that `name` gives them.
    #[must_use]
    pub fn renamed(self, name: impl Fn(String) -> String) -> Self {
        Self(self.0.into_iter().map(|(field, value)| (name(field), value)).collect())
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The fields whose names may stay.
    #[must_use]
    pub fn only(mut self, stays: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|(name, _)| stays(name));
        self
    }

    /// The first field of which `is_it` says so.
    pub fn get_mut(&mut self, is_it: impl Fn(&str) -> bool) -> Option<&mut Value> {
        self.0.iter_mut().find(|(name, _)| is_it(name)).map(|(_, value)| value)
    }

    /// Takes a field of any type; `Null` if it is absent.
    pub fn take(&mut self, key: &str) -> Value {
        self.get_mut(|name| name == key).map_or(Value::Null, Value::take)
    }

    /// Whether the field is there, is not `null` and was not taken.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| !value.is_null())
    }

    /// Whether the field is a text of no characters.
    #[must_use]
    pub fn is_empty_text(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_str).is_some_and(str::is_empty)
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Takes a text.
    pub fn string(&mut self, key: &str) -> Result<Option<String>, Status> {
        match self.take(key) {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text)),
            other => Err(Status::invalid(key, wrong_type("a string", &other))),
        }
    }

    /// Takes a text that must be there.
    pub fn required_string(&mut self, key: &str) -> Result<String, Status> {
        self.string(key)?.ok_or_else(|| Status::missing(key, "required, a string"))
    }

    /// Takes a truth value; absent is false.
    pub fn boolean(&mut self, key: &str) -> Result<bool, Status> {
        match self.take(key) {
            Value::Null => Ok(false),
            Value::Bool(value) => Ok(value),
            other => Err(Status::invalid(key, wrong_type("true or false", &other))),
        }
    }

    /// Takes a list; absent is empty.
    pub fn array(&mut self, key: &str) -> Result<Vec<Value>, Status> {
        match self.take(key) {
            Value::Null => Ok(Vec::new()),
            Value::Array(items) => Ok(items),
            other => Err(Status::invalid(key, wrong_type("an array", &other))),
        }
    }

    /// Takes an object.
    pub fn object(&mut self, key: &str) -> Result<Option<Self>, Status> {
        match self.take(key) {
            Value::Null => Ok(None),
            Value::Object(map) => Ok(Some(Self(map.into_iter().collect()))),
            other => Err(Status::invalid(key, wrong_type("an object", &other))),
        }
    }

    /// What was neither taken nor is in `unbilled`: fields that were not understood.
    pub fn rest<'a>(self, unbilled: &'a [&str]) -> impl Iterator<Item = (String, Value)> + 'a {
        self.0.into_iter().filter(|(key, value)| {
            !value.is_null() && !is_empty_list(value) && !unbilled.contains(&key.as_str())
        })
    }

    /// The object again, as what is left of it.
    #[must_use]
    pub fn into_value(self) -> Value {
        Value::Object(self.0.into_iter().collect())
    }
}

/// Parses the JSON in `field`.
pub fn parse(field: &str, sent: &[u8]) -> Result<Value, Status> {
    parse_text(field, text(field, sent)?)
}

/// Parses the JSON text in `field`.
pub fn parse_text(field: &str, text: &str) -> Result<Value, Status> {
    serde_json::from_str(text).map_err(|error| invalid(field, &error))
}

/// What was sent in `field` as text, which JSON has to be.
pub fn text<'a>(field: &str, sent: &'a [u8]) -> Result<&'a str, Status> {
    std::str::from_utf8(sent).map_err(|error| invalid(field, &error))
}

/// The status of a field that holds no JSON.
pub fn invalid(field: &str, error: &dyn std::error::Error) -> Status {
    Status::in_field(ErrorReason::InvalidJson, field, error.to_string())
}

/// A field of an object. Those of schemas have a handful, which are found faster by comparing than
/// by hashing.
#[must_use]
pub fn field<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    const HANDFUL: usize = 8;
    if object.len() > HANDFUL {
        return object.get(key);
    }
    object.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
}

/// Applies `read` to every item, with errors inside `field[index]`.
pub fn each<T>(
    field: &str,
    items: Vec<Value>,
    mut read: impl FnMut(Value) -> Result<T, Status>,
) -> Result<Vec<T>, Status> {
    let indexed = items.into_iter().enumerate();
    indexed
        .map(|(index, item)| read(item).map_err(|error| error.inside(&format!("{field}[{index}]"))))
        .collect()
}

/// "must be a string, not a number".
#[must_use]
pub fn wrong_type(wanted: &str, value: &Value) -> String {
    let got = match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    format!("must be {wanted}, not {got}")
}

fn is_empty_list(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}
