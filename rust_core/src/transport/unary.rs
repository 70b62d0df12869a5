//! One call with one request and one answer.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response};
use hyper::body::Incoming;
use tonic::body::Body;
use tonic::codec::Streaming;
use tonic::{Code, Status};

use super::Shared;
use super::message::{self, Raw, status};
use crate::engine::{Call, Rpc};
use crate::service::{Caller, Pass, Tenant};
use crate::status::Status as Refusal;

/// Requests up to this size are answered on the worker that received them, larger ones on a thread
/// of their own, so that they can't hold up others. At 60 ns a byte, the slowest text there is, the
/// worker is kept for 2 ms; the way to a thread and back costs some 10 µs.
const INLINE_BYTES: usize = 32 << 10;

/// Answers the call.
pub async fn serve(
    shared: Arc<Shared>,
    identity: Option<Arc<str>>,
    rpc: Rpc,
    request: Request<Incoming>,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let span = shared.service.spans.begin(rpc, header(&parts.headers, "traceparent"));
    let answer = call(&shared, identity.as_deref(), rpc, &parts, body).await;
    shared.service.spans.end(span, answer.as_ref().map_or_else(Status::code, |_| Code::Ok) as i32);
    match answer {
        Ok(answer) => {
            let compression = message::accepted(&parts.headers);
            let compression = compression.filter(|_| message::is_large(answer.len()));
            message::response(tokio_stream::once(Ok(answer)), compression)
        }
        Err(status) => status.into_http(),
    }
}

async fn call(
    shared: &Arc<Shared>,
    identity: Option<&str>,
    rpc: Rpc,
    parts: &Parts,
    body: Incoming,
) -> Result<Vec<u8>, Status> {
    let deadline = message::deadline(&parts.headers)?;
    let tenant = tenant(shared, identity, &parts.headers)?;
    let mut messages = receive(shared, &parts.headers, body)?;
    let request = in_time(shared, deadline, one(shared, &mut messages)).await?;
    let pass = shared.service.admit(&tenant, request.len()).map_err(|e| status(&e))?;
    answer(shared, pass, rpc, request, deadline).await
}

/// The caller's tenant.
pub fn tenant(
    shared: &Shared,
    identity: Option<&str>,
    headers: &HeaderMap,
) -> Result<Arc<Tenant>, Status> {
    let authorization = header(headers, "authorization");
    let caller = Caller { authorization, certificate: identity };
    shared.service.identify(&caller).map_err(|e| status(&e))
}

/// The messages of a request's body, within the server's limits.
pub fn receive(
    shared: &Shared,
    headers: &HeaderMap,
    body: Incoming,
) -> Result<Streaming<Bytes>, Status> {
    let encoding = message::encoding(headers)?;
    let limit = Some(shared.service.max_message_bytes());
    Ok(Streaming::new_request(Raw, shared.budget.charge(body), encoding, limit))
}

/// The next message. What tonic says of one that is too large carries no details.
pub async fn next(
    shared: &Shared,
    messages: &mut Streaming<Bytes>,
) -> Result<Option<Bytes>, Status> {
    messages.message().await.map_err(|error| match error.code() {
        Code::OutOfRange => status(&shared.service.too_large(None)),
        Code::ResourceExhausted if error.details().is_empty() => {
            status(&shared.service.too_large(None))
        }
        _ => error,
    })
}

/// The only message.
async fn one(shared: &Shared, messages: &mut Streaming<Bytes>) -> Result<Bytes, Status> {
    let request = next(shared, messages).await?;
    let request = request.ok_or_else(|| Status::internal("the call ended without its request"))?;
    // The caller's end of the stream: left unread, the connection would be told to stop it.
    match next(shared, messages).await? {
        None => Ok(request),
        Some(_) => Err(Status::internal("the call has more than one request")),
    }
}

/// What is received, unless the caller's deadline or the server's patience ends before.
async fn in_time<T>(
    shared: &Shared,
    deadline: Option<Instant>,
    receiving: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    let patience = Instant::now() + shared.options.receive_timeout;
    let end = deadline.map_or(patience, |deadline| deadline.min(patience));
    tokio::time::timeout_at(end.into(), receiving).await.unwrap_or_else(|_| {
        Err(Status::deadline_exceeded("the request had not arrived when its time was over"))
    })
}

/// Answers an admitted request, where it holds up nobody. When the caller leaves, that stops it.
pub async fn answer(
    shared: &Arc<Shared>,
    pass: Pass,
    rpc: Rpc,
    request: Bytes,
    deadline: Option<Instant>,
) -> Result<Vec<u8>, Status> {
    let waits = rpc == Rpc::RecordActual;
    if !waits && request.len() <= INLINE_BYTES {
        let call = Call { deadline, ..Call::default() };
        return shared.service.answer(&pass, rpc, request, call).map_err(|e| status(&e));
    }
    let gone = Gone::default();
    let flag = gone.0.clone();
    let place = if waits { None } else { shared.threads.clone().acquire_owned().await.ok() };
    let service = shared.service.clone();
    let work = tokio::task::spawn_blocking(move || {
        let _place = place;
        let call = Call { deadline, cancelled: Some(&flag), ..Call::default() };
        service.answer(&pass, rpc, request, call)
    });
    let answer: Result<Vec<u8>, Refusal> =
        work.await.map_err(|_| Status::internal("the server is ending"))?;
    answer.map_err(|e| status(&e))
}

/// Tells a count on another thread that its caller has left.
#[derive(Default)]
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The bytes of a header.
pub fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a [u8]> {
    headers.get(name).map(HeaderValue::as_bytes)
}
