//! A share of the features of a run that has no process of its own: one part of a cluster, or the
//! driver that puts the parts' findings together.
//!
//! ```text
//! part, first     os-plus on its own columns                       -> the kept ones, as bytes
//! driver, first   os-plus on the union of these
//! part, a round   an exact test of each column against the model   -> those of largest fall
//! driver          exchanges among the model and these, until no part finds any
//! ```
//!
//! Who sends what where is for the caller: nothing here knows of processes. A feature is known by
//! its place among the features of all parts, so each part is told the place of its first one.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use keepnet::data::{Wants, check_block_for};
use keepnet::select::substitution::os_plus::{
    Best, INFO, OsPlus, OsPlusParams, column_bytes, column_from_bytes,
};
use keepnet::{
    Budget, CheckPolicy, CheckedBlock, ColumnBlock, ColumnData, ColumnSelector, Error, Feature,
    FeatureId, FeatureSource, Kept, Name, Problem, RawColumn, Reason, Result, RunOptions, Snapshot,
};

use crate::identity::text_hash;
use crate::request::{InputRequest, Request, Size};

mod end;
mod problem;

pub use end::End;
pub use problem::{problem_bytes, problem_from_bytes, problem_of_files};

/// Bytes of a block of columns that are read from files.
const BLOCK: u64 = 32 << 20;

/// What one pass over the features of a part found of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Features.
    pub features: u64,
    /// Of these, constant or too rare.
    pub constant: u64,
    /// Of these, with too many missing values.
    pub missing: u64,
}

/// A column that a part sends: place, name, expected fall of the loss, and the whole as bytes.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Place among the features of all parts.
    pub place: u64,
    /// Name.
    pub name: String,
    /// By how much the loss falls; 0 of a column that is kept.
    pub fall: f64,
    /// The column.
    pub bytes: Vec<u8>,
}

/// A pass of exact tests.
struct Pass {
    best: Best,
    tolerance: f64,
}

/// One part, or the driver.
pub struct Shard {
    request: Request,
    problem: Problem,
    policy: CheckPolicy,
    pinned: HashSet<String>,
    selector: OsPlus,
    first: u64,
    seen: Seen,
    pass: Option<Pass>,
    /// Columns of these names are no features.
    left_out: HashSet<String>,
    /// A hash of the name of each feature of the first pass.
    names: Vec<u64>,
    /// Places whose names are asked for, and the names.
    asked: Vec<u64>,
    answers: Vec<String>,
    start: Instant,
    read: Duration,
}

impl Shard {
    /// An `os-plus` as the request asks for it, whose first feature has the place `first`.
    pub fn new(request: Request, problem: Problem, first: u64) -> Result<Self> {
        let info = request.method.info()?;
        if info.name != INFO.name {
            let want = "os-plus: only its exact test can end with a certificate";
            return Err(Error::param("method", info.name, want));
        }
        if request.method.groups.is_some() {
            return Err(Error::param("groups", "given", "no groups with os-plus over parts"));
        }
        let chosen = request.method.k.as_ref().is_some_and(Size::chosen);
        if chosen || request.trust.any() {
            let want = "one selection over parts: no choice of k, no rows set aside";
            return Err(Error::param("k", "a choice, or with other lanes", want));
        }
        let params = OsPlusParams::of(&request.method.spec(request.run.seed)?)?;
        // Exchanges over the parts end the run, so no part has a last pass of its own.
        let params = params.without_last_pass(&problem)?;
        let selector = OsPlus::new(params, &problem, Budget::unlimited())?;
        Ok(Self {
            policy: request.policy()?,
            pinned: request.method.always()?,
            selector,
            first,
            seen: Seen::default(),
            pass: None,
            left_out: HashSet::new(),
            names: Vec::new(),
            asked: Vec::new(),
            answers: Vec::new(),
            start: Instant::now(),
            read: Duration::ZERO,
            request,
            problem,
        })
    }

    /// Columns of these names are passed over: the target may be a column of a part.
    pub fn leave_out(&mut self, names: impl IntoIterator<Item = String>) {
        self.left_out = names.into_iter().collect();
    }

    /// From here on features are tested against the model and change nothing.
    pub fn test(&mut self, top: usize, tolerance: f64) {
        self.pass = Some(Pass { best: Best::new(top), tolerance });
    }

    /// Begins another pass over the same features.
    pub fn rewind(&mut self) {
        self.seen = Seen::default();
    }

    /// What the pass saw so far.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// A hash of the name of each feature of the first pass, so that a name that two parts have is
    /// found without sending them all.
    #[must_use]
    pub fn names(&self) -> &[u64] {
        &self.names
    }

    /// Offers columns by their names.
    pub fn offer(&mut self, columns: Vec<(Name, ColumnData)>) -> Result<()> {
        let mut columns = columns.into_iter();
        loop {
            let mut block = ColumnBlock::new(RunOptions::default().width);
            while block.room() > 0
                && let Some((name, data)) = columns.next()
            {
                if !self.left_out.is_empty() && self.left_out.contains(&*name.text()) {
                    continue;
                }
                let at = self.seen.features + block.len() as u64;
                if at == self.names.len() as u64 {
                    self.names.push(name.with(text_hash));
                }
                if self.asked.contains(&at) {
                    self.answers.push(name.to_string());
                }
                let place = self.first + at;
                block.push(RawColumn { id: FeatureId::new(place), name, source: 0, data });
            }
            if block.is_empty() {
                return Ok(());
            }
            match self.asked.is_empty() {
                true => self.offer_block(&block)?,
                false => self.seen.features += block.len() as u64,
            }
        }
    }

    /// From here on only the names of the features at these places of the part are noted.
    pub fn look_at(&mut self, places: Vec<u64>) {
        self.asked = places;
    }

    /// The names that [`Shard::look_at`] asked for, in the order of the features.
    #[must_use]
    pub fn looked_at(&self) -> &[String] {
        &self.answers
    }

    /// Offers the columns of files, or those at `range` of them.
    pub fn offer_files(
        &mut self,
        input: &InputRequest,
        range: Option<(u64, u64)>,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        let options = input.options(self.request.run.memory)?;
        let mut dataset = keepnet_io::open(&input.inputs, &options)?;
        let (got, want) = (dataset.rows(), self.problem.rows.input());
        if got != want {
            return Err(Error::Rows { what: input.inputs.join(", "), got, want });
        }
        dataset.weigh(&self.problem);
        let mut source = dataset.source(&[])?;
        let (from, to) = range.unwrap_or((0, u64::MAX));
        if let Some(features) = source.features().filter(|p| range.is_some() && *p < to) {
            let got = format!("{from} to {to}");
            let want = format!("places up to {features}, the number of columns");
            return Err(Error::param("columns", got, want));
        }
        if from > 0 {
            source.skip(from)?;
        }
        let column = source.column_bytes().unwrap_or(8 * want as u64);
        let width = RunOptions::width_for(column, BLOCK);
        let (mut block, mut left) = (ColumnBlock::new(width), to - from);
        while left > 0 && !stop() {
            let start = Instant::now();
            block.reset(width.min(usize::try_from(left).unwrap_or(width)));
            while block.room() > 0 && source.next_block(&mut block)? {}
            self.read += start.elapsed();
            if block.is_empty() {
                break;
            }
            left -= block.len() as u64;
            self.offer(block.split_off(0).into_iter().map(|raw| (raw.name, raw.data)).collect())?;
        }
        Ok(())
    }

    fn offer_block(&mut self, block: &ColumnBlock) -> Result<()> {
        let (selector, centres) = (&self.selector, self.selector.centres());
        let glances = selector.glances().filter(|_| self.pass.is_none());
        let wants = Wants { glances, centres, compacts: selector.compacts() };
        let first = self.first + self.seen.features;
        let mut checked = check_block_for(block, first, &self.problem, &self.policy, wants)?;
        for feature in &mut checked.features {
            feature.pinned = feature.name.with(|name| self.pinned.contains(name));
        }
        match &mut self.pass {
            Some(Pass { best, tolerance }) => {
                self.selector.screen(&checked.features, *tolerance, best)?;
            }
            None => self.selector.offer_block(&checked, &mut Vec::new())?,
        }
        for (.., reason) in &checked.dropped {
            match reason {
                Reason::Missing => self.seen.missing += 1,
                _ => self.seen.constant += 1,
            }
        }
        self.seen.features += block.len() as u64;
        Ok(())
    }

    /// The kept columns of a part, in the order of its kept list.
    pub fn kept(&self) -> Result<Vec<Sent>> {
        let kept = self.selector.kept_columns().into_iter();
        kept.filter(|kept| kept.id.is_some()).map(|kept| sent(kept, 0.0)).collect()
    }

    /// The columns that a pass of tests found, largest fall first.
    pub fn found(&self) -> Result<Vec<Sent>> {
        let found = self.pass.iter().flat_map(|pass| pass.best.found());
        found.map(|found| sent(&found.column, found.fall)).collect()
    }

    /// Takes up the model of a driver.
    pub fn redraw(&mut self, outline: &[u8], held: &[impl AsRef<[u8]>]) -> Result<()> {
        let own = self.selector.held().iter().filter(|kept| kept.id.is_none()).cloned();
        let held = held.iter().map(|bytes| column_from_bytes(bytes.as_ref(), None));
        let held: Vec<Kept> = own.map(Ok).chain(held).collect::<Result<_>>()?;
        self.selector.redraw(outline, held)
    }

    /// The model without its columns.
    pub fn outline(&self) -> Result<Vec<u8>> {
        self.selector.outline()
    }

    /// The model's columns, in the order that [`Shard::redraw`] takes them.
    pub fn held(&self) -> Result<Vec<Sent>> {
        let held = self.selector.held().iter().filter(|kept| kept.id.is_some());
        held.map(|kept| sent(kept, 0.0)).collect()
    }

    /// Loss of the model, penalty included.
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.selector.loss()
    }

    /// Features that replaced another so far.
    #[must_use]
    pub fn substitutions(&self) -> u64 {
        self.selector.status().substitutions
    }

    /// Selects among columns that parts kept: `scans` scans of `os-plus`.
    pub fn solve(&mut self, columns: &[impl AsRef<[u8]>], scans: u32) -> Result<()> {
        let columns = read(columns)?;
        for _ in 0..scans {
            let features = columns.iter().filter_map(Feature::of_kept).collect();
            let block = CheckedBlock { features, dropped: Vec::new() };
            self.selector.offer_block(&block, &mut Vec::new())?;
        }
        self.selector.settle()
    }

    /// Exchanges kept columns for these, the steepest first; how many were made.
    pub fn exchange(&mut self, columns: &[impl AsRef<[u8]>], tolerance: f64) -> Result<usize> {
        let columns = read(columns)?;
        let features: Vec<Feature<'_>> = columns.iter().filter_map(Feature::of_kept).collect();
        Ok(self.selector.exchange(&features, tolerance)?.len())
    }

    /// The whole state of a driver.
    pub fn save(&self) -> Result<Vec<u8>> {
        self.selector.save()
    }

    /// Takes up a state of [`Shard::save`] on the same problem and settings.
    pub fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.selector.restore(state)
    }

    /// What the certificate is about.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.selector.kind()
    }

    /// Time spent reading files.
    #[must_use]
    pub fn read_time(&self) -> Duration {
        self.read
    }
}

/// A column of a part, with its place among the features of all parts.
pub fn moved(bytes: &[u8], place: u64) -> Result<Vec<u8>> {
    let mut column = column_from_bytes(bytes, Some(FeatureId::new(place)))?;
    column.arrival = place;
    column_bytes(&column)
}

fn sent(kept: &Kept, fall: f64) -> Result<Sent> {
    let place = kept.id.map_or(0, |id| id.index);
    Ok(Sent { place, name: kept.name.clone(), fall, bytes: column_bytes(kept)? })
}

fn read(columns: &[impl AsRef<[u8]>]) -> Result<Vec<Kept>> {
    columns.iter().map(|bytes| column_from_bytes(bytes.as_ref(), None)).collect()
}
