//! Selections on disk, so that a comparison that was ended goes on where it stopped.
//!
//! A cell is what one pass found: every selection of one order, or of one method on rows. It is
//! named by the data set, a number that changes with the file or the splits, and the pass.
//! Judging is done again: it is quick and gives the same. Numbers are kept as bits, so that a
//! resumed comparison has every digit of one that was not ended.

use std::hash::{DefaultHasher, Hash, Hasher};

use keepnet::run::snapshot::ensure;
use keepnet::selection::{CovariateCoefficient, Selected, Selection};
use keepnet::{FeatureId, Result};
use keepnet_eval::Found;
use keepnet_eval::splits::Split;
use serde::{Deserialize, Serialize};

use crate::flags::CompareArgs;
use keepnet_run::outputs::journal::Journal;

#[derive(Clone, Serialize, Deserialize)]
struct Feature {
    id: FeatureId,
    name: String,
    coefficient: Vec<u64>,
    score: u64,
    mean: u64,
}

/// One selection, as far as judges and tables need it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Cell {
    entrant: usize,
    split: usize,
    order: usize,
    seconds: u64,
    bytes: u64,
    intercept: Vec<u64>,
    covariates: Vec<String>,
    selected: Vec<Feature>,
    always: Vec<Feature>,
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn numbers(bits: &[u64]) -> Vec<f64> {
    bits.iter().map(|bits| f64::from_bits(*bits)).collect()
}

fn feature(selected: &Selected) -> Feature {
    Feature {
        id: selected.id,
        name: selected.name.clone(),
        coefficient: bits(&selected.coefficient),
        score: selected.score.to_bits(),
        mean: selected.mean.to_bits(),
    }
}

fn selected((order, feature): (usize, &Feature)) -> Selected {
    Selected {
        id: feature.id,
        name: feature.name.clone(),
        source: 0,
        arrival: 0,
        order,
        group: None,
        coefficient: numbers(&feature.coefficient),
        score: f64::from_bits(feature.score),
        p_value: None,
        tested: None,
        mean: f64::from_bits(feature.mean),
        deviation: None,
        missing: None,
    }
}

impl From<&Found> for Cell {
    fn from(found: &Found) -> Self {
        let selection = &found.selection;
        Self {
            entrant: found.entrant,
            split: found.split,
            order: found.order,
            seconds: found.seconds.to_bits(),
            bytes: found.bytes,
            intercept: bits(&selection.intercept),
            covariates: selection.covariates.iter().map(|c| c.name.clone()).collect(),
            selected: selection.selected.iter().map(feature).collect(),
            always: selection.pinned.iter().map(feature).collect(),
        }
    }
}

impl From<&Cell> for Found {
    fn from(cell: &Cell) -> Self {
        let covariate =
            |name: &String| CovariateCoefficient { name: name.clone(), coefficient: Vec::new() };
        let selection = Selection {
            intercept: numbers(&cell.intercept),
            covariates: cell.covariates.iter().map(covariate).collect(),
            selected: cell.selected.iter().enumerate().map(selected).collect(),
            pinned: cell.always.iter().enumerate().map(selected).collect(),
            ..Selection::default()
        };
        Self {
            entrant: cell.entrant,
            split: cell.split,
            order: cell.order,
            selection,
            seconds: f64::from_bits(cell.seconds),
            bytes: cell.bytes,
        }
    }
}

/// Passes that are done.
pub struct Passes {
    journal: Journal<Vec<Cell>>,
    place: String,
    entrants: usize,
    splits: usize,
}

impl Cell {
    /// Whether it can be of a comparison of so many methods and splits.
    fn fits(&self, entrants: usize, splits: usize) -> bool {
        let outputs = self.intercept.len();
        let features = self.selected.iter().chain(&self.always);
        let mut weights = features.map(|feature| feature.coefficient.len());
        let even = weights.all(|weights| weights == 0 || outputs == 0 || weights == outputs);
        self.entrant < entrants && self.split < splits && even
    }
}

impl Passes {
    /// Opens the checkpoint of a comparison, or none; one of another comparison is refused.
    pub fn open(args: &CompareArgs) -> Result<Self> {
        let input = &args.input.0;
        let identity = format!(
            "keepnet {} compare {:?}",
            env!("CARGO_PKG_VERSION"),
            (
                (&input.inputs, &args.target, &args.dataset, &input.format, &input.stack),
                (&input.columns, &input.exclude, &input.categorical, &input.key),
                (&args.methods, args.k, &args.groups, &args.missing, &args.task),
                (&args.sample_weight, &args.class_weight, args.seed),
            )
        );
        let journal = Journal::open(args.checkpoint.as_deref(), &identity)?;
        Ok(Self { journal, place: String::new(), entrants: 0, splits: 0 })
    }

    /// The next passes are of so many methods on this data set, these values and these splits.
    pub fn begin(&mut self, entrants: usize, dataset: &str, fingerprint: u64, splits: &[Split]) {
        (self.entrants, self.splits) = (entrants, splits.len());
        let mut hash = DefaultHasher::new();
        fingerprint.hash(&mut hash);
        splits.iter().for_each(|split| (&split.train, &split.test).hash(&mut hash));
        self.place = format!("{dataset}, {:016x}", hash.finish());
    }

    /// What a pass found: run, or taken from the checkpoint.
    pub fn pass(
        &mut self,
        name: &str,
        run: impl FnOnce() -> Result<Vec<Found>>,
    ) -> Result<Vec<Found>> {
        let key = format!("{}, {name}", self.place);
        if let Some(cells) = self.journal.get(&key) {
            let fit = cells.iter().all(|cell| cell.fits(self.entrants, self.splits));
            ensure(fit, "the checkpoint has a selection of no method or split; remove it")?;
            return Ok(cells.iter().map(Found::from).collect());
        }
        let found = run()?;
        self.journal.write(&key, found.iter().map(Cell::from).collect())?;
        Ok(found)
    }

    /// The comparison is done and written.
    pub fn remove(self) {
        self.journal.remove();
    }
}
