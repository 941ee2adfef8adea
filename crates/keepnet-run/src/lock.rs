//! One run at a time for each checkpoint.
//!
//! A file `.NAME.lock` beside the checkpoint is locked while the run lasts and says which process
//! it is. The lock ends with the process, so that of a killed run is in nobody's way.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use keepnet::{Error, Result};

use crate::outputs::{atomic, phase};
use keepnet_io::platform::still_there;

/// The right to use a checkpoint.
pub struct Lock {
    // Locked until it is closed.
    _file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes a checkpoint, or names the process that has it; `None` where there is nothing to
    /// lock: no checkpoint, a device, or a file system without locks.
    pub fn take(checkpoint: Option<&Path>) -> Result<Option<Self>> {
        let Some(checkpoint) = checkpoint else { return Ok(None) };
        if atomic::is_device(checkpoint) {
            return Ok(None);
        }
        let path = atomic::hidden_beside(checkpoint, ".lock");
        let failed = |error| Error::io(format!("cannot lock {}", checkpoint.display()), error);
        let open =
            || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        loop {
            let file = open().map_err(failed)?;
            match file.try_lock() {
                // Its last owner may have removed the file between the two calls.
                Ok(()) if !still_there(&file, &path) => continue,
                Ok(()) => {
                    let (file, path) = phase::guarded(|| Ok::<_, Error>((file, path)))?;
                    name(&file);
                    return Ok(Some(Self { _file: file, path }));
                }
                Err(TryLockError::WouldBlock) => return Err(busy(checkpoint, file)),
                Err(TryLockError::Error(_)) => {
                    let _ = std::fs::remove_file(&path);
                    return Ok(None);
                }
            }
        }
    }
}

/// Says who has the lock; without room for that it still holds.
fn name(mut file: &File) {
    let _ = file.set_len(0);
    let _ = file.write_all(std::process::id().to_string().as_bytes());
}

fn busy(checkpoint: &Path, mut file: File) -> Error {
    let mut text = String::new();
    // The other process writes its number right after it took the lock.
    for _ in 0..20 {
        text.clear();
        let _ = file.rewind();
        if file.read_to_string(&mut text).is_ok_and(|bytes| bytes > 0) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let process = match text.parse::<u32>() {
        Ok(process) => format!("process {process}"),
        Err(_) => "another process".into(),
    };
    Error::Data(format!(
        "{} is in use by {process}; wait until that run has ended, or give this one a checkpoint \
         of its own",
        checkpoint.display()
    ))
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed before the file is closed and the lock with it.
        phase::settle(&self.path, || {
            let _ = std::fs::remove_file(&self.path);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_has_one_owner_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.kn");
        let first = Lock::take(Some(&path)).unwrap();
        assert!(first.is_some());
        let error = Lock::take(Some(&path)).err().unwrap().to_string();
        assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        drop(first);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        // What a killed run left is taken over.
        std::fs::write(folder.path().join(".run.kn.lock"), "1").unwrap();
        drop(Lock::take(Some(&path)).unwrap().unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(Lock::take(Some(Path::new("/dev/null"))).unwrap().is_none());
    }
}
