//! One extraction: the refitted model, the score of each feature in it, and its report.

use std::cell::OnceCell;

use super::gram::{F32, Gram, JITTER, Model, solve};
use crate::data::block::FeatureId;
use crate::data::row::{Row, RowBlock, RowProblem};
use crate::error::{Error, Result};
use crate::learn::averages::running::RunningAverages;
use crate::select::Status;
use crate::selection::{CovariateCoefficient, Selected, Selection, Value};

/// Added to the diagonal for the scores of a singular system: past the error of f32 products.
const SINGULAR: f64 = 1e-3;
/// Relative error of coefficients from which a result warns.
const COARSE: f64 = 1e-3;

/// A learner that caches its last extraction until the next row comes.
pub(crate) trait CachedFit {
    /// The cache.
    fn cache(&self) -> &OnceCell<Fit>;

    /// Rows learnt from.
    fn rows(&self) -> u64;

    /// The model of the rows so far and of `more`. The learner does not learn from `more`.
    fn fit_with(&self, more: Option<&RowBlock>) -> Result<Fit>;

    /// The selection of a fit to so many rows.
    fn selection_of(&self, fit: &Fit, rows: u64) -> Selection;

    /// The cached extraction; extracts now where there is none.
    fn fit(&self) -> Result<&Fit> {
        if let Some(fit) = self.cache().get() {
            return Ok(fit);
        }
        let fit = self.fit_with(None)?;
        Ok(self.cache().get_or_init(|| fit))
    }

    /// The margins of one row.
    fn margins(&self, x: Row<'_>, out: &mut [f64]) -> Result<()> {
        self.fit()?.model.predict(x, out);
        Ok(())
    }

    /// The selection now.
    fn current_selection(&self) -> Result<Selection> {
        Ok(self.selection_of(self.fit()?, self.rows()))
    }

    /// `other` with the number of features and the loss of the cached extraction.
    fn current_status(&self, other: Status) -> Status {
        match self.cache().get() {
            None => Status { kept: 0, loss: None, ..other },
            Some(fit) => Status { kept: fit.model.index.len(), loss: Some(fit.loss), ..other },
        }
    }
}

/// A model with the numbers that a selection shows.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    pub(crate) model: Model,
    /// In the order of `model.index`.
    score: Vec<f64>,
    mean: Vec<f64>,
    deviation: Vec<f64>,
    pub(crate) loss: f64,
    /// Number of features that do not vary, where all were examined.
    pub(crate) constant: Option<u64>,
    notes: Vec<(&'static str, Value)>,
    warnings: Vec<String>,
}

impl Fit {
    /// Least squares on the places `set` of the Gram.
    pub(crate) fn new(
        gram: &Gram,
        set: &[usize],
        notes: Vec<(&'static str, Value)>,
        warnings: Vec<String>,
    ) -> Result<Self> {
        let mut set = set.to_vec();
        set.sort_by_key(|j| gram.index[*j]);
        let b = if set.is_empty() { vec![Vec::new(); gram.yy.len()] } else { gram.refit(&set)? };
        Self::with(gram, &set, &b, notes, warnings)
    }

    /// The model of standardised coefficients `b` on the places `set`, ordered by feature.
    pub(crate) fn with(
        gram: &Gram,
        set: &[usize],
        b: &[Vec<f64>],
        mut notes: Vec<(&'static str, Value)>,
        mut warnings: Vec<String>,
    ) -> Result<Self> {
        let rss = gram.rss(set, b);
        let variance: f64 = gram.yy.iter().sum();
        // Coefficients of zero would have the loss of the constant model.
        let sane = rss <= variance * (1.0 + 1e-6);
        if !sane {
            return Err(Error::Defect(format!(
                "the model's squared error is {rss}, that of a constant {variance}"
            )));
        }
        let rss = rss.max(0.0);
        warnings.extend(coarse(gram, set));
        notes.push(("effective_rows", gram.n.into()));
        notes.push(("r_squared", (1.0 - rss / variance.max(f64::MIN_POSITIVE)).into()));
        Ok(Self {
            score: removal_costs(gram, set, b)?,
            mean: set.iter().map(|j| gram.mean[*j]).collect(),
            deviation: set.iter().map(|j| gram.sd[*j]).collect(),
            model: gram.model(set, b),
            loss: 0.5 * rss,
            constant: None,
            notes,
            warnings,
        })
    }

    /// Compares the loss with the squared error of the model on the original scale, which the
    /// averages give in closed form. So an error in the change of scale is found too. `place` gives
    /// the place of a feature in the averages.
    pub(crate) fn check(
        &self,
        averages: &RunningAverages,
        place: impl Fn(u32) -> Option<u32>,
    ) -> Result<()> {
        let index: Option<Vec<u32>> = self.model.index.iter().map(|j| place(*j)).collect();
        let Some(index) = index else {
            return Err(Error::Defect("the model has a feature that was not averaged".into()));
        };
        let model = Model { index, ..self.model.clone() };
        let (error, slack) = averages.error_and_slack(&model);
        let fit = 2.0 * self.loss;
        // Rounding may take the error of a perfect fit below zero; the loss is then 0.
        if (error.max(0.0) - fit).abs() <= slack && error.is_finite() {
            return Ok(());
        }
        Err(Error::Defect(format!(
            "the model's squared error on its rows is {error}, its fit says {fit}"
        )))
    }

    /// The selection that results show.
    pub(crate) fn selection(&self, method: &'static str, problem: &RowProblem) -> Selection {
        let mut selection = Selection {
            method,
            intercept: self.model.intercept.clone(),
            score_kind: "loss increase if removed",
            loss: Some(self.loss),
            constant: self.constant,
            metrics: self.notes.clone(),
            warnings: self.warnings.clone(),
            ..Selection::default()
        };
        for (at, j) in self.model.index.iter().enumerate() {
            let name = problem.names[*j as usize].clone();
            let coefficient: Vec<f64> = self.model.coefficient.iter().map(|b| b[at]).collect();
            if problem.is_covariate(*j) {
                selection.covariates.push(CovariateCoefficient { name, coefficient });
                continue;
            }
            let pinned = problem.pinned.binary_search(j).is_ok();
            let list = if pinned { &mut selection.pinned } else { &mut selection.selected };
            list.push(Selected {
                id: FeatureId::new(u64::from(*j)),
                name,
                source: 0,
                arrival: u64::from(*j),
                order: list.len(),
                group: None,
                coefficient,
                score: self.score[at],
                p_value: None,
                tested: None,
                mean: self.mean[at],
                deviation: Some(self.deviation[at]),
                missing: None,
            });
        }
        selection.sort();
        selection
    }
}

/// A warning where products in f32 are too coarse for the condition of the kept features.
fn coarse(gram: &Gram, set: &[usize]) -> Option<String> {
    if gram.rounding < F32 || set.len() < 2 {
        return None;
    }
    let values = gram.sub(set).0.self_adjoint_eigenvalues(faer::Side::Lower).ok()?;
    let (least, most) =
        values.iter().fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(*v), b.max(*v)));
    let condition = if least > 0.0 { most / least } else { f64::INFINITY };
    if condition * F32 <= COARSE {
        return None;
    }
    let size = if condition > 1e8 { "above 1e8".into() } else { format!("{condition:.0e}") };
    let off = if condition * F32 < 1.0 {
        format!("may be off by {:.1} %", 100.0 * condition * F32)
    } else {
        "cannot be trusted".into()
    };
    Some(format!(
        "the kept features are nearly collinear (condition number {size}), so coefficients from \
         products in f32 {off}; use `products=f64`{}",
        if gram.f32_storage { " and leave storage=f32 out" } else { "" }
    ))
}

/// `1/2 sum b_j^2 / (S_AA^-1)_jj`: how much the loss grows when one feature leaves the refit.
fn removal_costs(gram: &Gram, set: &[usize], b: &[Vec<f64>]) -> Result<Vec<f64>> {
    let m = set.len();
    if m == 0 {
        return Ok(Vec::new());
    }
    let units: Vec<Vec<f64>> =
        (0..m).map(|j| (0..m).map(|i| f64::from(u8::from(i == j))).collect()).collect();
    let inverse = match solve(|| gram.sub(set).0, &units, JITTER) {
        Ok(inverse) => inverse,
        // Any one of several dependent features can leave at almost no cost.
        Err(_) => solve(|| gram.sub(set).0, &units, SINGULAR)?,
    };
    let cost = |j: usize| b.iter().map(|b| 0.5 * b[j] * b[j] / inverse[j][j]).sum();
    Ok((0..m).map(cost).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{AveragesParams, testing};

    /// `y = x0 + x1 + noise`: least squares passes, and every change of a coefficient, intercept or
    /// loss is found. A coefficient that is off by 3 adds 9 to the squared error, far above the
    /// variance.
    #[test]
    fn a_model_that_contradicts_itself_is_a_defect() {
        let mut averages = RunningAverages::new(3, 0, AveragesParams::default()).unwrap();
        averages.push(&testing::rows(500, 3, 2, 6)).unwrap();
        let gram = averages.gram().unwrap();
        let fit = || Fit::new(&gram, &[0, 1], Vec::new(), Vec::new()).unwrap();
        fit().check(&averages, Some).unwrap();
        let defect = |result: Result<()>| {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Defect(_)), "{error}");
        };
        let mut wrong = [fit(), fit(), fit(), fit()];
        wrong[0].model.coefficient[0][1] *= 1.1;
        wrong[1].model.intercept[0] += 0.1;
        wrong[2].loss *= 1.01;
        wrong[3].model.index[1] = 2;
        wrong.iter().for_each(|fit| defect(fit.check(&averages, Some)));
        defect(fit().check(&averages, |_| None));
        let mut b = gram.refit(&[0, 1]).unwrap();
        b[0][0] += 3.0;
        defect(Fit::with(&gram, &[0, 1], &b, Vec::new(), Vec::new()).map(|_| ()));
    }
}
