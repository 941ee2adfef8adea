//! Files that appear whole, under their names, or not at all.
//!
//! Bytes go to a temporary file in the same directory, which is synced and then renamed. With
//! several outputs all temporary files are complete before the first is renamed. What is no
//! regular file (a pipe, /dev/null) is written as it stands, since a rename would replace it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use keepnet::{Error, Result};
use keepnet_io::platform::{Identity, identity};
use tempfile::TempPath;

use super::leftover;
use super::phase::{self, Phase};

/// One output under way.
pub struct Pending {
    file: File,
    // None where the file is written as it stands.
    temporary: Option<TempPath>,
    // As the user wrote it, and where that leads to.
    path: PathBuf,
    place: PathBuf,
}

fn failed(path: &Path, error: std::io::Error) -> Error {
    Error::io(format!("cannot write {}", path.display()), error)
}

/// Where the file really is: a link is followed, so that it stays a link, also where it leads to
/// a file that is not there yet.
fn resolved(path: &Path) -> PathBuf {
    let mut place = path.to_path_buf();
    // As many links as the system follows; one that leads round is still a link then.
    for _ in 0..40 {
        if let Ok(real) = std::fs::canonicalize(&place) {
            return real;
        }
        match std::fs::read_link(&place) {
            Ok(to) => place = directory(&place).join(to),
            Err(_) => break,
        }
    }
    let real = std::fs::canonicalize(directory(&place)).ok();
    real.zip(place.file_name()).map_or(place.clone(), |(real, name)| real.join(name))
}

/// Whether a path leads to something that is no regular file: a pipe, /dev/null. Asked in one call,
/// as another run may remove the file between two.
pub fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// A hidden file beside the one that a path leads to.
pub fn hidden_beside(path: &Path, suffix: &str) -> PathBuf {
    let place = resolved(path);
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    directory(&place).join(format!(".{name}{suffix}"))
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
        let (path, place) = (path.to_path_buf(), resolved(path));
        if place.is_dir() {
            let error = std::io::Error::from(std::io::ErrorKind::IsADirectory);
            return Err(failed(&path, error));
        }
        if place.is_symlink() {
            return Err(failed(&path, std::io::Error::other("its links lead round in a circle")));
        }
        if is_device(&place) {
            let file = File::options().write(true).open(&place).map_err(|e| failed(&path, e))?;
            return Ok(Self { file, temporary: None, path, place });
        }
        let made = phase::guarded(|| leftover::create(directory(&place)));
        let (file, temporary) = made.map_err(|error| failed(&path, error))?;
        Ok(Self { file, temporary: Some(temporary), path, place })
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

    /// The bytes that were written, once all of them are.
    pub fn read_back(&self) -> Result<Vec<u8>> {
        match &self.temporary {
            Some(path) => std::fs::read(path).map_err(|error| failed(&self.path, error)),
            None => Ok(Vec::new()),
        }
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
        let named = phase::settle(&place, || temporary.persist(&self.place));
        named.map_err(|error| failed(&self.path, error.error))?;
        // The name is in the directory, which has its own place on the disk; some file systems
        // cannot sync one, and then the rename is as safe as they make it.
        if let Ok(directory) = File::open(directory(&self.place)) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(path) = self.temporary.take() {
            let place = path.to_path_buf();
            phase::settle(&place, || drop(path));
        }
    }
}

/// Finds out before a run whether its outputs can be written at all and are not one file, and
/// removes what killed runs left beside them.
pub fn probe<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<()> {
    let (mut seen, mut swept) = (Vec::new(), Vec::new());
    for path in paths {
        let place = resolved(path);
        let file = identity(&place);
        let same = |(other, linked): &(PathBuf, Option<Identity>)| {
            *other == place || (file.is_some() && *linked == file)
        };
        if seen.iter().any(same) {
            let got = format!("{} twice", path.display());
            return Err(Error::param("outputs", got, "a file of its own for each"));
        }
        let folder = directory(&place).to_path_buf();
        if !swept.contains(&folder) {
            leftover::sweep(&folder);
            swept.push(folder);
        }
        Pending::new(path)?;
        seen.push((place, file));
    }
    Ok(())
}

/// Syncs every output, then gives all of them their names.
pub fn publish(outputs: Vec<Pending>) -> Result<()> {
    outputs.iter().try_for_each(Pending::sync)?;
    phase::enter(Phase::Renaming);
    outputs.into_iter().try_for_each(Pending::publish)
}

/// Writes one file whole, as often as need be.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let pending = Pending::new(path)?;
    let mut writer = pending.writer()?;
    writer.write_all(bytes).and_then(|()| writer.flush()).map_err(|e| failed(path, e))?;
    drop(writer);
    pending.sync()?;
    pending.publish()
}

/// Removes a file that [`write()`] wrote.
pub fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(resolved(path)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io(format!("cannot remove {}", path.display()), error))
        }
        _ => Ok(()),
    }
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

    #[test]
    fn a_link_stays_a_link_also_where_its_file_is_not_there_yet() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("second", at("first")).unwrap();
        std::os::unix::fs::symlink("sub/file", at("second")).unwrap();
        assert!(write(&at("first"), b"x").is_err(), "the folder is missing");
        std::fs::create_dir(at("sub")).unwrap();
        write(&at("first"), b"x").unwrap();
        assert!(at("first").is_symlink() && at("second").is_symlink());
        assert_eq!(std::fs::read(at("sub/file")).unwrap(), b"x");
        std::fs::remove_file(at("sub/file")).unwrap();
        let (link, file) = (at("first"), at("sub/../sub/file"));
        assert!(probe([link.as_path(), file.as_path()].into_iter()).unwrap_err().is_usage());
        std::os::unix::fs::symlink("round", at("round")).unwrap();
        assert!(write(&at("round"), b"x").unwrap_err().to_string().contains("circle"));
        assert!(at("round").is_symlink());
    }
}
