//! Feeds a stream of rows to a learner: missing values, looks at intervals, saving, ending.
//!
//! The policy for missing values is applied row by row and by the rows before alone, so no
//! result depends on the source's blocks. Rows whose target is missing are left out and counted.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{RowLearner, lanes};
use crate::driver::Flow;
use crate::error::{Error, Result};
use crate::row::{Row, RowBlock, SampleSource};
use crate::selection::Selection;
use crate::snapshot;

/// What to do with missing values in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowMissing {
    /// Stop and name the feature and the row.
    #[default]
    Error,
    /// Leave the row out, and count it.
    DropRow,
    /// Zero in its place.
    Zero,
    /// The mean of the feature in the rows before, 0 where there is none.
    Mean,
}

impl RowMissing {
    /// `error`, `drop-row`, `mean` or `zero`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "error" => Ok(Self::Error),
            "drop-row" => Ok(Self::DropRow),
            "mean" => Ok(Self::Mean),
            "zero" => Ok(Self::Zero),
            _ => {
                let want = "error, drop-row, mean or zero with a method on rows";
                Err(Error::param("missing", name, want))
            }
        }
    }
}

/// How to go through the rows.
#[derive(Clone, Copy, Debug)]
pub struct RowOptions {
    /// What to do with missing values.
    pub missing: RowMissing,
    /// A selection is shown each time this many rows were used.
    pub every: Option<u64>,
    /// Rows asked of the source at a time; no result depends on it.
    pub block: usize,
}

impl Default for RowOptions {
    fn default() -> Self {
        Self { missing: RowMissing::Error, every: None, block: 256 }
    }
}

/// Values of a block of wide rows: at 100,000 features a block of 256 rows would be 100 MB.
const WIDE: usize = 2 << 20;

/// Whether every row can be learnt from as it is, so that none need be copied.
fn clean(block: &RowBlock) -> bool {
    let whole = |row: Row<'_>| match row {
        Row::F32(x) => lanes::within(x, f64::MAX),
        Row::F64(x) => lanes::within(x, f64::MAX),
        Row::Sparse { value, .. } => lanes::within(value, f64::MAX),
    };
    block.y().iter().all(|y| !y.is_nan()) && block.rows().all(whole)
}

/// Where a run stands; part of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowCounts {
    /// Rows that came.
    pub input: u64,
    /// Rows that were learnt from.
    pub used: u64,
    /// Rows without a target.
    pub without_target: u64,
    /// Rows left out for a missing value.
    pub dropped: u64,
    /// Missing values that were filled.
    pub filled: u64,
}

/// Looks on between blocks.
pub trait RowObserver {
    /// Called after each block, and now and then while the source has nothing.
    fn progress(&mut self, counts: &RowCounts, learner: &dyn RowLearner) -> Result<Flow>;

    /// Takes the state that [`Flow::save`] asked for.
    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// Called each time [`RowOptions::every`] rows were used; an `Err` is that there is no
    /// selection yet, such as too few rows.
    fn every(&mut self, counts: &RowCounts, selection: Result<Selection>) -> Result<()> {
        let _ = (counts, selection);
        Ok(())
    }
}

/// The end of a run.
#[derive(Clone, Debug)]
pub struct RowReport {
    /// Rows, by their fate.
    pub counts: RowCounts,
    /// Whether the stream was read to its end.
    pub complete: bool,
    /// Time spent in the source.
    pub read: Duration,
    /// Time spent learning.
    pub learn: Duration,
    /// What a run on more rows takes up.
    pub filter: RowFilter,
}

/// A run under way.
pub struct RowDriver<'a> {
    source: &'a mut dyn SampleSource,
    learner: &'a mut dyn RowLearner,
    options: RowOptions,
    filter: RowFilter,
}

/// What the policy for missing values remembers from one run to a run on more rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RowFilter {
    counts: RowCounts,
    /// Means of the present values and their number; empty unless means are filled in.
    mean: Vec<f64>,
    present: Vec<u64>,
}

impl<'a> RowDriver<'a> {
    /// A run from the start of the source.
    pub fn new(
        source: &'a mut dyn SampleSource,
        learner: &'a mut dyn RowLearner,
        options: RowOptions,
    ) -> Self {
        let p = if options.missing == RowMissing::Mean { source.names().len() } else { 0 };
        let (mean, present) = (vec![0.0; p], vec![0; p]);
        let filter = RowFilter { mean, present, ..RowFilter::default() };
        Self { source, learner, options, filter }
    }

    /// Goes on where another run ended, on a source of further rows.
    #[must_use]
    pub fn after(mut self, filter: RowFilter) -> Self {
        if filter.mean.len() == self.filter.mean.len() {
            self.filter = filter;
        } else {
            self.filter.counts = filter.counts;
        }
        self
    }

    /// Takes up a state that an observer saved; the source must be at its start.
    pub fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (filter, learner): (RowFilter, Vec<u8>) = snapshot::decode(state)?;
        if filter.mean.len() != self.filter.mean.len() {
            return Err(Error::Snapshot("it was made with another --missing".into()));
        }
        self.learner.restore(&learner)?;
        let mut block = RowBlock::new(self.source.names().len(), 1);
        let mut left = filter.counts.input;
        while left > 0 {
            block.reset(left.min(256) as usize);
            if !self.source.next_block(&mut block)? {
                return Err(Error::Snapshot("the stream is shorter than it was".into()));
            }
            left -= block.len() as u64;
        }
        self.filter = filter;
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&(&self.filter, self.learner.save()?))
    }

    /// Goes through the source to its end, or until the observer stops it.
    pub fn run(mut self, observer: &mut dyn RowObserver) -> Result<RowReport> {
        let p = self.source.names().len();
        let (mut block, mut fit) = (RowBlock::new(p, 1), RowBlock::new(p, 1));
        let (mut read, mut learn) = (Duration::ZERO, Duration::ZERO);
        let complete = loop {
            // A block ends where a look is due, so that looks depend on rows alone.
            let due = self.options.every.map_or(u64::MAX, |n| n - self.filter.counts.used % n);
            let block_rows = (WIDE / p.max(1)).clamp(16, self.options.block.max(16));
            let limit = (block_rows.min(self.options.block) as u64).min(due) as usize;
            block.reset(limit);
            let start = Instant::now();
            let more = self.source.next_block(&mut block)?;
            read += start.elapsed();
            let start = Instant::now();
            let before = self.filter.counts.used;
            if clean(&block) && self.options.missing != RowMissing::Mean {
                self.filter.counts.input += block.len() as u64;
                self.filter.counts.used += block.len() as u64;
                self.learner.learn_block(&block)?;
            } else {
                fit.reset(limit);
                self.filter.pass(&block, self.source.names(), self.options.missing, &mut fit)?;
                self.learner.learn_block(&fit)?;
            }
            learn += start.elapsed();
            let used = self.filter.counts.used;
            if used > before && self.options.every.is_some_and(|n| used.is_multiple_of(n)) {
                observer.every(&self.filter.counts, self.learner.selection())?;
            }
            let flow = observer.progress(&self.filter.counts, self.learner)?;
            if flow.save {
                observer.save(self.save()?)?;
            }
            if flow.stop || !more {
                break !more;
            }
        };
        Ok(RowReport { counts: self.filter.counts, complete, read, learn, filter: self.filter })
    }
}

impl RowFilter {
    /// As after these rows, which came in another way.
    #[must_use]
    pub fn counted(counts: RowCounts) -> Self {
        Self { counts, ..Self::default() }
    }

    /// Rows so far.
    #[must_use]
    pub fn counts(&self) -> RowCounts {
        self.counts
    }

    /// Copies the rows that can be learnt from, missing values filled.
    fn pass(
        &mut self,
        block: &RowBlock,
        names: &[String],
        missing: RowMissing,
        out: &mut RowBlock,
    ) -> Result<()> {
        for (i, row) in block.rows().enumerate() {
            let at = self.counts.input;
            self.counts.input += 1;
            let (y, weight) = (block.y()[i], block.weight()[i]);
            if y.is_nan() {
                self.counts.without_target += 1;
                continue;
            }
            let hole = row.beyond(f64::MAX);
            match (hole, missing) {
                (None, _) => out.push(row, y, weight)?,
                (Some(j), RowMissing::Error) => {
                    return Err(Error::Data(format!(
                        "feature {:?} has a missing or infinite value at row {at}; \
                         choose --missing drop-row, mean or zero",
                        names[j]
                    )));
                }
                (Some(_), RowMissing::DropRow) => {
                    self.counts.dropped += 1;
                    continue;
                }
                (Some(_), _) => self.fill(row, y, weight, out)?,
            }
            self.counts.used += 1;
            if missing == RowMissing::Mean {
                row.each(|j, x| {
                    if x.is_finite() {
                        self.present[j] += 1;
                        self.mean[j] += (x - self.mean[j]) / self.present[j] as f64;
                    }
                });
            }
        }
        Ok(())
    }

    fn fill(&mut self, row: Row<'_>, y: f64, weight: f64, out: &mut RowBlock) -> Result<()> {
        let (mean, filled) = (&self.mean, &mut self.counts.filled);
        let mut value = |j: usize, x: f64| {
            if x.is_finite() {
                return x;
            }
            *filled += 1;
            mean.get(j).copied().unwrap_or(0.0)
        };
        match row {
            Row::F32(x) => {
                let whole: Vec<f64> =
                    x.iter().enumerate().map(|(j, x)| value(j, f64::from(*x))).collect();
                out.push(Row::F64(&whole), y, weight)
            }
            Row::F64(x) => {
                let whole: Vec<f64> = x.iter().enumerate().map(|(j, x)| value(j, *x)).collect();
                out.push(Row::F64(&whole), y, weight)
            }
            Row::Sparse { index, value: given } => {
                let whole: Vec<f64> =
                    index.iter().zip(given).map(|(j, x)| value(*j as usize, *x)).collect();
                out.push(Row::Sparse { index, value: &whole }, y, weight)
            }
        }
    }
}
