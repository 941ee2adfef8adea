//! Losses other than squared: prediction, gradient and the kept set's slopes in one pass.
//!
//! Where the kept set fits into the last cache, two passes over it are as fast. Where it does not,
//! rows are taken in chunks: the chunk's prediction, its gradient, and its share of every kept
//! column's slope. So each kept column is read from memory once per arrival and not twice. Chunks
//! have a fixed size and their shares are added in order, so threads change no digit.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Evaluator, Model, Slopes, Trial};
use crate::data::check::Feature;
use crate::data::column::Column;
use crate::error::Result;
use crate::numeric::inner_product::Frame;
use crate::numeric::kernel::{self, Lanes};
use crate::numeric::products::{Dense, combine, cross};
use crate::run::snapshot::{decode, encode, ensure};
use crate::select::refit::Outputs;

/// Bytes of the kept set above which one pass is faster: below, it stays in the last cache.
const LARGE: u64 = 24 << 20;
/// Rows that one thread works through at a time.
const CHUNK: usize = 2048;

pub(super) struct PassEvaluator {
    state: State,
    /// Gradient of each output at the current coefficients, with sample weights.
    g: Vec<Vec<f64>>,
    /// Predictions of the last trial, used if it is accepted.
    tried: Vec<Vec<f64>>,
}

#[derive(Serialize, Deserialize)]
struct State {
    /// Predictions at the current coefficients.
    u: Vec<Vec<f64>>,
    fresh: bool,
}

impl PassEvaluator {
    pub(super) fn new(frame: &Frame, outputs: &Outputs) -> Self {
        let u = vec![outputs.start(frame.n()); outputs.y.len()];
        Self { state: State { u, fresh: true }, g: Vec::new(), tried: Vec::new() }
    }

    fn predict(&self, model: &Model, w: &[f64], b: &[f64], c: usize) -> Vec<f64> {
        let mut u = Vec::new();
        start(model, w, b, c, &mut u);
        let columns: Vec<Column<'_>> = model.kept.columns().collect();
        combine(&columns, &model.coefficients(w, c), &mut u);
        u
    }
}

/// Starts a prediction: offset, intercept, and the shift by the means of the columns.
fn start(model: &Model, w: &[f64], b: &[f64], c: usize, u: &mut Vec<f64>) {
    u.clear();
    match &model.outputs.offset {
        Some(offset) => u.extend_from_slice(offset),
        None => u.resize(model.frame.n(), 0.0),
    }
    let means = model.kept.slots().iter().map(|kept| model.frame.mean(&kept.stats));
    let shift = b[c] - means.zip(model.coefficients(w, c)).map(|(mean, w)| mean * w).sum::<f64>();
    if shift != 0.0 {
        u.iter_mut().for_each(|u| *u += shift);
    }
}

/// Completes the prediction `u` from row `first` on and writes the gradient `g` there.
fn gradient(
    model: &Model,
    columns: &Dense<'_>,
    w: &[f64],
    c: usize,
    first: usize,
    u: &mut [f64],
    g: &mut [f64],
) {
    let rows = first..first + u.len();
    columns.combine(rows.clone(), w, u);
    let weight = model.frame.weight().map(|v| &v[rows.clone()]);
    model.outputs.loss.slopes(u, &model.outputs.y[c][rows], weight, g);
}

/// Products of the columns with one vector over a chunk of rows. The sums of the chunks are then
/// added in order.
fn products(columns: &Dense<'_>, count: usize, first: usize, g: &[f64]) -> Vec<f64> {
    let mut lanes = vec![Lanes::default(); count];
    columns.add_products(first..first + g.len(), &[g], &mut lanes);
    lanes.iter().map(Lanes::sum).collect()
}

/// The gradient of output `c` and its raw products with dense columns.
fn dense_slopes(
    model: &Model,
    columns: &[Column<'_>],
    w: &[f64],
    c: usize,
    u: &mut [f64],
    g: &mut [f64],
) -> Vec<f64> {
    let dense = Dense::new(columns);
    let parallel = rayon::current_num_threads() > 1;
    let mut raw = vec![0.0; columns.len()];
    let work = u.chunks_mut(CHUNK).zip(g.chunks_mut(CHUNK)).enumerate();
    if model.kept.bytes() > LARGE {
        let one = |(at, (u, g)): (usize, (&mut [f64], &mut [f64]))| {
            gradient(model, &dense, w, c, at * CHUNK, u, g);
            products(&dense, columns.len(), at * CHUNK, g)
        };
        let parts: Vec<Vec<f64>> = if parallel {
            work.collect::<Vec<_>>().into_par_iter().map(one).collect()
        } else {
            work.map(one).collect()
        };
        for part in parts {
            raw.iter_mut().zip(part).for_each(|(raw, part)| *raw += part);
        }
        return raw;
    }
    if parallel {
        let work: Vec<_> = work.collect();
        work.into_par_iter()
            .for_each(|(at, (u, g))| gradient(model, &dense, w, c, at * CHUNK, u, g));
    } else {
        gradient(model, &dense, w, c, 0, u, g);
    }
    cross(columns, &[g], &mut raw);
    raw
}

/// Slopes of a newcomer from the gradients `g`, whose means are `sums`.
pub(in crate::select) fn newcomer_slopes(
    model: &Model,
    x: &Feature<'_>,
    g: &[Vec<f64>],
    sums: &[f64],
) -> Vec<f64> {
    let (mean, total) = (model.frame.mean(&x.stats), model.frame.weight_sum());
    g.iter().zip(sums).map(|(g, sum)| x.column().dot(g) / total - mean * sum).collect()
}

/// Slopes of the kept set from its raw products with the gradient of output `c`, whose sum is
/// `sum`, into `out[slot * outputs + c]`.
pub(in crate::select) fn kept_slopes(
    model: &Model,
    raw: &[f64],
    sum: f64,
    c: usize,
    out: &mut [f64],
) {
    let (count, total) = (model.count(), model.frame.weight_sum());
    for (slot, raw) in raw.iter().enumerate() {
        let mean = model.frame.mean(&model.kept.slots()[slot].stats);
        out[slot * count + c] = (raw - mean * sum) / total;
    }
}

/// `<x, D x>` at the prediction `u`.
pub(in crate::select) fn curve(model: &Model, x: &Feature<'_>, u: &[f64], c: usize) -> f64 {
    let mut d = vec![0.0; model.frame.n()];
    let (y, weight) = (&model.outputs.y[c], model.frame.weight());
    model.outputs.loss.curvatures(u, y, weight, &mut d);
    let (_, xd, xxd) = x.column().slope_curve(&d, &d);
    let mean = model.frame.mean(&x.stats);
    let square = xxd - 2.0 * mean * xd + mean * mean * kernel::sum(&d);
    square.max(0.0) / model.frame.weight_sum()
}

/// `<X_S, D X_S> v` with the curvature at the prediction `u`, or `D = 1` where none is given.
pub(in crate::select) fn product(
    model: &Model,
    v: &[f64],
    u: Option<&[f64]>,
    c: usize,
) -> Vec<f64> {
    let kept: Vec<_> = model.kept.slots().iter().collect();
    let mut t = vec![0.0; model.frame.n()];
    model.frame.add_prediction(&kept, v, &mut t);
    let (y, weight) = (&model.outputs.y[c], model.frame.weight());
    if let Some(u) = u {
        let mut d = vec![0.0; model.frame.n()];
        model.outputs.loss.curvatures(u, y, weight, &mut d);
        kernel::scale_by(&mut t, &d);
    } else if let Some(weight) = weight {
        kernel::scale_by(&mut t, weight);
    }
    let sum = kernel::sum(&t);
    let columns: Vec<Column<'_>> = model.kept.columns().collect();
    let mut raw = vec![0.0; columns.len()];
    cross(&columns, &[&t], &mut raw);
    let total = model.frame.weight_sum();
    let centred = |(raw, kept): (f64, &&crate::data::kept::Kept)| {
        (raw - model.frame.mean(&kept.stats) * sum) / total
    };
    raw.into_iter().zip(&kept).map(centred).collect()
}

impl Evaluator for PassEvaluator {
    fn begin_block(&mut self, _model: &Model, _features: &[Feature<'_>]) {}

    fn kept_slopes(&mut self, model: &Model, out: &mut Slopes) {
        let (count, n) = (model.count(), model.frame.n());
        let columns: Vec<Column<'_>> = model.kept.columns().collect();
        self.g.resize_with(count, Vec::new);
        out.kept = vec![0.0; model.w.len()];
        out.intercept = vec![0.0; count];
        for c in 0..count {
            let w = model.coefficients(&model.w, c);
            let g = &mut self.g[c];
            g.resize(n, 0.0);
            let fresh = self.state.fresh;
            let raw = if !fresh && columns.iter().all(Column::is_dense) {
                // The buffer is reused: a new one per arrival would cost its page faults.
                let u = &mut self.state.u[c];
                start(model, &model.w, &model.b, c, u);
                dense_slopes(model, &columns, &w, c, u, g)
            } else {
                if !fresh {
                    let u = &mut self.state.u[c];
                    start(model, &model.w, &model.b, c, u);
                    combine(&columns, &w, u);
                }
                let (y, weight) = (&model.outputs.y[c], model.frame.weight());
                model.outputs.loss.slopes(&self.state.u[c], y, weight, g);
                let mut raw = vec![0.0; columns.len()];
                cross(&columns, &[g], &mut raw);
                raw
            };
            // Without an intercept the sum is not needed.
            let sum = if model.frame.centred() { kernel::sum(&self.g[c]) } else { 0.0 };
            let total = model.frame.weight_sum();
            kept_slopes(model, &raw, sum, c, &mut out.kept);
            out.intercept[c] = sum / total;
        }
        self.state.fresh = true;
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
        out.newcomer = newcomer_slopes(model, &features[t], &self.g, &out.intercept);
    }

    fn curve(&self, model: &Model, x: &Feature<'_>, c: usize) -> f64 {
        curve(model, x, &self.state.u[c], c)
    }

    fn product(&self, model: &Model, v: &[f64], c: usize, curved: bool) -> Vec<f64> {
        product(model, v, Some(&self.state.u[c]).filter(|_| curved).map(Vec::as_slice), c)
    }

    fn change(&mut self, model: &Model, x: &Feature<'_>, _slopes: &Slopes, trial: &Trial) -> f64 {
        let weight = model.frame.weight();
        let mut change = 0.0;
        self.tried.clear();
        for c in 0..model.count() {
            let mut u = self.predict(model, &trial.kept, &trial.b, c);
            if let Some(newcomer) = &trial.newcomer {
                x.column().axpy(newcomer[c], &mut u);
                let shift = newcomer[c] * model.frame.mean(&x.stats);
                u.iter_mut().for_each(|u| *u -= shift);
            }
            let y = &model.outputs.y[c];
            change += model.outputs.loss.value(&u, y, weight)
                - model.outputs.loss.value(&self.state.u[c], y, weight);
            self.tried.push(u);
        }
        change / model.frame.weight_sum()
    }

    fn inserted(&mut self, model: &Model, _x: &Feature<'_>, _slot: usize) {
        self.step_taken(model);
    }

    fn step_taken(&mut self, _model: &Model) {
        self.state.fresh = !self.tried.is_empty();
        if self.state.fresh {
            self.state.u = std::mem::take(&mut self.tried);
        }
    }

    fn step_rejected(&mut self) {
        self.tried.clone_from(&self.state.u);
    }

    fn loss(&self, model: &Model) -> f64 {
        let value =
            |(u, y): (&Vec<f64>, &Vec<f64>)| model.outputs.loss.value(u, y, model.frame.weight());
        let sum: f64 = self.state.u.iter().zip(&model.outputs.y).map(value).sum();
        sum / model.frame.weight_sum()
    }

    fn bytes(&self) -> u64 {
        24 * self.state.u.iter().map(|u| u.len() as u64).sum::<u64>()
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&self.state)
    }

    fn restore(&mut self, state: &[u8], _: usize) -> Result<()> {
        let state: State = decode(state)?;
        let lengths = |u: &[Vec<f64>]| u.iter().map(Vec::len).collect::<Vec<_>>();
        ensure(lengths(&state.u) == lengths(&self.state.u), "predictions of other rows")?;
        self.state = state;
        Ok(())
    }
}
