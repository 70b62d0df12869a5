//! The Python boundary: `tokencountd._core`. Nothing else names pyo3.

mod engine;
mod metrics;
mod server;
mod service;

use std::time::{Duration, Instant};

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::status::Status;

/// A call makes some hundred small allocations; this allocator takes a third of the C library's time
/// for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

create_exception!(_core, StatusError, PyException, "A call failed.");

fn status_error(py: Python<'_>, status: &Status) -> PyErr {
    let error = StatusError::new_err(status.to_string());
    let value = error.value(py);
    let details = PyBytes::new(py, &status.details());
    let set = || -> PyResult<()> {
        value.setattr("code", status.code as i32)?;
        value.setattr("reason", status.reason_name())?;
        value.setattr("field", &status.field)?;
        value.setattr("details", details)
    };
    set().err().unwrap_or(error)
}

/// The moment that is so many seconds from now. A time beyond what a clock can hold is none.
fn deadline(timeout: Option<f64>) -> Option<Instant> {
    let wait = Duration::try_from_secs_f64(timeout?.max(0.0)).ok()?;
    Instant::now().checked_add(wait)
}

#[pyfunction]
const fn protocol_version() -> &'static str {
    "tokencount.v1"
}

/// A panic's message may quote a prompt: only the place is reported.
fn hush_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if let Some(place) = panic.location() {
            eprintln!("tokencountd: a defect at {}:{}", place.file(), place.line());
        }
    }));
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    hush_panics();
    module.add_class::<engine::Engine>()?;
    module.add_class::<metrics::Metric>()?;
    module.add_class::<server::Server>()?;
    module.add_class::<service::Pass>()?;
    module.add_class::<service::Service>()?;
    module.add_class::<service::Span>()?;
    module.add("StatusError", module.py().get_type::<StatusError>())?;
    module.add_function(wrap_pyfunction!(protocol_version, module)?)
}
