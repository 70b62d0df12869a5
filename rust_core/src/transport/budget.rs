//! A bound on the memory of requests that are still arriving, over all connections.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

use super::message::status;
use crate::status::Status as Refusal;
use crate::wire::ErrorReason;

/// Bytes that may be held at one time.
#[derive(Clone)]
pub struct Budget(Arc<Semaphore>);

impl Budget {
    /// A budget of that many bytes.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))))
    }

    /// The body, whose data fails with `RESOURCE_EXHAUSTED` when the budget is used up. What it
    /// takes is given back when the body is dropped.
    pub fn charge(&self, body: Incoming) -> UnsyncBoxBody<Bytes, Status> {
        Charged { body, budget: self.0.clone(), held: None }.boxed_unsync()
    }
}

struct Charged {
    body: Incoming,
    budget: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
}

impl Charged {
    fn take(&mut self, bytes: usize) -> Result<(), Status> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let Ok(permit) = self.budget.clone().try_acquire_many_owned(bytes) else {
            let message = "the server holds as many unfinished requests as it has memory for: \
                           retry after a while";
            let after = std::time::Duration::from_secs(1);
            return Err(status(&Refusal::retry(ErrorReason::Overloaded, message, after)));
        };
        match &mut self.held {
            Some(held) => held.merge(permit),
            none => *none = Some(permit),
        }
        Ok(())
    }
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
