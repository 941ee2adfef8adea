//! Feeds one read of the features to several selectors, scan after scan.
//!
//! Each [`Lane`] has its own problem (target, weights, rows) and selector, so several targets,
//! folds or methods cost one read. The driver asks the source for blocks of a width fixed
//! beforehand; its record (`record.rs`) checks every column once for each problem, offers it, and
//! logs what became of it, the loss along the stream and the time. Between blocks an [`Observer`]
//! is called: it may save the state or end the run.

use std::time::{Duration, Instant};

use super::lane::{Lane, LaneReport};
use super::observer::Observer;
use super::pushed::Pushed;
use super::record::Record;
use crate::data::block::ColumnBlock;
use crate::data::groups::Groups;
use crate::data::order::Order;
use crate::data::source::FeatureSource;
use crate::error::{Error, Result};

/// How to go through the source.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Most scans; 0 for as many as the methods take, which must all be of a kind that ends.
    pub scans: u32,
    /// Order of the features.
    pub order: Order,
    /// Seed of a shuffled order.
    pub seed: u64,
    /// Columns in a block; no result depends on it.
    pub width: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { scans: 2, order: Order::Given, seed: 0, width: 128 }
    }
}

impl RunOptions {
    /// A block width that keeps a block of columns of `column_bytes` within `bytes`.
    #[must_use]
    pub fn width_for(column_bytes: u64, bytes: u64) -> usize {
        (bytes / column_bytes.max(1)).clamp(1, 128) as usize
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// A report for each lane.
    pub lanes: Vec<LaneReport>,
    /// Different features that arrived.
    pub features_seen: u64,
    /// The groups, with their names, where there were any.
    pub groups: Option<Groups>,
    /// Scans begun.
    pub scans: u32,
    /// Whether the run went to its end.
    pub complete: bool,
    /// Time spent in the source.
    pub read: Duration,
    /// Time spent checking and deciding.
    pub select: Duration,
    /// Whether the last scan did not come to its end.
    pub cut_short: bool,
    /// Bytes that one scan reads, where the source knows.
    pub scan_bytes: Option<u64>,
    /// Columns checked, over all scans: one for each problem, however many lanes share it.
    pub checked: u64,
}

/// A run under way: its record, and the source of its columns.
pub struct Driver<'a> {
    source: &'a mut dyn FeatureSource,
    record: Record,
}

impl<'a> Driver<'a> {
    /// A run from the start of the source; problems are checked here.
    pub fn new(
        source: &'a mut dyn FeatureSource,
        lanes: Vec<Lane>,
        options: RunOptions,
    ) -> Result<Self> {
        let open = !lanes.is_empty() && lanes.iter().all(|lane| lane.selector.unfinished());
        if options.scans == 0 && !open {
            return Err(Error::param("scans", 0, "at least 1"));
        }
        let record = Record::new(lanes, options, Some(source.rows()))?;
        Ok(Self { source, record })
    }

    /// Gives the features groups.
    #[must_use]
    pub fn with_groups(mut self, groups: Groups) -> Self {
        self.record.groups = Some(groups);
        self
    }

    /// Takes up a state that an observer saved; every later digit is that of an unbroken run.
    pub fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.record.restore(state, self.source.features())
    }

    /// Goes through the source to the end, or until the observer stops it.
    pub fn run(mut self, observer: &mut dyn Observer) -> Result<RunReport> {
        self.run_all(observer)
    }

    /// As [`Driver::run`], with the run itself, so that further columns can be brought to it.
    pub fn run_and_keep(mut self, observer: &mut dyn Observer) -> Result<(RunReport, Pushed)> {
        let report = self.run_all(observer)?;
        Ok((report, Pushed::after(self.record)))
    }

    fn run_all(&mut self, observer: &mut dyn Observer) -> Result<RunReport> {
        let scans = self.record.options.scans;
        let mut complete = false;
        while !complete && (scans == 0 || self.record.position.scan < scans) {
            self.begin_scan()?;
            if self.scan(observer)? {
                break;
            }
            let converged = self.record.end_scan(observer)?;
            complete = converged || (self.record.position.scan == scans && self.record.whole());
        }
        let report = self.record.finish(complete)?;
        Ok(RunReport { scan_bytes: self.source.scan_bytes(), ..report })
    }

    /// Goes once through a source whose columns are further ones of a stream: those before it are
    /// in `state`, and `again` begins another scan with them.
    ///
    /// Gives the result, and the state of the stream before the end of the scan; none where the
    /// observer ended the run. So several sources give what one of all their columns gives.
    pub fn go_on(
        mut self,
        state: Option<&[u8]>,
        again: bool,
        observer: &mut dyn Observer,
    ) -> Result<(RunReport, Option<Vec<u8>>)> {
        if self.record.options.order != Order::Given {
            return Err(no_order());
        }
        if let Some(state) = state {
            // How many scans there were is in the state.
            self.record.options.scans = u32::MAX;
            self.record.restore(state, None)?;
            if again {
                self.record.end_scan(observer)?;
            }
        }
        self.record.options.scans = self.record.position.scan.saturating_add(1);
        self.record.begin_scan();
        if self.scan(observer)? {
            return Ok((self.record.finish(false)?, None));
        }
        self.record.settle(observer)?;
        let state = self.record.save()?;
        self.record.end_scan(observer)?;
        Ok((self.record.finish(true)?, Some(state)))
    }

    /// Puts the source into the order of the scan, at the place where the run stands.
    fn begin_scan(&mut self) -> Result<()> {
        let RunOptions { order, seed, .. } = &self.record.options;
        let (scan, in_scan) = (self.record.position.scan, self.record.position.in_scan);
        if *order != Order::Given {
            let features = self.source.features().ok_or_else(no_order)?;
            let order = match (&mut self.record.groups, order) {
                (Some(groups), Order::Shuffled) => {
                    Some(groups.shuffled(self.source, *seed, scan)?)
                }
                (_, order) => order.indices(features, *seed, scan),
            };
            if let Some(order) = order {
                self.source.reorder(order)?;
            }
        }
        if scan > 0 || in_scan > 0 || *order != Order::Given {
            self.source.rewind().map_err(|error| self.record.needs_scans(error))?;
        }
        if in_scan > 0 {
            self.source.skip(in_scan)?;
        }
        self.record.begin_scan();
        Ok(())
    }

    /// One scan; `true` when the observer ended the run.
    fn scan(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        let mut block = ColumnBlock::new(self.record.options.width);
        loop {
            let start = Instant::now();
            self.fill(&mut block)?;
            self.record.read += start.elapsed();
            if block.is_empty() {
                return Ok(false);
            }
            self.record.offer(&block, observer)?;
            let flow = observer.progress(&self.record.progress(self.source.features()))?;
            if flow.save || flow.stop {
                self.record.settle(observer)?;
            }
            if flow.save {
                observer.save(self.record.save()?)?;
            }
            if flow.stop {
                return Ok(true);
            }
        }
    }

    /// Reads a block; where a method wants whole groups it ends with one.
    fn fill(&mut self, block: &mut ColumnBlock) -> Result<()> {
        let width = self.record.options.width;
        if let Some((Some(groups), whole)) = self.record.whole_groups() {
            return whole.fill(groups, self.source, block, width);
        }
        block.reset(width);
        while block.room() > 0 && self.source.next_block(block)? {}
        Ok(())
    }
}

/// An order was asked for of a stream that cannot be put into one.
pub(super) fn no_order() -> Error {
    Error::Unsupported("an order needs a source that knows its features".into())
}
