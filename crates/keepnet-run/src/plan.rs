//! Memory, decided before the run.
//!
//! ```text
//! need = resident now (program, file metadata, target)
//!      + block  (columns of one block, twice where rows are left out or values filled)
//!      + kept   (what the method says it will hold, and pinned features)
//! rows = resident now + what reading takes + three blocks of rows + what the method will hold
//! ```

use keepnet::{Budget, Bytes, ColumnSelector, Error, FeatureSource, Problem, Result, RunOptions};
use keepnet_io::RowStream;

use crate::system;

/// Bytes of a block unless `--memory` asks for less.
const BLOCK: u64 = 32 << 20;
/// Bytes up to which a block of short columns grows where no limit is given, and how many there
/// may be.
const SHORT: u64 = 1 << 18;
const MOST: u64 = 2048;

/// What a run will take.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// `--memory`.
    pub limit: Option<u64>,
    /// Bytes of the largest column.
    pub column: u64,
    /// Columns in a block.
    pub width: usize,
    /// Resident before the run.
    pub resident: u64,
    /// Bytes of one block.
    pub block: u64,
    /// Bytes that the method holds, once it is made.
    pub kept: u64,
    /// Further bytes for each feature it keeps, where it has no bound on their number.
    pub each: u64,
    features: Option<u64>,
}

impl Plan {
    /// Chooses the block width.
    pub fn new(limit: Option<u64>, source: &dyn FeatureSource) -> Self {
        let column = source.column_bytes().unwrap_or(8 * source.rows() as u64).max(1);
        let share = limit.map_or(BLOCK, |limit| (limit / 8).min(BLOCK));
        let known = source.features();
        let features = known.unwrap_or(u64::MAX);
        let width = match (limit, source.scan_bytes()) {
            // Columns that are mostly short: more of them, to share what a block costs.
            (None, Some(scan)) => RunOptions::width_for(column, share)
                .max(SHORT.checked_div(scan / features.max(1)).unwrap_or(SHORT).min(MOST) as usize),
            _ => RunOptions::width_for(column, share),
        };
        // Filled or selected rows make a second copy of a block.
        let block = 2 * column * (width as u64).min(features.max(1));
        let resident = system::resident_bytes().unwrap_or(0);
        Self { limit, column, width, resident, block, kept: 0, each: 0, features: known }
    }

    /// What is left for the method in one of `lanes` lanes: each may hold as much as the others.
    pub fn budget(&self, lanes: usize) -> Result<Budget> {
        let Some(limit) = self.limit else { return Ok(Budget::unlimited()) };
        match limit.checked_sub(self.resident + self.block) {
            Some(left) => Ok(Budget::bytes(left / lanes.max(1) as u64)),
            None => Err(self.refusal(limit)),
        }
    }

    /// Adds what a method just made for a lane says it will hold, and `pinned` features beside it;
    /// an error where the whole does not fit. `batch` is a method that holds every column. Columns
    /// that lanes share are counted by each: which these are is known only at the end.
    pub fn add(
        &mut self,
        selector: &dyn ColumnSelector,
        pinned: usize,
        problem: &Problem,
        batch: bool,
    ) -> Result<()> {
        let memory = selector.memory(self.column, self.features);
        // A pinned feature is held as a column and as a direction; see the engine's `pins.rs`.
        let pins = (pinned as u64).saturating_mul(self.column + 8 * problem.n() as u64);
        self.kept = self.kept.saturating_add(memory.bytes.saturating_add(pins));
        self.each = self.each.saturating_add(memory.each);
        match (self.limit, self.features) {
            (Some(limit), Some(features)) if self.need() > limit && batch => Err(Error::Budget {
                what: format!("holding all {features} columns, as this method must,"),
                need: Bytes(self.need()),
                have: Bytes(limit),
                advice: "raise --memory, or choose a method on the stream",
            }),
            (Some(limit), _) if self.need() > limit => Err(self.refusal(limit)),
            _ => Ok(()),
        }
    }

    /// All of it.
    pub fn need(&self) -> u64 {
        (self.resident + self.block).saturating_add(self.kept)
    }

    fn refusal(&self, limit: u64) -> Error {
        Error::Budget {
            what: "the run".into(),
            need: Bytes(self.need()),
            have: Bytes(limit),
            advice: "raise --memory, or lower k or the reserve",
        }
    }
}

/// Blocks of rows that a run holds: the one that is read, the one that is learnt from, and what
/// waits for a whole one.
const ROW_BLOCKS: u64 = 3;
/// Rows of a block, and its values where rows are wide.
const ROWS: u64 = 256;
const WIDE: u64 = 2 << 20;

/// What a run on rows takes beside its method.
#[derive(Clone, Copy, Debug)]
pub struct RowPlan {
    /// `--memory`.
    pub limit: Option<u64>,
    /// Resident before the run.
    pub resident: u64,
    /// Bytes that reading takes.
    pub reading: u64,
    /// Bytes of the blocks of rows.
    pub blocks: u64,
}

impl RowPlan {
    /// A run on the rows of `source`, which was just opened.
    pub fn new(limit: Option<u64>, source: &RowStream) -> Self {
        let features = source.problem().names.len() as u64;
        let values = (ROWS * features).min(WIDE.max(features));
        let resident = system::resident_bytes().unwrap_or(0);
        Self { limit, resident, reading: source.bytes(), blocks: ROW_BLOCKS * 8 * values }
    }

    /// What is left for the method.
    pub fn budget(&self) -> Result<Budget> {
        let Some(limit) = self.limit else { return Ok(Budget::unlimited()) };
        match limit.checked_sub(self.need(0)) {
            Some(left) => Ok(Budget::bytes(left)),
            None => Err(Error::Budget {
                what: "the run without its method".into(),
                need: Bytes(self.need(0)),
                have: Bytes(limit),
                advice: "raise --memory",
            }),
        }
    }

    /// All of it, with a method that takes `method` bytes.
    pub fn need(&self, method: u64) -> u64 {
        self.resident + self.reading + self.blocks + method
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keepnet::{ColumnData, Generated};

    #[test]
    fn blocks_take_an_eighth_of_the_limit() {
        let make = |_| Ok(ColumnData::f32(vec![0.0; 1000]));
        let source = Generated::new("x", 1000, 500, make).with_column_bytes(4000);
        assert_eq!(Plan::new(None, &source).width, 128);
        // 800,000 / 8 = 100,000 bytes hold 25 columns of 4,000.
        assert_eq!(Plan::new(Some(800_000), &source).width, 25);
        let none = Plan::new(Some(1000), &source);
        assert_eq!(none.width, 1);
        assert!(none.budget(1).unwrap_err().to_string().contains("raise --memory"));
    }
}
