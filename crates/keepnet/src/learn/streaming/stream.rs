//! What the streaming baselines share: a rule for one row, and the learner around it.
//!
//! ```text
//! z = standardised features, and for the squared loss a standardised target (`scale`)
//! margin f = w'z + b0;  slope g = weight * l'(f, y);  the rule moves w, b0 by g z, g
//! weight = the sample weight over the mean weight so far, at most (p + 1) / (|z|^2 + 1)
//! progressive loss = mean of l(f_t, y_t) before each update, in the units of the target
//! regret = progressive loss - loss of the best k-sparse model in hindsight (squared loss)
//! ```
//!
//! The papers' data are standardised, and so are rows here; `standardise=false` leaves them as they
//! are. A row with a norm or sample weight much larger than usual moves the model no further than a
//! usual row, so that a rare feature cannot make the squared loss diverge. A rule holds O(p) numbers
//! and costs O(p) a row; with `standardise=false` O(nnz) where its shrinkage can be applied late.
//! The `k` features of largest `|w|` are kept; the others are assumed to be at their means.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::baseline::{REGRET, STANDARDISE};
use super::scale::{Moment, Scale};
use crate::data::block::FeatureId;
use crate::data::row::{Row, RowBlock, RowProblem, margin};
use crate::error::{Error, Result};
use crate::learn::averages::gram::largest;
use crate::learn::averages::pinned;
use crate::learn::averages::running::check_target;
use crate::learn::{AnnealedRidge, AnnealedRidgeParams, AveragesParams, Extract};
use crate::learn::{RowLearner, RunningAverages};
use crate::loss::{Logistic, Loss, LossKind, Squared, SquaredHinge};
use crate::registry::MethodSpec;
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::Status;
use crate::selection::{Selected, Selection, Value};

/// How one row moves a linear model.
pub(crate) trait Rule: Send + Serialize + DeserializeOwned {
    /// The method's name.
    const NAME: &'static str;

    /// `w'x + b0` with every late shrinkage applied to the features of `x`.
    fn margin(&mut self, x: Row<'_>) -> f64;

    /// Learns from a row with margin `f`; `y` is a number, or -1 or 1. `weight` is the row's weight
    /// relative to the mean weight.
    fn learn(&mut self, x: Row<'_>, y: f64, weight: f64, f: f64);

    /// The coefficients with every late shrinkage applied.
    fn coefficients(&self) -> Vec<f64>;

    /// The intercept.
    fn intercept(&self) -> f64 {
        0.0
    }

    /// Every setting with its value.
    fn params(&self) -> Vec<(&'static str, Value)>;

    /// The loss of the progressive mean.
    fn loss(&self) -> LossKind;

    /// Whether a loaded rule can belong to so many features, so that no row makes it panic.
    fn sound(&self, features: usize) -> bool;
}

/// Value and slope of a loss.
pub(crate) fn loss_at(kind: LossKind, f: f64, y: f64) -> (f64, f64) {
    let (value, slope, _) = match kind {
        LossKind::Logistic => Logistic.at(f, y),
        LossKind::SquaredHinge => SquaredHinge.at(f, y),
        _ => Squared.at(f, y),
    };
    (value, slope)
}

/// A learner around a rule.
pub(crate) struct Streaming<R> {
    problem: RowProblem,
    k: usize,
    bytes: u64,
    preset: &'static str,
    state: State<R>,
    /// Holds a standardised row.
    buffer: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct State<R> {
    rule: R,
    scale: Scale,
    target: Moment,
    rows: u64,
    /// Sum of the sample weights.
    weight: f64,
    /// Weighted sum of the losses before each step, and the sum of the weights in it.
    loss: f64,
    scored: f64,
    /// Only for the regret: the averages that give the best model in hindsight.
    hindsight: Option<RunningAverages>,
}

impl<R: Rule> State<R> {
    /// Mean and standard deviation of the target where it is standardised, otherwise 0 and 1.
    fn target_mean_and_sd(&self) -> (f64, f64) {
        match self.standardises_target() {
            true => (self.target.mean, self.target.variance.sqrt()),
            false => (0.0, 1.0),
        }
    }

    /// Whether the target is standardised too.
    fn standardises_target(&self) -> bool {
        self.scale.standardises() && self.rule.loss() == LossKind::Squared
    }

    fn learn(&mut self, row: Row<'_>, y: f64, weight: f64, buffer: &mut Vec<f64>) {
        let loss = self.rule.loss();
        self.rows += 1;
        self.weight += weight;
        let share = weight / self.weight;
        let (z, most) = self.scale.add_row(row, (weight, share), buffer);
        let f = self.rule.margin(z);
        // With the moments of earlier rows: the target of this row must not help to predict it. The
        // first row has no earlier ones.
        let (mean, sd) = self.target_mean_and_sd();
        if self.rows > 1 || !self.standardises_target() {
            self.loss += weight * loss_at(loss, mean + sd * f, y).0;
            self.scored += weight;
        }
        self.target.push(y, share);
        let y = match self.standardises_target() {
            true => self.target.standardise(y),
            false => y,
        };
        // In the first row every z is 0, and in the second all have one size: rounding would decide
        // which features a rule keeps.
        if self.rows > 2 || !self.scale.standardises() {
            let relative = share * self.rows as f64;
            self.rule.learn(z, y, relative.min(most), f);
        }
    }

    /// The loss of the best constant model of the rows so far.
    fn constant_loss(&self) -> f64 {
        match self.rule.loss() {
            LossKind::Logistic => {
                let share = 0.5 * (self.target.mean + 1.0);
                let part = |q: f64| if q > 0.0 { -q * q.ln() } else { 0.0 };
                part(share) + part(1.0 - share)
            }
            // For targets of -1 and 1 the squared hinge at the mean is half the variance too.
            _ => 0.5 * self.target.variance,
        }
    }
}

impl<R: Rule> Streaming<R> {
    /// A learner that keeps `k` features; one output only.
    pub(crate) fn new(
        rule: R,
        spec: &MethodSpec,
        problem: &RowProblem,
        mut budget: Budget,
        preset: &'static str,
    ) -> Result<Self> {
        problem.check()?;
        pinned::refuse_pins(problem, R::NAME)?;
        if problem.outputs() > 1 {
            return Err(Error::Unsupported(format!(
                "{} works on numbers or two classes, the target has {}; use \
                 annealed-ridge, or `task=regression` where they are numbers",
                R::NAME,
                problem.classes.len()
            )));
        }
        let k = spec.need_k()?;
        let (p, classes) = (problem.features(), problem.classes.len());
        let regret = spec.flag(&REGRET)?;
        if regret && rule.loss() != LossKind::Squared {
            return Err(Error::Unsupported(
                "regret=true needs the squared loss, whose best model in hindsight is exact".into(),
            ));
        }
        let averages =
            if regret { RunningAverages::bytes_for(p, 1, false) + 16 * (p * p) as u64 } else { 0 };
        let bytes = 80 * p as u64 + averages;
        budget.take(bytes, R::NAME)?;
        let hindsight = match regret {
            true => Some(RunningAverages::new(p, classes, AveragesParams::default())?),
            false => None,
        };
        let (scale, target) = (Scale::new(p, spec.flag(&STANDARDISE)?), Moment::default());
        let (rows, weight, loss, scored) = (0, 0.0, 0.0, 0.0);
        let state = State { rule, scale, target, rows, weight, loss, scored, hindsight };
        Ok(Self { problem: problem.clone(), k, bytes, preset, state, buffer: Vec::new() })
    }

    fn progressive(&self) -> Option<f64> {
        (self.state.scored > 0.0).then(|| self.state.loss / self.state.scored)
    }

    /// Half the mean squared error of the best `k`-sparse model of the rows so far, found by annealed
    /// ridge; the exact best needs a search over all subsets.
    fn hindsight_loss(&self) -> Result<Option<f64>> {
        let Some(averages) = &self.state.hindsight else { return Ok(None) };
        let gram = averages.gram()?;
        let best = AnnealedRidge::new(AnnealedRidgeParams::default())?;
        let set = best.choose(&gram, self.k.min(gram.p()))?;
        let rss = gram.rss(&set, &gram.refit(&set)?);
        Ok(Some(0.5 * rss))
    }

    /// An error where the target does not vary or a number is not finite.
    fn check(&self) -> Result<()> {
        let state = &self.state;
        if state.rows > u64::from(!state.scale.standardises()) && state.target.variance == 0.0 {
            let value = state.target.mean;
            return Err(Error::Data(match self.problem.classes.as_slice() {
                [no, yes] => {
                    let class = if value > 0.0 { yes } else { no };
                    format!("the target has one class only ({class:?}); two or more are needed")
                }
                _ => format!("the target has one value only ({value}); two or more are needed"),
            }));
        }
        if let Some(j) = state.scale.first_not_finite() {
            let name = &self.problem.names[j];
            return Err(Error::Data(format!(
                "the values of feature {name:?} are too large to be squared; scale it down"
            )));
        }
        if !(state.target.mean.is_finite() && state.target.variance.is_finite()) {
            return Err(Error::Data("the target is too large to be squared; scale it down".into()));
        }
        if !state.loss.is_finite() || !state.weight.is_finite() {
            return Err(diverged(R::NAME, state.scale.standardises()));
        }
        Ok(())
    }
}

/// A loss as short text.
fn short(loss: f64) -> String {
    if (1e-3..1e6).contains(&loss) { format!("{loss:.4}") } else { format!("{loss:.3e}") }
}

/// The error of a model whose coefficients are not finite.
fn diverged(name: &str, standardised: bool) -> Error {
    let what = if standardised { "" } else { ", or leave `standardise=false` out" };
    Error::Data(format!("the weights of {name} diverged; lower its step{what}"))
}

impl<R: Rule> RowLearner for Streaming<R> {
    fn learn_block(&mut self, rows: &RowBlock) -> Result<()> {
        let classes = self.problem.classes.len();
        if rows.features() != self.problem.features() {
            let (got, want) = (rows.features(), self.problem.features());
            return Err(Error::Data(format!("a row has {got} features, expected {want}")));
        }
        if !self.state.loss.is_finite() {
            // A diverged model is reported before the end of a long stream.
            return Err(diverged(R::NAME, self.state.scale.standardises()));
        }
        for (i, row) in rows.rows().enumerate() {
            let at = self.state.rows + i as u64;
            if let Some(j) = row.beyond(1e150) {
                let value = row.get(j);
                return Err(Error::Data(format!("feature {j} is {value} at row {at}")));
            }
            check_target(classes, rows.y()[i], rows.weight()[i], at)?;
        }
        if let Some(averages) = &mut self.state.hindsight {
            averages.push(rows)?;
        }
        for (i, row) in rows.rows().enumerate() {
            let (y, weight) = (margin(classes, rows.y()[i], 0), rows.weight()[i]);
            self.state.learn(row, y, weight, &mut self.buffer);
        }
        Ok(())
    }

    fn predict(&self, x: Row<'_>, out: &mut [f64]) -> Result<()> {
        let (state, w) = (&self.state, self.state.rule.coefficients());
        let mut f = state.rule.intercept();
        for (j, w) in w.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            if let Some((sd, origin)) = state.scale.sd_and_origin(j) {
                f += w * (x.get(j) - origin) / sd;
            }
        }
        let (mean, sd) = state.target_mean_and_sd();
        out[0] = mean + sd * f;
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        self.check()?;
        let state = &self.state;
        let w = state.rule.coefficients();
        if w.iter().any(|w| !w.is_finite()) {
            return Err(diverged(R::NAME, state.scale.standardises()));
        }
        let sizes: Vec<f64> = w.iter().map(|w| w.abs()).collect();
        let (mean_y, sd_y) = state.target_mean_and_sd();
        let mut intercept = mean_y + sd_y * state.rule.intercept();
        let mut selected = Vec::new();
        for j in largest(&sizes, self.k.min(w.len())) {
            let scale = state.scale.sd_and_origin(j).filter(|_| w[j] != 0.0);
            let Some((sd, origin)) = scale else { continue };
            let coefficient = sd_y * w[j] / sd;
            intercept -= coefficient * origin;
            selected.push(Selected {
                id: FeatureId::new(j as u64),
                name: self.problem.names[j].clone(),
                source: 0,
                arrival: j as u64,
                order: selected.len(),
                group: None,
                coefficient: vec![coefficient],
                score: sd_y * w[j].abs(),
                p_value: None,
                tested: None,
                mean: state.scale.mean(j, state.weight),
                deviation: state.scale.standardises().then_some(sd),
                missing: None,
            });
        }
        if !intercept.is_finite() || selected.iter().any(|f| !f.coefficient[0].is_finite()) {
            return Err(Error::Data(
                "a coefficient is too large for a number; scale the features or the target".into(),
            ));
        }
        let mut params = vec![("k", self.k.into()), ("preset", self.preset.into())];
        params.extend(state.rule.params());
        params.push(("standardise", state.scale.standardises().into()));
        params.push(("loss", state.rule.loss().name().into()));
        let loss = self.progressive();
        let mut metrics: Vec<(&'static str, Value)> = vec![("rows", state.rows.into())];
        metrics.extend(loss.map(|loss| ("progressive_loss", loss.into())));
        if let (Some(best), Some(loss)) = (self.hindsight_loss()?, loss) {
            metrics.push(("hindsight_loss", best.into()));
            metrics.push(("regret", (loss - best).into()));
        }
        let mut selection = Selection {
            method: R::NAME,
            params,
            selected,
            intercept: vec![intercept],
            score_kind: match state.scale.standardises() {
                true => "size of the weight a deviation of the feature",
                false => "size of the weight",
            },
            loss,
            constant: state.scale.constant().map(|count| count as u64),
            metrics,
            warnings: self.warnings(loss),
            ..Selection::default()
        };
        selection.sort();
        Ok(selection)
    }

    fn status(&self) -> Status {
        let kept = self.state.rule.coefficients().iter().filter(|w| **w != 0.0).count().min(self.k);
        Status { kept, loss: self.progressive(), substitutions: 0, bytes: self.bytes }
    }

    /// Ten numbers a feature, and its name; with regret the averages too; a selection of `k`.
    fn memory(&self) -> u64 {
        self.bytes + 64 * self.problem.features() as u64 + 320 * self.k as u64
    }
}

impl<R: Rule> Streaming<R> {
    /// Warnings, among them one where the method has not learnt: a baseline guarantees nothing.
    fn warnings(&self, loss: Option<f64>) -> Vec<String> {
        let constant = self.state.constant_loss();
        let worse = loss.filter(|loss| *loss > constant * (1.0 + 1e-9));
        let say = |loss: f64| {
            format!(
                "the mean loss of {} before each step is {}, above {} of the best constant: it has \
                 not learnt from these rows",
                R::NAME,
                short(loss),
                short(constant)
            )
        };
        let mut warnings: Vec<String> = worse.map(say).into_iter().collect();
        let (k, candidates) = (self.k, self.problem.candidates());
        if k > candidates {
            let what = "features were seen; all are kept that can be";
            warnings.push(format!("k is {k} but only {candidates} {what}"));
        }
        warnings
    }
}

impl<R: Rule> Snapshot for Streaming<R> {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&self.state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let state: State<R> = snapshot::decode(state)?;
        let p = self.problem.features();
        if !state.rule.sound(p) || !state.scale.sound(p) {
            return Err(Error::Snapshot("it has other features".into()));
        }
        if state.scale.standardises() != self.state.scale.standardises() {
            return Err(Error::Snapshot("it was made with another `standardise`".into()));
        }
        if state.hindsight.is_some() != self.state.hindsight.is_some()
            || state.hindsight.iter().any(|a| !a.sound() || a.features() != p)
        {
            return Err(Error::Snapshot("it was made with another `regret`".into()));
        }
        self.state = state;
        Ok(())
    }
}
