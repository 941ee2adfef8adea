//! What reaches the terminal: never a panic, and no control character of somebody's data.

use std::io::{ErrorKind, Write};

use keepnet::{Error, Result};

use crate::outputs::STDOUT;
use crate::text::visible;

/// Text on standard error as it is. Nobody's result depends on what is said there, so a closed
/// pipe or a full disk is ignored.
pub fn aside(text: &str) {
    // One write, so that lines of several processes stay whole.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// One line on standard error, after the program's name.
pub fn say(line: &str) {
    aside(&format!("keepnet: {}\n", visible(line)));
}

/// A warning on standard error.
pub fn warn(warning: &str) {
    say(&format!("warning: {warning}"));
}

/// Prints to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::io(STDOUT, error))
}

/// Whether the reader of standard output went away: the run failed, but there is nobody to tell,
/// as with `| head`.
#[must_use]
pub fn nobody_reads(error: &Error) -> bool {
    match error.root() {
        Error::Io { context, source } => {
            context == STDOUT && source.kind() == ErrorKind::BrokenPipe
        }
        _ => false,
    }
}
