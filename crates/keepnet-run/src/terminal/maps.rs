//! The answer to a mapped file that another process shortens.

use keepnet::{Error, Result};
use signal_hook::consts::SIGBUS;

use super::FAILED;

/// What is said of a mapped file that another process shortened.
const SHRUNK: &[u8] =
    b"keepnet: an input file became shorter while it was read; run again when it is complete\n";

/// Answers SIGBUS, which reading a map past the end of its file raises, with one line and exit
/// status 1; call once.
pub fn watch_maps() -> Result<()> {
    let answer = || {
        // SAFETY: `write` and `_exit` are async-signal-safe, and the line is a constant.
        unsafe {
            libc::write(libc::STDERR_FILENO, SHRUNK.as_ptr().cast(), SHRUNK.len());
            libc::_exit(i32::from(FAILED));
        }
    };
    // SAFETY: the action calls nothing that a signal handler must not call.
    let watched = unsafe { signal_hook::low_level::register(SIGBUS, answer) };
    watched.map(|_| ()).map_err(|error| Error::io("cannot listen for signals", error))
}
