//! How much memory the machine lets this process have.

use std::fs;

/// Where neither the kernel nor the user says, a table of up to this size stays in memory.
const UNKNOWN: u64 = 4 << 30;

/// A quarter of the machine's memory, or of the control group's limit where that is less.
pub(crate) fn default_limit() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|text| text.trim().parse::<u64>().ok());
    machine.into_iter().chain(group).min().unwrap_or(UNKNOWN) / 4
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.starts_with("MemTotal:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_in_kibibytes() {
        assert_eq!(total("MemFree: 1 kB\nMemTotal:    2048 kB\n"), None.or(Some(2 << 20)));
        assert_eq!(total("nothing"), None);
    }
}
