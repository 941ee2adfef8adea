//! The program `keepnet`, so that one library serves both the package and the command.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs a command line, whose first word is the program, and gives the exit status.
#[pyfunction]
pub fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| keepnet_cli::run(words))
}
