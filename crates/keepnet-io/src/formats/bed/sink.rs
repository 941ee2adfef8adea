//! Writing: a triple of files, which the writer of one file cannot make.

use keepnet::{Error, Result};

use crate::sink::{Field, Output, Sink};

/// One file is not a triple; `--reduced` of a selection of variants writes all three another way.
pub(super) fn refuse(_: Output, _: usize, _: &[Field]) -> Result<Box<dyn Sink>> {
    Err(Error::Unsupported(
        "a table of numbers cannot be written as .bed; choose another extension".into(),
    ))
}
