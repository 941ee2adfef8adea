//! The file side of a checkpoint: when to write it, and whether one may be used.
//!
//! A checkpoint is sealed with the version, a fingerprint of the data, a hash of the problem
//! and the text of every setting that a result depends on; [`keepnet::run::snapshot::open`] refuses
//! it with the reason where one of them differs or a bit has changed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use keepnet::run::snapshot::{self, Identity};
use keepnet::{Error, Result};

use crate::outputs::atomic;
use crate::request::Every;

/// A checkpoint file of a run.
pub struct Checkpoint {
    path: PathBuf,
    identity: Identity,
    every: Every,
    last: Instant,
    blocks: u64,
}

impl Checkpoint {
    /// The checkpoint of a run with this identity.
    pub fn new(path: &Path, identity: Identity, every: Every) -> Self {
        Self { path: path.to_path_buf(), identity, every, last: Instant::now(), blocks: 0 }
    }

    /// The saved state, if there is a file; an error where it must not be used.
    pub fn load(&self) -> Result<Option<Vec<u8>>> {
        match std::fs::read(&self.path) {
            Ok(bytes) => match snapshot::open(&self.identity, &bytes) {
                Ok(state) => Ok(Some(state.to_vec())),
                Err(error) => Err(error.at(self.path.display())),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(format!("cannot read {}", self.path.display()), error)),
        }
    }

    /// Whether it is time to save, asked once a block.
    pub fn due(&mut self) -> bool {
        self.blocks += 1;
        let due = match self.every {
            Every::Time(time) => self.last.elapsed() >= time,
            Every::Blocks(blocks) => self.blocks >= blocks,
        };
        if due {
            self.blocks = 0;
        }
        due
    }

    /// Writes a state, atomically.
    pub fn save(&mut self, state: &[u8]) -> Result<()> {
        atomic::write(&self.path, &snapshot::seal(&self.identity, state)?)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Removes the file, once a complete result is in its place.
    pub fn remove(&self) -> Result<()> {
        atomic::remove(&self.path)
    }
}
