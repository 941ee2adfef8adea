//! Slopes at the centre's prediction, and deltas to it: one worker's part of Algorithm 3.
//!
//! ```text
//! read u_C;  g = dL/du at u_C;  slopes X_S(t)'g and x_j'g       S(t): this worker's features
//! after the step:  add  X_S(t) w_S(t) after - before  to u_C
//! ```
//!
//! The step, the newcomer and the eviction in between are those of `os`. Cost: `4 n |S(t)|`
//! flops per arrival, one read and one add; `2 n |S(t)|` more where a step rule needs the Gram.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::step_factors::StepFactors;
use super::{Centre, Share, Tally};
use crate::data::check::Feature;
use crate::data::column::Column;
use crate::error::Result;
use crate::loss::LossKind;
use crate::numeric::inner_product::Frame;
use crate::numeric::kernel;
use crate::numeric::linalg::Square;
use crate::numeric::products::{combine, cross};
use crate::run::snapshot::{decode, encode, ensure};
use crate::select::refit::Outputs;
use crate::select::substitution::os::{
    Eta, Evaluator, Model, OsParams, Slopes, Trial, pass_evaluator,
};

pub(super) struct CentreEvaluator<C> {
    centre: C,
    /// Whether the centre may be read: not while the worker is being made.
    live: Arc<AtomicBool>,
    /// Target of each output; centred and less the offset for the squared loss.
    y: Vec<Vec<f64>>,
    offset: Option<Vec<f64>>,
    /// Whether this worker steps the intercept.
    owner: bool,
    /// Whether steps are automatic.
    auto: bool,
    /// Products of the kept columns, where the step rule needs them.
    gram: Option<Square>,
    /// The prediction as it was read, output after output, and the number of updates in it.
    u: Vec<f64>,
    updates_read: u64,
    /// Gradient of each output at that prediction, and its sum over the rows divided by W.
    g: Vec<Vec<f64>>,
    sums: Vec<f64>,
    /// Coefficients and intercepts when it was read.
    before: (Vec<f64>, Vec<f64>),
    delta: Vec<f64>,
    /// How far `delta` is computed.
    delta_state: DeltaState,
    steps: StepFactors,
    tally: Tally,
}

/// How far the delta of this arrival is computed.
#[derive(Clone, Copy, PartialEq)]
enum DeltaState {
    Nothing,
    /// With the steps of the kept set and the removed column, without the newcomer.
    Kept,
    /// Completely, from a trial.
    Whole,
    /// The delta is 0: no coefficient moves.
    Zero,
}

impl<C: Centre> CentreEvaluator<C> {
    pub(super) fn new(
        params: &OsParams,
        frame: &Frame,
        outputs: &Outputs,
        share: Share,
        (centre, live): (C, Arc<AtomicBool>),
    ) -> Self {
        let squared = outputs.kind == LossKind::Squared;
        let (y, offset) = (outputs.y.clone(), outputs.offset.clone());
        let needs_gram = match params.eta {
            Eta::Fixed(_) => false,
            Eta::OverL(_) => true,
            Eta::Auto => squared,
        };
        let length = frame.n() * outputs.y.len();
        let mut u = vec![0.0; length];
        if let Some(offset) = &offset {
            u.chunks_mut(frame.n()).for_each(|u| u.copy_from_slice(offset));
        }
        Self {
            centre,
            live,
            y,
            offset,
            owner: share.worker == 0,
            auto: params.eta == Eta::Auto,
            gram: needs_gram.then(Square::default),
            u,
            updates_read: 0,
            g: vec![vec![0.0; frame.n()]; outputs.y.len()],
            sums: vec![0.0; outputs.y.len()],
            before: Default::default(),
            delta: vec![0.0; length],
            delta_state: DeltaState::Nothing,
            steps: StepFactors::new(share.workers),
            tally: Tally::default(),
        }
    }

    fn read(&mut self) {
        if !self.live.load(Ordering::Relaxed) {
            return;
        }
        let start = Instant::now();
        let read = self.centre.read(&mut self.u);
        self.tally.waiting += start.elapsed().as_secs_f64();
        self.updates_read = read.updates;
        if let Some(tau) = read.tau {
            self.tally.dated += 1;
            self.tally.staleness += tau;
            self.tally.stalest = self.tally.stalest.max(tau);
            self.steps.add_staleness(tau);
        }
        if let Some(offset) = &self.offset {
            let n = offset.len();
            self.u.chunks_mut(n).for_each(|u| kernel::axpy(1.0, offset, u));
        }
    }

    fn send_delta(&mut self) {
        if self.delta_state != DeltaState::Zero {
            let start = Instant::now();
            self.centre.add(&self.delta, self.updates_read);
            self.tally.waiting += start.elapsed().as_secs_f64();
            self.tally.updates += 1;
        }
        self.delta_state = DeltaState::Nothing;
    }

    /// Writes `X_S (w - before)` and the intercept's step into `delta`. `w` may have one slot more
    /// than `before`.
    fn fill_delta(&mut self, model: &Model, w: &[f64], b: &[f64], evicted: Option<usize>) {
        let (n, count) = (model.frame.n(), model.count());
        let columns: Vec<Column<'_>> =
            model.kept.columns().take(self.before.0.len() / count).collect();
        for (c, delta) in self.delta.chunks_mut(n).enumerate() {
            let old = model.coefficients(&self.before.0, c);
            let now = model.coefficients(w, c);
            let step = |(slot, old): (usize, &f64)| match Some(slot) == evicted {
                true => -old,
                false => now[slot] - old,
            };
            let moved: Vec<f64> = old.iter().enumerate().map(step).collect();
            let means = model.kept.slots().iter().map(|kept| model.frame.mean(&kept.stats));
            let shift: f64 = means.zip(&moved).map(|(mean, moved)| mean * moved).sum();
            delta.fill(b[c] - self.before.1[c] - shift);
            combine(&columns, &moved, delta);
        }
    }

    fn add_newcomer(&mut self, model: &Model, x: &Feature<'_>, w: &[f64]) {
        let n = model.frame.n();
        let mean = model.frame.mean(&x.stats);
        for (delta, w) in self.delta.chunks_mut(n).zip(w).filter(|(_, w)| **w != 0.0) {
            x.column().axpy(*w, delta);
            if mean != 0.0 {
                delta.iter_mut().for_each(|d| *d -= w * mean);
            }
        }
    }

    /// The products of the newcomer in `slot` with the other kept columns.
    fn add_products(&mut self, model: &Model, x: &Feature<'_>, slot: usize) {
        let Some(gram) = &mut self.gram else { return };
        let mut spread = vec![0.0; model.frame.n()];
        model.frame.spread(x, None, &mut spread);
        let columns: Vec<Column<'_>> = model.kept.columns().collect();
        let mut raw = vec![0.0; columns.len()];
        cross(&columns, &[&spread], &mut raw);
        gram.reserve(columns.len());
        for (other, raw) in raw.iter().enumerate() {
            gram.set(slot, other, raw / model.frame.weight_sum());
        }
        gram.set(slot, slot, model.frame.square(&x.stats));
    }

    fn loss_at(&self, model: &Model, u: &[f64]) -> f64 {
        let n = model.frame.n();
        let value =
            |(u, y): (&[f64], &Vec<f64>)| model.outputs.loss.value(u, y, model.frame.weight());
        u.chunks(n).zip(&self.y).map(value).sum::<f64>() / model.frame.weight_sum()
    }
}

impl<C: Centre> Evaluator for CentreEvaluator<C> {
    fn begin_block(&mut self, _model: &Model, _features: &[Feature<'_>]) {}

    fn kept_slopes(&mut self, model: &Model, out: &mut Slopes) {
        self.read();
        self.before.0.clone_from(&model.w);
        self.before.1.clone_from(&model.b);
        if self.auto {
            let loss = self.loss_at(model, &self.u);
            self.steps.add_loss(loss);
        }
        self.delta_state = DeltaState::Nothing;
        let (n, total) = (model.frame.n(), model.frame.weight_sum());
        let columns: Vec<Column<'_>> = model.kept.columns().collect();
        let mut raw = vec![0.0; columns.len()];
        out.kept = vec![0.0; model.w.len()];
        for (c, u) in self.u.chunks(n).enumerate() {
            let g = &mut self.g[c];
            model.outputs.loss.slopes(u, &self.y[c], model.frame.weight(), g);
            cross(&columns, &[g], &mut raw);
            let sum = kernel::sum(g);
            pass_evaluator::kept_slopes(model, &raw, sum, c, &mut out.kept);
            self.sums[c] = sum / total;
        }
        // One worker steps the intercept; with the squared loss there is none.
        let steps = self.owner && model.outputs.kind != LossKind::Squared;
        out.intercept = if steps { self.sums.clone() } else { vec![0.0; self.sums.len()] };
    }

    fn surely_below(&mut self, _: &Model, _: usize, _: &Feature<'_>, _: f64, _: f64) -> bool {
        // The gradient is there anyway, so the exact slope is as cheap as a bound.
        false
    }

    fn newcomer_slope(
        &mut self,
        model: &Model,
        t: usize,
        features: &[Feature<'_>],
        out: &mut Slopes,
    ) {
        out.newcomer = pass_evaluator::newcomer_slopes(model, &features[t], &self.g, &self.sums);
    }

    fn curve(&self, model: &Model, x: &Feature<'_>, c: usize) -> f64 {
        match model.outputs.kind {
            LossKind::Squared => model.frame.square(&x.stats),
            _ => pass_evaluator::curve(
                model,
                x,
                &self.u[c * model.frame.n()..][..model.frame.n()],
                c,
            ),
        }
    }

    fn product(&self, model: &Model, v: &[f64], c: usize, curved: bool) -> Vec<f64> {
        let curved = curved && model.outputs.kind != LossKind::Squared;
        match &self.gram {
            Some(gram) if !curved => {
                (0..v.len()).map(|slot| kernel::dot(&gram.row(slot)[..v.len()], v)).collect()
            }
            _ => {
                let n = model.frame.n();
                let u = &self.u[c * n..][..n];
                pass_evaluator::product(model, v, Some(u).filter(|_| curved), c)
            }
        }
    }

    fn change(&mut self, model: &Model, x: &Feature<'_>, _: &Slopes, trial: &Trial) -> f64 {
        self.fill_delta(model, &trial.kept, &trial.b, None);
        if let Some(newcomer) = &trial.newcomer {
            self.add_newcomer(model, x, newcomer);
        }
        self.delta_state = DeltaState::Whole;
        let tried: Vec<f64> = self.u.iter().zip(&self.delta).map(|(u, d)| u + d).collect();
        self.loss_at(model, &tried) - self.loss_at(model, &self.u)
    }

    fn before_removal(&mut self, model: &Model, slot: usize) {
        if self.delta_state == DeltaState::Nothing {
            self.fill_delta(model, &model.w, &model.b, Some(slot));
            self.delta_state = DeltaState::Kept;
        }
    }

    fn inserted(&mut self, model: &Model, x: &Feature<'_>, slot: usize) {
        let count = model.count();
        let w = model.w[slot * count..(slot + 1) * count].to_vec();
        let zero = w.iter().all(|w| *w == 0.0);
        if zero && model.w.starts_with(&self.before.0) && model.b == self.before.1 {
            self.delta_state = DeltaState::Zero;
        }
        if self.delta_state == DeltaState::Nothing {
            self.fill_delta(model, &model.w, &model.b, None);
            self.delta_state = DeltaState::Kept;
        }
        if self.delta_state == DeltaState::Kept {
            self.add_newcomer(model, x, &w);
        }
        self.add_products(model, x, slot);
        self.send_delta();
    }

    fn step_taken(&mut self, model: &Model) {
        if self.delta_state == DeltaState::Nothing {
            self.fill_delta(model, &model.w, &model.b, None);
        }
        self.send_delta();
    }

    fn step_rejected(&mut self) {
        self.delta_state = DeltaState::Zero;
    }

    fn loss(&self, model: &Model) -> f64 {
        self.loss_at(model, &self.u)
    }

    fn step_factors(&self) -> (f64, f64) {
        self.steps.factors()
    }

    fn tally(&self) -> Tally {
        self.tally
    }

    fn bytes(&self) -> u64 {
        let vectors = 4 * self.u.len() + self.offset.as_ref().map_or(0, Vec::len);
        8 * vectors as u64 + self.gram.as_ref().map_or(0, Square::bytes)
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&(&self.gram, self.steps, self.tally))
    }

    fn restore(&mut self, state: &[u8], held: usize) -> Result<()> {
        let (gram, steps, tally): (Option<Square>, StepFactors, Tally) = decode(state)?;
        let fits = gram.is_some() == self.gram.is_some();
        ensure(fits && gram.iter().all(|gram| gram.room(held)), "products of other columns")?;
        (self.gram, self.steps, self.tally) = (gram, steps, tally);
        Ok(())
    }
}
