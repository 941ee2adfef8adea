//! What the streaming rivals share: a rule for one row, and the learner around it.
//!
//! ```text
//! margin f = w'x + b0;  slope g = weight * l'(f, y);  the rule moves w, b0 by g x, g
//! progressive loss = mean of l(f_t, y_t) before each update
//! regret = progressive loss - loss of the best k-sparse model in hindsight (squared loss)
//! ```
//!
//! A rule holds O(p) numbers and costs O(nnz) a row where its shrinkage can be applied late, O(p)
//! where it cannot; each says which. The `k` features kept are those of largest `|w|`.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::averages::check_target;
use super::gram::largest;
use super::{AnnealedRidge, AnnealedRidgeParams, AveragesParams, Extract};
use super::{RowLearner, RunningAverages};
use super::{pinned, settings};
use crate::block::FeatureId;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::loss::{Logistic, Loss, LossKind, Squared, SquaredHinge};
use crate::registry::{MethodInfo, MethodSpec, Promises, SettingInfo};
use crate::row::{Row, RowBlock, RowProblem, margin};
use crate::select::Status;
use crate::selection::{Selected, Selection, Value};
use crate::snapshot::{self, Snapshot};
use crate::target::Task;

/// How one row moves a linear model.
pub(crate) trait Rule: Send + Serialize + DeserializeOwned {
    /// The method's name.
    const NAME: &'static str;

    /// `w'x + b0` with every late shrinkage applied to the features of `x`.
    fn margin(&mut self, x: Row<'_>) -> f64;

    /// Learns from a row whose margin was `f`; `y` is a number, or -1 or 1.
    fn learn(&mut self, x: Row<'_>, y: f64, weight: f64, f: f64);

    /// The weights with every late shrinkage applied.
    fn weights(&self) -> Vec<f64>;

    /// The intercept.
    fn intercept(&self) -> f64 {
        0.0
    }

    /// Every setting with its value.
    fn params(&self) -> Vec<(&'static str, Value)>;

    /// The loss that the progressive mean is of.
    fn loss(&self) -> LossKind;
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

/// The loss that was asked for, or the task's: squared for numbers, logistic for classes.
pub(crate) fn loss_of(spec: &MethodSpec, problem: &RowProblem) -> Result<LossKind> {
    let classes = problem.task() == Task::Classification;
    let kind = spec.loss.unwrap_or(if classes { LossKind::Logistic } else { LossKind::Squared });
    match kind {
        LossKind::Squared => Ok(kind),
        LossKind::Logistic | LossKind::SquaredHinge if classes => Ok(kind),
        _ => Err(Error::Unsupported(format!(
            "the {} loss does not go with this method and target; use squared, or logistic or \
             squared-hinge for classes",
            kind.name()
        ))),
    }
}

/// A learner around a rule.
pub(crate) struct Streaming<R> {
    problem: RowProblem,
    k: usize,
    bytes: u64,
    preset: &'static str,
    state: State<R>,
}

#[derive(Serialize, Deserialize)]
struct State<R> {
    rule: R,
    rows: u64,
    weight: f64,
    loss: f64,
    /// For the regret alone: what the best model in hindsight is taken from.
    hindsight: Option<RunningAverages>,
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
        pinned::refuse(problem, R::NAME)?;
        if problem.outputs() > 1 {
            return Err(Error::Unsupported(format!(
                "{} works on numbers or two classes, the target has {}; use annealed-ridge",
                R::NAME,
                problem.classes.len()
            )));
        }
        let k = spec.need_k()?;
        let (p, classes) = (problem.features(), problem.classes.len());
        let regret = spec.get("regret", false, "true or false")?;
        if regret && rule.loss() != LossKind::Squared {
            return Err(Error::Unsupported(
                "regret=true needs the squared loss, whose best model in hindsight is exact".into(),
            ));
        }
        let averages =
            if regret { RunningAverages::bytes_for(p, 1, false) + 16 * (p * p) as u64 } else { 0 };
        let bytes = 48 * p as u64 + averages;
        budget.take(bytes, R::NAME)?;
        let hindsight = match regret {
            true => Some(RunningAverages::new(p, classes, AveragesParams::default())?),
            false => None,
        };
        let state = State { rule, rows: 0, weight: 0.0, loss: 0.0, hindsight };
        Ok(Self { problem: problem.clone(), k, bytes, preset, state })
    }

    fn progressive(&self) -> f64 {
        self.state.loss / self.state.weight.max(f64::MIN_POSITIVE)
    }

    /// Half the mean square of the best `k`-sparse model of the rows so far, as found by
    /// annealed ridge: finding the very best is a search over all subsets.
    fn hindsight_loss(&self) -> Result<Option<f64>> {
        let Some(averages) = &self.state.hindsight else { return Ok(None) };
        let gram = averages.gram()?;
        let best = AnnealedRidge::new(AnnealedRidgeParams::default())?;
        let set = best.choose(&gram, self.k.min(gram.p()))?;
        let rss = gram.rss(&set, &gram.refit(&set)?);
        Ok(Some(0.5 * rss))
    }
}

impl<R: Rule> RowLearner for Streaming<R> {
    fn learn_block(&mut self, rows: &RowBlock) -> Result<()> {
        let classes = self.problem.classes.len();
        if rows.features() != self.problem.features() {
            let (got, want) = (rows.features(), self.problem.features());
            return Err(Error::Data(format!("a row has {got} features, expected {want}")));
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
        let state = &mut self.state;
        for (i, row) in rows.rows().enumerate() {
            let (y, weight) = (margin(classes, rows.y()[i], 0), rows.weight()[i]);
            let f = state.rule.margin(row);
            state.loss += weight * loss_at(state.rule.loss(), f, y).0;
            state.weight += weight;
            state.rule.learn(row, y, weight, f);
        }
        state.rows += rows.len() as u64;
        Ok(())
    }

    fn predict(&self, x: Row<'_>, out: &mut [f64]) -> Result<()> {
        out[0] = x.dot(&self.state.rule.weights()) + self.state.rule.intercept();
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let w = self.state.rule.weights();
        let sizes: Vec<f64> = w.iter().map(|w| w.abs()).collect();
        let chosen = largest(&sizes, self.k.min(w.len()));
        let selected =
            chosen.into_iter().filter(|j| w[*j] != 0.0).enumerate().map(|(at, j)| Selected {
                id: FeatureId::new(j as u64),
                name: self.problem.names[j].clone(),
                source: 0,
                arrival: j as u64,
                order: at,
                group: None,
                coefficient: vec![w[j]],
                score: w[j].abs(),
                p_value: None,
                mean: 0.0,
                missing: 0,
            });
        let mut params = vec![("k", self.k.into()), ("preset", self.preset.into())];
        params.extend(self.state.rule.params());
        params.push(("loss", self.state.rule.loss().name().into()));
        let mut metrics =
            vec![("rows", self.state.rows.into()), ("progressive_loss", self.progressive().into())];
        if let Some(best) = self.hindsight_loss()? {
            metrics.push(("hindsight_loss", best.into()));
            metrics.push(("regret", (self.progressive() - best).into()));
        }
        let mut warnings = Vec::new();
        if w.iter().any(|w| !w.is_finite()) {
            warnings.push("the weights diverged; lower --set rate, or scale the features".into());
        }
        let mut selection = Selection {
            method: R::NAME,
            params,
            selected: selected.collect(),
            intercept: vec![self.state.rule.intercept()],
            score_kind: "size of the weight",
            loss: Some(self.progressive()),
            metrics,
            warnings,
            ..Selection::default()
        };
        selection.sort();
        Ok(selection)
    }

    fn status(&self) -> Status {
        let loss = (self.state.rows > 0).then(|| self.progressive());
        Status { kept: self.k, loss, substitutions: 0, bytes: self.bytes }
    }
}

impl<R: Rule> Snapshot for Streaming<R> {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&self.state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let state: State<R> = snapshot::decode(state)?;
        if state.rule.weights().len() != self.problem.features() {
            return Err(Error::Snapshot("it has other features".into()));
        }
        self.state = state;
        Ok(())
    }
}

/// The features that may have a weight, of which a rule keeps the `k` of largest key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Truncation {
    pub(crate) members: Vec<u32>,
    mark: Vec<bool>,
    k: usize,
}

impl Truncation {
    pub(crate) fn new(features: usize, k: usize) -> Self {
        Self { members: Vec::new(), mark: vec![false; features], k }
    }

    /// Adds the features of `x`, keeps the `k` of largest `key` and zeroes the others in `w`.
    ///
    /// Only members and the row's own features can have changed, so this is O(k + nnz).
    pub(crate) fn keep(&mut self, x: Row<'_>, w: &mut [f64], key: impl Fn(usize, f64) -> f64) {
        x.each(|j, v| {
            if v != 0.0 && !self.mark[j] {
                self.mark[j] = true;
                self.members.push(j as u32);
            }
        });
        if self.members.len() <= self.k {
            return;
        }
        let rank = |j: &u32| key(*j as usize, w[*j as usize]);
        let by = |a: &u32, b: &u32| rank(b).total_cmp(&rank(a)).then(a.cmp(b));
        self.members.select_nth_unstable_by(self.k - 1, by);
        for j in self.members.drain(self.k..) {
            self.mark[j as usize] = false;
            w[j as usize] = 0.0;
        }
    }
}

/// Settings shared by the rivals.
pub(crate) const PRESET: SettingInfo = SettingInfo {
    name: "preset",
    default: "tuned",
    help: "settings not given: tuned, or published as the compared papers appear to have used",
};
/// The regret's setting.
pub(crate) const REGRET: SettingInfo = SettingInfo {
    name: "regret",
    default: "false",
    help: "also report the regret against the best k features in hindsight; takes p^2 memory",
};

/// Whether the published preset was asked for.
pub(crate) fn preset(spec: &MethodSpec) -> Result<&'static str> {
    match spec.settings.get("preset").map(String::as_str) {
        None | Some("tuned") => Ok("tuned"),
        Some("published") => Ok("published"),
        Some(other) => Err(Error::param("preset", other, "tuned or published")),
    }
}

/// A number setting above 0 with a default by preset.
pub(crate) fn positive(
    spec: &MethodSpec,
    name: &'static str,
    published: f64,
    tuned: f64,
) -> Result<f64> {
    let default = if preset(spec)? == "published" { published } else { tuned };
    let value = spec.get(name, default, "a number above 0")?;
    match value > 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err(Error::param(name, value, "a number above 0")),
    }
}

/// The registry's entry of a rival.
pub(crate) const fn info(
    name: &'static str,
    summary: &'static str,
    tasks: &'static str,
    cost: &'static str,
    paper: &'static str,
    own: &'static [SettingInfo],
    make: super::MakeRows,
) -> MethodInfo {
    let averaged = settings::info(name, summary, cost, paper, own, make);
    let promises = Promises::STREAMING;
    MethodInfo { tasks, memory: "O(p)", needs_k: true, promises, ..averaged }
}
