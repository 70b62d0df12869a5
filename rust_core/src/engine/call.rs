//! One call's way through the engine: panics caught, deadline kept, metrics counted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::metrics::Metrics;
use crate::status::{Code, Status};
use crate::wire::ErrorReason;

/// What may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rpc {
    /// Counts a prompt.
    CountMessages,
    /// Counts prompts one by one: each request is answered like a call.
    CountMessagesStream,
    /// Estimates a prompt from what is known.
    EstimateConversation,
    /// Remembers a bill: waits for the disk.
    RecordActual,
}

impl Rpc {
    /// Every one.
    pub const ALL: [Self; 4] = [
        Self::CountMessages,
        Self::CountMessagesStream,
        Self::EstimateConversation,
        Self::RecordActual,
    ];

    /// The service's full name and the method's.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CountMessages => "tokencount.v1.TokenCounterService/CountMessages",
            Self::CountMessagesStream => "tokencount.v1.TokenCounterService/CountMessagesStream",
            Self::EstimateConversation => "tokencount.v1.TokenCounterService/EstimateConversation",
            Self::RecordActual => "tokencount.v1.TokenCounterService/RecordActual",
        }
    }

    /// The one of that full name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rpc| rpc.name() == name)
    }
}

/// Who calls, and how long the answer is worth waiting for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Call<'a> {
    /// The tenant whose prefixes the call may see; empty is a tenant like any other.
    pub tenant: &'a str,
    /// When the caller gives up.
    pub deadline: Option<Instant>,
    /// Set when the caller has gone away.
    pub cancelled: Option<&'a AtomicBool>,
}

impl Call<'_> {
    /// Fails when the call need not go on.
    pub fn checkpoint(&self) -> Result<(), Status> {
        if self.cancelled.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Status::stopped());
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            let message = "the deadline passed before the count was done";
            return Err(Status::new(Code::DeadlineExceeded, ErrorReason::Cancelled, message));
        }
        Ok(())
    }
}

/// Runs the body of an RPC. A panic becomes INTERNAL for this call alone.
pub fn run(
    metrics: &Metrics,
    rpc: Rpc,
    size: usize,
    body: impl FnOnce() -> Result<Vec<u8>, Status>,
) -> Result<Vec<u8>, Status> {
    let started = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        let message = "a defect of the server; the call was not carried out";
        Err(Status::new(Code::Internal, ErrorReason::Internal, message))
    });
    observe(metrics, rpc.name(), size, &result, started.elapsed().as_secs_f64());
    result
}

fn observe(
    metrics: &Metrics,
    method: &str,
    size: usize,
    result: &Result<Vec<u8>, Status>,
    seconds: f64,
) {
    metrics.request_size.add(&[method], size as f64);
    match result {
        Ok(answer) => {
            metrics.duration.add(&["grpc", method, "OK"], seconds);
            metrics.response_size.add(&[method], answer.len() as f64);
        }
        Err(status) => {
            let code = status.code.name();
            if status.code.is_server_fault() {
                metrics.failed_duration.add(&["grpc", method, code, code], seconds);
            } else {
                metrics.duration.add(&["grpc", method, code], seconds);
            }
        }
    }
}
