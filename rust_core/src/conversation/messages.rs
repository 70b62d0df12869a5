//! The messages of a body, read one by one: what is known by the bytes it was sent in isn't read.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::memo::{Memo, Reading};
use super::unknown::Unknown;
use super::{Message, json};
use crate::status::Status;

/// The field of a body that holds its messages.
pub struct Messages<'a> {
    /// Name of the field.
    pub field: &'static str,
    /// What it holds.
    pub sent: Sent<'a>,
    /// How they are read.
    pub reading: Reading<'a>,
}

/// What the field holds.
pub enum Sent<'a> {
    /// A list, with each item's JSON text.
    List(Vec<&'a RawValue>),
    /// Anything else; a list too, where the body came parsed.
    Value(Value),
}

impl Messages<'_> {
    /// Takes what stands in the field alone, where a list is usual. `None`: it is a list, or absent.
    pub fn alone(&mut self) -> Option<Value> {
        match &mut self.sent {
            Sent::List(_) | Sent::Value(Value::Null | Value::Array(_)) => None,
            Sent::Value(value) => Some(value.take()),
        }
    }

    /// The same field with other content.
    #[must_use]
    pub fn with(self, value: Value) -> Self {
        Self { sent: Sent::Value(value), ..self }
    }

    /// Reads the messages that are not known. Absent is empty.
    pub fn read(
        self,
        unknown: &mut Unknown,
        mut read: impl FnMut(Value, &mut Unknown) -> Result<Message, Status>,
    ) -> Result<Vec<Message>, Status> {
        self.read_indexed(unknown, |_, value, unknown| read(value, unknown))
    }

    /// [`Self::read`] for readers that want to know which one they read.
    pub fn read_indexed(
        self,
        unknown: &mut Unknown,
        mut read: impl FnMut(usize, Value, &mut Unknown) -> Result<Message, Status>,
    ) -> Result<Vec<Message>, Status> {
        let Self { field, sent, reading } = self;
        let mut inside = |at: usize, item: Result<Value, Status>, unknown: &mut Unknown| {
            unknown.inside(format_args!("{field}[{at}]"), |unknown| read(at, item?, unknown))
        };
        match sent {
            Sent::List(items) => {
                // Collecting results would begin with an empty list, and move it as it grows.
                let mut messages = Vec::with_capacity(items.len());
                for (at, item) in items.into_iter().map(RawValue::get).enumerate() {
                    messages.push(match reading.known.find(&[item.as_bytes()]) {
                        Memo::Known(known) => Message::known(known),
                        memo => {
                            let before = unknown.mark();
                            let message = inside(at, json::parse_text("", item), unknown)?;
                            // A warning has to be given each time.
                            let memo = if unknown.mark() == before { memo } else { Memo::None };
                            Message { memo, ..message }
                        }
                    });
                }
                Ok(messages)
            }
            Sent::Value(Value::Null) => Ok(Vec::new()),
            Sent::Value(Value::Array(items)) => {
                let items = items.into_iter().enumerate();
                items.map(|(at, item)| inside(at, Ok(item), unknown)).collect()
            }
            Sent::Value(other) => Err(Status::invalid(field, json::wrong_type("an array", &other))),
        }
    }
}

/// From a list or a text. Others are an error of type, upon which the body is parsed as a whole.
impl<'de> Deserialize<'de> for Sent<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SentVisitor)
    }
}

struct SentVisitor;

impl<'de> Visitor<'de> for SentVisitor {
    type Value = Sent<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list or a text")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Sent::List(list))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Sent::Value(text.into()))
    }
}
