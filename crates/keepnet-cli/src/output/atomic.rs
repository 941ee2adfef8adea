//! Files that appear whole, under their names, or not at all.
//!
//! Bytes go to a temporary file in the same directory, which is synced and then renamed. With
//! several outputs all temporary files are complete before the first is renamed. What is no
//! regular file (a pipe, /dev/null) is written as it stands, since a rename would replace it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use keepnet::{Error, Result};
use tempfile::{Builder, NamedTempFile, TempPath};

use crate::run::signals::{self, Phase};

/// One output under way.
pub struct Pending {
    file: File,
    // None where the file is written as it stands.
    temporary: Option<TempPath>,
    path: PathBuf,
}

fn failed(path: &Path, error: std::io::Error) -> Error {
    Error::io(format!("cannot write {}", path.display()), error)
}

/// Where the file really is: a link is followed, so that it stays a link.
fn resolved(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

impl Pending {
    /// Starts an output.
    pub fn new(path: &Path) -> Result<Self> {
        let path = resolved(path);
        if path.is_dir() {
            let error = std::io::Error::from(std::io::ErrorKind::IsADirectory);
            return Err(failed(&path, error));
        }
        if path.exists() && !path.is_file() {
            let file = File::options().write(true).open(&path).map_err(|e| failed(&path, e))?;
            return Ok(Self { file, temporary: None, path });
        }
        let made = signals::guarded(|| temporary(&path).map(NamedTempFile::into_parts));
        let (file, temporary) = made.map_err(|error| failed(&path, error))?;
        Ok(Self { file, temporary: Some(temporary), path })
    }

    /// Starts a file that is written again and again: its temporary file has one fixed name, so
    /// a killed run leaves one at most, and the next takes it over.
    fn again(path: &Path) -> Result<Self> {
        let path = resolved(path);
        if path.exists() && !path.is_file() {
            return Self::new(&path);
        }
        let place = beside(&path);
        let open = || -> std::io::Result<(File, TempPath)> {
            match std::fs::remove_file(&place) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let file = File::options().write(true).create_new(true).open(&place)?;
            Ok((file, TempPath::try_from_path(&place)?))
        };
        let (file, temporary) = signals::guarded(open).map_err(|error| failed(&path, error))?;
        Ok(Self { file, temporary: Some(temporary), path })
    }

    /// An output with these bytes; it still waits for its name.
    pub fn whole(path: &Path, bytes: &[u8]) -> Result<Self> {
        let pending = Self::new(path)?;
        let mut out = pending.writer()?;
        let written = out.write_all(bytes).and_then(|()| out.flush());
        written.map_err(|error| pending.failed(Error::io("", error)))?;
        Ok(pending)
    }

    /// Somewhere to write to.
    pub fn writer(&self) -> Result<BufWriter<File>> {
        let file = self.file.try_clone().map_err(|error| failed(&self.path, error))?;
        Ok(BufWriter::with_capacity(1 << 18, file))
    }

    /// Adds the path to an error of writing.
    pub fn failed(&self, error: Error) -> Error {
        match error {
            Error::Io { source, .. } => failed(&self.path, source),
            other => other.at(self.path.display()),
        }
    }

    /// Waits until the bytes are on the disk.
    fn sync(&self) -> Result<()> {
        match self.temporary {
            None => Ok(()),
            Some(_) => self.file.sync_all().map_err(|error| failed(&self.path, error)),
        }
    }

    /// Gives the file its name.
    fn publish(mut self) -> Result<()> {
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        let place = temporary.to_path_buf();
        let named = signals::settle(&place, || temporary.persist(&self.path));
        named.map_err(|error| failed(&self.path, error.error))?;
        // The name is in the directory, which has its own place on the disk; some file systems
        // cannot sync one, and then the rename is as safe as they make it.
        if let Ok(directory) = File::open(directory(&self.path)) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(path) = self.temporary.take() {
            let place = path.to_path_buf();
            signals::settle(&place, || drop(path));
        }
    }
}

/// The fixed temporary file of a file that is written again and again.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    directory(path).join(format!(".{name}.tmp"))
}

fn temporary(path: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".keepnet-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The usual rights of a new file; the umask takes its share.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(directory(path)).map_err(|error| {
        // The name of the temporary file says nothing to the user.
        let text = error.to_string();
        std::io::Error::new(error.kind(), text.split(" at path").next().unwrap_or(&text))
    })
}

/// Finds out before a run whether its outputs can be written at all.
pub fn probe<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<()> {
    let mut seen = Vec::new();
    for path in paths {
        let place = resolved(path);
        if seen.contains(&place) {
            let got = format!("{} twice", path.display());
            return Err(Error::param("outputs", got, "a file of its own for each"));
        }
        Pending::new(path)?;
        seen.push(place);
    }
    Ok(())
}

/// Syncs every output, then gives all of them their names.
pub fn publish(outputs: Vec<Pending>) -> Result<()> {
    outputs.iter().try_for_each(Pending::sync)?;
    signals::enter(Phase::Renaming);
    outputs.into_iter().try_for_each(Pending::publish)
}

/// Writes one file whole, as often as need be.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let pending = Pending::again(path)?;
    let mut writer = pending.writer()?;
    writer.write_all(bytes).and_then(|()| writer.flush()).map_err(|e| failed(path, e))?;
    drop(writer);
    pending.sync()?;
    pending.publish()
}

/// Removes a file that [`write()`] wrote, and what a killed run left beside it.
pub fn remove(path: &Path) -> Result<()> {
    let path = resolved(path);
    for path in [beside(&path), path] {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(format!("cannot remove {}", path.display()), error));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, "old").unwrap();
        let pending = Pending::new(&path).unwrap();
        pending.writer().unwrap().write_all(b"half").unwrap();
        drop(pending);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        write(&path, b"new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_directory_and_a_name_used_twice_are_found_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let (a, none) = (folder.path().join("a"), folder.path().join("none/a"));
        let error = probe([none.as_path()].into_iter()).unwrap_err();
        assert!(error.to_string().contains("none/a") && !error.is_usage());
        assert!(probe([a.as_path(), a.as_path()].into_iter()).unwrap_err().is_usage());
        assert!(probe([folder.path()].into_iter()).is_err());
    }

    #[test]
    fn a_device_is_written_and_not_replaced() {
        write(Path::new("/dev/null"), b"x").unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }
}
