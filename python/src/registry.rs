//! The methods, as the registry of the engine knows them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Every method with its settings, as JSON.
#[pyfunction]
pub fn methods() -> PyResult<String> {
    serde_json::to_string(keepnet::registry::methods())
        .map_err(|error| PyValueError::new_err(format!("cannot make the table: {error}")))
}
