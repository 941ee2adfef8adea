//! What the operating system knows of this process.

use std::ffi::OsString;
use std::sync::OnceLock;

pub use keepnet_io::platform::{peak_bytes, resident_bytes};

static CALLED_AS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Says which words the command has where they are not those of the process, as in a process of
/// Python; the first call counts.
pub fn called_as(words: Vec<OsString>) {
    let _ = CALLED_AS.set(words);
}

/// The command as the user typed it, with quotes where the shell needs them.
pub fn command_line() -> String {
    let words = CALLED_AS.get_or_init(|| std::env::args_os().collect());
    let words = words.iter().enumerate().map(|(at, word)| {
        let word = word.to_string_lossy();
        let word = match at {
            0 => word.rsplit('/').next().unwrap_or("keepnet").to_string(),
            _ => word.into_owned(),
        };
        let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Runs `work` on a pool of `threads`, all cores where none is named.
pub fn with_threads<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> keepnet::Result<T> + Send,
) -> keepnet::Result<T> {
    if threads == Some(0) {
        return Err(keepnet::Error::param("threads", 0, "at least 1"));
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|error| keepnet::Error::Unsupported(format!("cannot start threads: {error}")))?;
    pool.install(work)
}
