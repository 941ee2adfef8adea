//! The test of a newcomer in the quadratic model, and the models without their columns.
//!
//! Without a decision the fall is that of the quadratic model, with curvature and cost of removal
//! corrected by the exact loss along the two columns as in the full test. Corrections only lower a
//! fall, so a column whose plain fall is not above zero is done.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Curved, Exchange, Model, Newcomer, TIE};
use crate::data::check::Feature;
use crate::data::kept::{Kept, KeptSet};
use crate::error::{Error, Result};
use crate::numeric::linalg::Square;
use crate::run::snapshot::ensure;
use crate::select::substitution::os_plus::Core;
use crate::select::{Along, Marginal};

/// Newton steps to the optimum, at most, and the share of the loss at which it is reached.
const STEPS: usize = 30;
const REACHED: f64 = 1e-13;
pub(super) const COLLINEAR: f64 = 1e-8;

/// Twice the fall of the loss if the newcomer joined.
pub(super) fn gain(test: &[Tested]) -> f64 {
    test.iter().map(|t| t.v * (t.v * t.schur)).sum()
}

/// A newcomer in the quadratic model of one output.
pub(super) struct Tested {
    /// Its coefficient if it joined.
    pub(super) v: f64,
    /// `A <X_S, x>`, intercept included.
    pub(super) d: Vec<f64>,
    pub(super) schur: f64,
}

/// Settled models: what a state has beside the columns and what they give back.
#[derive(Serialize, Deserialize)]
pub(super) struct Outline {
    pinned: usize,
    substitutions: u64,
    models: Vec<OutlineOf>,
}

/// One output: coefficients, and the lower triangle of minus the inverse curvature.
#[derive(Serialize, Deserialize)]
struct OutlineOf {
    w: Vec<f64>,
    swept: Vec<f64>,
}

impl Curved {
    /// The slot whose removal costs least after the newcomer joined, where that is below `gain`.
    pub(super) fn weakest(&mut self, test: &[Tested], gain: f64) -> Option<(f64, usize)> {
        let loss = |here: &Self, slot: usize| here.modelled_loss(test, slot);
        self.cheapest(loss).filter(|(loss, _)| *loss < gain * (1.0 - TIE))
    }

    /// Twice the cost of removing a slot after the newcomer joined, in the quadratic model.
    fn modelled_loss(&self, test: &[Tested], slot: usize) -> f64 {
        let at = self.base() + slot;
        let of = |(model, test): (&Model, &Tested)| {
            let w = model.w[at] - test.d[at] * test.v;
            w * (w / (test.d[at] * test.d[at] / test.schur - model.swept.at(at, at)))
        };
        self.state.models.iter().zip(test).map(of).sum()
    }

    /// The newcomer in each output; `None` where it is collinear with the kept set.
    pub(super) fn tested(
        &self,
        feature: &Feature<'_>,
        marginal: &Marginal,
        row: &[f64],
    ) -> Option<Vec<Tested>> {
        let (total, base, size) = (self.frame.weight_sum(), self.base(), self.size());
        let count = self.state.models.len();
        let slots = self.state.kept.slots();
        let one = |c: usize| {
            let model = &self.state.models[c];
            let Along { slope, curve, sum } = marginal.0[c];
            let mut cross = Vec::with_capacity(size);
            cross.extend((0..base).map(|_| sum));
            for (slot, kept) in slots.iter().enumerate() {
                let mean = self.frame.mean(&kept.stats);
                cross.push(row[slot * count + c] / total - mean * sum);
            }
            let mut d = model.swept.times(&cross);
            d.iter_mut().for_each(|d| *d = -*d);
            let schur = curve - crate::numeric::kernel::dot(&cross, &d);
            let ridge = self.ridge_of(&feature.stats, false);
            // The ridge keeps the complement positive; anything below it is rounding.
            (schur > COLLINEAR * ridge.max(curve)).then(|| Tested { v: slope / schur, d, schur })
        };
        (0..count).map(one).collect()
    }

    pub(super) fn exact_exchanges(
        &mut self,
        newcomers: &[Newcomer<'_, '_>],
    ) -> Vec<Option<Exchange>> {
        let here = &*self;
        let tested: Vec<_> =
            newcomers.par_iter().map(|newcomer| here.promising(newcomer)).collect();
        let full = self.full();
        let one = |tested: Option<(f64, Vec<Tested>)>| {
            let (gain, test) = tested?;
            if !full {
                return Some(Exchange { fall: 0.5 * gain, leaves: None });
            }
            let (loss, slot) = self.weakest(&test, gain)?;
            Some(Exchange { fall: 0.5 * (gain - loss), leaves: Some(slot) })
        };
        tested.into_iter().map(one).collect()
    }

    /// The corrected gain of a newcomer, where the plain one is above the least cost of removal.
    fn promising(&self, (feature, products): &Newcomer<'_, '_>) -> Option<(f64, Vec<Tested>)> {
        let mut marginal = self.marginal(feature, None);
        let test = self.tested(feature, &marginal, &products.kept)?;
        let most = gain(&test);
        let slots = self.state.kept.slots().iter().enumerate().filter(|(_, kept)| !kept.pinned);
        let least = slots.map(|(slot, _)| self.modelled_loss(&test, slot));
        if most <= 0.0 || self.full() && least.fold(f64::INFINITY, f64::min) >= most {
            return None;
        }
        self.confirms(feature, &mut marginal);
        let test = self.tested(feature, &marginal, &products.kept)?;
        Some((gain(&test), test))
    }

    /// Newton steps until the penalised loss no longer falls; then everything is computed anew
    /// from the coefficients.
    pub(super) fn optimise(&mut self) -> Result<()> {
        self.evaluate()?;
        for _ in 0..STEPS {
            let before = self.total_value();
            (0..self.state.models.len()).for_each(|c| self.newton_step(c));
            self.evaluate()?;
            if before - self.total_value() <= REACHED * before.abs() {
                break;
            }
        }
        if !self.finite() {
            return Err(Error::overflow("the weights"));
        }
        self.state.version += 1;
        self.renew_threshold();
        Ok(())
    }

    pub(super) fn own_outline(&self) -> Outline {
        let size = self.size();
        let of = |model: &Model| OutlineOf { w: model.w.clone(), swept: model.swept.lower(size) };
        Outline {
            pinned: self.state.pinned,
            substitutions: self.state.substitutions,
            models: self.state.models.iter().map(of).collect(),
        }
    }

    pub(super) fn redraw_from(&mut self, outline: Outline, columns: Vec<Kept>) -> Result<()> {
        let size = self.base() + columns.len();
        ensure(outline.models.len() == self.outputs.y.len(), "models of other outputs")?;
        let pinned = columns.iter().filter(|kept| kept.pinned).count();
        ensure(outline.pinned == pinned, "other pinned features")?;
        let mut swept = Vec::new();
        for model in &outline.models {
            let matrix = Square::of_lower(size, &model.swept);
            let fits = model.w.len() == size && matrix.as_ref().is_some_and(|m| m.sound(size));
            ensure(fits, "weights of other columns")?;
            swept.extend(matrix);
        }
        let budget = self.state.kept.budget().clone();
        self.state.kept = KeptSet::of(columns, budget, self.frame.n())?;
        self.state.pinned = pinned;
        self.state.substitutions = outline.substitutions;
        self.state.changed_at = vec![0; self.state.kept.len()];
        let models = outline.models.into_iter().zip(swept);
        for (c, (model, swept)) in models.enumerate() {
            let u = self.predict(&model.w);
            self.state.models[c].w = model.w;
            self.renew_slopes(c, u);
            self.renew_row_curvatures(c);
            self.state.models[c].swept = swept;
        }
        self.all_stale();
        self.state.version += 1;
        self.renew_threshold();
        Ok(())
    }

    /// The curvature of every row at the present prediction, without the matrix made of it.
    fn renew_row_curvatures(&mut self, c: usize) {
        let (y, weight) = (&self.outputs.y[c], self.frame.weight());
        let model = &mut self.state.models[c];
        self.outputs.loss.curvatures(&model.u, y, weight, &mut model.d);
        model.sum_d = crate::numeric::kernel::sum(&model.d);
    }
}
