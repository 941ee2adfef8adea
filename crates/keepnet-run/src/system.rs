//! What the operating system knows of this process.

/// Most memory that was resident so far, in bytes; `None` where the system does not say.
pub fn peak_bytes() -> Option<u64> {
    status("VmHWM:")
}

/// Memory that is resident now, in bytes.
pub fn resident_bytes() -> Option<u64> {
    status("VmRSS:")
}

fn status(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// The command as the user typed it, with quotes where the shell needs them.
pub fn command_line() -> String {
    let words = std::env::args().enumerate().map(|(at, word)| {
        let word = match at {
            0 => word.rsplit('/').next().unwrap_or("keepnet").to_string(),
            _ => word,
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
