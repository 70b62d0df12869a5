//! The requests of a call, as they arrive within the server's limits.

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;
use tonic::codec::Streaming;
use tonic::{Code, Status};

use super::Shared;
use super::message::{self, Raw, status};

/// A request as it was received.
pub struct Received {
    /// The encoded message.
    pub bytes: Bytes,
    /// What it takes of the budget for messages that came compressed.
    pub room: Option<OwnedSemaphorePermit>,
}

/// The requests of one call.
pub struct Requests {
    messages: Streaming<Bytes>,
    compressed: bool,
}

impl Requests {
    /// The requests in a body.
    pub fn new(shared: &Shared, headers: &HeaderMap, body: Incoming) -> Result<Self, Status> {
        let encoding = message::encoding(headers)?;
        let limit = Some(shared.service.max_message_bytes());
        let body = shared.budget.charge(body);
        let messages = Streaming::new_request(Raw, body, encoding, limit);
        Ok(Self { messages, compressed: encoding.is_some() })
    }

    /// The next one; `None` at the caller's end. A compressed one may turn out as large as any, so
    /// it is received only when there is room for that.
    pub async fn next(&mut self, shared: &Shared) -> Result<Option<Received>, Status> {
        let limit = shared.service.max_message_bytes();
        let mut room = if self.compressed { shared.budget.inflate(limit).await } else { None };
        // What tonic says of a message that is too large carries no details.
        let message = self.messages.message().await.map_err(|error| match error.code() {
            Code::OutOfRange => status(&shared.service.too_large(None)),
            Code::ResourceExhausted if error.details().is_empty() => {
                status(&shared.service.too_large(None))
            }
            _ => error,
        })?;
        Ok(message.map(|bytes| {
            let unused =
                room.as_ref().map_or(0, |room| room.num_permits().saturating_sub(bytes.len()));
            drop(room.as_mut().and_then(|room| room.split(unused)));
            Received { bytes, room }
        }))
    }
}
