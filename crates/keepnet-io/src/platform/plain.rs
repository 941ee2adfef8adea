//! What the standard library offers on every system.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;

// A file has one cursor for all threads, so one read or write at a time.
static CURSOR: Mutex<()> = Mutex::new(());

/// Fills `bytes` from the file's byte `at` on; the file's cursor stays where it is.
pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> Result<()> {
    there_and_back(file, at, |mut file| file.read_exact(bytes))
}

/// Writes `bytes` from the file's byte `at` on; the file's cursor stays where it is.
pub fn write_all_at(file: &File, bytes: &[u8], at: u64) -> Result<()> {
    there_and_back(file, at, |mut file| file.write_all(bytes))
}

fn there_and_back(mut file: &File, at: u64, work: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    let _alone = CURSOR.lock().unwrap_or_else(PoisonError::into_inner);
    let before = file.stream_position()?;
    file.seek(SeekFrom::Start(at))?;
    let done = work(file);
    file.seek(SeekFrom::Start(before))?;
    done
}

/// A file's path without links. A second name of a file by a hard link is another file here.
pub type Identity = PathBuf;

pub fn identity(path: &Path) -> Option<Identity> {
    path.canonicalize().ok()
}

/// Whether the path leads to a file. Where this is used the file is open and locked, and such a
/// file cannot be replaced under its name.
pub fn still_there(_: &File, path: &Path) -> bool {
    path.exists()
}

/// The most memory that was resident is not known.
pub fn peak_bytes() -> Option<u64> {
    None
}

/// A limit on the address space is not known.
pub fn address_space() -> Option<u64> {
    None
}

/// Pages come when they are touched.
pub fn ask_for(_: &Mmap, _: &[(usize, usize)]) {}

/// Pages go when the system needs the room.
pub fn release(_: &Mmap, _: usize, _: usize) {}

/// New files have the rights that the system gives them.
pub fn usual_rights<'a, 'b>(
    builder: &'a mut tempfile::Builder<'b, 'b>,
) -> &'a mut tempfile::Builder<'b, 'b> {
    builder
}
