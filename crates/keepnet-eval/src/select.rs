//! Selections from the training part of every split, by every method.
//!
//! On a stream of features all methods and splits that make the same number of scans share one
//! read: each is a lane of the driver with its own rows. A method on rows goes through the
//! stream once a split, past the rows that are not for training.

use std::sync::Arc;
use std::time::Instant;

use keepnet::registry;
use keepnet::run::{RowCounts, RowDriver, RowObserver, RowOptions};
use keepnet::{
    Budget, CheckPolicy, ColumnBlock, Driver, FeatureSource, Flow, Groups, Lane, MethodInfo,
    MethodSpec, Observer, Order, Problem, Progress, Result, RowBlock, RowLearner, RowProblem,
    RunOptions, SampleSource, Selection, Value,
};

use crate::metered::{Meter, Metered};
use crate::splits::{Split, subset};

/// A method with its settings, as it is compared.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// Its name in results.
    pub label: String,
    /// The method.
    pub info: &'static MethodInfo,
    /// Its settings.
    pub spec: MethodSpec,
    /// Scans; a method on rows makes one.
    pub scans: u32,
}

/// One selection.
#[derive(Clone, Debug)]
pub struct Found {
    /// Place of the method in the list of entrants.
    pub entrant: usize,
    /// Place of the split.
    pub split: usize,
    /// The order of the features, from 0.
    pub order: usize,
    /// What was selected, and with which weights.
    pub selection: Selection,
    /// Seconds of checking and deciding, reading not counted.
    pub seconds: f64,
    /// Most bytes that the method held.
    pub bytes: u64,
}

/// Hears how far a pass is: a share from 0 to 1.
pub type Hear<'a> = &'a mut dyn FnMut(f64);

/// What a comparison on features needs besides source and methods.
pub struct FeatureRun<'a> {
    /// The problem on all rows.
    pub problem: &'a Problem,
    /// The splits.
    pub splits: &'a [Split],
    /// Which columns are fit to be offered.
    pub policy: &'a CheckPolicy,
    /// Groups, where there are any.
    pub groups: Option<&'a Groups>,
    /// Number of the order: 0 as given, else shuffled by `seed` and this number.
    pub order: usize,
    /// Seed.
    pub seed: u64,
    /// Bytes that one method may hold.
    pub budget: Option<u64>,
    /// Whether every class weighs the same in the training rows.
    pub balanced: bool,
    /// Columns in a block.
    pub width: usize,
}

struct Watch<'a, 'b> {
    hear: Hear<'a>,
    part: (f64, f64),
    scans: &'b u32,
}

impl Observer for Watch<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> Result<Flow> {
        if let Some(features) = progress.features.filter(|features| *features > 0) {
            let share = progress.arrived as f64 / (features * u64::from(*self.scans).max(1)) as f64;
            (self.hear)(self.part.0 + share.min(1.0) * self.part.1);
        }
        Ok(Flow::default())
    }
}

impl FeatureRun<'_> {
    /// Selects with every entrant on every split: a read for each number of scans.
    pub fn select(
        &self,
        source: &mut dyn FeatureSource,
        entrants: &[(usize, Entrant)],
        hear: Hear<'_>,
    ) -> Result<Vec<Found>> {
        let mut scans: Vec<u32> = entrants.iter().map(|(_, entrant)| entrant.scans).collect();
        scans.sort_unstable();
        scans.dedup();
        // As many scans as it takes are usually a few.
        let weight = |scans: u32| f64::from(if scans == 0 { 4 } else { scans });
        let total: f64 = scans.iter().map(|scans| weight(*scans)).sum();
        let mut found = Vec::new();
        let mut before = 0.0;
        for scans in &scans {
            let same: Vec<_> = entrants.iter().filter(|(_, e)| e.scans == *scans).collect();
            let part = (before / total, weight(*scans) / total);
            before += weight(*scans);
            let mut watch = Watch { hear: &mut *hear, part, scans };
            found.extend(self.pass(source, &same, *scans, &mut watch)?);
        }
        Ok(found)
    }

    /// The training rows of a split, which every entrant is given: columns are checked on them
    /// once.
    fn part(&self, split: &Split) -> Result<Arc<Problem>> {
        let mut part = subset(self.problem, &split.train)?;
        if self.balanced {
            part.balance()?;
        }
        Ok(part.into())
    }

    fn pass(
        &self,
        source: &mut dyn FeatureSource,
        entrants: &[&(usize, Entrant)],
        scans: u32,
        watch: &mut dyn Observer,
    ) -> Result<Vec<Found>> {
        let mut lanes = Vec::new();
        let mut meters: Vec<(usize, usize, Arc<Meter>)> = Vec::new();
        let (bytes, integral) = (source.column_bytes(), integral(source, entrants)?);
        let parts: Vec<Arc<Problem>> =
            self.splits.iter().map(|split| self.part(split)).collect::<Result<_>>()?;
        for (place, entrant) in entrants.iter().copied() {
            for (at, part) in parts.iter().enumerate() {
                let spec = MethodSpec { column_bytes: bytes, integral, ..entrant.spec.clone() };
                let budget = self.budget.map_or_else(Budget::unlimited, Budget::bytes);
                let selector = registry::make(entrant.info, &spec, part, budget)
                    .map_err(|error| error.at(&entrant.label))?;
                let (metered, meter) = Metered::new(selector);
                let mut lane = Lane::new(Arc::clone(part), Box::new(metered));
                lane.policy = self.policy.clone();
                lanes.push(lane);
                meters.push((*place, at, meter));
            }
        }
        let order = if self.order == 0 { Order::Given } else { Order::Shuffled };
        let seed = self.seed.wrapping_add(self.order as u64);
        let options = RunOptions { scans, order, seed, width: self.width };
        source.rewind()?;
        let mut driver = Driver::new(source, lanes, options)?;
        if let Some(groups) = self.groups {
            driver = driver.with_groups(groups.clone());
        }
        let report = driver.run(watch)?;
        let own: f64 = meters.iter().map(|(_, _, meter)| meter.time().as_secs_f64()).sum();
        // Checking columns is the driver's work, shared by the lanes.
        let check = (report.select.as_secs_f64() - own).max(0.0) / meters.len().max(1) as f64;
        let one = |((entrant, split, meter), lane): ((usize, usize, Arc<Meter>), _)| {
            let keepnet::run::LaneReport { selection, .. } = lane;
            let seconds = meter.time().as_secs_f64() + check;
            Found { entrant, split, order: self.order, selection, seconds, bytes: meter.bytes() }
        };
        Ok(meters.into_iter().zip(report.lanes).map(one).collect())
    }
}

/// Most levels of a column under a discrete measure.
const LEVELS: usize = 256;

/// Whether `auto` may take a discrete measure: the schema says integers, and no column has more
/// levels than a discrete measure takes. Values are read only where a method asks for `auto`.
fn integral(source: &mut dyn FeatureSource, entrants: &[&(usize, Entrant)]) -> Result<bool> {
    let auto = |(_, entrant): &&(usize, Entrant)| {
        let settings = &entrant.spec.settings;
        (entrant.info.has("measure") || entrant.info.has("criterion"))
            && settings.get("criterion").is_none_or(|name| *name == Value::from("auto"))
            && settings.get("measure").is_none_or(|name| *name == Value::from("auto"))
            && settings.get("bins").is_none_or(|bins| *bins == Value::from("none"))
    };
    if !source.integral() || !entrants.iter().copied().any(|entrant| auto(&entrant)) {
        return Ok(source.integral());
    }
    source.rewind()?;
    let mut block = ColumnBlock::new(LEVELS);
    let (mut values, mut more) = (Vec::new(), true);
    while more {
        block.reset(LEVELS);
        more = source.next_block(&mut block)?;
        for column in block.columns() {
            values.resize(column.data.view().rows(), 0.0);
            column.data.view().fill(&mut values);
            values.sort_unstable_by(f64::total_cmp);
            if values.chunk_by(|a, b| a.total_cmp(b).is_eq()).count() > LEVELS {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The rows of a stream that are for training.
struct Training<'a> {
    inner: &'a mut dyn SampleSource,
    wanted: &'a [bool],
    at: usize,
    block: RowBlock,
}

impl SampleSource for Training<'_> {
    fn names(&self) -> &[String] {
        self.inner.names()
    }

    fn fingerprint(&self) -> u64 {
        self.inner.fingerprint()
    }

    fn next_block(&mut self, out: &mut RowBlock) -> Result<bool> {
        self.block.reset(out.room());
        let more = self.inner.next_block(&mut self.block)?;
        for (i, row) in self.block.rows().enumerate() {
            if self.wanted.get(self.at + i).copied().unwrap_or(false) {
                out.push(row, self.block.y()[i], self.block.weight()[i])?;
            }
        }
        self.at += self.block.len();
        Ok(more)
    }
}

#[derive(Default)]
struct Peak(u64);

impl RowObserver for Peak {
    fn progress(&mut self, _: &RowCounts, learner: &dyn RowLearner) -> Result<Flow> {
        self.0 = self.0.max(learner.status().bytes);
        Ok(Flow::default())
    }
}

/// Selects with a method on rows from the training rows of each split.
pub fn select_rows(
    source: &mut dyn SampleSource,
    rows: &RowProblem,
    (problem, splits): (&Problem, &[Split]),
    (place, entrant): (usize, &Entrant),
    (options, budget): (RowOptions, Option<u64>),
    hear: Hear<'_>,
) -> Result<Vec<Found>> {
    let mut found = Vec::with_capacity(splits.len());
    for (at, split) in splits.iter().enumerate() {
        let mut wanted = vec![false; problem.rows.input()];
        split.train.iter().for_each(|row| wanted[problem.rows.source_row(*row as usize)] = true);
        let budget = budget.map_or_else(Budget::unlimited, Budget::bytes);
        let mut learner = registry::make_rows(entrant.info, &entrant.spec, rows, budget)
            .map_err(|error| error.at(&entrant.label))?;
        source.rewind()?;
        let block = RowBlock::new(source.names().len(), 1);
        let mut training = Training { inner: source, wanted: &wanted, at: 0, block };
        let mut peak = Peak::default();
        let report = RowDriver::new(&mut training, learner.as_mut(), options).run(&mut peak)?;
        let start = Instant::now();
        let selection = learner.selection().map_err(|error| error.at(&entrant.label))?;
        let seconds = (report.learn + start.elapsed()).as_secs_f64();
        found.push(Found {
            entrant: place,
            split: at,
            order: 0,
            selection,
            seconds,
            bytes: peak.0,
        });
        hear((at + 1) as f64 / splits.len() as f64);
    }
    Ok(found)
}
