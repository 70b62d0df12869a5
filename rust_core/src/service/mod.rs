//! What stands between a transport and the engine: who calls, and may they, now?
//!
//! A transport identifies its caller, has each request admitted, and has it answered. Whatever the
//! transport, the rules are these.

mod access;
mod certificate;
mod limits;
mod spans;

use std::sync::{Arc, Weak};

use bytes::Bytes;

pub use access::{Access, Caller, Token};
pub use certificate::identity;
pub use limits::{Limits, Pass, Tenant};
pub use spans::{FinishedSpan, Span, Spans};

use crate::engine::{Call, Engine, Rpc};
use crate::metrics::Snapshot;
use crate::status::{Code, Status};
use crate::wire::ErrorReason;
use limits::Gate;

/// The engine as its callers may use it.
pub struct Service {
    // Whoever opened the engine closes it, also under a service that is still mounted somewhere.
    engine: Weak<Engine>,
    /// Who may call.
    pub access: Access,
    /// Sampled calls, for tracing.
    pub spans: Spans,
    gate: Gate,
}

impl Service {
    /// The engine behind a gate.
    #[must_use]
    pub fn new(engine: &Arc<Engine>, access: Access, limits: Limits, spans: Spans) -> Self {
        Self { engine: Arc::downgrade(engine), access, spans, gate: Gate::new(limits) }
    }

    /// The tenant of a caller. `UNAUTHENTICATED` does not say what was wrong.
    pub fn identify(&self, caller: &Caller<'_>) -> Result<Arc<Tenant>, Status> {
        let name = self.access.tenant_of(caller)?;
        Ok(self.gate.tenant(&name))
    }

    /// Lets a request of `size` bytes in, or says at once why not. It counts as in flight until
    /// the pass is dropped.
    pub fn admit(&self, tenant: &Arc<Tenant>, size: usize) -> Result<Pass, Status> {
        self.gate.admit(tenant, size)
    }

    /// Answers an admitted request; see [`Engine::answer`].
    pub fn answer(
        &self,
        pass: &Pass,
        rpc: Rpc,
        request: Bytes,
        call: Call<'_>,
    ) -> Result<Vec<u8>, Status> {
        let engine = self.engine.upgrade().ok_or_else(|| {
            Status::new(Code::Unavailable, ErrorReason::Internal, "the engine is closed")
        })?;
        engine.answer(rpc, request, &Call { tenant: pass.tenant(), ..call })
    }

    /// The status of a request with more bytes than are taken. `size` is `None` where it was given
    /// up before its end.
    #[must_use]
    pub fn too_large(&self, size: Option<usize>) -> Status {
        self.gate.too_large(size)
    }

    /// Size of the largest request that is taken, in bytes.
    #[must_use]
    pub const fn max_message_bytes(&self) -> usize {
        self.gate.limits().max_message_bytes
    }

    /// How many calls are in flight.
    #[must_use]
    pub fn active(&self) -> usize {
        self.gate.active()
    }

    /// Calls in flight and calls refused.
    #[must_use]
    pub fn metrics(&self) -> Vec<Snapshot> {
        self.gate.metrics()
    }
}
