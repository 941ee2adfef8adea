//! Running averages past p^2 memory: O(p) statistics for all features, a Gram for some.
//!
//! ```text
//! A: a features, random at first; epochs of 1000, 1000, 2000, 4000, ... rows with a frozen model
//! end of an epoch: t_j of every feature with the residual (`screen`)
//!   new A: the best min(4k, a/4) of A by annealing, the pinned features, then the largest |t_j|
//!   A changes and its Gram starts again after each of the first two epochs, and when some t_j > 4.5
//!   outside A is among the k largest; otherwise the Gram continues and only the model is refitted
//! the previous Gram is used until the new one has more rows
//! ```
//!
//! All pairs of a Gram use the same rows, so it stays positive; pairs from different rows would not.
//! With doubling epochs the Gram in use covers at least a third of the stream. The price is screening
//! power: weak features need more rows to enter, and a feature that has an effect only jointly with
//! others (no correlation with target or residual) is not found. Cost O(p + a^2) a row, memory
//! `32 p + 36 a^2` bytes. Source: this project (specs of running averages, section 7).

use std::cell::OnceCell;
use std::collections::BTreeSet;

use rand::seq::index::sample;
use serde::{Deserialize, Serialize};

use super::averaged::{AveragedParams, check_numbers, check_varies};
use super::logistic::RegressionLearner;
use super::screen::Screen;
use crate::data::order::generator;
use crate::data::row::{Row, RowBlock, RowProblem, margin};
use crate::error::{Error, Result};
use crate::learn::RowLearner;
use crate::learn::averages::extract::{Extract, ranked};
use crate::learn::averages::fit::{CachedFit, Fit};
use crate::learn::averages::gram::{Gram, Model};
use crate::learn::averages::ofsa::{Ofsa, OfsaParams};
use crate::learn::averages::path::Choose;
use crate::learn::averages::pinned::{self, Pinned};
use crate::learn::averages::running::RunningAverages;
use crate::learn::averages::validity::refuse_unless;
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::Status;
use crate::selection::Selection;

/// Rows of the first epoch.
const FIRST: u64 = 1000;
/// A feature outside the set with a larger score makes the set change.
const STRONG_SCORE: f64 = 4.5;
/// Bytes of a pair of active features: two packed Grams and an extraction.
const PAIR_BYTES: u64 = 36;

/// The same for a problem. Projecting pinned features out needs two more copies of a Gram.
fn pair_bytes(problem: &RowProblem) -> u64 {
    if problem.pinned().next().is_some() { PAIR_BYTES + 16 } else { PAIR_BYTES }
}

/// Bytes of an active feature: the rows of one block and the blocks that wait.
const FEATURE_BYTES: u64 = 256 * 8 + 4 * 257 * 4;

/// Settings of [`ActiveSet`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActiveSetParams {
    /// Features of the Gram, at least `4 k`.
    pub active: usize,
    /// Seed of the first set.
    pub seed: u64,
}

impl ActiveSetParams {
    /// The largest set that fits `bytes` together with the O(p) statistics.
    #[must_use]
    pub fn fitting(bytes: u64, problem: &RowProblem) -> usize {
        let features = problem.features();
        let left = bytes.saturating_sub(Screen::bytes_for(features) + 16 * features as u64);
        let (a, b) = (pair_bytes(problem) as f64, FEATURE_BYTES as f64);
        ((((b * b + 4.0 * a * left as f64).sqrt() - b) / (2.0 * a)) as usize).min(features)
    }
}

/// Running averages over a changing set of features.
pub struct ActiveSet {
    problem: RowProblem,
    params: AveragedParams,
    active: ActiveSetParams,
    k: usize,
    extract: Box<dyn Extract>,
    state: State,
    bytes: u64,
    fit: OnceCell<Fit>,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    rows: u64,
    epoch_end: u64,
    epochs: u64,
    changes: u64,
    set: Vec<u32>,
    gram: RunningAverages,
    /// The previous set and Gram, while it has more rows.
    previous: Option<(Vec<u32>, RunningAverages)>,
    screen: Screen,
    /// Coefficients of the features of `set`, and the intercept.
    coefficient: Vec<f64>,
    intercept: f64,
}

impl ActiveSet {
    /// An empty learner; `k` must be given, and there is one output.
    pub fn new(
        problem: RowProblem,
        params: AveragedParams,
        active: ActiveSetParams,
        extract: Box<dyn Extract>,
        mut budget: Budget,
    ) -> Result<Self> {
        problem.check()?;
        check_numbers(&problem, &params)?;
        let p = problem.features();
        let k = params.k.ok_or_else(|| {
            Error::param("k", "not given", "`k=K`: the Gram of all features does not fit `memory`")
        })?;
        if problem.outputs() > 1 || params.averages.forget > 0.0 || params.choose == Choose::Holdout
        {
            return Err(Error::Unsupported(
                "the Gram of all features does not fit `memory`, and the active set does without \
                 several classes, forgetting and hold-out; raise `memory`"
                    .into(),
            ));
        }
        let size = active.active.min(p);
        let pins: BTreeSet<u32> = problem.pinned().collect();
        let least = (4 * k + pins.len()).min(p);
        if size < least {
            return Err(Error::Data(format!(
                "the memory allows a Gram of {size} features, an active set for k {k} needs \
                 {least}; raise `memory` or lower k"
            )));
        }
        let bytes = Screen::bytes_for(p)
            + pair_bytes(&problem) * (size as u64).pow(2)
            + FEATURE_BYTES * size as u64;
        budget.take(bytes, "the active set")?;
        let drawn = sample(&mut generator(active.seed, 0xac71), p, size);
        let others = drawn.iter().map(|j| j as u32).filter(|j| !pins.contains(j));
        let mut set: Vec<u32> =
            others.take(size - pins.len()).chain(pins.iter().copied()).collect();
        set.sort_unstable();
        let state = State {
            rows: 0,
            epoch_end: FIRST,
            epochs: 0,
            changes: 0,
            gram: RunningAverages::new(size, problem.classes.len(), params.averages)?,
            coefficient: vec![0.0; size],
            set,
            previous: None,
            screen: Screen::new(p),
            intercept: 0.0,
        };
        let fit = OnceCell::new();
        Ok(Self { problem, params, active, k, extract, state, bytes, fit })
    }

    /// The residual of each row at the frozen model; the rows have the features of the set.
    fn residuals(&self, rows: &RowBlock) -> Vec<f64> {
        let classes = self.problem.classes.len();
        let one = |(row, y): (Row<'_>, &f64)| {
            margin(classes, *y, 0) - (self.state.intercept + row.dot(&self.state.coefficient))
        };
        rows.rows().zip(rows.y()).map(one).collect()
    }

    /// The best `count` of the free active features, as free places.
    fn best(pinned: &Pinned, count: usize) -> Result<Vec<usize>> {
        let gram = pinned.free();
        if gram.n <= 200.0 {
            return Ok(ranked(&crate::learn::averages::gram::sizes(&gram.xy), count.min(gram.p())));
        }
        let ofsa = Ofsa::new(OfsaParams { iterations: 1000, ..OfsaParams::default() })?;
        pinned.choose(&ofsa, count)
    }

    /// The Gram of averages over `set`, with the features' numbers in the whole problem.
    fn gram(set: &[u32], averages: &RunningAverages) -> Result<Gram> {
        let mut gram = averages.gram()?;
        gram.index.iter_mut().for_each(|j| *j = set[*j as usize]);
        Ok(gram)
    }

    /// The model of the best of the active features.
    fn frozen(&self) -> Result<Model> {
        let gram = Self::gram(&self.state.set, &self.state.gram)?;
        let pinned = Pinned::new(gram, &self.problem)?;
        let count = (4 * self.k).min(self.state.set.len() / 4).max(1);
        let kept = pinned.with_pins(&Self::best(&pinned, count)?);
        let b = pinned.whole.refit(&kept)?;
        Ok(pinned.whole.model(&kept, &b))
    }

    fn end_epoch(&mut self) -> Result<()> {
        // The rows so far may all be of one class, or the active features all zero. Then other
        // features enter by their scores, and a problem that remains is reported at the end.
        let empty =
            Model { index: Vec::new(), coefficient: vec![Vec::new()], intercept: vec![0.0] };
        let model = self.frozen().unwrap_or(empty);
        let size = self.state.set.len();
        let mut inside = vec![false; self.problem.features()];
        self.state.set.iter().for_each(|j| inside[*j as usize] = true);
        let score: Vec<f64> = self.state.screen.scores(&inside).iter().map(|t| t.abs()).collect();
        let order = ranked(&score, size + self.k);
        let strong = order.iter().take(self.k).any(|j| !inside[*j] && score[*j] > STRONG_SCORE);
        self.state.epochs += 1;
        self.state.epoch_end *= 2;
        self.state.screen = Screen::new(self.problem.features());
        if strong || self.state.epochs <= 2 {
            self.change(&model, &order)?;
        } else {
            self.state.coefficient = coefficients(&self.state.set, &model);
        }
        self.state.intercept = model.intercept[0];
        Ok(())
    }

    /// Changes the set to the features of `model`, then the best of `order`, with an empty Gram.
    fn change(&mut self, model: &Model, order: &[usize]) -> Result<()> {
        // A pinned feature that does not vary yet is in no model, but it stays in the set.
        let mut kept: BTreeSet<u32> = model.index.iter().copied().collect();
        kept.extend(self.problem.pinned());
        let new = order.iter().map(|j| *j as u32).filter(|j| !kept.contains(j));
        let room = self.state.set.len() - kept.len();
        let mut set: Vec<u32> = new.take(room).collect();
        set.extend(&kept);
        set.sort_unstable();
        let coefficient = coefficients(&set, model);
        let fresh =
            RunningAverages::new(set.len(), self.problem.classes.len(), self.params.averages)?;
        let old_set = std::mem::replace(&mut self.state.set, set);
        let mut old_gram = std::mem::replace(&mut self.state.gram, fresh);
        old_gram.close();
        self.state.previous = Some((old_set, old_gram));
        self.state.coefficient = coefficient;
        self.state.changes += 1;
        Ok(())
    }

    fn fit_to(&self, set: &[u32], averages: &RunningAverages) -> Result<Fit> {
        let gram = Self::gram(set, averages)?;
        check_varies(&gram, &self.problem)?;
        let mut warnings = pinned::constant_warnings(&gram, &self.problem);
        let (pinned, extract) = (Pinned::new(gram, &self.problem)?, self.extract.as_ref());
        warnings.extend(pinned.warnings(&self.problem));
        let mut notes = pinned.notes(extract)?;
        let chosen = pinned.choose(extract, self.k)?;
        notes.push(("active", set.len().into()));
        notes.push(("window", averages.rows().into()));
        notes.push(("set_changes", self.state.changes.into()));
        let fit = pinned.refit(&chosen, notes, warnings)?;
        fit.check(averages, |j| set.binary_search(&j).ok().map(|at| at as u32))?;
        Ok(fit)
    }
}

/// The rows `range` with only the features of a set.
fn restrict(rows: &RowBlock, range: std::ops::Range<usize>, set: &[u32]) -> Result<RowBlock> {
    let mut out = RowBlock::new(set.len(), range.len());
    let (mut narrow, mut wide) = (vec![0.0f32; set.len()], vec![0.0f64; set.len()]);
    for i in range {
        let row = match rows.row(i) {
            Row::F32(x) => {
                narrow.iter_mut().zip(set).for_each(|(out, j)| *out = x[*j as usize]);
                Row::F32(&narrow)
            }
            row => {
                wide.iter_mut().zip(set).for_each(|(out, j)| *out = row.get(*j as usize));
                Row::F64(&wide)
            }
        };
        out.push(row, rows.y()[i], rows.weight()[i])?;
    }
    Ok(out)
}

/// The coefficients of a model for the features of a set; 0 for features not in the model.
fn coefficients(set: &[u32], model: &Model) -> Vec<f64> {
    let of = |j: &u32| model.index.binary_search(j).map_or(0.0, |at| model.coefficient[0][at]);
    set.iter().map(of).collect()
}

impl RowLearner for ActiveSet {
    fn learn_block(&mut self, rows: &RowBlock) -> Result<()> {
        if rows.features() != self.problem.features() {
            let (got, want) = (rows.features(), self.problem.features());
            return Err(Error::Data(format!("a row has {got} features, expected {want}")));
        }
        for (i, row) in rows.rows().enumerate() {
            let at = self.state.rows + i as u64;
            if let Some(j) = row.beyond(1e17) {
                let value = row.get(j);
                return Err(Error::Data(format!("feature {j} is {value} at row {at}")));
            }
            let (y, w) = (rows.y()[i], rows.weight()[i]);
            crate::learn::averages::running::check_target(self.problem.classes.len(), y, w, at)?;
        }
        let mut from = 0;
        while from < rows.len() {
            let remaining = (self.state.epoch_end - self.state.rows) as usize;
            let to = rows.len().min(from + remaining);
            let active = restrict(rows, from..to, &self.state.set)?;
            let residual = self.residuals(&active);
            self.state.gram.push(&active)?;
            self.state.screen.push(rows, from..to, &residual);
            self.state.rows += (to - from) as u64;
            if self.state.rows == self.state.epoch_end {
                self.end_epoch()?;
            }
            let rows_now = self.state.gram.rows();
            if self.state.previous.as_ref().is_some_and(|(_, gram)| gram.rows() <= rows_now) {
                self.state.previous = None;
            }
            from = to;
        }
        self.fit.take();
        Ok(())
    }

    fn predict(&self, x: Row<'_>, out: &mut [f64]) -> Result<()> {
        self.margins(x, out)
    }

    fn selection(&self) -> Result<Selection> {
        self.current_selection()
    }

    fn status(&self) -> Status {
        let (substitutions, bytes) = (self.state.changes, self.bytes);
        let status = self.current_status(Status { substitutions, bytes, ..Status::default() });
        Status { kept: self.k, ..status }
    }

    /// The statistics, the Gram and its rows, as the budget has them; beyond that names and
    /// numbers a feature, two blocks of rows as they are multiplied, and the matrices of a model.
    fn memory(&self) -> u64 {
        let (p, a) = (self.problem.features() as u64, self.active.active as u64);
        // The averages of the set and of the one before, with the blocks that wait in them.
        let f32_storage = self.params.averages.f32_storage;
        let averages =
            RunningAverages::bytes_for(self.active.active, self.problem.outputs(), f32_storage);
        self.bytes + 256 * p + 40 * a * a + 2 * averages
    }
}

impl RegressionLearner for ActiveSet {
    fn damp(&mut self, factor: f64) {
        self.state.gram.damp(factor);
        if let Some((_, gram)) = &mut self.state.previous {
            gram.damp(factor);
        }
        self.fit.take();
    }
}

impl CachedFit for ActiveSet {
    fn cache(&self) -> &OnceCell<Fit> {
        &self.fit
    }

    fn rows(&self) -> u64 {
        self.state.rows
    }

    fn fit_with(&self, more: Option<&RowBlock>) -> Result<Fit> {
        let current = (&self.state.set, &self.state.gram);
        let (set, averages) = match &self.state.previous {
            Some((set, gram)) if gram.rows() > current.1.rows() => (set, gram),
            _ => current,
        };
        let Some(more) = more.filter(|more| !more.is_empty()) else {
            return self.fit_to(set, averages);
        };
        let mut all = averages.clone();
        all.push(&restrict(more, 0..more.len(), set)?)?;
        self.fit_to(set, &all)
    }

    fn selection_of(&self, fit: &Fit, rows: u64) -> Selection {
        let mut selection = fit.selection(self.extract.name(), &self.problem);
        selection.params = self.params.values(self.extract.as_ref());
        selection.params.push(("active", self.active.active.into()));
        selection.metrics.push(("rows", rows.into()));
        selection.substitutions = self.state.changes;
        selection
    }
}

impl Snapshot for ActiveSet {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&self.state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let state: State = snapshot::decode(state)?;
        let (p, own) = (self.problem.features(), &self.state.gram);
        let pins: Vec<u32> = self.problem.pinned().collect();
        let fits = |set: &[u32], gram: &RunningAverages| {
            set.len() == self.state.set.len()
                && set.windows(2).all(|pair| pair[0] < pair[1])
                && set.last().is_none_or(|j| (*j as usize) < p)
                && pins.iter().all(|j| set.binary_search(j).is_ok())
                && (gram.features(), gram.classes(), gram.params())
                    == (set.len(), own.classes(), own.params())
        };
        let previous = state.previous.iter().all(|(set, gram)| fits(set, gram));
        if !fits(&state.set, &state.gram) || !previous {
            return Err(Error::Snapshot("it has other features or another active set".into()));
        }
        let counts = state.rows < state.epoch_end && state.epoch_end < 1 << 60;
        let model = state.coefficient.len() == state.set.len()
            && state.intercept.is_finite()
            && state.coefficient.iter().all(|v| v.is_finite());
        let grams = state.gram.sound() && state.previous.iter().all(|(_, gram)| gram.sound());
        refuse_unless(counts && model && grams && state.screen.sound(p))?;
        self.state = state;
        self.fit.take();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::testing;

    /// As on the Gram of all features, a mean of NaN spoils only the prediction.
    #[test]
    fn a_selection_compares_the_fit_with_its_own_prediction() {
        let (problem, active) = (RowProblem::regression(8), ActiveSetParams { active: 8, seed: 1 });
        let params = AveragedParams { k: Some(2), ..AveragedParams::default() };
        let ofsa = Box::new(Ofsa::new(OfsaParams::default()).unwrap());
        let mut learner =
            ActiveSet::new(problem, params, active, ofsa, Budget::unlimited()).unwrap();
        learner.learn_block(&testing::rows(512, 8, 2, 6)).unwrap();
        learner.selection().unwrap();
        learner.state.gram.moments.mean_x.high[0] = f64::NAN;
        learner.fit.take();
        let error = learner.selection().unwrap_err();
        assert!(matches!(error, Error::Defect(_)), "{error}");
    }
}
