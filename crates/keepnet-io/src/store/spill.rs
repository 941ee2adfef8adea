//! A temporary file that disappears with the process.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use keepnet::{Error, Result};

use crate::OpenOptions;
use crate::memory;

/// How much may stay in memory, and where the rest goes.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Most bytes of a transposed table in memory.
    pub(crate) memory: u64,
    directory: PathBuf,
}

impl Place {
    pub(crate) fn new(options: &OpenOptions) -> Self {
        Self {
            // Half of a limit is for the table, the rest for the chunks under way and for the
            // run that the table is read for.
            memory: options.memory.map_or_else(memory::default_limit, |memory| memory / 2),
            directory: options.temporary.clone().unwrap_or_else(std::env::temp_dir),
        }
    }

    /// Bytes of input to work on at once, so that a few of them stay well within the limit.
    pub(crate) fn chunk(&self) -> usize {
        (self.memory / 64).clamp(1 << 12, 8 << 20) as usize
    }
}

/// A temporary file that grows at its end and is read anywhere.
pub(crate) struct Spill {
    file: File,
    length: u64,
    directory: PathBuf,
}

impl Spill {
    pub(crate) fn new(place: &Place) -> Result<Self> {
        let directory = place.directory.clone();
        let file = tempfile::tempfile_in(&directory).map_err(|e| failed(&directory, e))?;
        Ok(Self { file, length: 0, directory })
    }

    /// Adds bytes at the end and says where they start.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let start = self.length;
        self.file.write_all(bytes).map_err(|e| failed(&self.directory, e))?;
        self.length += bytes.len() as u64;
        Ok(start)
    }

    /// Fills `bytes` from `start` on.
    pub(crate) fn read(&self, start: u64, bytes: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(bytes, start).map_err(|e| failed(&self.directory, e))
    }

    /// Overwrites bytes from `start` on.
    pub(crate) fn write(&self, start: u64, bytes: &[u8]) -> Result<()> {
        self.file.write_all_at(bytes, start).map_err(|e| failed(&self.directory, e))
    }
}

fn failed(directory: &Path, error: std::io::Error) -> Error {
    let place = directory.display();
    Error::io(format!("temporary file in {place} (TMPDIR chooses another place)"), error)
}
