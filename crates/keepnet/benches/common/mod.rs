//! The clock of the benchmarks.

use std::sync::LazyLock;
use std::time::Instant;

static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Seconds on a processor of this thread where the system tells, else seconds gone by: other
/// work on the machine should not count. It is told every few milliseconds, so a measurement must
/// be much longer.
pub fn clock() -> f64 {
    let read = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = read.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanos.map_or_else(|| EPOCH.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}
