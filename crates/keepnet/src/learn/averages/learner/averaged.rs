//! A learner that accumulates running averages and extracts a model when asked.
//!
//! ```text
//! rows -> running averages (with choose=holdout, separate averages of every fifth row)
//! selection: Gram -> the method's set of k (or the best size on its path) -> least squares
//! ```
//!
//! A selection costs an extraction and never changes the averages. The last extraction is cached
//! until the next row comes.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use super::logistic::RegressionLearner;
use crate::data::row::{Row, RowBlock, RowProblem};
use crate::error::{Error, Result};
use crate::learn::RowLearner;
use crate::learn::averages::extract::Extract;
use crate::learn::averages::fit::{CachedFit, Fit};
use crate::learn::averages::gram::Gram;
use crate::learn::averages::path::Choose;
use crate::learn::averages::pinned::{self, Pinned};
use crate::learn::averages::running::{AveragesParams, RunningAverages};
use crate::learn::averages::validity::refuse_unless;
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::Status;
use crate::selection::{Selection, Value};

/// Settings that every method on running averages has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AveragedParams {
    /// Features to keep; `None` lets [`Choose`] decide.
    pub k: Option<usize>,
    /// How the number of features is chosen.
    pub choose: Choose,
    /// Forgetting and the width of block products.
    pub averages: AveragesParams,
    /// Whether rows are linearised rows of the logistic loss, whose targets are numbers.
    pub logistic: bool,
}

impl AveragedParams {
    /// Every setting with its value, including the method's own.
    pub(crate) fn values(&self, extract: &dyn Extract) -> Vec<(&'static str, Value)> {
        let mut values = vec![("k", self.k.map_or(Value::from("auto"), Value::from))];
        values.extend(extract.params());
        values.push(("choose", self.choose.name().into()));
        values.push(("forget", self.averages.forget.into()));
        values.push(("loss", if self.logistic { "logistic" } else { "squared" }.into()));
        values.push(("products", if self.averages.f64_products { "f64" } else { "f32" }.into()));
        values.push(("storage", if self.averages.f32_storage { "f32" } else { "f64" }.into()));
        values
    }
}

/// Running averages and the method that extracts from them.
pub struct Averaged {
    problem: RowProblem,
    params: AveragedParams,
    extract: Box<dyn Extract>,
    state: State,
    budget: Budget,
    fit: OnceCell<Fit>,
}

/// What is saved.
#[derive(Serialize, Deserialize)]
struct State {
    train: RunningAverages,
    /// The hold-out rows, where the choice of size needs them.
    holdout: Option<RunningAverages>,
    rows: u64,
}

/// One row in so many is a hold-out row.
pub(crate) const HOLDOUT_EVERY: u64 = 5;
/// Least number of hold-out rows for a choice.
pub(crate) const LEAST_HOLDOUT: u64 = 10;

/// Whether a row is held out. Depends on its number, so that the source's blocks do not matter.
pub(crate) fn is_holdout_row(row: u64) -> bool {
    row % HOLDOUT_EVERY == HOLDOUT_EVERY - 1
}

/// An error where there are too few hold-out rows for a choice.
pub(crate) fn check_holdout_rows(holdout: u64, rows: u64) -> Result<()> {
    if holdout >= LEAST_HOLDOUT {
        return Ok(());
    }
    Err(Error::Data(format!(
        "choose=holdout sets one row in {HOLDOUT_EVERY} aside and needs {} rows, {rows} came; give more \
         rows, or use choose=bic",
        HOLDOUT_EVERY * LEAST_HOLDOUT
    )))
}

/// A warning where there are fewer than `k` features.
fn fewer_than_k(chosen: usize, k: usize, varying: usize) -> Option<String> {
    match () {
        () if chosen >= k => None,
        () if chosen == varying => {
            Some(format!("k is {k} but {varying} features vary; all of them are kept"))
        }
        () => Some(format!(
            "the penalty gives {chosen} features a weight, not {k}; of copies of a column one has it"
        )),
    }
}

impl Averaged {
    /// An empty learner; the budget is checked here, before any row.
    pub fn new(
        problem: RowProblem,
        params: AveragedParams,
        extract: Box<dyn Extract>,
        mut budget: Budget,
    ) -> Result<Self> {
        problem.check()?;
        let holdout = params.choose == Choose::Holdout;
        if holdout && params.averages.forget > 0.0 {
            return Err(Error::Unsupported(
                "choose=holdout cannot be used with forgetting: the rows set aside would be of \
                 another time; use choose=bic"
                    .into(),
            ));
        }
        check_numbers(&problem, &params)?;
        if problem.outputs() > 1 && !extract.many_outputs() {
            return Err(Error::Unsupported(format!(
                "{} works on one output, the target has {} classes; use annealed-ridge, ofsa, \
                 olsth or ols",
                extract.name(),
                problem.classes.len()
            )));
        }
        let (p, classes) = (problem.features(), problem.classes.len());
        budget.take(Self::need(&problem, &params), "the running averages")?;
        let new = || RunningAverages::new(p, classes, params.averages);
        let holdout = if holdout { Some(new()?) } else { None };
        let state = State { train: new()?, holdout, rows: 0 };
        Ok(Self { problem, params, extract, state, budget, fit: OnceCell::new() })
    }

    /// Bytes of the averages, of further ones where there are hold-out rows, and of an extraction.
    #[must_use]
    pub fn bytes_for(features: usize, outputs: usize, params: &AveragedParams) -> u64 {
        let sets = if params.choose == Choose::Holdout { 3 } else { 1 };
        let averages = RunningAverages::bytes_for(features, outputs, params.averages.f32_storage);
        sets * averages + 16 * (features as u64).pow(2)
    }

    /// The same for a problem, including its pinned features.
    pub(crate) fn need(problem: &RowProblem, params: &AveragedParams) -> u64 {
        Self::bytes_for(problem.features(), problem.outputs(), params) + pinned::bytes_for(problem)
    }

    /// The averages of every row so far, including the hold-out rows.
    pub fn averages(&self) -> Result<RunningAverages> {
        let mut all = self.state.train.clone();
        if let Some(holdout) = &self.state.holdout {
            all.merge(holdout)?;
        }
        Ok(all)
    }

    fn fit_to(&self, gram: Gram) -> Result<Fit> {
        check_varies(&gram, &self.problem)?;
        let mut warnings = pinned::constant_warnings(&gram, &self.problem);
        let pinned = Pinned::new(gram, &self.problem)?;
        warnings.extend(pinned.warnings(&self.problem));
        let (gram, extract) = (pinned.free(), self.extract.as_ref());
        if gram.p() == 0 {
            return pinned.fit(extract, &[], Vec::new(), warnings);
        }
        let mut notes = pinned.notes(extract)?;
        let set = match (extract.fixed(gram), self.params.k) {
            (Some(set), _) => set?,
            (None, Some(k)) => {
                let set = pinned.choose(extract, k)?;
                warnings.extend(fewer_than_k(set.len(), k, gram.p()));
                set
            }
            (None, None) => {
                let set = self.best_size(&pinned)?;
                notes.push(("k_chosen", set.len().into()));
                set
            }
        };
        pinned.fit(extract, &set, notes, warnings)
    }

    fn best_size(&self, pinned: &Pinned) -> Result<Vec<usize>> {
        let extract = self.extract.as_ref();
        match (&self.state.holdout, self.params.choose) {
            (Some(holdout), _) => {
                check_holdout_rows(holdout.rows(), self.state.rows)?;
                let train = Pinned::new(self.state.train.gram()?, &self.problem)?;
                let (path, _) = train.path(extract)?;
                pinned.choose(extract, path.best_on(&train.whole, holdout))
            }
            (_, choose) => {
                let (path, ranking) = pinned.path(extract)?;
                let k = path.best(&pinned.whole, choose == Choose::Ebic);
                let mut set = ranking[..k].to_vec();
                set.sort_unstable();
                Ok(set)
            }
        }
    }
}

impl RowLearner for Averaged {
    fn learn_block(&mut self, rows: &RowBlock) -> Result<()> {
        let Some(holdout) = &mut self.state.holdout else {
            self.state.train.push(rows)?;
            self.state.rows += rows.len() as u64;
            self.fit.take();
            return Ok(());
        };
        let (mut train_rows, mut holdout_rows) = (
            RowBlock::new(rows.features(), rows.len()),
            RowBlock::new(rows.features(), rows.len()),
        );
        for (i, row) in rows.rows().enumerate() {
            let held_out = is_holdout_row(self.state.rows + i as u64);
            let part = if held_out { &mut holdout_rows } else { &mut train_rows };
            part.push(row, rows.y()[i], rows.weight()[i])?;
        }
        self.state.train.push(&train_rows)?;
        holdout.push(&holdout_rows)?;
        self.state.rows += rows.len() as u64;
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
        self.current_status(Status { bytes: self.budget.peak(), ..Status::default() })
    }

    /// The averages and an extraction, as the budget has them; beyond that up to four matrices
    /// while the extraction is made, and the rows of a block as they are multiplied.
    fn memory(&self) -> u64 {
        let p = self.problem.features() as u64;
        let making = 32 * p * p + 8 * (crate::learn::GRID as u64 + 8) * p;
        Self::need(&self.problem, &self.params) + making
    }

    fn averages(&self) -> Option<Result<RunningAverages>> {
        Some(self.averages())
    }

    fn load(&mut self, averages: RunningAverages) -> Result<()> {
        let (features, classes) = (averages.features(), averages.classes());
        if (features, classes) != (self.problem.features(), self.state.train.classes()) {
            return Err(Error::Snapshot("it has other features or classes".into()));
        }
        if self.state.holdout.is_some() {
            return Err(Error::Unsupported(
                "rows cannot be set aside from averages; use choose=bic or ebic, or give -k".into(),
            ));
        }
        self.state.rows = averages.rows();
        self.state.train = averages;
        self.fit.take();
        Ok(())
    }
}

impl RegressionLearner for Averaged {
    fn damp(&mut self, factor: f64) {
        self.state.train.damp(factor);
        self.fit.take();
    }
}

impl CachedFit for Averaged {
    fn cache(&self) -> &OnceCell<Fit> {
        &self.fit
    }

    fn rows(&self) -> u64 {
        self.state.rows
    }

    fn fit_with(&self, more: Option<&RowBlock>) -> Result<Fit> {
        let fit = |averages: &RunningAverages| {
            let gram = averages.gram()?;
            let varying = gram.index.iter().filter(|j| !self.problem.is_covariate(**j)).count();
            let mut fit = self.fit_to(gram)?;
            fit.check(averages, Some)?;
            fit.constant = Some((self.problem.candidates() - varying) as u64);
            Ok(fit)
        };
        match more.filter(|more| !more.is_empty()) {
            None if self.state.holdout.is_none() => fit(&self.state.train),
            None => fit(&self.averages()?),
            Some(more) => {
                let mut all = self.averages()?;
                all.push(more)?;
                fit(&all)
            }
        }
    }

    fn selection_of(&self, fit: &Fit, rows: u64) -> Selection {
        let mut selection = fit.selection(self.extract.name(), &self.problem);
        selection.params = self.params.values(self.extract.as_ref());
        selection.metrics.push(("rows", rows.into()));
        selection
    }
}

/// An error for classes with the logistic loss, which would be least squares on -1 and 1 here.
pub(crate) fn check_numbers(problem: &RowProblem, params: &AveragedParams) -> Result<()> {
    if params.logistic && !problem.classes.is_empty() {
        return Err(Error::Unsupported(
            "this learner takes numbers, and classes by least squares; make the learner of the \
             logistic loss with the registry"
                .into(),
        ));
    }
    Ok(())
}

/// An error where the target does not vary, with the text of [`crate::Problem::check`].
pub(crate) fn check_varies(gram: &Gram, problem: &RowProblem) -> Result<()> {
    if gram.yy.iter().any(|yy| *yy > 0.0) {
        return Ok(());
    }
    let text = match (problem.classes.as_slice(), gram.mean_y.as_slice()) {
        ([], mean) => format!("one value only ({})", mean[0]),
        ([first, second], mean) => {
            format!("one class only ({:?})", if mean[0] > 0.0 { second } else { first })
        }
        (classes, mean) => {
            let present = mean.iter().zip(classes).find(|(mean, _)| **mean > 0.0);
            format!("one class only ({:?})", present.map_or("", |(_, name)| name))
        }
    };
    Err(Error::Data(format!("the target has {text}; two or more are needed")))
}

impl Snapshot for Averaged {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&self.state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let state: State = snapshot::decode(state)?;
        let own = &self.state.train;
        let same = |a: &RunningAverages| {
            (a.features(), a.classes(), a.params()) == (own.features(), own.classes(), own.params())
        };
        if !same(&state.train) || !state.holdout.iter().all(same) {
            return Err(Error::Snapshot("it has other features, classes or settings".into()));
        }
        let held_out = state.holdout.as_ref().map_or(0, RunningAverages::rows);
        let counted = state.train.rows().checked_add(held_out) == Some(state.rows);
        let sound = state.train.sound() && state.holdout.iter().all(RunningAverages::sound);
        refuse_unless(sound && counted)?;
        if state.holdout.is_some() != self.state.holdout.is_some() {
            return Err(Error::Snapshot("it was made with another `choose`".into()));
        }
        self.state = state;
        self.fit.take();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{OlsParams, Olsth, testing};

    /// A mean of NaN does not change the fit but spoils the prediction. A selection finds that they
    /// differ and gives an error.
    #[test]
    fn a_selection_compares_the_fit_with_its_own_prediction() {
        let olsth = Box::new(Olsth::new(OlsParams::default()).unwrap());
        let params = AveragedParams { k: Some(2), ..AveragedParams::default() };
        let problem = RowProblem::regression(4);
        let mut learner = Averaged::new(problem, params, olsth, Budget::unlimited()).unwrap();
        learner.learn_block(&testing::rows(512, 4, 2, 6)).unwrap();
        learner.selection().unwrap();
        learner.state.train.moments.mean_x.high[0] = f64::NAN;
        learner.fit.take();
        let error = learner.selection().unwrap_err();
        assert!(matches!(error, Error::Defect(_)), "{error}");
    }
}
