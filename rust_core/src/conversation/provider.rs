//! A provider's request body or reply: which reader understands it.

use serde_json::Value;

use super::{Conversation, Format, Message, json};
use crate::status::Status;

/// Reads one provider's interface.
pub struct Reader {
    /// The request body. The model and warnings are filled in where the body has them; a body
    /// without messages is none of the reader's concern.
    pub request: fn(Value) -> Result<Conversation, Status>,
    /// The reply: the provider's whole response, or the message (or list of items) inside it, as
    /// the messages that the next request will hold.
    pub reply: fn(Value) -> Result<Vec<Message>, Status>,
}

/// Reads the JSON text of a request body.
pub fn request(format: Format, body: &[u8]) -> Result<Conversation, Status> {
    read(format, json::parse("body", body)?)
}

/// Reads a request body.
pub fn read(format: Format, body: Value) -> Result<Conversation, Status> {
    let mut conversation = (reader(format)?.request)(body).map_err(|error| error.inside("body"))?;
    conversation.format = format;
    Ok(conversation)
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
