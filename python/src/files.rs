//! Selections from files, by the path of the command line.

use keepnet::{Error, Result};
use keepnet_run::{Done, Here, Request, select};
use pyo3::prelude::*;

use crate::error::raise;
use crate::request::read;
use crate::work::{self, Caller, Eye};

fn run(request: &Request, caller: &Caller) -> Result<String> {
    match select(request, &Here, &mut Eye(caller))? {
        Done::Selected(outcomes) => crate::request::json(&outcomes),
        Done::Previewed(preview) => Ok(preview.to_string()),
        Done::Elsewhere => Err(Error::Unsupported("another process has the result".into())),
    }
}

/// Selects from files; the JSON result.
#[pyfunction]
#[pyo3(signature = (request, callback))]
pub fn select_files(
    py: Python<'_>,
    request: &str,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mut request = read(request)?;
    // A mapped file that another process shortens would end the interpreter.
    request.input.copied = true;
    let threads = request.run.threads;
    let select = move |caller: &Caller| run(&request, caller);
    work::run(py, threads, callback, select)?.map_err(|error| raise(&error))
}
