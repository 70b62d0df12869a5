//! One call with one request and one answer.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response};
use hyper::body::Incoming;
use tonic::body::Body;
use tonic::{Code, Status};

use super::Shared;
use super::message::{self, status};
use super::receive::{Received, Requests};
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
    let mut requests = Requests::new(shared, &parts.headers, body)?;
    let request = in_time(shared, deadline, requests.only(shared)).await?;
    let pass = shared.service.admit(&tenant, request.bytes.len()).map_err(|e| status(&e))?;
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
    request: Received,
    deadline: Option<Instant>,
) -> Result<Vec<u8>, Status> {
    let waits = rpc == Rpc::RecordActual;
    if !waits && request.bytes.len() <= INLINE_BYTES {
        let call = Call { deadline, ..Call::default() };
        return shared.service.answer(&pass, rpc, request.bytes, call).map_err(|e| status(&e));
    }
    let gone = Gone::default();
    let flag = gone.0.clone();
    let place = if waits { None } else { shared.threads.clone().acquire_owned().await.ok() };
    let service = shared.service.clone();
    let work = tokio::task::spawn_blocking(move || {
        let (_place, _room) = (place, request.room);
        let call = Call { deadline, cancelled: Some(&flag), ..Call::default() };
        service.answer(&pass, rpc, request.bytes, call)
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
