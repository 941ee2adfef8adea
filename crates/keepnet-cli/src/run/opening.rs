//! What can end a run while its files are opened: the clock, and a mapped file that shrinks.

use std::time::{Duration, Instant};

use keepnet::{Error, Result};
use keepnet_io::Check;
use signal_hook::consts::SIGBUS;

use super::signals;

/// The least time that files have to open, so that a short `--time` still ends with a result.
const LEAST: Duration = Duration::from_secs(1);

/// Ends the opening of files when the time is over. From then on the run itself looks at the
/// clock, and ends with a result.
pub fn check(start: Instant, limit: Option<Duration>) -> Option<Check> {
    let limit = limit?.max(LEAST);
    Some(Check::new(move || match signals::opening() && start.elapsed() >= limit {
        true => {
            Err(Error::Data("--time was over while files were opened; nothing was selected".into()))
        }
        false => Ok(()),
    }))
}

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
            libc::_exit(i32::from(crate::FAILED));
        }
    };
    // SAFETY: the action calls nothing that a signal handler must not call.
    let watched = unsafe { signal_hook::low_level::register(SIGBUS, answer) };
    watched.map(|_| ()).map_err(|error| Error::io("cannot listen for signals", error))
}
