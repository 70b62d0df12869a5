//! `_core.Server`: the native transport, started and drained from Python.

use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use super::service::Service;
use crate::transport::{Options, Server as Core, Tls};

/// Certificate, private key, the clients' CA, and whether a client must have a certificate.
type Pem = (Vec<u8>, Vec<u8>, Option<Vec<u8>>, bool);

/// A gRPC server that needs no interpreter.
#[pyclass(frozen)]
pub struct Server {
    core: Arc<Core>,
}

#[pymethods]
impl Server {
    #[new]
    #[pyo3(signature = (service, listen, *, threads, max_connections, connection_age, keepalive,
        receive_timeout, grace_period, drain_delay, tls=None))]
    #[allow(clippy::too_many_arguments)] // Keyword arguments in Python.
    fn new(
        py: Python<'_>,
        service: &Bound<'_, Service>,
        listen: &str,
        threads: usize,
        max_connections: usize,
        connection_age: f64,
        keepalive: f64,
        receive_timeout: f64,
        grace_period: f64,
        drain_delay: f64,
        tls: Option<Pem>,
    ) -> PyResult<Self> {
        let options = Options {
            threads,
            max_connections,
            connection_age: seconds(connection_age)?,
            keepalive: seconds(keepalive)?,
            receive_timeout: seconds(receive_timeout)?,
            grace_period: seconds(grace_period)?,
            drain_delay: seconds(drain_delay)?,
        };
        let tls = tls.map(read).transpose()?;
        let service = service.get().core.clone();
        let started = py.detach(|| Core::start(service, listen, options, tls));
        let core = started.map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(Self { core: Arc::new(core) })
    }

    #[getter]
    fn port(&self) -> u16 {
        self.core.address().port()
    }

    fn set_tls(&self, tls: Pem) -> PyResult<()> {
        self.core.set_tls(read(tls)?);
        Ok(())
    }

    fn drain(&self, py: Python<'_>) -> usize {
        py.detach(|| self.core.drain())
    }
}

fn read((certificate, key, client_ca, required): Pem) -> PyResult<Tls> {
    Tls::new(&certificate, &key, client_ca.as_deref(), required)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

fn seconds(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))
}
