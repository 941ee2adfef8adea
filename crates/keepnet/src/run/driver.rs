//! Feeds one read of the features to several selectors, scan after scan.
//!
//! Each [`Lane`] has its own problem (target, weights, rows) and selector, so several targets,
//! folds or methods cost one read. The driver asks the source for blocks of a width fixed
//! beforehand, checks every column once a lane, offers it, and keeps the books: what became of
//! each feature, the loss along the stream, the time. Between blocks an [`Observer`] may look,
//! save the state or end the run.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::log::{Dropped, Log, TracePoint};
use super::observer::{Decision, Observer, Progress};
use super::snapshot;
use super::verdict::{self, Constant};
use crate::data::block::ColumnBlock;
use crate::data::check::{CheckPolicy, Wants, check_block_for};
use crate::data::groups::{Groups, WholeGroups};
use crate::data::order::Order;
use crate::data::source::FeatureSource;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::select::{ColumnSelector, Late, Outcome};
use crate::selection::Selection;

/// One problem and the selector that works on it.
pub struct Lane {
    /// What is asked of the rows.
    pub problem: Problem,
    /// Which columns are fit to be offered.
    pub policy: CheckPolicy,
    /// Names of features that are kept whatever happens.
    pub always: HashSet<String>,
    /// The method.
    pub selector: Box<dyn ColumnSelector>,
    log: Log,
    constant: Constant,
}

impl Lane {
    /// A lane with the default policy.
    pub fn new(problem: Problem, selector: Box<dyn ColumnSelector>) -> Self {
        let (policy, always) = (CheckPolicy::default(), HashSet::new());
        let (log, constant) = (Log::default(), Constant::default());
        Self { problem, policy, always, selector, log, constant }
    }
}

/// How to go through the source.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Most scans.
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

/// One lane's result.
#[derive(Clone, Debug)]
pub struct LaneReport {
    /// What is kept.
    pub selection: Selection,
    /// What became of the rest.
    pub dropped: Dropped,
    /// Loss and substitutions along the stream.
    pub trace: Vec<TracePoint>,
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
}

/// The position in the stream; part of a checkpoint.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) scan: u32,
    pub(super) in_scan: u64,
    arrived: u64,
    seen: u64,
}

/// A run under way.
pub struct Driver<'a> {
    pub(super) source: &'a mut dyn FeatureSource,
    pub(super) lanes: Vec<Lane>,
    pub(super) options: RunOptions,
    pub(super) position: Position,
    pub(super) groups: Option<Groups>,
    pub(super) whole: WholeGroups,
    pub(super) read: Duration,
    pub(super) select: Duration,
}

impl<'a> Driver<'a> {
    /// A run from the start of the source; problems are checked here.
    pub fn new(
        source: &'a mut dyn FeatureSource,
        lanes: Vec<Lane>,
        options: RunOptions,
    ) -> Result<Self> {
        if options.scans == 0 {
            return Err(Error::param("scans", 0, "at least 1"));
        }
        for lane in &lanes {
            lane.problem.check()?;
            let (got, want) = (lane.problem.rows.input(), source.rows());
            if got != want {
                return Err(Error::Rows { what: "the target".into(), got, want });
            }
        }
        let position = Position::default();
        let (read, select) = (Duration::ZERO, Duration::ZERO);
        let (groups, whole) = (None, WholeGroups::default());
        Ok(Self { source, lanes, options, position, groups, whole, read, select })
    }

    /// Gives the features groups.
    #[must_use]
    pub fn with_groups(mut self, groups: Groups) -> Self {
        self.groups = Some(groups);
        self
    }

    /// Reads a block; where a method wants whole groups it ends with one.
    fn fill(&mut self, block: &mut ColumnBlock) -> Result<()> {
        let whole = self.lanes.iter().any(|lane| lane.selector.whole_groups());
        match self.groups.as_mut().filter(|_| whole) {
            Some(groups) => self.whole.fill(groups, self.source, block, self.options.width),
            None => {
                block.reset(self.options.width);
                while block.room() > 0 && self.source.next_block(block)? {}
                Ok(())
            }
        }
    }

    /// The state between two blocks.
    pub(super) fn save(&self) -> Result<Vec<u8>> {
        let lanes: Vec<(&Log, Vec<u8>)> = self
            .lanes
            .iter()
            .map(|lane| Ok((&lane.log, lane.selector.save()?)))
            .collect::<Result<_>>()?;
        let names = self.groups.as_ref().map_or(&[][..], Groups::names);
        snapshot::encode(&(self.position, lanes, names, self.whole.past()))
    }

    /// Takes up a state that an observer saved; every later digit is that of an unbroken run.
    pub fn restore(&mut self, state: &[u8]) -> Result<()> {
        type State = (Position, Vec<(Log, Vec<u8>)>, Vec<String>, HashSet<u32>);
        let (position, lanes, names, past): State = snapshot::decode(state)?;
        if lanes.len() != self.lanes.len() {
            return Err(Error::Snapshot("it has another number of selectors".into()));
        }
        let features = self.source.features().unwrap_or(u64::MAX);
        let inside = position.scan <= self.options.scans && position.in_scan <= features;
        snapshot::ensure(inside, "it is past the end of the stream")?;
        for (lane, (log, state)) in self.lanes.iter_mut().zip(lanes) {
            lane.selector.restore(&state)?;
            lane.log = log;
        }
        if let Some(groups) = &mut self.groups {
            groups.restore(names);
        }
        self.position = position;
        self.whole.restore(past);
        Ok(())
    }

    /// Goes through the source to the end, or until the observer stops it.
    pub fn run(mut self, observer: &mut dyn Observer) -> Result<RunReport> {
        let mut complete = false;
        while self.position.scan < self.options.scans {
            self.begin_scan()?;
            if self.scan(observer)? {
                break;
            }
            let mut converged = true;
            for lane in &mut self.lanes {
                converged &= lane.selector.end_scan()?;
            }
            self.position.scan += 1;
            self.position.in_scan = 0;
            complete = converged || self.position.scan == self.options.scans;
            if complete {
                break;
            }
        }
        self.finish(complete)
    }

    pub(super) fn begin_scan(&mut self) -> Result<()> {
        let Position { scan, in_scan, .. } = self.position;
        let order = &self.options.order;
        if *order != Order::Given {
            let features = self.source.features().ok_or_else(|| {
                Error::Unsupported("an order needs a source that knows its features".into())
            })?;
            let order = match (&mut self.groups, order) {
                (Some(groups), Order::Shuffled) => {
                    Some(groups.shuffled(self.source, self.options.seed, scan)?)
                }
                (_, order) => order.indices(features, self.options.seed, scan),
            };
            if let Some(order) = order {
                self.source.reorder(order)?;
            }
        }
        if scan > 0 || in_scan > 0 || *order != Order::Given {
            self.source.rewind()?;
        }
        if in_scan > 0 {
            return self.source.skip(in_scan);
        }
        self.whole.restore(HashSet::new());
        for lane in &mut self.lanes {
            lane.log.dropped = Dropped::default();
            lane.log.alive.clear();
        }
        Ok(())
    }

    /// One scan; `true` when the observer ended the run.
    fn scan(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        let mut block = ColumnBlock::new(self.options.width);
        loop {
            let start = Instant::now();
            self.fill(&mut block)?;
            self.read += start.elapsed();
            if block.is_empty() {
                let start = Instant::now();
                self.settle(true, observer)?;
                self.select += start.elapsed();
                return Ok(false);
            }
            let start = Instant::now();
            self.offer(&block, observer)?;
            self.select += start.elapsed();
            let flow = observer.progress(&self.progress())?;
            if flow.save || flow.stop {
                self.settle(true, observer)?;
            }
            if flow.save {
                observer.save(self.save()?)?;
            }
            if flow.stop {
                return Ok(true);
            }
        }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress {
            scan: self.position.scan,
            scans: self.options.scans,
            arrived: self.position.arrived,
            features: self.source.features(),
            status: self.lanes.first().map(|lane| lane.selector.status()).unwrap_or_default(),
        }
    }

    pub(super) fn offer(&mut self, block: &ColumnBlock, observer: &mut dyn Observer) -> Result<()> {
        let (scan, first) = (self.position.scan, self.position.in_scan);
        self.position.in_scan += block.len() as u64;
        self.position.arrived += block.len() as u64;
        self.position.seen = self.position.seen.max(self.position.in_scan);
        let mut outcomes = Vec::with_capacity(block.len());
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            let (glances, centres) = (lane.selector.glances(), lane.selector.centres());
            let wants = Wants { glances, centres };
            let mut checked = check_block_for(block, first, &lane.problem, &lane.policy, wants)?;
            let mark = lane.log.pins.mark();
            if !lane.always.is_empty() {
                let always = |name: &str| lane.always.contains(name);
                // A method without a model has no intercept to do without.
                let centred = centres || lane.selector.status().loss.is_none();
                lane.log.pins.admit(&mut checked, always, &lane.problem, centred);
            }
            if let Some(groups) = &mut self.groups {
                groups.assign(&mut checked, block, first)?;
            }
            if lane.selector.compacts() {
                checked.compact();
            }
            outcomes.clear();
            if let Err(error) = lane.selector.offer_block(&checked, &mut outcomes) {
                lane.log.pins.back_to(mark);
                return Err(error);
            }
            debug_assert!(outcomes.is_empty() || outcomes.len() == checked.features.len());
            let mut report = |id, name: &str, outcome: &Outcome| {
                observer.decision(&Decision { lane: at, scan, id, name, outcome })
            };
            for (id, name, _, reason) in &checked.dropped {
                lane.log.count(*reason);
                report(*id, name, &Outcome::dropped(*reason))?;
            }
            for (feature, outcome) in checked.features.iter().zip(&outcomes) {
                lane.log.outcome(feature.id, outcome);
                report(feature.id, &feature.name, outcome)?;
            }
            settle(lane, at, scan, false, observer)?;
            lane.log.point(self.position.arrived, lane.selector.status());
        }
        Ok(())
    }

    /// Takes in the outcomes that come late.
    pub(super) fn settle(&mut self, wait: bool, observer: &mut dyn Observer) -> Result<()> {
        let scan = self.position.scan;
        let lanes = self.lanes.iter_mut().enumerate();
        lanes.into_iter().try_for_each(|(at, lane)| settle(lane, at, scan, wait, observer))
    }

    fn finish(mut self, complete: bool) -> Result<RunReport> {
        let start = Instant::now();
        for lane in &mut self.lanes {
            lane.selector.finish()?;
        }
        self.select += start.elapsed();
        self.report(complete)
    }

    /// The result as it stands.
    pub(super) fn report(&self, complete: bool) -> Result<RunReport> {
        let mut lanes = Vec::with_capacity(self.lanes.len());
        for lane in &self.lanes {
            let mut selection = lane.selector.selection()?;
            let lost = lane.log.pins.warnings(&lane.always, &selection);
            selection.warnings.extend(lost);
            lane.selector.fitted(&mut |fitted| {
                verdict::check(&lane.problem, &selection, fitted, &lane.constant)
            })?;
            let kept: HashSet<_> =
                selection.selected.iter().chain(&selection.always).map(|s| s.id).collect();
            let mut dropped = lane.log.dropped;
            dropped.evicted += lane.log.alive.difference(&kept).count() as u64;
            lanes.push(LaneReport { selection, dropped, trace: lane.log.trace.clone() });
        }
        Ok(RunReport {
            lanes,
            features_seen: self.position.seen,
            groups: self.groups.clone(),
            scans: self.position.scan + u32::from(self.position.in_scan > 0),
            complete,
            read: self.read,
            select: self.select,
        })
    }
}

fn settle(
    lane: &mut Lane,
    at: usize,
    scan: u32,
    wait: bool,
    observer: &mut dyn Observer,
) -> Result<()> {
    let mut late = Vec::new();
    lane.selector.settle(wait, &mut late)?;
    for Late { id, name, outcome } in &late {
        lane.log.outcome(*id, outcome);
        observer.decision(&Decision { lane: at, scan, id: *id, name, outcome })?;
    }
    Ok(())
}
