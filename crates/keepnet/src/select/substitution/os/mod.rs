//! Online substitution, exactly as published: Algorithm 1 of Yang, Fujimaki, Kusumura, Liu,
//! "Online Feature Selection: A Limited-Memory Substitution Algorithm and Its Asynchronous
//! Parallel Variation", KDD 2016.
//!
//! ```text
//! arrival x_j, not kept:   u = X_S w,  g = dL/du
//!   w_S = w_S - (eta / m) X_S'g
//!   w_j = - eta x_j'g,  S = S + {j}
//!   |S| > k:  the feature of least |w| goes; the newcomer where it ties
//! ```
//!
//! Settings `eta` and `m` are as in the paper; `eta=c/L` is `c` over the largest eigenvalue of the
//! kept set's Gram; `eta=auto` needs no choice (`automatic_step.rs`). With explicit steps the
//! result is that of the plain recurrence within rounding, whatever the block. The squared loss
//! takes blocks through the Gram (`gram_evaluator.rs`), the others one fused pass
//! (`pass_evaluator.rs`).
//!
//! Cost: `2 n k` flops per arrival for the squared loss, or `2 n` where an older gradient shows
//! that the newcomer cannot enter; `4 n k` in one pass for the others. Memory: `k` columns and
//! `O(n + k^2)`.

mod automatic_step;
mod evaluator;
mod gram_evaluator;
mod lagged_gradient;
mod model;
mod params;
pub(super) mod pass_evaluator;
mod published_step;

use serde::{Deserialize, Serialize};

use crate::data::block::FeatureId;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::kept::{Kept, KeptSet};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::numeric::inner_product::Frame;
use crate::run::budget::Budget;
use crate::run::snapshot::{Snapshot, decode, encode, ensure};
use crate::run::verdict::Fitted;
use crate::select::refit::Outputs;
use crate::select::{ColumnSelector, Holds, Memory, Outcome, Status, Verdict, fitted};
use crate::selection::Selection;

pub(super) use evaluator::{Evaluator, Slopes, Trial};
pub(super) use model::Model;
pub(super) use params::SETTINGS;
pub use params::{Eta, INFO, OsParams};

use gram_evaluator::GramEvaluator;
use pass_evaluator::PassEvaluator;
use published_step::StepRule;

/// The method, for any loss.
pub struct Os {
    params: OsParams,
    pub(super) model: Model,
    pub(super) evaluator: Box<dyn Evaluator>,
    rule: StepRule,
    pub(super) substitutions: u64,
    start: Vec<(Option<FeatureId>, Vec<f64>)>,
}

/// The warning after steps that were too long for the columns.
pub(super) const DIVERGED: &str =
    "the weights diverged: eta is too large for these columns; use eta=auto";

/// The state in a checkpoint.
#[derive(Serialize, Deserialize)]
struct State {
    kept: KeptSet,
    w: Vec<f64>,
    b: Vec<f64>,
    pinned: usize,
    changed_at: Vec<u64>,
    clock: u64,
    evaluator: Vec<u8>,
    rule: StepRule,
    substitutions: u64,
    start: Vec<(Option<FeatureId>, Vec<f64>)>,
}

impl Os {
    /// Starts with an empty kept set.
    pub fn new(params: OsParams, problem: &Problem, budget: Budget) -> Result<Self> {
        Self::with(params, problem, budget, |params, frame, outputs| {
            Ok(if outputs.kind == LossKind::Squared {
                fitted::check_k(params.k, problem.n())?;
                Box::new(GramEvaluator::new(frame, outputs))
            } else {
                Box::new(PassEvaluator::new(frame, outputs))
            })
        })
    }

    /// Starts with an empty kept set and the evaluator that `evaluator` makes.
    pub(super) fn with(
        params: OsParams,
        problem: &Problem,
        budget: Budget,
        evaluator: impl FnOnce(&OsParams, &Frame, &Outputs) -> Result<Box<dyn Evaluator>>,
    ) -> Result<Self> {
        problem.check()?;
        params.check()?;
        let kind = params.loss_for(problem.target.task());
        let frame = Frame::new(problem, params.intercept);
        let outputs = params.outputs(problem, &frame)?;
        let count = outputs.y.len();
        let evaluator = evaluator(&params, &frame, &outputs)?;
        let kept = KeptSet::new(budget);
        let (w, b, changed_at) = (Vec::new(), vec![0.0; count], Vec::new());
        let model = Model { frame, outputs, kept, w, b, pinned: 0, changed_at, clock: 0 };
        let rule = StepRule::new(params.eta, kind, count);
        let (substitutions, start) = (0, Vec::new());
        let mut new = Self { params, model, evaluator, rule, substitutions, start };
        for covariate in &problem.covariates {
            new.add_covariate(covariate)?;
        }
        Ok(new)
    }

    fn add_covariate(&mut self, covariate: &crate::data::target::Covariate) -> Result<()> {
        let (data, stats) = self.model.frame.column(&covariate.values);
        if stats.variance <= 0.0 {
            let name = &covariate.name;
            return Err(Error::Data(format!("covariate {name:?} is constant; leave it out")));
        }
        // A covariate is treated as a pinned feature that arrives before all others.
        let raw = crate::data::block::RawColumn {
            id: FeatureId::default(),
            name: covariate.name.clone().into(),
            source: 0,
            data: data.clone(),
        };
        let feature = Feature::covariate(&raw, stats);
        let features = std::slice::from_ref(&feature);
        self.evaluator.begin_block(&self.model, features);
        let mut slopes = Slopes::default();
        self.evaluator.kept_slopes(&self.model, &mut slopes);
        self.evaluator.newcomer_slope(&self.model, 0, features, &mut slopes);
        let count = self.model.count();
        let slot = self.model.kept.push_covariate(&covariate.name, data, stats)?;
        self.model.pinned += 1;
        self.model.w.resize((slot + 1) * count, 0.0);
        self.model.clock += 1;
        self.model.changed_at.push(self.model.clock);
        self.rule.slot_added();
        self.evaluator.inserted(&self.model, &feature, slot);
        Ok(())
    }

    pub(super) fn arrival(&mut self, t: usize, features: &[Feature<'_>]) -> Result<Outcome> {
        if self.model.kept.slot(features[t].id).is_some() {
            return Ok(Outcome::new(Verdict::Held));
        }
        if !self.model.full(self.params.k) || features[t].pinned {
            // It will enter, but the kept set moves before; an error must change nothing.
            self.model.kept.check_room(&features[t])?;
        }
        match self.params.eta {
            Eta::Auto => self.auto_step(t, features),
            Eta::Fixed(_) | Eta::OverL(_) => self.fixed_step(t, features),
        }
    }

    /// Whether a coefficient is not finite.
    pub(super) fn diverged(&self) -> bool {
        !self.model.w.iter().all(|w| w.is_finite())
    }

    /// The coefficients of the kept features as the recurrence left them, before any refit.
    #[must_use]
    pub fn coefficients(&self) -> Vec<(FeatureId, Vec<f64>)> {
        self.coefficients_by_id().into_iter().filter_map(|(id, w)| Some((id?, w))).collect()
    }

    fn coefficients_by_id(&self) -> Vec<(Option<FeatureId>, Vec<f64>)> {
        let count = self.model.count();
        let slots = self.model.kept.slots().iter().zip(self.model.w.chunks(count));
        slots.map(|(kept, w)| (kept.id, w.to_vec())).collect()
    }
}

/// Squared Euclidean distance of two sets of coefficients, matched by feature.
fn distance(a: &[(Option<FeatureId>, Vec<f64>)], b: &[(Option<FeatureId>, Vec<f64>)]) -> f64 {
    let square = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>();
    let mut sum = 0.0;
    for (id, w) in a {
        sum += match b.iter().find(|(other, _)| other == id) {
            Some((_, v)) => w.iter().zip(v).map(|(w, v)| (w - v) * (w - v)).sum(),
            None => square(w),
        };
    }
    let evicted = b.iter().filter(|(id, _)| !a.iter().any(|(other, _)| other == id));
    sum + evicted.map(|(_, w)| square(w)).sum::<f64>()
}

impl ColumnSelector for Os {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        self.evaluator.begin_block(&self.model, &block.features);
        for t in 0..block.features.len() {
            out.push(self.arrival(t, &block.features)?);
        }
        // A step that the user chose may be too long: a warning. An automatic one may not.
        if self.params.eta == Eta::Auto && self.diverged() {
            return Err(Error::overflow("the weights"));
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        let now = self.coefficients_by_id();
        let moved = distance(&now, &self.start).sqrt();
        self.start = now;
        Ok(moved < self.params.tolerance)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let model: Vec<usize> = (0..self.model.kept.len()).collect();
        let mut selection =
            fitted::selection(&self.model.frame, &self.model.kept, &model, &self.model.outputs)?;
        selection.method = INFO.name;
        selection.substitutions = self.substitutions;
        selection.objective = Some(self.evaluator.loss(&self.model));
        selection.params = self.params.values(self.model.outputs.kind);
        if self.diverged() {
            selection.warnings.push(DIVERGED.into());
        }
        Ok(selection)
    }

    fn fitted(&self, see: &mut dyn FnMut(&Fitted<'_>) -> Result<()>) -> Result<()> {
        let columns: Vec<&Kept> = self.model.kept.slots().iter().collect();
        let Model { frame, outputs, .. } = &self.model;
        see(&Fitted { columns: &columns, frame, outputs })
    }

    fn centres(&self) -> bool {
        self.model.frame.centred()
    }

    fn status(&self) -> Status {
        Status {
            kept: self.model.kept.len() - self.model.pinned,
            loss: Some(self.evaluator.loss(&self.model)),
            substitutions: self.substitutions,
            bytes: self.model.kept.bytes() + self.evaluator.bytes(),
        }
    }

    /// `k` columns and one under test; prediction, slopes and a trial an output, the target, 12
    /// columns written out and a refit; the Gram, a copy, and those of the refit.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let Model { frame, outputs, kept, .. } = &self.model;
        Holds {
            rows: frame.n(),
            kept: Some(self.params.k),
            spare: 1,
            facts: 0,
            covariates: kept.covariates(),
            vectors: 18 + 6 * outputs.y.len() + usize::from(frame.weight().is_some()),
            matrices: 5,
        }
        .bytes(column, features)
    }
}

impl Snapshot for Os {
    fn save(&self) -> Result<Vec<u8>> {
        let Model { kept, w, b, pinned, changed_at, clock, .. } = &self.model;
        let (rule, start) = (&self.rule, &self.start);
        encode(&(
            kept,
            w,
            b,
            pinned,
            changed_at,
            clock,
            self.evaluator.save()?,
            rule,
            self.substitutions,
            start,
        ))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let state: State = decode(state)?;
        let budget = self.model.kept.budget().clone();
        let kept = state.kept.resumed(budget, self.model.frame.n())?;
        let (held, count) = (kept.len(), self.model.count());
        let coefficients = state.w.len() == held * count && state.b.len() == count;
        let starts = state.start.iter().all(|(_, w)| w.len() == count);
        ensure(
            coefficients && starts && state.changed_at.len() == held,
            "weights of other columns",
        )?;
        ensure(state.pinned <= held, "more columns are pinned than kept")?;
        ensure(state.rule.fits(&self.rule, held), "steps of other columns")?;
        self.evaluator.restore(&state.evaluator, held)?;
        self.model.kept = kept;
        (self.model.w, self.model.b, self.model.changed_at) = (state.w, state.b, state.changed_at);
        (self.model.pinned, self.model.clock) = (state.pinned, state.clock);
        (self.rule, self.substitutions, self.start) =
            (state.rule, state.substitutions, state.start);
        Ok(())
    }
}
