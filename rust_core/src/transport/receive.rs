//! The requests of a call, as they arrive within the server's limits.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;
use tonic::codec::Streaming;
use tonic::{Code, Status};

use super::Shared;
use super::message::{self, Raw, status};

/// How long a compressed message that doesn't come keeps its room from others.
const TURN: Duration = Duration::from_millis(50);

/// A request as it was received.
pub struct Received {
    /// The encoded message.
    pub bytes: Bytes,
    /// What it takes of the budget for messages that came compressed.
    pub room: Option<OwnedSemaphorePermit>,
}

impl Received {
    /// The same, which keeps of its room only what it takes.
    fn settled(mut self) -> Self {
        if let Some(room) = &mut self.room {
            drop(room.split(room.num_permits().saturating_sub(self.bytes.len())));
        }
        self
    }
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

    /// The only request of a call.
    pub async fn only(&mut self, shared: &Shared) -> Result<Received, Status> {
        let request = self.receive(shared).await?;
        let request =
            request.ok_or_else(|| Status::internal("the call ended without its request"))?;
        // The caller's end of the stream: left unread, the connection would be told to stop it. The
        // room is kept meanwhile, for what might come instead.
        match self.message(shared).await? {
            None => Ok(request.settled()),
            Some(_) => Err(Status::internal("the call has more than one request")),
        }
    }

    /// The next of many; `None` at the caller's end.
    pub async fn next(&mut self, shared: &Shared) -> Result<Option<Received>, Status> {
        Ok(self.receive(shared).await?.map(Received::settled))
    }

    /// A compressed message may turn out as large as any, so it is received only while there is
    /// room for that. Where it takes its time, others get the room in between.
    async fn receive(&mut self, shared: &Shared) -> Result<Option<Received>, Status> {
        if !self.compressed {
            let message = self.message(shared).await?;
            return Ok(message.map(|bytes| Received { bytes, room: None }));
        }
        loop {
            let room = shared.budget.inflate(shared.service.max_message_bytes()).await;
            // What has arrived of the message is kept.
            if let Ok(message) = tokio::time::timeout(TURN, self.message(shared)).await {
                return Ok(message?.map(|bytes| Received { bytes, room }));
            }
        }
    }

    async fn message(&mut self, shared: &Shared) -> Result<Option<Bytes>, Status> {
        // What tonic says of a message that is too large carries no details.
        self.messages.message().await.map_err(|error| match error.code() {
            Code::OutOfRange => status(&shared.service.too_large(None)),
            Code::ResourceExhausted if error.details().is_empty() => {
                status(&shared.service.too_large(None))
            }
            _ => error,
        })
    }
}
