//! The file side of a checkpoint: when to write it, and whether one may be used.
//!
//! A checkpoint is sealed with the version, a fingerprint of the data, a hash of the problem
//! and the text of every setting that a result depends on; [`keepnet::run::snapshot::open`] refuses
//! it with the reason where one of them differs or a bit has changed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use keepnet::run::snapshot::{self, Identity};
use keepnet::{Error, Problem, Result, RowMap, Target};

use crate::flags::Every;
use crate::output::atomic;

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

/// A 64-bit hash of everything that a problem says of its rows: FNV-1a over the bits.
pub fn problem_hash(problem: &Problem) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    match &problem.target {
        Target::Numbers(y) => hash.numbers(y),
        Target::Classes { names, codes } => {
            names.iter().for_each(|name| hash.bytes(name.as_bytes()));
            codes.iter().for_each(|code| hash.bytes(&code.to_le_bytes()));
        }
    }
    for part in [&problem.weight, &problem.offset] {
        hash.bytes(&[u8::from(part.is_some())]);
        part.iter().for_each(|values| hash.numbers(values));
    }
    for covariate in &problem.covariates {
        hash.bytes(covariate.name.as_bytes());
        hash.numbers(&covariate.values);
    }
    hash.bytes(&(problem.rows.input() as u64).to_le_bytes());
    if let RowMap::Some { take, .. } = &problem.rows {
        take.iter().for_each(|row| hash.bytes(&row.to_le_bytes()));
    }
    hash.0
}

/// A 64-bit hash of text.
pub fn text_hash(text: &str) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.bytes(text.as_bytes());
    hash.0
}

struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn numbers(&mut self, values: &[f64]) {
        values.iter().for_each(|value| self.bytes(&value.to_bits().to_le_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_is_the_published_one() {
        // Test vectors of the FNV authors: "" and "a", 64-bit FNV-1a.
        assert_eq!(text_hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(text_hash("a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn every_part_of_a_problem_counts() {
        let base = Problem::regression(vec![1.0, 2.0, 3.0]);
        let mut others = vec![Problem::regression(vec![1.0, 2.0, 3.5]); 4];
        others[1] = Problem { weight: Some(vec![1.0; 3]), ..base.clone() };
        others[2] = Problem { offset: Some(vec![1.0; 3]), ..base.clone() };
        others[3] = Problem { rows: RowMap::new(3, vec![2, 1, 0]).unwrap(), ..base.clone() };
        let mut hashes: Vec<u64> = others.iter().chain([&base]).map(problem_hash).collect();
        assert_eq!(problem_hash(&base), problem_hash(&base.clone()));
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 5);
    }
}
