//! The fields of a body beside its messages, which are read only where they weren't seen before: an
//! agent sends the same tools with every turn.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::json::{self, Fields};
use super::memo::{Memo, Reading};
use super::messages::Messages;
use super::unknown::Unknown;
use super::{Conversation, Message};
use crate::status::Status;

/// The fields of a body beside its messages.
pub struct Rest<'a> {
    fields: Sent<'a>,
}

enum Sent<'a> {
    /// Each field's name and JSON text.
    Text(Vec<(String, &'a RawValue)>),
    /// The values, which can't be recognised.
    Values(Fields),
}

impl Default for Rest<'_> {
    fn default() -> Self {
        Self::of_values(Fields::default())
    }
}

impl<'a> Rest<'a> {
    /// Of each field's name and JSON text.
    #[must_use]
    pub const fn of_text(fields: Vec<(String, &'a RawValue)>) -> Self {
        Self { fields: Sent::Text(fields) }
    }

    /// Of values.
    #[must_use]
    pub const fn of_values(fields: Fields) -> Self {
        Self { fields: Sent::Values(fields) }
    }

    /// Leaves out the fields of these names.
    #[must_use]
    pub fn without(self, names: &[&str]) -> Self {
        let stays = |name: &str| !names.contains(&name);
        match self.fields {
            Sent::Text(mut fields) => {
                fields.retain(|(name, _)| stays(name));
                Self::of_text(fields)
            }
            Sent::Values(fields) => Self::of_values(fields.only(stays)),
        }
    }

    /// Whether a field's name is such a one.
    #[must_use]
    pub fn has(&self, is_it: impl Fn(&str) -> bool) -> bool {
        match &self.fields {
            Sent::Text(fields) => fields.iter().any(|(name, _)| is_it(name)),
            Sent::Values(fields) => fields.names().any(is_it),
        }
    }

    /// Takes a text.
    pub fn string(&mut self, key: &str) -> Result<Option<String>, Status> {
        match &mut self.fields {
            Sent::Text(fields) => {
                // As in any object, the last one of a name counts.
                let sent = fields.iter().rev().find(|(name, _)| name == key);
                let Some((_, text)) = sent else { return Ok(None) };
                let value = json::parse_text(key, text.get())?;
                fields.retain(|(name, _)| name != key);
                Fields::of(Value::Object(Map::from_iter([(key.to_owned(), value)])))?.string(key)
            }
            Sent::Values(fields) => fields.string(key),
        }
    }

    /// The fields, read.
    pub fn into_values(self) -> Result<Fields, Status> {
        match self.fields {
            Sent::Text(fields) => parsed(&fields),
            Sent::Values(fields) => Ok(fields),
        }
    }

    /// The conversation of these messages, each read by `message`, and of the fields, read by `before`.
    pub fn conversation(
        self,
        messages: Messages<'_>,
        message: impl FnMut(Value, &mut Unknown) -> Result<Message, Status>,
        before: impl FnOnce(Fields, &mut Conversation, &mut Unknown) -> Result<(), Status>,
    ) -> Result<Conversation, Status> {
        let mut unknown = Unknown::default();
        let reading = messages.reading;
        let messages = messages.read(&mut unknown, message)?;
        self.before(messages, unknown, reading, before)
    }

    /// Puts what `read` makes of the fields before the messages, unless that is known. Warnings
    /// have to be given each time, and so what leads to one is read each time.
    pub fn before(
        self,
        messages: Vec<Message>,
        mut unknown: Unknown,
        reading: Reading<'_>,
        read: impl FnOnce(Fields, &mut Conversation, &mut Unknown) -> Result<(), Status>,
    ) -> Result<Conversation, Status> {
        let read = |fields: Fields, conversation: &mut Conversation| {
            let before = unknown.mark();
            read(fields, conversation, &mut unknown)?;
            if unknown.mark() != before {
                conversation.preamble.memo = Memo::None;
            }
            Ok(())
        };
        let mut conversation = match self.fields {
            Sent::Text(fields) => {
                let fields = &fields;
                let sent =
                    fields.iter().flat_map(|(name, text)| [name.as_bytes(), text.get().as_bytes()]);
                let sent = Some(sent.collect());
                reading.preamble(messages, sent, |before| read(parsed(fields)?, before))
            }
            Sent::Values(fields) => reading.preamble(messages, None, |before| read(fields, before)),
        }?;
        conversation.warnings = unknown.warnings;
        Ok(conversation)
    }
}

fn parsed(fields: &[(String, &RawValue)]) -> Result<Fields, Status> {
    let values = fields.iter().map(|(name, text)| {
        let value = json::parse_text(name, text.get())?;
        Ok((name.clone(), value))
    });
    Fields::of(Value::Object(values.collect::<Result<_, Status>>()?))
}
