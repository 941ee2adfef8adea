//! Online substitution, exactly as published: Algorithm 1 of Yang, Fujimaki, Kusumura, Liu,
//! "Online Feature Selection: A Limited-Memory Substitution Algorithm and Its Asynchronous
//! Parallel Variation", KDD 2016.
//!
//! ```text
//! arrival x_j, not kept:   u = X_S w,  g = dL/du
//!   w_S = w_S - (eta / m) X_S'g
//!   w_j = - eta x_j'g,  S = S + {j}
//!   |S| > k:  let go the feature of least |w|; the newcomer where it ties
//! ```
//!
//! Settings `eta` and `m` as in the paper; `eta=c/L` is `c` over the largest eigenvalue of the
//! kept set's Gram; `eta=auto` asks for nothing (`auto.rs`). With explicit steps the result is
//! that of the plain recurrence to rounding, whatever the block: the squared loss is worked in
//! blocks through the Gram (`gram.rs`), the others by one fused pass (`passes.rs`).
//!
//! Cost: `2 n k` flops an arrival for the squared loss, or `2 n` where an older gradient proves
//! that it goes; `4 n k` in one pass for the others. Memory: `k` columns and `O(n + k^2)`.

mod auto;
mod gram;
mod lagged_gradient;
mod params;
pub(super) mod passes;
mod step;

use serde::{Deserialize, Serialize};

use super::asy_os::Tally;
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
use crate::select::{ColumnSelector, Holds, Memory, Outcome, Status, Verdict, fitted, ties};
use crate::selection::Selection;

pub(super) use params::SETTINGS;
pub use params::{Eta, INFO, OsParams};

use gram::GramWork;
use passes::PassWork;
use step::StepRule;

/// The kept set and its weights.
pub(super) struct Model {
    pub(super) frame: Frame,
    pub(super) outputs: Outputs,
    pub(super) kept: KeptSet,
    /// Weight of a slot in output `c` at `slot * outputs + c`.
    pub(super) w: Vec<f64>,
    /// Intercepts on centred columns; stay 0 for the squared loss, whose target is centred.
    pub(super) b: Vec<f64>,
    pub(super) pinned: usize,
    /// When a slot's column last changed, on `clock`.
    born: Vec<u64>,
    clock: u64,
}

impl Model {
    pub(super) fn count(&self) -> usize {
        self.outputs.y.len()
    }

    pub(super) fn full(&self, k: usize) -> bool {
        self.kept.len() - self.pinned >= k
    }

    /// Whether the intercept is a variable of its own.
    fn has_intercept(&self) -> bool {
        self.frame.centred() && self.outputs.kind != LossKind::Squared
    }

    /// Weights of output `c` by slot.
    pub(super) fn weights(&self, w: &[f64], c: usize) -> Vec<f64> {
        w.iter().skip(c).step_by(self.count()).copied().collect()
    }

    /// Puts a newcomer into a new slot or in the place of `out`.
    fn put(
        &mut self,
        feature: &Feature<'_>,
        out: Option<usize>,
        w: &[f64],
    ) -> Result<Option<Kept>> {
        let count = self.count();
        let (gone, slot) = match out {
            Some(slot) => (Some(self.kept.replace(slot, feature)?), slot),
            None => (None, self.kept.push(feature)?),
        };
        self.pinned += usize::from(out.is_none() && feature.pinned);
        self.w.resize(self.kept.len() * count, 0.0);
        self.born.resize(self.kept.len(), 0);
        self.w[slot * count..(slot + 1) * count].copy_from_slice(w);
        self.clock += 1;
        self.born[slot] = self.clock;
        Ok(gone)
    }

    /// The least total size of an unpinned slot, and the slot of the latest feature that has it.
    fn least(&self, size: impl Fn(usize) -> f64) -> Option<(f64, usize)> {
        let slots = self.kept.slots();
        let free = (0..slots.len()).filter(|slot| !slots[*slot].pinned);
        ties::least(free.map(|slot| (size(slot), slot)), |slot| slots[slot].id)
    }
}

/// Slopes at the current weights, divided by W.
#[derive(Default)]
pub(super) struct Slopes {
    pub(super) kept: Vec<f64>,
    pub(super) newcomer: Vec<f64>,
    pub(super) intercept: Vec<f64>,
}

/// Weights that a step would lead to.
pub(super) struct Trial {
    pub(super) kept: Vec<f64>,
    pub(super) b: Vec<f64>,
    pub(super) newcomer: Option<Vec<f64>>,
}

/// How slopes and changes of the loss are computed.
pub(super) trait Work: Send {
    /// A block begins.
    fn begin(&mut self, model: &Model, features: &[Feature<'_>]);
    /// Slopes of the kept set and the intercept alone.
    fn kept_slopes(&mut self, model: &Model, out: &mut Slopes);
    /// Whether the newcomer's weight, `eta` times its slope, is sure to stay below `least`.
    fn surely_below(
        &mut self,
        model: &Model,
        t: usize,
        x: &Feature<'_>,
        eta: f64,
        least: f64,
    ) -> bool;
    /// The slope of `features[t]`, after [`Work::kept_slopes`] of the same arrival.
    fn newcomer_slope(
        &mut self,
        model: &Model,
        t: usize,
        features: &[Feature<'_>],
        out: &mut Slopes,
    );
    /// `<x, D x>` of the newcomer in output `c`.
    fn curve(&self, model: &Model, x: &Feature<'_>, c: usize) -> f64;
    /// `<X_S, D X_S> v` in output `c`; with `D = 1` where not `curved`.
    fn product(&self, model: &Model, v: &[f64], c: usize, curved: bool) -> Vec<f64>;
    /// Loss at the trial less loss now.
    fn change(&mut self, model: &Model, x: &Feature<'_>, slopes: &Slopes, trial: &Trial) -> f64;
    /// The column in `slot` is about to go, after the weights took their step.
    fn leaving(&mut self, model: &Model, slot: usize) {
        let _ = (model, slot);
    }
    /// The newcomer was put into `slot`, after the weights took their step.
    fn put(&mut self, model: &Model, x: &Feature<'_>, slot: usize);
    /// The weights took a step, to the last trial if one was made, and nobody came or went.
    fn stepped(&mut self, model: &Model);
    /// The weights stayed: the last trial was not taken.
    fn stayed(&mut self);
    fn loss(&self, model: &Model) -> f64;
    /// Factors on the automatic steps of a newcomer and of the kept set.
    fn pace(&self) -> (f64, f64) {
        (1.0, 1.0)
    }
    /// What a worker beside others counted.
    fn tally(&self) -> Tally {
        Tally::default()
    }
    fn bytes(&self) -> u64;
    fn save(&self) -> Result<Vec<u8>>;
    /// Takes up what [`Work::save`] gave, for `held` columns.
    fn restore(&mut self, state: &[u8], held: usize) -> Result<()>;
}

/// The method, for any loss.
pub struct Os {
    params: OsParams,
    pub(super) model: Model,
    pub(super) work: Box<dyn Work>,
    rule: StepRule,
    pub(super) substitutions: u64,
    start: Vec<(Option<FeatureId>, Vec<f64>)>,
}

/// What a result says after steps too long for the columns.
pub(super) const DIVERGED: &str =
    "the weights diverged: eta is too large for these columns; use eta=auto";

/// What a checkpoint holds.
#[derive(Serialize, Deserialize)]
struct State {
    kept: KeptSet,
    w: Vec<f64>,
    b: Vec<f64>,
    pinned: usize,
    born: Vec<u64>,
    clock: u64,
    work: Vec<u8>,
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
                Box::new(GramWork::new(frame, outputs))
            } else {
                Box::new(PassWork::new(frame, outputs))
            })
        })
    }

    /// Starts with an empty kept set and slopes computed by what `work` makes.
    pub(super) fn with(
        params: OsParams,
        problem: &Problem,
        budget: Budget,
        work: impl FnOnce(&OsParams, &Frame, &Outputs) -> Result<Box<dyn Work>>,
    ) -> Result<Self> {
        problem.check()?;
        if params.k == 0 {
            return Err(Error::param("k", 0, "at least 1"));
        }
        if !(params.m >= 1.0 && params.m.is_finite()) {
            return Err(Error::param("m", params.m, "a number of at least 1"));
        }
        if params.tolerance.is_nan() || params.tolerance < 0.0 {
            return Err(Error::param("tolerance", params.tolerance, "a number of at least 0"));
        }
        let kind = params.loss_for(problem.target.task());
        let frame = Frame::new(problem, params.intercept);
        let outputs = params.outputs(problem, &frame)?;
        let count = outputs.y.len();
        let work = work(&params, &frame, &outputs)?;
        let kept = KeptSet::new(budget);
        let (w, b, born) = (Vec::new(), vec![0.0; count], Vec::new());
        let model = Model { frame, outputs, kept, w, b, pinned: 0, born, clock: 0 };
        let rule = StepRule::new(params.eta, kind, count);
        let (substitutions, start) = (0, Vec::new());
        let mut new = Self { params, model, work, rule, substitutions, start };
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
        // The covariate goes the way of a pinned feature that arrives before all others.
        let raw = crate::data::block::RawColumn {
            id: FeatureId::default(),
            name: covariate.name.clone(),
            source: 0,
            data: data.clone(),
        };
        let feature = Feature::covariate(&raw, stats);
        let features = std::slice::from_ref(&feature);
        self.work.begin(&self.model, features);
        let mut slopes = Slopes::default();
        self.work.kept_slopes(&self.model, &mut slopes);
        self.work.newcomer_slope(&self.model, 0, features, &mut slopes);
        let count = self.model.count();
        let slot = self.model.kept.push_covariate(&covariate.name, data, stats)?;
        self.model.pinned += 1;
        self.model.w.resize((slot + 1) * count, 0.0);
        self.model.clock += 1;
        self.model.born.push(self.model.clock);
        self.rule.grew();
        self.work.put(&self.model, &feature, slot);
        Ok(())
    }

    pub(super) fn arrival(&mut self, t: usize, features: &[Feature<'_>]) -> Result<Outcome> {
        if self.model.kept.slot(features[t].id).is_some() {
            return Ok(Outcome::new(Verdict::Held));
        }
        match self.params.eta {
            Eta::Auto => self.auto_step(t, features),
            Eta::Fixed(_) | Eta::OverL(_) => self.fixed_step(t, features),
        }
    }

    /// Whether a weight is no number any more.
    pub(super) fn diverged(&self) -> bool {
        !self.model.w.iter().all(|w| w.is_finite())
    }

    /// The weights of the kept features as the recurrence left them, before any refit.
    #[must_use]
    pub fn weights(&self) -> Vec<(FeatureId, Vec<f64>)> {
        self.weights_by_id().into_iter().filter_map(|(id, w)| Some((id?, w))).collect()
    }

    fn weights_by_id(&self) -> Vec<(Option<FeatureId>, Vec<f64>)> {
        let count = self.model.count();
        let slots = self.model.kept.slots().iter().zip(self.model.w.chunks(count));
        slots.map(|(kept, w)| (kept.id, w.to_vec())).collect()
    }
}

/// Squared Euclidean distance of two sets of weights by feature.
fn distance(a: &[(Option<FeatureId>, Vec<f64>)], b: &[(Option<FeatureId>, Vec<f64>)]) -> f64 {
    let square = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>();
    let mut sum = 0.0;
    for (id, w) in a {
        sum += match b.iter().find(|(other, _)| other == id) {
            Some((_, v)) => w.iter().zip(v).map(|(w, v)| (w - v) * (w - v)).sum(),
            None => square(w),
        };
    }
    let gone = b.iter().filter(|(id, _)| !a.iter().any(|(other, _)| other == id));
    sum + gone.map(|(_, w)| square(w)).sum::<f64>()
}

impl ColumnSelector for Os {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        self.work.begin(&self.model, &block.features);
        for t in 0..block.features.len() {
            out.push(self.arrival(t, &block.features)?);
        }
        // A step that the user chose may be too long, of which the result warns; this one may not.
        if self.params.eta == Eta::Auto && self.diverged() {
            return Err(Error::overflow("the weights"));
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        let now = self.weights_by_id();
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
            loss: Some(self.work.loss(&self.model)),
            substitutions: self.substitutions,
            bytes: self.model.kept.bytes() + self.work.bytes(),
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
        let Model { kept, w, b, pinned, born, clock, .. } = &self.model;
        let (rule, start) = (&self.rule, &self.start);
        encode(&(
            kept,
            w,
            b,
            pinned,
            born,
            clock,
            self.work.save()?,
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
        let weights = state.w.len() == held * count && state.b.len() == count;
        let starts = state.start.iter().all(|(_, w)| w.len() == count);
        ensure(weights && starts && state.born.len() == held, "weights of other columns")?;
        ensure(state.pinned <= held, "more columns are pinned than kept")?;
        ensure(state.rule.follows(&self.rule, held), "steps of other columns")?;
        self.work.restore(&state.work, held)?;
        self.model.kept = kept;
        (self.model.w, self.model.b, self.model.born) = (state.w, state.b, state.born);
        (self.model.pinned, self.model.clock) = (state.pinned, state.clock);
        (self.rule, self.substitutions, self.start) =
            (state.rule, state.substitutions, state.start);
        Ok(())
    }
}
