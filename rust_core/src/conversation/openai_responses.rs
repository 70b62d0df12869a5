//! Reads OpenAI Responses.

use serde_json::Value;

use super::provider::Reader;
use super::{Conversation, Message};
use crate::status::Status;

/// The reader of this interface.
pub const READER: Reader = Reader { request, reply };

fn request(_body: Value) -> Result<Conversation, Status> {
    todo!()
}

fn reply(_reply: Value) -> Result<Vec<Message>, Status> {
    todo!()
}
