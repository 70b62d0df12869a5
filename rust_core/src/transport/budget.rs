//! Bounds on the memory of requests that are not answered yet, over all connections.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

use super::message::status;
use crate::status::Status as Refusal;
use crate::wire::ErrorReason;

/// When memory may be free again.
const BUSY: Duration = Duration::from_secs(1);
/// What of each body counts as its beginning.
const BEGINNING_BYTES: usize = 32 << 10;

/// Three sums of bytes, each with a bound of its own, so that neither large requests that never end
/// nor compressed ones keep small ones out.
#[derive(Clone)]
pub struct Budget {
    beginnings: Arc<Semaphore>,
    rest: Arc<Semaphore>,
    inflated: Arc<Semaphore>,
}

impl Budget {
    /// A budget of that many bytes of each kind, and of half for what is unpacked.
    pub fn new(bytes: usize) -> Self {
        let semaphore = |bytes: usize| Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS)));
        // What is unpacked is held twice: as it came out, and as what was read from it.
        Self {
            beginnings: semaphore(bytes),
            rest: semaphore(bytes),
            inflated: semaphore(bytes / 2),
        }
    }

    /// The body, whose data fails with `RESOURCE_EXHAUSTED` when the budget is used up. What it
    /// takes is given back when the body is dropped.
    pub fn charge(&self, body: Incoming) -> Charged {
        Charged { body, budget: self.clone(), beginning: None, rest: None }
    }

    /// Room for a message of up to `limit` bytes that comes compressed, once there is some.
    pub async fn inflate(&self, limit: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(limit).unwrap_or(u32::MAX);
        self.inflated.clone().acquire_many_owned(bytes).await.ok()
    }
}

/// A body whose bytes are charged.
pub struct Charged {
    body: Incoming,
    budget: Budget,
    beginning: Option<OwnedSemaphorePermit>,
    rest: Option<OwnedSemaphorePermit>,
}

impl Charged {
    fn take(&mut self, bytes: usize) -> Result<(), Status> {
        let begun = self.beginning.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let beginning = bytes.min(BEGINNING_BYTES.saturating_sub(begun));
        take(&self.budget.beginnings, &mut self.beginning, beginning)?;
        take(&self.budget.rest, &mut self.rest, bytes - beginning)
    }
}

fn take(
    budget: &Arc<Semaphore>,
    held: &mut Option<OwnedSemaphorePermit>,
    bytes: usize,
) -> Result<(), Status> {
    if bytes == 0 {
        return Ok(());
    }
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let Ok(permit) = budget.clone().try_acquire_many_owned(bytes) else {
        let message = "the server holds as many unfinished requests as it has memory for: retry \
                       after a while";
        return Err(status(&Refusal::retry(ErrorReason::Overloaded, message, BUSY)));
    };
    match held {
        Some(held) => held.merge(permit),
        none => *none = Some(permit),
    }
    Ok(())
}

impl Body for Charged {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(match frame {
            Some(Ok(frame)) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                Some(self.take(bytes).map(|()| frame))
            }
            Some(Err(error)) => Some(Err(Status::from_error(Box::new(error)))),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
