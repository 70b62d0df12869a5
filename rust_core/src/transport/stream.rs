//! `CountMessagesStream`: many requests and as many answers, in order, no faster than they count.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use http::{Request, Response};
use hyper::body::Incoming;
use tokio_stream::Stream;
use tonic::body::Body;
use tonic::{Code, Status};

use super::receive::{Received, Requests};
use super::unary::{answer, header, tenant};
use super::{Phase, Shared, message};
use crate::engine::Rpc;
use crate::service::{Pass, Tenant};
use crate::status::Status as Refusal;

/// Requests of one stream that are counted at one time. With more, a stream that has a server to
/// itself gets no faster; with less, threads wait for the network.
const AT_ONCE: usize = 16;
/// How long a request that is over a limit waits at most before it tries again.
const PATIENCE: Duration = Duration::from_millis(100);

const RPC: Rpc = Rpc::CountMessagesStream;

/// Answers the call.
pub fn serve(
    shared: Arc<Shared>,
    identity: Option<&str>,
    request: Request<Incoming>,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let opened = || {
        let deadline = message::deadline(&parts.headers)?;
        let tenant = tenant(&shared, identity, &parts.headers)?;
        let requests = Requests::new(&shared, &parts.headers, body)?;
        Ok::<_, Status>((deadline, tenant, requests))
    };
    let span = shared.service.spans.begin(RPC, header(&parts.headers, "traceparent"));
    match opened() {
        Ok((deadline, tenant, requests)) => {
            // The span ends with the headers: how long a stream lasts is up to its caller.
            shared.service.spans.end(span, Code::Ok as i32);
            let compression = message::accepted(&parts.headers);
            message::response(answers(shared, tenant, requests, deadline), compression)
        }
        Err(status) => {
            shared.service.spans.end(span, status.code() as i32);
            status.into_http()
        }
    }
}

/// The answers, in the order of the requests. Nothing is read that couldn't be counted: what is
/// sent faster waits in the caller.
fn answers(
    shared: Arc<Shared>,
    tenant: Arc<Tenant>,
    requests: Requests,
    deadline: Option<Instant>,
) -> impl Stream<Item = Result<Vec<u8>, Status>> + Send + 'static {
    let state = (shared.clone(), requests);
    let requests = futures_util::stream::try_unfold(state, |(shared, mut requests)| async move {
        let request = next_or_drain(&shared, &mut requests).await?;
        Ok(request.map(|request| (request, (shared, requests))))
    });
    // tonic sends the first failure as the stream's status, and asks for nothing after it.
    requests
        .map(move |request| count(shared.clone(), tenant.clone(), request, deadline))
        .buffered(AT_ONCE)
}

/// The next request. A stream that goes on for half of the grace time of a drain is ended after what
/// was read, so that its caller can go on elsewhere rather than be cut off when that time is over.
async fn next_or_drain(
    shared: &Shared,
    requests: &mut Requests,
) -> Result<Option<Received>, Status> {
    let last_call = async {
        shared.reached(Phase::Draining).await;
        tokio::time::sleep(shared.options.grace_period / 2).await;
    };
    tokio::select! {
        biased;
        () = last_call => {
            Err(Status::unavailable("the server ends: send the rest to another, or again"))
        }
        request = requests.next(shared) => request,
    }
}

/// Counts one request.
async fn count(
    shared: Arc<Shared>,
    tenant: Arc<Tenant>,
    request: Result<Received, Status>,
    deadline: Option<Instant>,
) -> Result<Vec<u8>, Status> {
    let request = request?;
    let pass = admitted(&shared, &tenant, request.bytes.len(), deadline).await?;
    answer(&shared, pass, RPC, request, deadline).await
}

/// Waits until the request is let in. Limits slow a stream down; they don't end it.
async fn admitted(
    shared: &Shared,
    tenant: &Arc<Tenant>,
    size: usize,
    deadline: Option<Instant>,
) -> Result<Pass, Status> {
    loop {
        match shared.service.admit(tenant, size) {
            Err(Refusal { retry_after: Some(after), .. }) => {
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    return Err(Status::deadline_exceeded("the deadline passed within a limit"));
                }
                tokio::time::sleep(after.min(PATIENCE)).await;
            }
            result => return result.map_err(|e| message::status(&e)),
        }
    }
}
