//! What a run writes: result, reduced table, decisions, the table at the end.

pub mod atomic;
pub mod csv;
pub mod decisions;
pub mod journal;
pub mod reduced;
pub mod report;
pub mod table;

use std::io::Write;

use keepnet::{Error, Result};

/// Prints to standard output; a reader that has gone away is no error.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("cannot write to standard output", error))
        }
        _ => Ok(()),
    }
}
