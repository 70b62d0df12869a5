//! `_core.Metric`: what happened since the start, for telemetry.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::metrics::Snapshot;

/// Attributes, value and buckets of a metric's point.
type Point<'py> = (Bound<'py, PyDict>, f64, Vec<u64>);

/// One instrument and its points.
#[pyclass(frozen)]
pub struct Metric(pub Snapshot);

#[pymethods]
impl Metric {
    #[getter]
    const fn name(&self) -> &'static str {
        self.0.name
    }

    #[getter]
    const fn description(&self) -> &'static str {
        self.0.description
    }

    #[getter]
    const fn unit(&self) -> &'static str {
        self.0.unit
    }

    #[getter]
    const fn kind(&self) -> &'static str {
        self.0.kind
    }

    #[getter]
    fn boundaries(&self) -> Vec<f64> {
        self.0.boundaries.to_vec()
    }

    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Vec<Point<'py>>> {
        let points = self.0.points.iter().map(|point| {
            let attributes = PyDict::new(py);
            for (name, value) in &point.attributes {
                attributes.set_item(name, value)?;
            }
            Ok((attributes, point.value, point.buckets.clone()))
        });
        points.collect()
    }
}
