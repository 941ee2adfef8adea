//! All that differs between operating systems: positioned reads and writes, the identity of a
//! file, memory figures, advice on mapped pages, the rights of new files.
//!
//! `unix` has what a Unix offers and `plain` what the standard library offers everywhere. Tests
//! run both on a Unix; elsewhere only `plain` is compiled. Signals, the only other thing that is
//! not the same everywhere, are in `keepnet-run`'s `terminal`.

#[cfg(any(not(unix), test))]
mod plain;
#[cfg(unix)]
#[allow(unsafe_code)]
mod unix;

use std::fs::File;
use std::path::Path;

use sysinfo::{MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, System};

#[cfg(not(unix))]
use plain as here;
#[cfg(unix)]
use unix as here;

pub use here::{Identity, peak_bytes, read_exact_at, usual_rights, write_all_at};
pub(crate) use here::{address_space, ask_for, release};

/// What a regular file is, whatever its path; `None` where there is none.
#[must_use]
pub fn identity(path: &Path) -> Option<Identity> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    here::identity(path)
}

/// Whether a path still leads to an open file.
#[must_use]
pub fn still_there(file: &File, path: &Path) -> bool {
    here::still_there(file, path)
}

/// Memory of this process that is resident now, in bytes; `None` where the system does not say.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    let me = sysinfo::get_current_pid().ok()?;
    let mut system = System::new();
    let which = ProcessesToUpdate::Some(&[me]);
    system.refresh_processes_specifics(which, false, ProcessRefreshKind::nothing().with_memory());
    Some(system.process(me)?.memory()).filter(|bytes| *bytes > 0)
}

/// Memory of the machine, or of the control group where that is less; `None` where the system
/// does not say.
pub(crate) fn machine_bytes() -> Option<u64> {
    let mut system = System::new();
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let group = system.cgroup_limits().map(|limits| limits.total_memory);
    [Some(system.total_memory()), group].into_iter().flatten().filter(|bytes| *bytes > 0).min()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, SeekFrom};

    use super::*;

    /// One test over both halves, as a macro: they are modules and not types.
    macro_rules! both {
        ($($name:ident)*) => { $(
            mod $name {
                use super::*;
                use crate::platform::$name as half;

                #[test]
                fn reads_and_writes_anywhere_and_leave_the_cursor() {
                    let mut file = tempfile::tempfile().unwrap();
                    half::write_all_at(&file, b"0123456789", 0).unwrap();
                    half::write_all_at(&file, b"xy", 4).unwrap();
                    file.seek(SeekFrom::Start(8)).unwrap();
                    let mut two = [0; 2];
                    half::read_exact_at(&file, &mut two, 3).unwrap();
                    assert_eq!(&two, b"3x");
                    let mut rest = String::new();
                    file.read_to_string(&mut rest).unwrap();
                    assert_eq!(rest, "89");
                    let short = half::read_exact_at(&file, &mut two, 9).unwrap_err();
                    assert_eq!(short.kind(), std::io::ErrorKind::UnexpectedEof);
                }

                #[test]
                fn threads_read_one_file_at_once() {
                    let file = tempfile::tempfile().unwrap();
                    let all: Vec<u8> = (0..=255).cycle().take(1 << 16).collect();
                    half::write_all_at(&file, &all, 0).unwrap();
                    std::thread::scope(|scope| {
                        for thread in 0..4 {
                            let (file, all) = (&file, &all);
                            scope.spawn(move || {
                                for at in (thread..60_000).step_by(997) {
                                    let mut some = vec![0; 100];
                                    half::read_exact_at(file, &mut some, at as u64).unwrap();
                                    assert_eq!(some, all[at..at + 100]);
                                }
                            });
                        }
                    });
                }

                #[test]
                fn a_file_is_known_by_every_path() {
                    let folder = tempfile::tempdir().unwrap();
                    let at = |name: &str| folder.path().join(name);
                    std::fs::write(at("a"), "1").unwrap();
                    std::fs::write(at("b"), "1").unwrap();
                    let round = folder.path().join(".").join("a");
                    assert!(half::identity(&at("a")).is_some());
                    assert_eq!(half::identity(&at("a")), half::identity(&round));
                    assert_ne!(half::identity(&at("a")), half::identity(&at("b")));
                    assert_eq!(half::identity(&at("none")), None);
                }

                #[test]
                fn a_file_that_was_removed_is_not_there() {
                    let folder = tempfile::tempdir().unwrap();
                    let path = folder.path().join("a");
                    std::fs::write(&path, "1").unwrap();
                    let file = File::open(&path).unwrap();
                    assert!(half::still_there(&file, &path));
                    std::fs::remove_file(&path).unwrap();
                    assert!(!half::still_there(&file, &path));
                }

                #[test]
                fn a_new_file_can_be_read_by_its_owner() {
                    let folder = tempfile::tempdir().unwrap();
                    let mut builder = tempfile::Builder::new();
                    let file = half::usual_rights(&mut builder).tempfile_in(&folder).unwrap();
                    std::fs::write(file.path(), "1").unwrap();
                    assert_eq!(std::fs::read(file.path()).unwrap(), b"1");
                }

                #[test]
                fn advice_changes_no_byte() {
                    let file = tempfile::tempfile().unwrap();
                    let all: Vec<u8> = (0..=255).cycle().take(1 << 15).collect();
                    half::write_all_at(&file, &all, 0).unwrap();
                    // SAFETY: nobody else has the file.
                    #[allow(unsafe_code)]
                    let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
                    half::ask_for(&map, &[(100, 9000)]);
                    half::ask_for(&map, &[(0, 10), (20_000, 1 << 15)]);
                    half::release(&map, 100, 9000);
                    assert_eq!(&map[..], all);
                }
            }
        )* };
    }

    #[cfg(unix)]
    both! { plain unix }
    #[cfg(not(unix))]
    both! { plain }

    #[test]
    fn memory_figures_are_those_of_a_process_on_a_machine() {
        let machine = machine_bytes().unwrap();
        let resident = resident_bytes().unwrap();
        assert!((1 << 20..machine).contains(&resident), "{resident} of {machine}");
        let held = vec![1_u8; 64 << 20];
        let more = resident_bytes().unwrap();
        assert!(more > resident + (48 << 20), "{resident}, then {more}");
        if let Some(peak) = peak_bytes() {
            assert!(peak >= more, "{peak}, {more}");
        }
        drop(held);
        assert_eq!(crate::platform::plain::peak_bytes(), None);
        assert_eq!(crate::platform::plain::address_space(), None);
    }
}
