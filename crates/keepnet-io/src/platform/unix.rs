//! What a Unix offers; where Linux alone has a figure, others do not say.

use std::fs::{File, Metadata, Permissions};
use std::io::Result;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

use memmap2::{Advice, Mmap, UncheckedAdvice};

/// Fills `bytes` from the file's byte `at` on; the file's cursor stays where it is.
pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> Result<()> {
    file.read_exact_at(bytes, at)
}

/// Writes `bytes` from the file's byte `at` on; the file's cursor stays where it is.
pub fn write_all_at(file: &File, bytes: &[u8], at: u64) -> Result<()> {
    file.write_all_at(bytes, at)
}

/// The file system of a file and its number there.
pub type Identity = (u64, u64);

fn place(found: &Metadata) -> Identity {
    (found.dev(), found.ino())
}

pub fn identity(path: &Path) -> Option<Identity> {
    std::fs::metadata(path).ok().as_ref().map(place)
}

pub fn still_there(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(named)) => place(&open) == place(&named),
        _ => false,
    }
}

/// Most memory of this process that was resident so far, in bytes; `None` where the system does
/// not say.
#[must_use]
pub fn peak_bytes() -> Option<u64> {
    // No crate that we use has it, and `getrusage` counts what ran before in this process.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// The limit on this process's address space, as `ulimit -v` sets it.
pub fn address_space() -> Option<u64> {
    space(&std::fs::read_to_string("/proc/self/limits").ok()?)
}

fn space(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Asks for the pages of `runs` at once, not a fault at a time, and for as many again ahead of a
/// single one. All of this is advice: where the kernel refuses it, pages come a fault at a time.
pub fn ask_for(map: &Mmap, runs: &[(usize, usize)]) {
    if let [(start, end)] = runs[..] {
        let ahead = (end - start).min(map.len() - end);
        let _ = map.advise_range(Advice::WillNeed, end, ahead);
    }
    #[cfg(target_os = "linux")]
    for (start, end) in runs {
        let _ = map.advise_range(Advice::PopulateRead, *start, end - start);
    }
}

/// Lets pages go that were read: mapped pages count as resident memory.
pub fn release(map: &Mmap, start: usize, end: usize) {
    // SAFETY: a shared read-only map of a file: pages that are dropped are read again when they
    // are touched again, with the same contents.
    let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, end - start) };
}

/// The usual rights of a new file; the umask takes its share.
pub fn usual_rights<'a, 'b>(
    builder: &'a mut tempfile::Builder<'b, 'b>,
) -> &'a mut tempfile::Builder<'b, 'b> {
    builder.permissions(Permissions::from_mode(0o666))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_on_the_address_space_is_read_in_bytes() {
        let limits = "Max cpu time 1 2 s\nMax address space   6000   7000  bytes\n";
        assert_eq!(space(limits), Some(6000));
        assert_eq!(space("Max address space   unlimited   unlimited  bytes\n"), None);
    }
}
