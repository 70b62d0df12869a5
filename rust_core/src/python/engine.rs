//! `_core.Engine`: counts, estimates and remembers, over bytes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::RwLock;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::metrics::Metric;
use super::{deadline, status_error};

use crate::bpe::Encoding;
use crate::bulk::{self, Defaults};
use crate::conversation::Format;
use crate::engine::{Call, Engine as Core, Rpc};
use crate::profile::Profiles;
use crate::secret;
use crate::store::{DiskStore, MemoryStore, Store, StoreError, StoreOptions};

/// Counts, estimates and remembers.
#[pyclass(frozen)]
pub struct Engine {
    // Taken out by `close`.
    core: RwLock<Option<Arc<Core>>>,
}

#[pymethods]
// pyo3 hands arguments over by value.
#[allow(clippy::needless_pass_by_value)]
impl Engine {
    #[new]
    #[pyo3(signature = (data_dir=None, *, secret=Vec::new(), profiles=None, profiles_dir="",
        store_bytes=1 << 30, tenant_store_bytes=None, time_to_live=604_800.0, cache_bytes=64 << 20))]
    #[allow(clippy::too_many_arguments)] // Keywords to Python.
    fn new(
        py: Python<'_>,
        data_dir: Option<&str>,
        secret: Vec<u8>,
        profiles: Option<&str>,
        profiles_dir: &str,
        store_bytes: u64,
        tenant_store_bytes: Option<u64>,
        time_to_live: f64,
        cache_bytes: usize,
    ) -> PyResult<Self> {
        let time_to_live = Duration::try_from_secs_f64(time_to_live)
            .map_err(|error| PyValueError::new_err(format!("time_to_live: {error}")))?;
        let options = StoreOptions {
            owner_bytes: tenant_store_bytes,
            ..StoreOptions::new(store_bytes, time_to_live)
        };
        py.detach(|| {
            Encoding::preload();
            let profiles = Profiles::load(profiles, Path::new(profiles_dir))
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
            let (store, key) = open(data_dir.map(Path::new), options, &secret)?;
            let core = Core::new(key, profiles, store, cache_bytes);
            Ok(Self { core: RwLock::new(Some(Arc::new(core))) })
        })
    }

    #[pyo3(signature = (request, tenant="", timeout=None))]
    fn count_messages<'py>(
        &self,
        request: &Bound<'py, PyBytes>,
        tenant: &str,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.call(Rpc::CountMessages, request, tenant, timeout)
    }

    #[pyo3(signature = (request, tenant="", timeout=None))]
    fn estimate_conversation<'py>(
        &self,
        request: &Bound<'py, PyBytes>,
        tenant: &str,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.call(Rpc::EstimateConversation, request, tenant, timeout)
    }

    #[pyo3(signature = (request, tenant="", timeout=None))]
    fn record_actual<'py>(
        &self,
        request: &Bound<'py, PyBytes>,
        tenant: &str,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.call(Rpc::RecordActual, request, tenant, timeout)
    }

    fn count_lines<'py>(
        &self,
        py: Python<'py>,
        lines: Vec<Bound<'py, PyBytes>>,
        defaults: &Bound<'py, PyDict>,
    ) -> PyResult<Vec<(Bound<'py, PyBytes>, bool)>> {
        let core = self.core()?;
        let default = |key: &str| -> PyResult<String> {
            defaults.get_item(key)?.map_or_else(|| Ok(String::new()), |value| value.extract())
        };
        let defaults = Defaults {
            format: default("format")?,
            model: default("model")?,
            encoding: default("encoding")?,
        };
        let lines: Vec<&[u8]> = lines.iter().map(PyBytesMethods::as_bytes).collect();
        let answers: Vec<(Vec<u8>, bool)> = py
            .detach(|| lines.into_iter().map(|line| bulk::line(&core, line, &defaults)).collect());
        Ok(answers.into_iter().map(|(line, ok)| (PyBytes::new(py, &line), ok)).collect())
    }

    #[staticmethod]
    fn detect_format(body: &[u8]) -> &'static str {
        let body = serde_json::from_slice(body).ok();
        body.and_then(|body| Format::detect(&body)).map_or("", Format::bulk_name)
    }

    fn profiles<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let core = self.core()?;
        let rows = core.profiles().all().map(|profile| {
            let row = PyDict::new(py);
            row.set_item("name", &profile.name)?;
            row.set_item("family", &profile.family)?;
            row.set_item("encoding", profile.vocabulary.name())?;
            row.set_item("window", profile.window)?;
            row.set_item("format", profile.format.bulk_name())?;
            let accuracy =
                profile.accuracy.map(|a| (a.rows, a.exact_share, a.median_error, a.p95_error));
            row.set_item("accuracy", accuracy)?;
            Ok(row)
        });
        rows.collect()
    }

    fn encodings(&self) -> PyResult<Vec<String>> {
        let core = self.core()?;
        Ok(core.profiles().vocabularies().into_iter().map(str::to_owned).collect())
    }

    /// Calls `hook` with the method and the request's size at the start of each call's work; when
    /// it raises, the work panics. For tests of what can't be had otherwise.
    fn set_hook(&self, hook: Py<PyAny>) -> PyResult<()> {
        self.core()?.set_hook(Box::new(move |rpc, size| {
            let called = Python::attach(|py| hook.call1(py, (rpc.name(), size)).map(drop));
            called.expect("the hook of a test has not raised");
        }));
        Ok(())
    }

    fn metrics(&self) -> PyResult<Vec<Metric>> {
        Ok(self.core()?.metrics().into_iter().map(Metric).collect())
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let core = self.core()?;
        py.detach(|| core.flush()).map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// Calls that are in flight keep the store open until they have ended.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let Some(core) = self.core.write().take() else { return Ok(()) };
        py.detach(|| core.flush()).map_err(|error| PyOSError::new_err(error.to_string()))
    }
}

impl Engine {
    /// The open engine. Raises `RuntimeError` after `close`.
    pub fn core(&self) -> PyResult<Arc<Core>> {
        let core = self.core.read().clone();
        core.ok_or_else(|| PyRuntimeError::new_err("the engine is closed"))
    }

    fn call<'py>(
        &self,
        rpc: Rpc,
        request: &Bound<'py, PyBytes>,
        tenant: &str,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = request.py();
        let core = self.core()?;
        let deadline = deadline(timeout);
        let bytes = Bytes::copy_from_slice(request.as_bytes());
        let answer =
            py.detach(|| core.answer(rpc, bytes, &Call { tenant, deadline, cancelled: None }));
        answer.map(|answer| PyBytes::new(py, &answer)).map_err(|status| status_error(py, &status))
    }
}

/// Opens the store, and takes the secret that keys its digests: the one given, or else one that is
/// kept beside the data.
fn open(
    data_dir: Option<&Path>,
    options: StoreOptions,
    secret: &[u8],
) -> PyResult<(Arc<dyn Store>, [u8; 32])> {
    let failed = |error: &dyn std::fmt::Display| PyOSError::new_err(error.to_string());
    let key = (!secret.is_empty()).then(|| secret::from_bytes(secret));
    let Some(directory) = data_dir else {
        let key = key.map_or_else(secret::random, Ok).map_err(|error| failed(&error))?;
        return Ok((Arc::new(MemoryStore::new(options)), key));
    };
    let store = DiskStore::open(directory, options).map_err(|error: StoreError| failed(&error))?;
    let key = key.map_or_else(|| secret::kept_in(directory), Ok).map_err(|error| failed(&error))?;
    Ok((Arc::new(store), key))
}
