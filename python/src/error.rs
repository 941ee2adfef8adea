//! The engine's errors as Python's: the same message. Those of reading files name flags of the
//! command line, which are arguments here.

use std::io::ErrorKind;

use keepnet::Error;
use pyo3::exceptions::{
    PyFileNotFoundError, PyMemoryError, PyOSError, PyPermissionError, PyValueError,
};
use pyo3::prelude::*;

/// A message without the dashes of flags, which are arguments here.
fn text(error: &Error) -> String {
    let said = error.to_string();
    let mut out = String::with_capacity(said.len());
    let mut rest = said.as_str();
    while let Some(at) = rest.find("--") {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        rest = &after[2..];
        let word = before.is_empty() || before.ends_with([' ', '(', '`']);
        if !word || !rest.starts_with(|c: char| c.is_ascii_lowercase()) {
            out.push_str("--");
        }
    }
    out + rest
}

/// The Python exception that an error is.
pub fn raise(error: &Error) -> PyErr {
    let said = text(error);
    match error.root() {
        Error::Budget { .. } => PyMemoryError::new_err(said),
        Error::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(said),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(said),
            _ => PyOSError::new_err(said),
        },
        _ => PyValueError::new_err(said),
    }
}
