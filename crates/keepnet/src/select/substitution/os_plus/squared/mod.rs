//! The squared loss, with the kept set in one swept Gram matrix.
//!
//! Indices `0..C` of the matrix are the outputs, `C + slot` the kept columns. Swept over the
//! model it contains coefficients, residual correlations, Schur complements and the loss
//! ([`Square::sweep`]); a swap is two rank-1 updates. The matrix is computed anew from the plain
//! Gram every 200 changes, or as many as it has rows if that is more, so that rounding does not add
//! up. Computing it anew is one rank-1 update a row, so a change costs `O((k + reserve)^2)`.

mod exact;
mod foresee;
mod matrix;
mod near;

use serde::{Deserialize, Serialize};

use super::{Candidate, Core, Exchange, OsPlusParams, Theta, theta};
use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::data::kept::{Kept, KeptSet};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::numeric::inner_product::Frame;
use crate::numeric::linalg::Square;
use crate::run::snapshot::{decode, encode, ensure};
use crate::select::kept_products::{GROUP, Products};
use crate::select::refit::Outputs;
use crate::select::{Along, Marginal, Outcome, Reason, Status, Verdict};

use foresee::Foreseen;
pub(super) use foresee::looks_ahead;
use matrix::{Model, Newcomer};

pub(super) struct Squared {
    frame: Frame,
    // Targets minus offset, centred, one per output.
    y: Vec<Vec<f64>>,
    state: State,
    foreseen: Foreseen,
    /// Places within which a kept feature is a neighbour; 0 is no neighbour test.
    neighbours: usize,
}

/// The state in a checkpoint.
#[derive(Serialize, Deserialize)]
struct State {
    kept: KeptSet,
    model: Model,
    // Residuals times the sample weights, one per output.
    residual: Vec<Vec<f64>>,
    changed_at: Vec<u64>,
    clock: u64,
    version: u64,
    theta: Theta,
    neighbour_tests: u64,
}

impl Squared {
    pub(super) fn new(
        params: &OsPlusParams,
        reserve: usize,
        frame: &Frame,
        outputs: &Outputs,
        problem: &Problem,
        kept: KeptSet,
    ) -> Result<Self> {
        let y: Vec<Vec<f64>> = outputs.y.clone();
        let count = y.len();
        let mut products = Square::new(count + 8);
        for c in 0..count {
            for d in 0..=c {
                let product: f64 = match frame.weight() {
                    Some(v) => (0..y[c].len()).map(|i| v[i] * y[c][i] * y[d][i]).sum(),
                    None => y[c].iter().zip(&y[d]).map(|(a, b)| a * b).sum(),
                };
                products.set(c, d, product / frame.weight_sum());
            }
        }
        let state = State {
            kept,
            model: Model::new(params.k, reserve, &products, count),
            residual: Vec::new(),
            changed_at: Vec::new(),
            clock: 0,
            version: 0,
            theta: theta(params.theta),
            neighbour_tests: 0,
        };
        let foreseen = Foreseen::default();
        let neighbours = params.neighbours;
        let mut new = Self { frame: frame.clone(), y, state, foreseen, neighbours };
        for covariate in &problem.covariates {
            new.add_covariate(covariate)?;
        }
        new.renew_residual();
        Ok(new)
    }

    fn outputs(&self) -> usize {
        self.y.len()
    }

    /// The least gain of a newcomer of a full set that is looked at.
    fn least(&self) -> f64 {
        self.state.theta.value() * self.state.model.threshold
    }

    fn add_covariate(&mut self, covariate: &crate::data::target::Covariate) -> Result<()> {
        let (data, stats) = self.frame.column(&covariate.values);
        let slot = self.state.kept.push_covariate(&covariate.name, data, stats)?;
        let kept: Vec<&Kept> = self.state.kept.slots().iter().collect();
        let ones = vec![1.0; self.frame.n()];
        let (h, _) = self.frame.hessian(&kept, self.frame.weight().unwrap_or(&ones));
        let row: Vec<f64> = h.row(slot)[..slot].to_vec();
        let xy = self.products_with_y(&self.state.kept.slots()[slot]);
        let square = self.frame.square(&stats);
        let newcomer = Newcomer { id: None, pinned: true, square, row, xy };
        let swept = self.state.model.swept_column(&newcomer);
        if swept.square <= 0.0 || swept.collinear() {
            let name = &covariate.name;
            let why = "is constant or repeats the covariates before it; leave it out";
            return Err(Error::Data(format!("covariate {name:?} {why}")));
        }
        self.state.model.extend(&newcomer, &swept);
        self.state.pushed();
        self.state.model.enter(slot);
        Ok(())
    }

    fn products_with_y(&self, x: &impl crate::numeric::inner_product::HasColumn) -> Vec<f64> {
        let mut spread = vec![0.0; self.frame.n()];
        self.frame.spread(x, None, &mut spread);
        let dot = |y: &Vec<f64>| crate::numeric::kernel::dot(y, &spread) / self.frame.weight_sum();
        self.y.iter().map(dot).collect()
    }

    /// The coefficients of one output, in the order of the model's slots.
    fn coefficients(model: &Model, output: usize) -> Vec<f64> {
        model.inside().map(|slot| model.swept.at(output, model.at(slot))).collect()
    }

    /// Computes the residual of the present model, unless it was foreseen.
    fn renew_residual(&mut self) {
        let model = &self.state.model;
        if let Some(residual) = self.foreseen.take(model, &mut self.state.residual) {
            self.state.residual = vec![residual];
            return;
        }
        let slots = self.state.kept.slots();
        let columns: Vec<&Kept> = model.inside().map(|slot| &slots[slot]).collect();
        // The buffers are reused: new ones per change would cost their page faults.
        let mut residual = std::mem::take(&mut self.state.residual);
        residual.resize_with(self.outputs(), Vec::new);
        for (c, r) in residual.iter_mut().enumerate() {
            r.clone_from(&self.y[c]);
            let w: Vec<f64> = Self::coefficients(model, c).iter().map(|w| -w).collect();
            self.frame.add_prediction(&columns, &w, r);
            if let Some(v) = self.frame.weight() {
                crate::numeric::kernel::scale_by(r, v);
            }
        }
        self.state.residual = residual;
    }

    /// A newcomer by its raw products.
    fn newcomer(&self, feature: &Feature<'_>, row: &[f64], xy: &[f64]) -> Newcomer {
        let total = self.frame.weight_sum();
        Newcomer {
            id: Some(feature.id),
            pinned: feature.pinned,
            square: self.frame.square(&feature.stats),
            row: row.iter().map(|raw| raw / total).collect(),
            xy: xy.iter().map(|raw| raw / total).collect(),
        }
    }

    /// Adds a pinned feature.
    fn pin(&mut self, feature: &Feature<'_>, mut newcomer: Newcomer) -> Result<Outcome> {
        let mut outcome = Outcome::new(Verdict::Kept);
        let mut swept = self.state.model.swept_column(&newcomer);
        if swept.collinear()
            && let Some(slot) = self.state.model.free_collinear(&swept.column)
        {
            newcomer.row.swap_remove(slot);
            outcome.evicted.extend(self.state.removed(slot));
            swept = self.state.model.swept_column(&newcomer);
        }
        let slot = self.state.kept.push(feature)?;
        self.state.model.extend(&newcomer, &swept);
        self.state.pushed();
        let model = &mut self.state.model;
        if !swept.collinear() {
            model.enter(slot);
        }
        model.improve();
        model.renew();
        model.renew_threshold();
        self.renew_residual();
        self.state.version += 1;
        Ok(outcome)
    }
}

impl State {
    /// A column was added in the last slot.
    fn pushed(&mut self) {
        self.clock += 1;
        self.changed_at.push(self.clock);
    }

    /// The model emptied a slot: so do the columns.
    fn removed(&mut self, slot: usize) -> Option<FeatureId> {
        self.changed_at.swap_remove(slot);
        // The slot now has another column, so earlier products with it are stale.
        self.clock += 1;
        if slot < self.changed_at.len() {
            self.changed_at[slot] = self.clock;
        }
        self.kept.swap_remove(slot).id
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
        self.state.model.full()
    }

    fn rejects(&self, marginal: &Marginal) -> bool {
        self.full() && marginal.gain() < self.least()
    }

    fn least_gain(&self) -> Option<f64> {
        Some(if self.full() { self.least() } else { 0.0 })
    }

    fn passes_near(&mut self, feature: &Feature<'_>, marginal: &Marginal) -> bool {
        self.neighbours == 0 || !self.full() || self.near_test(feature, marginal)
    }

    fn one_by_one(&self) -> bool {
        self.neighbours > 0
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
        let newcomer = self.newcomer(feature, &products.kept, &products.extra);
        if feature.pinned {
            return self.pin(feature, newcomer);
        }
        let judged = self.state.model.judge(&newcomer);
        if !judged.weak {
            self.state.kept.push(feature)?;
        }
        // After what can fail: an error changes nothing.
        self.state.theta.add(judged.swept.own / judged.swept.square);
        let score = Some(0.5 * judged.gain);
        if judged.weak {
            return Ok(Outcome { score, ..Outcome::dropped(Reason::Weak) });
        }
        let admitted = self.state.model.admit(&newcomer, &judged.swept);
        self.state.pushed();
        let mut outcome = Outcome { score, ..Outcome::new(Verdict::Reserved) };
        outcome.evicted.extend(admitted.removed.and_then(|slot| self.state.removed(slot)));
        outcome.verdict = match self.state.kept.slot(feature.id) {
            Some(slot) if self.state.model.slots[slot].inside => Verdict::Kept,
            Some(_) => Verdict::Reserved,
            None => Verdict::Dropped(Reason::Weak),
        };
        outcome.evicted.retain(|id| *id != feature.id);
        if admitted.changed {
            self.renew_residual();
            self.state.version += 1;
        }
        Ok(outcome)
    }

    fn foresees(&self) -> bool {
        self.outputs() == 1 && looks_ahead(self.state.kept.bytes())
    }

    fn foreseen(&self) -> bool {
        !self.foreseen.is_empty()
    }

    fn foresee(&mut self, group: &[Candidate<'_, '_>]) {
        self.foresee_residuals(group);
    }

    fn model(&self) -> Vec<usize> {
        self.state.model.inside().collect()
    }

    fn tests(&self) -> u64 {
        self.state.theta.tests()
    }

    fn neighbour_tests(&self) -> u64 {
        self.state.neighbour_tests
    }

    fn status(&self) -> Status {
        let model = &self.state.model;
        let loss: f64 = (0..self.outputs()).map(|c| 0.5 * model.swept.at(c, c)).sum();
        Status {
            kept: model.counted(),
            // Rounding may make the loss of a perfect fit negative.
            loss: Some(loss.max(0.0)),
            substitutions: model.substitutions,
            bytes: self.state.kept.bytes()
                + model.gram.bytes()
                + model.swept.bytes()
                + 16 * (self.frame.n() * self.outputs()) as u64
                + if self.foresees() { 8 * (GROUP * self.frame.n()) as u64 } else { 0 },
        }
    }

    fn exact(&mut self, newcomers: &[super::Newcomer<'_, '_>]) -> Vec<Option<Exchange>> {
        self.exact_exchanges(newcomers)
    }

    fn least_fall(&self, tolerance: f64) -> f64 {
        self.least_real_fall(tolerance)
    }

    fn settle(&mut self) -> Result<()> {
        self.settle_model();
        Ok(())
    }

    fn outline(&self) -> Result<Vec<u8>> {
        encode(&self.own_outline())
    }

    fn redraw(&mut self, outline: &[u8], columns: Vec<Kept>) -> Result<()> {
        self.redraw_from(decode(outline)?, columns)
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&self.state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let budget = self.state.kept.budget().clone();
        let mut state: State = decode(state)?;
        state.kept = std::mem::take(&mut state.kept).resumed(budget, self.frame.n())?;
        let held = state.kept.slots().iter().map(|kept| (kept.id, kept.pinned));
        ensure(state.changed_at.len() == held.len(), "weights of other columns")?;
        ensure(state.model.fits(&self.state.model, held), "products of other columns")?;
        let rows = state.residual.iter().all(|r| r.len() == self.frame.n());
        ensure(rows && state.residual.len() == self.outputs(), "residuals of other rows")?;
        ensure(state.theta.fits(&self.state.theta), "another theta")?;
        self.state = state;
        self.foreseen = Foreseen::default();
        Ok(())
    }
}
