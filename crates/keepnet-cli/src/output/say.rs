//! What reaches the terminal: never a panic, and no control character of somebody's data.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write};

use keepnet::{Error, Result};

/// Where an error of standard output is told from one of a file.
const STDOUT: &str = "cannot write to standard output";

/// Text with its control characters written out, as in `\n` or `\u{1b}`: a name from a file must
/// not move the cursor, colour the screen or begin a line that looks like ours.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // Line and paragraph separators, and marks that turn the direction of writing.
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                let _ = write!(out, "{}", c.escape_unicode());
            }
            c if c.is_control() => {
                let _ = write!(out, "{}", c.escape_default());
            }
            c => out.push(c),
        }
    }
    out
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out_and_letters_stay() {
        assert_eq!(visible("a\u{1b}[31mb\nc\t\r"), "a\\u{1b}[31mb\\nc\\t\\r");
        assert_eq!(visible("\u{9b}2J\u{7f}\u{202e}"), "\\u{9b}2J\\u{7f}\\u{202e}");
        assert_eq!(visible("Größe 温度 'x' \\ \"y\""), "Größe 温度 'x' \\ \"y\"");
    }
}
