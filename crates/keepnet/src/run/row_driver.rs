//! Feeds a stream of rows to a learner: missing values, selections at intervals, saving, ending.
//!
//! What becomes of each row is in `row_filter.rs`. A resumed run reads the rows before its place
//! again, and compares their targets and weights with those that it was saved after.

use std::time::{Duration, Instant};

use super::observer::Flow;
use super::row_filter::{RowCounts, RowFilter, RowMissing};
use super::snapshot;
use crate::data::row::{RowBlock, SampleSource};
use crate::error::{Error, Result};
use crate::learn::RowLearner;
use crate::selection::Selection;

/// How to go through the rows.
#[derive(Clone, Copy, Debug)]
pub struct RowOptions {
    /// What to do with missing values.
    pub missing: RowMissing,
    /// A selection is shown each time this many rows were used.
    pub every: Option<u64>,
    /// Rows asked of the source at a time; no result depends on it.
    pub block: usize,
    /// Classes of the target, whose rows are counted; 0 for numbers.
    pub classes: usize,
    /// Whether a trace is kept: blocks then end where a point is due.
    pub trace: bool,
}

impl Default for RowOptions {
    fn default() -> Self {
        Self { missing: RowMissing::Error, every: None, block: 256, classes: 0, trace: true }
    }
}

/// Values of a block of wide rows: at 100,000 features a block of 256 rows would be 100 MB.
const WIDE: usize = 2 << 20;

/// Callbacks during a run on rows.
pub trait RowObserver {
    /// Called after each block, and from time to time while the source has no rows.
    fn progress(&mut self, counts: &RowCounts, learner: &dyn RowLearner) -> Result<Flow>;

    /// Called with the state that [`Flow::save`] asked for.
    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// Called each time [`RowOptions::every`] rows were used. The selection is an `Err` where there
    /// is none yet, for example after too few rows.
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
    /// What a run on more rows goes on from, with the trace so far.
    pub filter: RowFilter,
}

/// A run under way.
pub struct RowDriver<'a> {
    source: &'a mut dyn SampleSource,
    learner: &'a mut dyn RowLearner,
    options: RowOptions,
    filter: RowFilter,
}

impl<'a> RowDriver<'a> {
    /// A run from the start of the source.
    pub fn new(
        source: &'a mut dyn SampleSource,
        learner: &'a mut dyn RowLearner,
        options: RowOptions,
    ) -> Self {
        let filter = RowFilter::new(source.names().len(), options.classes, options.missing);
        Self { source, learner, options, filter }
    }

    /// Goes on where another run ended, on a source of further rows.
    #[must_use]
    pub fn after(mut self, filter: RowFilter) -> Self {
        self.filter.follow(filter);
        self
    }

    /// Takes up a state that an observer saved; the source must be at its start.
    pub fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (filter, learner): (RowFilter, Vec<u8>) = snapshot::decode(state)?;
        self.filter.fits(&filter)?;
        self.learner.restore(&learner)?;
        let mut again = RowFilter::default();
        let mut block = RowBlock::new(self.source.names().len(), 1);
        let mut left = filter.counts().input;
        while left > 0 {
            block.reset(left.min(256) as usize);
            let more = self.source.next_block(&mut block)?;
            left -= (block.len() as u64).min(left);
            again.mark(&block);
            if !more && left > 0 {
                return Err(Error::Snapshot("the stream is shorter than it was".into()));
            }
        }
        if again.seen() != filter.seen() {
            return Err(Error::Snapshot(
                "the targets or weights of the rows are not those it was made from".into(),
            ));
        }
        self.filter = filter;
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&(&self.filter, self.learner.save()?))
    }

    /// Goes through the source to its end, or until the observer stops it.
    pub fn run(mut self, observer: &mut dyn RowObserver) -> Result<RowReport> {
        let (p, trace) = (self.source.names().len(), self.options.trace);
        let (mut block, mut fit) = (RowBlock::new(p, 1), RowBlock::new(p, 1));
        let (mut read, mut learn) = (Duration::ZERO, Duration::ZERO);
        let complete = loop {
            // A block ends where a selection is due, so that it depends on rows alone.
            let due = self.options.every.map_or(u64::MAX, |n| n - self.filter.counts().used % n);
            let block_rows = (WIDE / p.max(1)).clamp(16, self.options.block.max(16));
            let due = if trace { due.min(self.filter.until_traced()) } else { due };
            let limit = (block_rows.min(self.options.block) as u64).min(due) as usize;
            block.reset(limit);
            let start = Instant::now();
            let more = self.source.next_block(&mut block)?;
            read += start.elapsed();
            let start = Instant::now();
            let before = self.filter.counts().used;
            match self.filter.whole(&block, self.options.missing) {
                true => self.learner.learn_block(&block)?,
                false => {
                    fit.reset(limit);
                    self.filter.pass(
                        &block,
                        self.source.names(),
                        self.options.missing,
                        &mut fit,
                    )?;
                    self.learner.learn_block(&fit)?;
                }
            }
            learn += start.elapsed();
            if trace && self.filter.counts().used > before {
                self.filter.take_trace(self.learner.status());
            }
            let counts = self.filter.counts();
            let used = counts.used;
            if used > before && self.options.every.is_some_and(|n| used.is_multiple_of(n)) {
                observer.every(&counts, self.learner.selection())?;
            }
            let flow = observer.progress(&counts, self.learner)?;
            if flow.save {
                observer.save(self.save()?)?;
            }
            if flow.stop || !more {
                break !more;
            }
        };
        Ok(RowReport { counts: self.filter.counts(), complete, read, learn, filter: self.filter })
    }
}
