//! `_core.Service`: the engine behind its gate, for a transport in Python.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::engine::Engine;
use super::metrics::Metric;
use super::{deadline, status_error};
use crate::engine::{Call, Rpc};
use crate::service::{
    self, Access, Caller, FinishedSpan, Limits, Service as Core, Spans, Token, identity,
};

/// The engine as its callers may use it.
#[pyclass(frozen)]
pub struct Service {
    pub core: Arc<Core>,
}

#[pymethods]
impl Service {
    #[new]
    #[pyo3(signature = (engine, *, anonymous=true, max_calls=None, max_message_bytes=None,
        tenant_calls=None, tenant_call_rate=None, tenant_byte_rate=None, trace_ratio=None))]
    #[allow(clippy::too_many_arguments)] // Keyword arguments in Python.
    fn new(
        engine: &Bound<'_, Engine>,
        anonymous: bool,
        max_calls: Option<usize>,
        max_message_bytes: Option<usize>,
        tenant_calls: Option<usize>,
        tenant_call_rate: Option<NonZeroU32>,
        tenant_byte_rate: Option<u64>,
        trace_ratio: Option<f64>,
    ) -> PyResult<Self> {
        let limits = Limits {
            max_calls: max_calls.unwrap_or(usize::MAX),
            max_message_bytes: max_message_bytes.unwrap_or(usize::MAX),
            tenant_calls,
            tenant_call_rate,
            tenant_byte_rate,
        };
        let engine = engine.get().core()?;
        let spans = Spans::new(trace_ratio);
        Ok(Self { core: Arc::new(Core::new(&engine, Access::new(anonymous), limits, spans)) })
    }

    fn set_tokens(&self, tokens: Vec<(String, String, [u8; 32], Option<f64>)>) -> PyResult<()> {
        let read = tokens.into_iter().map(|(tenant, id, sha256, expires)| {
            let expires = expires.map(Duration::try_from_secs_f64).transpose();
            let expires = expires.map_err(|e| PyValueError::new_err(format!("expires: {e}")))?;
            let expires = expires.and_then(|after| UNIX_EPOCH.checked_add(after));
            Ok(Token { tenant, id, sha256, expires })
        });
        self.core.access.set_tokens(read.collect::<PyResult<_>>()?);
        Ok(())
    }

    #[pyo3(signature = (size, authorization=None, certificate=None))]
    fn admit(
        &self,
        py: Python<'_>,
        size: usize,
        authorization: Option<&[u8]>,
        certificate: Option<&[u8]>,
    ) -> PyResult<Pass> {
        let certificate = certificate.and_then(|pem| CertificateDer::from_pem_slice(pem).ok());
        let certificate = certificate.and_then(|der| identity(&der));
        let caller = Caller { authorization, certificate: certificate.as_deref() };
        let admitted =
            self.core.identify(&caller).and_then(|tenant| self.core.admit(&tenant, size));
        let pass = admitted.map_err(|status| status_error(py, &status))?;
        Ok(Pass { core: self.core.clone(), pass: Mutex::new(Some(Arc::new(pass))) })
    }

    fn active(&self) -> usize {
        self.core.active()
    }

    fn metrics(&self) -> Vec<Metric> {
        self.core.metrics().into_iter().map(Metric).collect()
    }

    #[pyo3(signature = (method, traceparent=None))]
    fn begin_span(&self, method: &str, traceparent: Option<&[u8]>) -> PyResult<Option<Span>> {
        let span = self.core.spans.begin(rpc(method)?, traceparent);
        Ok(span.map(|span| {
            let end = span.start;
            Span(FinishedSpan { span, end, code: 0 })
        }))
    }

    #[pyo3(signature = (span, code))]
    fn end_span(&self, span: Option<&Bound<'_, Span>>, code: i32) {
        self.core.spans.end(span.map(|span| span.get().0.span.clone()), code);
    }

    fn take_spans(&self) -> Vec<Span> {
        self.core.spans.take().into_iter().map(Span).collect()
    }
}

/// A request that was let in.
#[pyclass(frozen)]
pub struct Pass {
    core: Arc<Core>,
    pass: Mutex<Option<Arc<service::Pass>>>,
}

#[pymethods]
impl Pass {
    #[pyo3(signature = (method, request, timeout=None))]
    fn answer<'py>(
        &self,
        method: &str,
        request: &Bound<'py, PyBytes>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = request.py();
        let rpc = rpc(method)?;
        let pass = self.pass.lock().clone();
        let pass = pass.ok_or_else(|| PyValueError::new_err("the pass was given back"))?;
        let call = Call { deadline: deadline(timeout), ..Call::default() };
        let bytes = Bytes::copy_from_slice(request.as_bytes());
        let answer = py.detach(|| self.core.answer(&pass, rpc, bytes, call));
        answer.map(|answer| PyBytes::new(py, &answer)).map_err(|status| status_error(py, &status))
    }

    fn leave(&self) {
        self.pass.lock().take();
    }
}

/// A span of a sampled call.
#[pyclass(frozen)]
pub struct Span(FinishedSpan);

#[pymethods]
impl Span {
    #[getter]
    const fn method(&self) -> &'static str {
        self.0.span.rpc.name()
    }

    #[getter]
    const fn trace_id(&self) -> u128 {
        self.0.span.trace
    }

    #[getter]
    const fn parent_id(&self) -> u64 {
        self.0.span.parent
    }

    #[getter]
    const fn span_id(&self) -> u64 {
        self.0.span.id
    }

    #[getter]
    fn start(&self) -> u64 {
        nanoseconds(self.0.span.start)
    }

    #[getter]
    fn end(&self) -> u64 {
        nanoseconds(self.0.end)
    }

    #[getter]
    const fn code(&self) -> i32 {
        self.0.code
    }
}

fn rpc(method: &str) -> PyResult<Rpc> {
    Rpc::by_name(method).ok_or_else(|| PyValueError::new_err("method: is none of the service's"))
}

/// Since the epoch.
fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}
