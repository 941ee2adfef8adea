//! The losses whose curvature moves: squared hinge, logistic, squared epsilon-insensitive.
//!
//! Each output has its own model `(w, b)` and inverse curvature
//!
//! ```text
//! H = [X_S, 1]' D [X_S, 1] / W + ridge,   ridge_j = 1e-2 x_j'x_j / W (none on the intercept)
//! ```
//!
//! kept as one swept matrix. After a swap the weights of the quadratic model are taken, then a
//! safeguarded Newton step at the fresh gradient; a swap that does not lower the penalised loss
//! is taken back, so the loss never rises. `D` is renewed once the curvature has drifted by
//! more than [`DRIFT`]; until then a swap costs `O(n k)` and not `O(n k^2)`.

use serde::{Deserialize, Serialize};

use super::{Core, Marginal, OsPlusParams, Theta, theta};
use crate::check::{ColumnStats, Feature};
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::kept::{Kept, KeptSet};
use crate::linalg::{Square, inverse};
use crate::loss::LossKind;
use crate::refit::Outputs;
use crate::select::rows::Row;
use crate::select::{Outcome, Reason, Status, Verdict};
use crate::snapshot::{decode, encode};
use crate::target::{Covariate, Problem};

/// Relative change of the curvature after which it is computed anew.
const DRIFT: f64 = 0.1;
const COLLINEAR: f64 = 1e-8;
const HALVINGS: usize = 12;

pub(super) struct Curved {
    k: usize,
    ridge: f64,
    frame: Frame,
    outputs: Outputs,
    state: State,
}

#[derive(Serialize, Deserialize)]
struct State {
    kept: KeptSet,
    pinned: usize,
    born: Vec<u64>,
    clock: u64,
    version: u64,
    substitutions: u64,
    threshold: f64,
    theta: Theta,
    models: Vec<Model>,
}

/// One output's model. Indices of `swept` and `w` are `0` for the intercept, where there is
/// one, then the slots.
#[derive(Clone, Serialize, Deserialize)]
struct Model {
    w: Vec<f64>,
    u: Vec<f64>,
    g: Vec<f64>,
    d: Vec<f64>,
    sum_g: f64,
    sum_d: f64,
    swept: Square,
    value: f64,
}

impl Curved {
    pub(super) fn new(
        params: &OsPlusParams,
        frame: &Frame,
        problem: &Problem,
        kind: LossKind,
        kept: KeptSet,
    ) -> Result<Self> {
        let outputs = Outputs::new(problem, kind, params.epsilon)?;
        let n = frame.n();
        let model = Model {
            w: vec![0.0; usize::from(frame.centred())],
            u: outputs.start(n),
            g: vec![0.0; n],
            d: vec![0.0; n],
            sum_g: 0.0,
            sum_d: 0.0,
            swept: Square::default(),
            value: 0.0,
        };
        let state = State {
            kept,
            pinned: 0,
            born: Vec::new(),
            clock: 0,
            version: 0,
            substitutions: 0,
            threshold: 0.0,
            theta: theta(params.theta),
            models: vec![model; outputs.y.len()],
        };
        let (k, ridge, frame) = (params.k, params.ridge, frame.clone());
        let mut new = Self { k, ridge, frame, outputs, state };
        for covariate in &problem.covariates {
            new.add_covariate(covariate)?;
        }
        // Intercept and covariates alone, to the optimum.
        for _ in 0..20 {
            new.evaluate()?;
            (0..new.state.models.len()).for_each(|c| new.newton_step(c));
        }
        new.evaluate()?;
        Ok(new)
    }

    fn add_covariate(&mut self, covariate: &Covariate) -> Result<()> {
        let stats = self.frame.stats(&covariate.values);
        if stats.variance <= 0.0 {
            let name = &covariate.name;
            return Err(Error::Data(format!("covariate {name:?} is constant; leave it out")));
        }
        self.state.kept.push_covariate(covariate, stats)?;
        self.state.pinned += 1;
        self.state.born.push(0);
        self.state.models.iter_mut().for_each(|model| model.w.push(0.0));
        Ok(())
    }

    /// 1 where index 0 is the intercept.
    fn base(&self) -> usize {
        usize::from(self.frame.centred())
    }

    fn size(&self) -> usize {
        self.base() + self.state.kept.len()
    }

    fn full(&self) -> bool {
        self.state.kept.len() - self.state.pinned >= self.k
    }

    fn ridge_of(&self, stats: &ColumnStats, covariate: bool) -> f64 {
        (if covariate { 1e-8 } else { self.ridge }) * self.frame.square(stats)
    }

    fn ridges(&self) -> Vec<f64> {
        let of = |kept: &Kept| self.ridge_of(&kept.stats, kept.id.is_none());
        self.state.kept.slots().iter().map(of).collect()
    }

    fn columns(&self) -> Vec<&Kept> {
        self.state.kept.slots().iter().collect()
    }

    /// Penalised loss of output `c` at the prediction `u` and weights `w`.
    fn value(&self, c: usize, u: &[f64], w: &[f64], ridges: &[f64]) -> f64 {
        let loss = self.outputs.loss.value(u, &self.outputs.y[c], self.frame.weight());
        let squares = w[self.base()..].iter().zip(ridges).map(|(w, r)| r * w * w);
        loss / self.frame.weight_sum() + 0.5 * squares.sum::<f64>()
    }

    fn predict(&self, w: &[f64]) -> Vec<f64> {
        let mut u = self.outputs.start(self.frame.n());
        self.frame.add_prediction(&self.columns(), &w[self.base()..], &mut u);
        if self.base() > 0 {
            u.iter_mut().for_each(|u| *u += w[0]);
        }
        u
    }

    /// Prediction, value and slopes at the weights as they are.
    fn renew_slopes(&mut self, c: usize, u: Vec<f64>) {
        let ridges = self.ridges();
        let value = self.value(c, &u, &self.state.models[c].w, &ridges);
        let (y, weight) = (&self.outputs.y[c], self.frame.weight());
        let model = &mut self.state.models[c];
        self.outputs.loss.slopes(&u, y, weight, &mut model.g);
        model.sum_g = model.g.iter().sum();
        model.value = value;
        model.u = u;
    }

    /// Prediction, slopes and curvature of every output, from scratch.
    fn evaluate(&mut self) -> Result<()> {
        for c in 0..self.state.models.len() {
            let u = self.predict(&self.state.models[c].w);
            self.renew_slopes(c, u);
            self.renew_curvature(c, true)?;
        }
        self.all_stale();
        Ok(())
    }

    /// Recomputes one output's curvature where it drifted or `always`; whether it did.
    fn renew_curvature(&mut self, c: usize, always: bool) -> Result<bool> {
        let mut d = vec![0.0; self.frame.n()];
        let (y, weight) = (&self.outputs.y[c], self.frame.weight());
        self.outputs.loss.curvatures(&self.state.models[c].u, y, weight, &mut d);
        let old = &self.state.models[c];
        let moved: f64 = d.iter().zip(&old.d).map(|(a, b)| (a - b).abs()).sum();
        if !always && moved <= DRIFT * old.sum_d {
            return Ok(false);
        }
        let (total, base, size) = (self.frame.weight_sum(), self.base(), self.size());
        let (h, ones) = self.frame.hessian(&self.columns(), &d);
        let ridges = self.ridges();
        let sum_d: f64 = d.iter().sum();
        let entry = |i: usize, j: usize| match (i >= base, j >= base) {
            (true, true) => h.at(i - base, j - base) + if i == j { ridges[i - base] } else { 0.0 },
            (true, false) => ones[i - base],
            (false, true) => ones[j - base],
            // Where no row has curvature left the intercept still needs a finite step.
            (false, false) => (sum_d / total).max(1e-6),
        };
        let a = inverse(size, entry).ok_or_else(|| {
            Error::Data("the curvature of the kept set is not positive definite".into())
        })?;
        let model = &mut self.state.models[c];
        model.swept = Square::new(size);
        for i in 0..size {
            for j in 0..=i {
                model.swept.set(i, j, -a.at(i, j));
            }
        }
        model.sum_d = sum_d;
        model.d = d;
        Ok(true)
    }

    /// One step along minus A times the slope, halved until the penalised loss falls.
    fn newton_step(&mut self, c: usize) {
        let (total, base, size) = (self.frame.weight_sum(), self.base(), self.size());
        let ridges = self.ridges();
        let model = &self.state.models[c];
        let mut slopes = Vec::with_capacity(size);
        slopes.extend((0..base).map(|_| model.sum_g / total));
        for (slot, kept) in self.state.kept.slots().iter().enumerate() {
            let raw = kept.column().dot(&model.g) - self.frame.mean(&kept.stats) * model.sum_g;
            slopes.push(raw / total + ridges[slot] * model.w[base + slot]);
        }
        let along = |i: usize| crate::kernel::dot(&model.swept.row(i)[..size], &slopes);
        let step: Vec<f64> = (0..size).map(along).collect();
        let descent: f64 = step.iter().zip(&slopes).map(|(d, s)| d * s).sum();
        if -descent < 1e-9 * (1e-12 + model.value) {
            return;
        }
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let w: Vec<f64> = model.w.iter().zip(&step).map(|(w, d)| w + length * d).collect();
            let u = self.predict(&w);
            if self.value(c, &u, &w, &ridges) <= model.value + 1e-4 * length * descent {
                self.state.models[c].w = w;
                self.renew_slopes(c, u);
                return;
            }
            length *= 0.5;
        }
    }

    fn total_value(&self) -> f64 {
        self.state.models.iter().map(|model| model.value).sum()
    }

    /// The quadratic model's weights and inverse with a newcomer in and, perhaps, a slot out.
    fn move_models(&mut self, size: usize, test: &[Tested], out: Option<usize>) {
        let base = self.base();
        let mut scratch = Vec::new();
        for (model, test) in self.state.models.iter_mut().zip(test) {
            model.swept.reserve(size + 1);
            for i in 0..size {
                model.w[i] -= test.d[i] * test.v;
                model.swept.set(size, i, test.d[i]);
            }
            model.w.push(test.v);
            model.swept.set(size, size, test.schur);
            model.swept.sweep(size, 1.0, size + 1, &mut scratch);
            let Some(out) = out else { continue };
            let q = base + out;
            let share = model.w[q] / model.swept.at(q, q);
            for i in 0..=size {
                model.w[i] -= model.swept.at(i, q) * share;
            }
            model.swept.sweep(q, -1.0, size + 1, &mut scratch);
            model.swept.relocate(size, q, size + 1);
            model.w.swap_remove(q);
        }
    }

    fn renew_threshold(&mut self) {
        if !self.full() {
            return;
        }
        let base = self.base();
        let slots = self.state.kept.slots().iter().enumerate().filter(|(_, kept)| !kept.pinned);
        let rise = |slot: usize| {
            let at = base + slot;
            let of = |model: &Model| model.w[at] * model.w[at] / -model.swept.at(at, at);
            self.state.models.iter().map(of).sum::<f64>()
        };
        self.state.threshold = slots.map(|(slot, _)| rise(slot)).fold(f64::INFINITY, f64::min);
    }

    /// The slot whose loss is least once the newcomer is in, where that is below `gain`.
    fn weakest(&self, test: &[Tested], gain: f64) -> Option<usize> {
        let base = self.base();
        let loss = |slot: usize| {
            let at = base + slot;
            let of = |(model, test): (&Model, &Tested)| {
                let w = model.w[at] - test.d[at] * test.v;
                w * w / (test.d[at] * test.d[at] / test.schur - model.swept.at(at, at))
            };
            self.state.models.iter().zip(test).map(of).sum::<f64>()
        };
        let slots = self.state.kept.slots().iter().enumerate().filter(|(_, kept)| !kept.pinned);
        let mut best: Option<(f64, usize)> = None;
        for (slot, _) in slots {
            let loss = loss(slot);
            if loss < gain && best.is_none_or(|(least, _)| loss < least) {
                best = Some((loss, slot));
            }
        }
        best.map(|(_, slot)| slot)
    }

    /// What each output says of a newcomer; `None` where it adds nothing new.
    fn tested(
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
            let mut cross = Vec::with_capacity(size);
            cross.extend((0..base).map(|_| marginal.sum[c]));
            for (slot, kept) in slots.iter().enumerate() {
                let mean = self.frame.mean(&kept.stats);
                cross.push(row[slot * count + c] / total - mean * marginal.sum[c]);
            }
            let along = |i: usize| -crate::kernel::dot(&model.swept.row(i)[..size], &cross);
            let d: Vec<f64> = (0..size).map(along).collect();
            let schur = marginal.curve[c] - crate::kernel::dot(&cross, &d);
            let ridge = self.ridge_of(&feature.stats, false);
            // The ridge alone keeps the complement positive; below it is rounding.
            (schur > COLLINEAR * ridge.max(marginal.curve[c])).then(|| Tested {
                v: marginal.slope[c] / schur,
                d,
                schur,
            })
        };
        (0..count).map(one).collect()
    }

    /// Takes a newcomer in, perhaps in the place of a slot, and corrects the weights.
    fn enter(
        &mut self,
        feature: &Feature<'_>,
        test: &[Tested],
        out: Option<usize>,
    ) -> Result<Option<Kept>> {
        let size = self.size();
        let gone = match out {
            Some(slot) => Some(self.state.kept.replace(slot, feature)?),
            None => {
                self.state.kept.push(feature)?;
                self.state.born.push(0);
                None
            }
        };
        self.move_models(size, test, out);
        self.state.clock += 1;
        let slot = out.unwrap_or(self.state.kept.len() - 1);
        self.state.born[slot] = self.state.clock;
        for c in 0..self.state.models.len() {
            let u = self.predict(&self.state.models[c].w);
            self.renew_slopes(c, u);
            self.newton_step(c);
        }
        Ok(gone)
    }

    /// Swaps `out` for the newcomer if that lowers the loss; the slot's old column if it did.
    fn swap(&mut self, feature: &Feature<'_>, test: &[Tested], out: usize) -> Result<Option<Kept>> {
        let (before, models) = (self.total_value(), self.state.models.clone());
        let gone = self.enter(feature, test, Some(out))?;
        if self.total_value() < before {
            return Ok(gone);
        }
        self.state.models = models;
        if let Some(gone) = gone {
            self.state.kept.put_back(out, gone)?;
        }
        Ok(None)
    }

    /// After the model changed: curvature where it drifted, threshold, a new version.
    fn settle(&mut self) -> Result<()> {
        let mut renewed = false;
        for c in 0..self.state.models.len() {
            renewed |= self.renew_curvature(c, false)?;
        }
        if renewed {
            self.all_stale();
        }
        self.state.version += 1;
        self.renew_threshold();
        Ok(())
    }

    fn all_stale(&mut self) {
        self.state.clock += 1;
        let clock = self.state.clock;
        self.state.born.iter_mut().for_each(|born| *born = clock);
    }
}

impl Core for Curved {
    fn kept(&self) -> &KeptSet {
        &self.state.kept
    }

    fn marginal(&self, feature: &Feature<'_>) -> Marginal {
        let total = self.frame.weight_sum();
        let mean = self.frame.mean(&feature.stats);
        let ridge = self.ridge_of(&feature.stats, false);
        let count = self.state.models.len();
        let with = Vec::with_capacity;
        let mut out = Marginal { slope: with(count), curve: with(count), sum: with(count) };
        for model in &self.state.models {
            let (xg, xd, xxd) = feature.column().slope_curve(&model.g, &model.d);
            let square = xxd - 2.0 * mean * xd + mean * mean * model.sum_d;
            out.slope.push(-(xg - mean * model.sum_g) / total);
            out.curve.push(square.max(0.0) / total + ridge);
            out.sum.push((xd - mean * model.sum_d) / total);
        }
        out
    }

    fn rejects(&self, marginal: &Marginal) -> bool {
        self.full() && marginal.gain() < self.state.theta.value() * self.state.threshold
    }

    fn scales(&self) -> Vec<Option<&[f64]>> {
        self.state.models.iter().map(|model| Some(model.d.as_slice())).collect()
    }

    fn targets(&self) -> Vec<&[f64]> {
        Vec::new()
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
        marginal: &Marginal,
        row: &Row,
    ) -> Result<Outcome> {
        let Some(test) = self.tested(feature, marginal, &row.kept) else {
            return Ok(Outcome::dropped(Reason::Weak));
        };
        let gain: f64 = test.iter().map(|t| t.v * t.v * t.schur).sum();
        let own: f64 = test.iter().zip(&marginal.curve).map(|(t, h)| t.schur / h).sum();
        self.state.theta.note(own / test.len() as f64);
        let mut outcome = Outcome::new(Verdict::Kept);
        outcome.score = Some(0.5 * gain);
        if feature.pinned || !self.full() {
            self.enter(feature, &test, None)?;
            self.state.pinned += usize::from(feature.pinned);
        } else {
            let swapped = match self.weakest(&test, gain) {
                Some(out) => self.swap(feature, &test, out)?,
                None => None,
            };
            let Some(gone) = swapped else {
                outcome.verdict = Verdict::Dropped(Reason::Weak);
                return Ok(outcome);
            };
            self.state.substitutions += 1;
            outcome.evicted.extend(gone.id);
        }
        self.settle()?;
        Ok(outcome)
    }

    fn model(&self) -> Vec<usize> {
        (0..self.state.kept.len()).collect()
    }

    fn tests(&self) -> u64 {
        self.state.theta.tests()
    }

    fn status(&self) -> Status {
        let matrices: u64 = self.state.models.iter().map(|model| model.swept.bytes()).sum();
        Status {
            kept: self.state.kept.len() - self.state.pinned,
            loss: Some(self.total_value()),
            substitutions: self.state.substitutions,
            bytes: self.state.kept.bytes()
                + matrices
                + 32 * (self.frame.n() * self.state.models.len()) as u64,
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

/// One output's view of a newcomer.
struct Tested {
    /// Its weight if it joined.
    v: f64,
    /// `A <X_S, x>`, intercept included.
    d: Vec<f64>,
    schur: f64,
}
