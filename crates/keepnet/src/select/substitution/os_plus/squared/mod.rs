//! The squared loss, with the kept set in one swept Gram matrix.
//!
//! Indices `0..C` of the matrix are the outputs, `C + slot` the kept columns. Swept over the
//! model it contains coefficients, residual correlations, Schur complements and the loss
//! ([`Square::sweep`]); a swap is two rank-1 updates. The matrix is computed anew from the plain
//! Gram every 200 changes, so that rounding does not add up.

mod matrix;

use serde::{Deserialize, Serialize};

use super::{Core, Theta, theta};
use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::data::kept::{Kept, KeptSet};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::numeric::inner_product::Frame;
use crate::numeric::linalg::Square;
use crate::run::snapshot::{decode, encode, ensure};
use crate::select::kept_products::Products;
use crate::select::refit::Outputs;
use crate::select::{Along, Marginal, Outcome, Reason, Status, Verdict};

use matrix::Swept;

/// A column whose Schur complement is a smaller share of its square is collinear.
const COLLINEAR: f64 = 1e-8;
const SWAPS: usize = 20;
const REBUILD: u64 = 200;

pub(super) struct Squared {
    k: usize,
    reserve: usize,
    frame: Frame,
    // Targets minus offset, centred, one per output.
    y: Vec<Vec<f64>>,
    state: State,
}

/// The state in a checkpoint.
#[derive(Serialize, Deserialize)]
struct State {
    kept: KeptSet,
    // Residuals times the sample weights, one per output.
    residual: Vec<Vec<f64>>,
    in_model: Vec<bool>,
    changed_at: Vec<u64>,
    pinned: usize,
    gram: Square,
    swept: Square,
    clock: u64,
    version: u64,
    changes: u64,
    substitutions: u64,
    threshold: f64,
    theta: Theta,
}

impl Squared {
    pub(super) fn new(
        k: usize,
        reserve: usize,
        fixed_theta: Option<f64>,
        frame: &Frame,
        outputs: &Outputs,
        problem: &Problem,
        kept: KeptSet,
    ) -> Result<Self> {
        let y: Vec<Vec<f64>> = outputs.y.clone();
        let count = y.len();
        let mut state = State {
            kept,
            residual: Vec::new(),
            in_model: Vec::new(),
            changed_at: Vec::new(),
            pinned: problem.covariates.len(),
            gram: Square::new(count + 8),
            swept: Square::new(count + 8),
            clock: 0,
            version: 0,
            changes: 0,
            substitutions: 0,
            threshold: 0.0,
            theta: theta(fixed_theta),
        };
        for c in 0..count {
            for d in 0..=c {
                let product: f64 = match frame.weight() {
                    Some(v) => (0..y[c].len()).map(|i| v[i] * y[c][i] * y[d][i]).sum(),
                    None => y[c].iter().zip(&y[d]).map(|(a, b)| a * b).sum(),
                };
                state.gram.set(c, d, product / frame.weight_sum());
                state.swept.set(c, d, product / frame.weight_sum());
            }
        }
        let frame = frame.clone();
        let mut new = Self { k, reserve, frame, y, state };
        for covariate in &problem.covariates {
            new.add_covariate(covariate)?;
        }
        new.refresh_residual();
        Ok(new)
    }

    fn outputs(&self) -> usize {
        self.y.len()
    }

    /// Matrix index of a slot.
    fn at(&self, slot: usize) -> usize {
        self.outputs() + slot
    }

    fn size(&self) -> usize {
        self.outputs() + self.state.kept.len()
    }

    /// Features in the model that count towards `k`.
    fn counted(&self) -> usize {
        let slots = self.state.kept.slots().iter().zip(&self.state.in_model);
        slots.filter(|(kept, inside)| **inside && !kept.pinned).count()
    }

    fn add_covariate(&mut self, covariate: &crate::data::target::Covariate) -> Result<()> {
        let (data, stats) = self.frame.column(&covariate.values);
        let slot = self.state.kept.push_covariate(&covariate.name, data, stats)?;
        let kept: Vec<&Kept> = self.state.kept.slots().iter().collect();
        let ones = vec![1.0; self.frame.n()];
        let (h, _) = self.frame.hessian(&kept, self.frame.weight().unwrap_or(&ones));
        let row: Vec<f64> = h.row(slot)[..slot].to_vec();
        let xy = self.products_with_y(&self.state.kept.slots()[slot]);
        let swept = self.swept_column(&row, &xy, self.frame.square(&stats));
        if swept.square <= 0.0 || swept.collinear() {
            let name = &covariate.name;
            let why = "is constant or repeats the covariates before it; leave it out";
            return Err(Error::Data(format!("covariate {name:?} {why}")));
        }
        self.extend(slot, &row, &xy, &swept);
        self.enter(slot);
        Ok(())
    }

    fn products_with_y(&self, x: &impl crate::numeric::inner_product::HasColumn) -> Vec<f64> {
        let mut spread = vec![0.0; self.frame.n()];
        self.frame.spread(x, None, &mut spread);
        let dot = |y: &Vec<f64>| crate::numeric::kernel::dot(y, &spread) / self.frame.weight_sum();
        self.y.iter().map(dot).collect()
    }

    /// Swaps columns between model and reserve until no swap lowers the loss; `true` if any did.
    fn improve(&mut self) -> bool {
        let mut changed = false;
        for _ in 0..SWAPS {
            let outside = (0..self.state.kept.len()).filter(|slot| !self.state.in_model[*slot]);
            let best = outside.map(|slot| (self.slot_gain(slot), slot)).fold(
                None::<(f64, usize)>,
                |best, next| match best {
                    Some(best) if best.0 >= next.0 => Some(best),
                    _ => Some(next),
                },
            );
            let Some((gain, slot)) = best.filter(|(gain, _)| *gain > 0.0) else { break };
            if self.counted() < self.k {
                self.enter(slot);
                changed = true;
                continue;
            }
            let at = self.at(slot);
            let own = self.state.swept.at(at, at);
            let Some(out) = self.weakest(|i| self.state.swept.at(at, i), own, gain) else { break };
            self.enter(slot);
            self.leave(out);
            self.state.substitutions += 1;
            changed = true;
        }
        changed
    }

    /// Drops the column outside the model with the least gain, the latest among equals.
    fn drop_least(&mut self) -> Option<FeatureId> {
        let outside = (0..self.state.kept.len()).filter(|slot| !self.state.in_model[*slot]);
        let key = |slot: usize| (self.slot_gain(slot), self.state.kept.slots()[slot].id);
        let least = outside
            .map(|slot| (key(slot), slot))
            .min_by(|((a, x), _), ((b, y), _)| a.total_cmp(b).then(y.cmp(x)))?;
        self.remove(least.1)
    }

    fn refresh_residual(&mut self) {
        let model = self.model();
        let columns: Vec<&Kept> =
            model.iter().map(|slot| &self.state.kept.slots()[*slot]).collect();
        // The buffers are reused: new ones per change would cost their page faults.
        let mut residual = std::mem::take(&mut self.state.residual);
        residual.resize_with(self.outputs(), Vec::new);
        for (c, r) in residual.iter_mut().enumerate() {
            r.clone_from(&self.y[c]);
            let w: Vec<f64> =
                model.iter().map(|slot| -self.state.swept.at(c, self.at(*slot))).collect();
            self.frame.add_prediction(&columns, &w, r);
            if let Some(v) = self.frame.weight() {
                crate::numeric::kernel::scale_by(r, v);
            }
        }
        self.state.residual = residual;
    }

    /// After a change of the model: a new residual, and every 200 changes a new matrix.
    fn update_after_change(&mut self) {
        if self.state.changes >= REBUILD {
            self.rebuild();
        }
        self.refresh_residual();
        self.state.version += 1;
    }

    fn renew_threshold(&mut self) {
        if !self.full() {
            return;
        }
        let slots = 0..self.state.kept.len();
        let outside = slots.clone().filter(|slot| !self.state.in_model[*slot]);
        let least = outside.map(|slot| self.slot_gain(slot)).fold(f64::INFINITY, f64::min);
        self.state.threshold = if least.is_finite() {
            least
        } else {
            let inside = slots.filter(|slot| !self.state.kept.slots()[*slot].pinned);
            inside.map(|slot| self.removal_loss(slot)).fold(f64::INFINITY, f64::min)
        };
    }

    fn take(
        &mut self,
        feature: &Feature<'_>,
        row: &[f64],
        xy: &[f64],
        swept: &Swept,
    ) -> Result<usize> {
        let slot = self.state.kept.push(feature)?;
        self.state.pinned += usize::from(feature.pinned);
        self.extend(slot, row, xy, swept);
        Ok(slot)
    }

    /// Adds a pinned feature.
    fn pin(&mut self, feature: &Feature<'_>, row: &mut Vec<f64>, xy: &[f64]) -> Result<Outcome> {
        let square = self.frame.square(&feature.stats);
        let mut outcome = Outcome::new(Verdict::Kept);
        let mut swept = self.swept_column(row, xy, square);
        if swept.collinear()
            && let Some((slot, evicted)) = self.free_collinear(&swept.column)
        {
            row.swap_remove(slot);
            outcome.evicted.extend(evicted);
            swept = self.swept_column(row, xy, square);
        }
        let slot = self.take(feature, row, xy, &swept)?;
        if !swept.collinear() {
            self.enter(slot);
        }
        self.improve();
        self.update_after_change();
        self.renew_threshold();
        Ok(outcome)
    }
}

impl Core for Squared {
    fn kept(&self) -> &KeptSet {
        &self.state.kept
    }

    fn probe(&self) -> Option<&[f64]> {
        match self.state.residual.as_slice() {
            [residual] => Some(residual),
            _ => None,
        }
    }

    fn marginal(&self, feature: &Feature<'_>, product: Option<f64>) -> Marginal {
        let total = self.frame.weight_sum();
        // The weighted residual sums to zero where columns are centred.
        let curve = self.frame.square(&feature.stats);
        let along = |r: &Vec<f64>| {
            let slope = product.unwrap_or_else(|| feature.column().dot(r)) / total;
            Along { slope, curve, sum: 0.0 }
        };
        Marginal(self.state.residual.iter().map(along).collect())
    }

    fn full(&self) -> bool {
        self.state.kept.len() - self.state.pinned >= self.k + self.reserve
    }

    fn rejects(&self, marginal: &Marginal) -> bool {
        let state = &self.state;
        self.full() && marginal.gain() < state.theta.value() * state.threshold
    }

    fn scales(&self) -> Vec<Option<&[f64]>> {
        vec![None]
    }

    fn targets(&self) -> Vec<&[f64]> {
        self.y.iter().map(Vec::as_slice).collect()
    }

    fn version(&self) -> u64 {
        self.state.version
    }

    fn changed_at(&self, slot: usize) -> u64 {
        self.state.changed_at[slot]
    }

    fn clock(&self) -> u64 {
        self.state.clock
    }

    fn full_test(
        &mut self,
        feature: &Feature<'_>,
        _marginal: &Marginal,
        products: &Products,
    ) -> Result<Outcome> {
        let total = self.frame.weight_sum();
        let xy: Vec<f64> = products.extra.iter().map(|raw| raw / total).collect();
        let mut row: Vec<f64> = products.kept.iter().map(|raw| raw / total).collect();
        if feature.pinned {
            return self.pin(feature, &mut row, &xy);
        }
        let swept = self.swept_column(&row, &xy, self.frame.square(&feature.stats));
        let column = |i: usize| swept.column[i];
        let gain = self.gain(column, swept.own, swept.square);
        let enters = gain > 0.0
            && (self.counted() < self.k || self.weakest(column, swept.own, gain).is_some());
        let full = self.full();
        let weak = full && !enters && gain <= self.state.threshold || swept.collinear();
        if !weak {
            self.take(feature, &row, &xy, &swept)?;
        }
        // After what can fail: an error changes nothing.
        self.state.theta.add(swept.own / swept.square);
        if weak {
            let mut outcome = Outcome::dropped(Reason::Weak);
            outcome.score = Some(0.5 * gain);
            return Ok(outcome);
        }
        let changed = self.improve();
        let mut outcome = Outcome::new(Verdict::Reserved);
        outcome.score = Some(0.5 * gain);
        if full {
            outcome.evicted.extend(self.drop_least());
        }
        outcome.verdict = match self.state.kept.slot(feature.id) {
            Some(slot) if self.state.in_model[slot] => Verdict::Kept,
            Some(_) => Verdict::Reserved,
            None => Verdict::Dropped(Reason::Weak),
        };
        outcome.evicted.retain(|id| *id != feature.id);
        if changed {
            self.update_after_change();
        }
        self.renew_threshold();
        Ok(outcome)
    }

    fn model(&self) -> Vec<usize> {
        (0..self.state.kept.len()).filter(|slot| self.state.in_model[*slot]).collect()
    }

    fn tests(&self) -> u64 {
        self.state.theta.tests()
    }

    fn status(&self) -> Status {
        let loss: f64 = (0..self.outputs()).map(|c| 0.5 * self.state.swept.at(c, c)).sum();
        Status {
            kept: self.counted(),
            // Rounding may make the loss of a perfect fit negative.
            loss: Some(loss.max(0.0)),
            substitutions: self.state.substitutions,
            bytes: self.state.kept.bytes()
                + self.state.gram.bytes()
                + self.state.swept.bytes()
                + 16 * (self.frame.n() * self.outputs()) as u64,
        }
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&self.state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let budget = self.state.kept.budget().clone();
        let mut state: State = decode(state)?;
        state.kept = std::mem::take(&mut state.kept).resumed(budget, self.frame.n())?;
        let (held, size) = (state.kept.len(), self.outputs() + state.kept.len());
        let slots = state.in_model.len() == held && state.changed_at.len() == held;
        ensure(slots && state.pinned <= held, "weights of other columns")?;
        ensure(state.gram.sound(size) && state.swept.sound(size), "products of other columns")?;
        let rows = state.residual.iter().all(|r| r.len() == self.frame.n());
        ensure(rows && state.residual.len() == self.outputs(), "residuals of other rows")?;
        ensure(state.theta.fits(&self.state.theta), "another theta")?;
        self.state = state;
        Ok(())
    }
}
