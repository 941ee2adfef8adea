//! Temporary files of outputs: how they are made, and what killed runs left of them.
//!
//! A temporary file is named `.keepnet-PROCESS-RANDOM.tmp` and locked while it is in use. One
//! whose lock is free belongs to a process that is gone. Where the file system has no locks,
//! nothing is ever taken for left over.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::path::Path;

use keepnet_io::platform::{still_there, usual_rights};
use tempfile::{Builder, TempPath};

/// How often another process may take a new file for left over before we give up.
const TRIES: usize = 100;
const RANDOM: usize = 6;

/// Makes a temporary file and locks it.
pub fn create(directory: &Path) -> std::io::Result<(File, TempPath)> {
    for _ in 0..TRIES {
        let prefix = format!(".keepnet-{}-", std::process::id());
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".tmp").rand_bytes(RANDOM);
        let made = usual_rights(&mut builder).tempfile_in(directory);
        let (file, path) = made.map_err(plain)?.into_parts();
        match file.try_lock() {
            // Between making and locking it, a run that starts here may have swept it away.
            Ok(()) if still_there(&file, &path) => return Ok((file, path)),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(_)) => return Ok((file, path)),
        }
    }
    Err(std::io::Error::other("temporary files disappear as soon as they are made"))
}

/// Removes the temporary files in a directory that no process holds.
pub fn sweep(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        if !ours(&entry.file_name()) || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = File::options().write(true).open(&path) else { continue };
        if file.try_lock().is_ok() && still_there(&file, &path) {
            // Somebody else may have been quicker.
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// `.keepnet-`, digits, `-`, six letters or digits, `.tmp`.
fn ours(name: &OsStr) -> bool {
    let middle =
        name.to_str().and_then(|name| name.strip_prefix(".keepnet-")?.strip_suffix(".tmp"));
    let Some((process, random)) = middle.and_then(|middle| middle.split_once('-')) else {
        return false;
    };
    !process.is_empty()
        && process.bytes().all(|b| b.is_ascii_digit())
        && random.len() == RANDOM
        && random.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// The name of the temporary file says nothing to the user.
fn plain(error: std::io::Error) -> std::io::Error {
    let text = error.to_string();
    std::io::Error::new(error.kind(), text.split(" at path").next().unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_process_holds_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (file, path) = create(folder.path()).unwrap();
        let held = path.file_name().unwrap().to_str().unwrap().to_string();
        let others = [".keepnet-notes.tmp", ".keepnet-1-abc.tmp", ".tmpabcdef", "a.tmp"];
        for name in [".keepnet-4194303-aB3xyz.tmp", ".keepnet-1-zzzzzz.tmp"].iter().chain(&others) {
            std::fs::write(at(name), "x").unwrap();
        }
        let names = || {
            let mut names: Vec<String> = std::fs::read_dir(folder.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        sweep(folder.path());
        let mut left: Vec<String> = others.iter().map(|name| (*name).to_string()).collect();
        left.push(held.clone());
        left.sort();
        assert_eq!(names(), left);
        // Let go without being removed, as by a kill, it is swept as well.
        path.keep().unwrap();
        drop(file);
        sweep(folder.path());
        assert!(!names().contains(&held));
    }
}
