//! A provider's request body or reply: which reader understands it.

use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::Fields;
use super::memo::Reading;
use super::messages::{Messages, Sent};
use super::rest::Rest;
use super::{Conversation, Format, Message, json};
use crate::status::Status;

/// Reads one provider's interface.
pub struct Reader {
    /// Name of the body's field that holds the messages.
    pub messages: &'static str,
    /// Names of the body's fields that are settings: they are never part of the prompt.
    pub unbilled: &'static [&'static str],
    /// Takes the model out of a body that names it.
    pub model: fn(&mut Rest<'_>) -> Result<Option<String>, Status>,
    /// The messages, and what of the rest isn't unbilled. Warnings are filled in; a body without
    /// messages is none of the reader's concern.
    pub request: fn(Rest<'_>, Messages<'_>) -> Result<Conversation, Status>,
    /// The reply: the provider's whole response, or the message (or list of items) inside it, as
    /// the messages that the next request will hold.
    pub reply: fn(Value) -> Result<Vec<Message>, Status>,
}

/// A request body whose messages are not read yet.
pub struct Body<'a> {
    /// The model that the body names; empty if it names none.
    pub model: String,
    reader: &'static Reader,
    rest: Rest<'a>,
    messages: Sent<'a>,
}

impl<'a> Body<'a> {
    /// Opens the JSON text of a body.
    pub fn open(format: Format, text: &'a [u8]) -> Result<Self, Status> {
        let text = json::text("body", text)?;
        // What is no JSON at all is told so, whatever it was meant to be.
        let reader =
            reader(format).or_else(|unknown| json::parse_text("body", text).and(Err(unknown)))?;
        let (rest, messages) = split(text, reader.messages).map_err(|e| e.inside("body"))?;
        Self::new(reader, rest, messages)
    }

    /// Opens a body that was parsed.
    pub fn of(format: Format, body: Value) -> Result<Self, Status> {
        let reader = reader(format)?;
        let mut fields = Fields::of(body).map_err(|error| error.inside("body"))?;
        let messages = Sent::Value(fields.take(reader.messages));
        Self::new(reader, Rest::of_values(fields), messages)
    }

    fn new(reader: &'static Reader, rest: Rest<'a>, messages: Sent<'a>) -> Result<Self, Status> {
        let mut rest = rest.without(reader.unbilled);
        let model = (reader.model)(&mut rest).map_err(|error| error.inside("body"))?;
        Ok(Self { model: model.unwrap_or_default(), reader, rest, messages })
    }

    /// Reads it all, but for what is known.
    pub fn read(self, reading: Reading<'_>) -> Result<Conversation, Status> {
        let Self { reader, rest, messages, .. } = self;
        let messages = Messages { field: reader.messages, sent: messages, reading };
        (reader.request)(rest, messages).map_err(|error| error.inside("body"))
    }
}

/// Reads the JSON text of a request body as it stands, with what leads the messages among them.
pub fn request(format: Format, body: &[u8]) -> Result<Conversation, Status> {
    Body::open(format, body)?.read(Reading { known: &(), is_complete: false })
}

/// Reads the JSON text of a reply.
pub fn reply(format: Format, body: &[u8]) -> Result<Vec<Message>, Status> {
    let value = json::parse("json", body)?;
    (reader(format)?.reply)(value).map_err(|error| error.inside("json"))
}

fn reader(format: Format) -> Result<&'static Reader, Status> {
    match format {
        Format::OpenaiChat => Ok(&super::openai_chat::READER),
        Format::OpenaiResponses => Ok(&super::openai_responses::READER),
        Format::Anthropic => Ok(&super::anthropic::READER),
        Format::Gemini | Format::GeminiVertex => Ok(&super::gemini::READER),
        Format::BedrockConverse => Ok(&super::bedrock::READER),
        Format::Unspecified => {
            Err(Status::missing("format", format!("required: {}", Format::choices())))
        }
    }
}

/// Parses a body but for its fields, and the items of the list in its field `messages`.
fn split<'a>(text: &'a str, messages: &'static str) -> Result<(Rest<'a>, Sent<'a>), Status> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let split = parser.deserialize_any(Split { messages });
    match split.and_then(|split| parser.end().map(|()| split)) {
        Ok((fields, messages)) => Ok((Rest::of_text(fields), messages)),
        // It is JSON of another type than expected: the readers of values say so better.
        Err(error) if error.is_data() => {
            let mut fields = Fields::of(json::parse_text("", text)?)?;
            let messages = Sent::Value(fields.take(messages));
            Ok((Rest::of_values(fields), messages))
        }
        Err(error) => Err(json::invalid("", &error)),
    }
}

struct Split {
    messages: &'static str,
}

impl<'de> Visitor<'de> for Split {
    type Value = (Vec<(String, &'de RawValue)>, Sent<'de>);

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut rest = Vec::new();
        let mut messages = Sent::Value(Value::Null);
        while let Some(name) = fields.next_key::<String>()? {
            if name == self.messages {
                messages = fields.next_value()?;
            } else {
                rest.push((name, fields.next_value()?));
            }
        }
        Ok((rest, messages))
    }
}
