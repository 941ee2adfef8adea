//! Finished cells on disk, so that a long run can be taken up again.
//!
//! The first line says what the run is; each further one is JSON, the name of a cell and what
//! it found. A line that a killed run left torn is that of a cell to be run again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use keepnet::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The journal beside an output.
pub fn beside(output: &Path) -> PathBuf {
    let mut path = output.as_os_str().to_os_string();
    path.push(".journal");
    path.into()
}

/// Cells by name.
pub struct Journal<T> {
    known: HashMap<String, T>,
    file: Option<(File, PathBuf)>,
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Opens the journal beside an output, or none.
    pub fn beside(output: Option<&Path>, identity: &str) -> Result<Self> {
        Self::open(output.map(beside).as_deref(), identity)
    }

    /// Opens a journal, or none; one of something else is refused.
    pub fn open(path: Option<&Path>, identity: &str) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { known: HashMap::new(), file: None }) };
        let failed = |error| Error::io(format!("cannot use the journal {}", path.display()), error);
        let mut known = HashMap::new();
        let fresh = !path.exists();
        if !fresh {
            let mut lines = BufReader::new(File::open(path).map_err(failed)?).lines();
            let head = lines.next().transpose().map_err(failed)?.unwrap_or_default();
            if head != identity {
                return Err(Error::Data(format!(
                    "the journal {} is of another figure or settings ({head}); remove it",
                    path.display()
                )));
            }
            for line in lines {
                let line = line.map_err(failed)?;
                if let Ok((key, cell)) = serde_json::from_str::<(String, T)>(&line) {
                    known.insert(key, cell);
                }
            }
        }
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        if fresh {
            writeln!(file, "{identity}").map_err(failed)?;
        } else {
            // A torn line must not swallow the next one.
            writeln!(file).map_err(failed)?;
        }
        Ok(Self { known, file: Some((file, path.into())) })
    }

    /// What a cell found, where it was run before.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.known.get(key)
    }

    /// Adds a finished cell.
    pub fn write(&mut self, key: &str, cell: T) -> Result<()> {
        let Some((file, path)) = &mut self.file else { return Ok(()) };
        let line = serde_json::to_string(&(key, &cell)).unwrap_or_default();
        writeln!(file, "{line}")
            .map_err(|error| Error::io(format!("cannot write {}", path.display()), error))?;
        self.known.insert(key.into(), cell);
        Ok(())
    }

    /// The run is done and written.
    pub fn remove(self) {
        if let Some((file, path)) = self.file {
            drop(file);
            // A journal that stays behind costs nothing but its place.
            let _ = std::fs::remove_file(path);
        }
    }
}
