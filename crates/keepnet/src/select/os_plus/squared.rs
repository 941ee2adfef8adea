//! The squared loss: everything about the kept set stands in one swept Gram matrix.
//!
//! Indices `0..C` of the matrix are the outputs, `C + slot` the kept columns. Swept over the
//! model it holds weights, residual correlations, Schur complements and the loss at once
//! ([`Square::sweep`]); a swap is two rank-1 updates. The matrix is built anew from the plain
//! Gram every 200 changes.

use serde::{Deserialize, Serialize};

use super::{Core, Marginal, Theta, theta};
use crate::block::FeatureId;
use crate::check::Feature;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::kept::{Kept, KeptSet};
use crate::linalg::Square;
use crate::refit::Outputs;
use crate::select::rows::Row;
use crate::select::{Outcome, Reason, Status, Verdict};
use crate::snapshot::{decode, encode};
use crate::target::Problem;

/// A column whose Schur complement is a smaller share of its square adds nothing.
const COLLINEAR: f64 = 1e-8;
const SWAPS: usize = 20;
const REBUILD: u64 = 200;

pub(super) struct Squared {
    k: usize,
    reserve: usize,
    frame: Frame,
    // Targets less offset, centred, an entry an output.
    y: Vec<Vec<f64>>,
    state: State,
}

/// A newcomer as the swept matrix would hold it.
struct Swept {
    column: Vec<f64>,
    /// Its Schur complement.
    own: f64,
    /// Its square before sweeping.
    square: f64,
}

impl Swept {
    fn collinear(&self) -> bool {
        self.own < COLLINEAR * self.square
    }
}

/// All that a checkpoint holds.
#[derive(Serialize, Deserialize)]
struct State {
    kept: KeptSet,
    // Residuals times the sample weights, an entry an output.
    residual: Vec<Vec<f64>>,
    in_model: Vec<bool>,
    born: Vec<u64>,
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
        let y: Vec<Vec<f64>> = outputs.centred(frame).into_iter().map(|(y, _)| y).collect();
        let count = y.len();
        let mut state = State {
            kept,
            residual: Vec::new(),
            in_model: Vec::new(),
            born: Vec::new(),
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

    fn full(&self) -> bool {
        self.state.kept.len() - self.state.pinned >= self.k + self.reserve
    }

    fn add_covariate(&mut self, covariate: &crate::target::Covariate) -> Result<()> {
        let stats = self.frame.stats(&covariate.values);
        let slot = self.state.kept.push_covariate(covariate, stats)?;
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

    fn products_with_y(&self, x: &impl crate::frame::HasColumn) -> Vec<f64> {
        let mut spread = vec![0.0; self.frame.n()];
        self.frame.spread(x, None, &mut spread);
        let dot = |y: &Vec<f64>| crate::kernel::dot(y, &spread) / self.frame.weight_sum();
        self.y.iter().map(dot).collect()
    }

    /// The swept column of a newcomer with inner products `row` and `xy`.
    fn swept_column(&self, row: &[f64], xy: &[f64], square: f64) -> Swept {
        let size = self.outputs() + row.len();
        let plain = |i: usize| if i < xy.len() { xy[i] } else { row[i - xy.len()] };
        let mut masked = vec![0.0; size];
        for (slot, inside) in self.state.in_model.iter().enumerate() {
            if *inside {
                masked[self.at(slot)] = row[slot];
            }
        }
        let inside = |i: usize| i >= xy.len() && self.state.in_model[i - xy.len()];
        let column: Vec<f64> = (0..size)
            .map(|i| {
                let taken = crate::kernel::dot(&self.state.swept.row(i)[..size], &masked);
                (if inside(i) { 0.0 } else { plain(i) }) - taken
            })
            .collect();
        let own = square - crate::kernel::dot(&column, &masked);
        Swept { column, own, square }
    }

    /// Gives the slot just pushed its rows; it is outside the model.
    fn extend(&mut self, slot: usize, row: &[f64], xy: &[f64], swept: &Swept) {
        let (at, count) = (self.at(slot), self.outputs());
        let state = &mut self.state;
        state.gram.reserve(at + 1);
        state.swept.reserve(at + 1);
        for i in 0..at {
            let plain = if i < count { xy[i] } else { row[i - count] };
            state.gram.set(at, i, plain);
            state.swept.set(at, i, swept.column[i]);
        }
        state.gram.set(at, at, swept.square);
        state.swept.set(at, at, swept.own);
        state.clock += 1;
        state.born.push(state.clock);
        state.in_model.push(false);
    }

    fn enter(&mut self, slot: usize) {
        let (at, size) = (self.at(slot), self.size());
        self.state.swept.sweep(at, 1.0, size, &mut Vec::new());
        self.state.in_model[slot] = true;
        self.state.changes += 1;
    }

    fn leave(&mut self, slot: usize) {
        let (at, size) = (self.at(slot), self.size());
        self.state.swept.sweep(at, -1.0, size, &mut Vec::new());
        self.state.in_model[slot] = false;
        self.state.changes += 1;
    }

    /// `sum over outputs of t^2 / schur` for a column with these swept entries.
    fn gain(&self, column: impl Fn(usize) -> f64, own: f64, square: f64) -> f64 {
        if own < COLLINEAR * square {
            return 0.0;
        }
        (0..self.outputs()).map(|c| column(c) * column(c) / own).sum()
    }

    fn slot_gain(&self, slot: usize) -> f64 {
        let at = self.at(slot);
        let state = &self.state;
        self.gain(|c| state.swept.at(c, at), state.swept.at(at, at), state.gram.at(at, at))
    }

    /// The model slot whose loss after the newcomer joined is least, where that is below `gain`.
    fn weakest(&self, column: impl Fn(usize) -> f64, own: f64, gain: f64) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for slot in 0..self.state.kept.len() {
            if !self.state.in_model[slot] || self.state.kept.slots()[slot].pinned {
                continue;
            }
            let at = self.at(slot);
            let d = column(at);
            let numerator: f64 = (0..self.outputs())
                .map(|c| {
                    let w = self.state.swept.at(c, at) - d * column(c) / own;
                    w * w
                })
                .sum();
            let loss = numerator / (d * d / own - self.state.swept.at(at, at));
            if loss < gain && best.is_none_or(|(least, _)| loss < least) {
                best = Some((loss, slot));
            }
        }
        best.map(|(_, slot)| slot)
    }

    /// Swaps inside the held columns until none lowers the loss; whether anything changed.
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

    fn remove(&mut self, slot: usize) -> Option<FeatureId> {
        let (at, last, size) = (self.at(slot), self.size() - 1, self.size());
        let state = &mut self.state;
        state.gram.relocate(last, at, size);
        state.swept.relocate(last, at, size);
        state.in_model.swap_remove(slot);
        state.born.swap_remove(slot);
        // The slot now holds another column, so products with it must be taken anew.
        state.clock += 1;
        if slot < state.born.len() {
            state.born[slot] = state.clock;
        }
        state.kept.swap_remove(slot).id
    }

    fn refresh_residual(&mut self) {
        let model = self.model();
        let columns: Vec<&Kept> =
            model.iter().map(|slot| &self.state.kept.slots()[*slot]).collect();
        let residual = |c: usize| {
            let mut r = self.y[c].clone();
            let w: Vec<f64> =
                model.iter().map(|slot| -self.state.swept.at(c, self.at(*slot))).collect();
            self.frame.add_prediction(&columns, &w, &mut r);
            if let Some(v) = self.frame.weight() {
                crate::kernel::scale_by(&mut r, v);
            }
            r
        };
        self.state.residual = (0..self.outputs()).map(residual).collect();
    }

    /// After the model changed: fresh residual, and now and then a fresh matrix.
    fn settle(&mut self) {
        if self.state.changes >= REBUILD {
            self.rebuild();
        }
        self.refresh_residual();
        self.state.version += 1;
    }

    fn rebuild(&mut self) {
        let size = self.size();
        let mut scratch = Vec::new();
        for i in 0..size {
            let row = self.state.gram.row(i)[..size].to_vec();
            self.state.swept.row_mut(i)[..size].copy_from_slice(&row);
        }
        for slot in self.model() {
            let at = self.at(slot);
            self.state.swept.sweep(at, 1.0, size, &mut scratch);
        }
        self.state.changes = 0;
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

    /// `sum over outputs of w^2 / A_ii`: twice the rise of the loss if the slot left.
    fn removal_loss(&self, slot: usize) -> f64 {
        let at = self.at(slot);
        let square: f64 = (0..self.outputs()).map(|c| self.state.swept.at(c, at).powi(2)).sum();
        square / -self.state.swept.at(at, at)
    }

    /// Makes room for a pinned column that the model already spans.
    fn free_collinear(&mut self, column: &[f64]) -> Option<(usize, Option<FeatureId>)> {
        let inside = (0..self.state.kept.len())
            .filter(|slot| self.state.in_model[*slot] && !self.state.kept.slots()[*slot].pinned);
        let share = |slot: usize| {
            let at = self.at(slot);
            column[at] * column[at] / -self.state.swept.at(at, at)
        };
        let most = inside.max_by(|a, b| share(*a).total_cmp(&share(*b)))?;
        self.leave(most);
        Some((most, self.remove(most)))
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

    /// Takes in a feature that is kept whatever happens.
    fn pin(&mut self, feature: &Feature<'_>, row: &mut Vec<f64>, xy: &[f64]) -> Result<Outcome> {
        let square = self.frame.square(&feature.stats);
        let mut outcome = Outcome::new(Verdict::Kept);
        let mut swept = self.swept_column(row, xy, square);
        if swept.collinear()
            && let Some((slot, gone)) = self.free_collinear(&swept.column)
        {
            row.swap_remove(slot);
            outcome.evicted.extend(gone);
            swept = self.swept_column(row, xy, square);
        }
        let slot = self.take(feature, row, xy, &swept)?;
        if !swept.collinear() {
            self.enter(slot);
        }
        self.improve();
        self.settle();
        self.renew_threshold();
        Ok(outcome)
    }
}

impl Core for Squared {
    fn kept(&self) -> &KeptSet {
        &self.state.kept
    }

    fn marginal(&self, feature: &Feature<'_>) -> Marginal {
        let total = self.frame.weight_sum();
        // The weighted residual sums to zero where columns are centred.
        let slope = self.state.residual.iter().map(|r| feature.column().dot(r) / total).collect();
        let square = self.frame.square(&feature.stats);
        Marginal { slope, curve: vec![square; self.outputs()], sum: Vec::new() }
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

    fn born(&self, slot: usize) -> u64 {
        self.state.born[slot]
    }

    fn clock(&self) -> u64 {
        self.state.clock
    }

    fn full_test(
        &mut self,
        feature: &Feature<'_>,
        _marginal: &Marginal,
        row: &Row,
    ) -> Result<Outcome> {
        let total = self.frame.weight_sum();
        let xy: Vec<f64> = row.extra.iter().map(|raw| raw / total).collect();
        let mut row: Vec<f64> = row.kept.iter().map(|raw| raw / total).collect();
        if feature.pinned {
            return self.pin(feature, &mut row, &xy);
        }
        let swept = self.swept_column(&row, &xy, self.frame.square(&feature.stats));
        self.state.theta.note(swept.own / swept.square);
        let column = |i: usize| swept.column[i];
        let gain = self.gain(column, swept.own, swept.square);
        let enters = gain > 0.0
            && (self.counted() < self.k || self.weakest(column, swept.own, gain).is_some());
        let full = self.full();
        if full && !enters && gain <= self.state.threshold || swept.collinear() {
            let mut outcome = Outcome::dropped(Reason::Weak);
            outcome.score = Some(0.5 * gain);
            return Ok(outcome);
        }
        self.take(feature, &row, &xy, &swept)?;
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
            self.settle();
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
        let loss = (0..self.outputs()).map(|c| 0.5 * self.state.swept.at(c, c)).sum();
        Status {
            kept: self.counted(),
            loss: Some(loss),
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
        self.state = decode(state)?;
        self.state.kept = std::mem::take(&mut self.state.kept).resumed(budget);
        Ok(())
    }
}
