//! The last pass of the curved losses: forward selection over the model and its reserve.
//!
//! Substitution stops where no single exchange helps, and what the stream brought early was chosen
//! beside columns that left again. So at the end the model is built up once more, from nothing but
//! what is pinned:
//!
//! ```text
//! k times   a_j = -x_j'g / W,   schur_j of H = [X, 1]' D [X, 1] / W + ridge beside the chosen ones
//!           the column of largest a_j^2 / schur_j joins, then Newton steps
//! end       Newton to the optimum; the set is the answer if its loss is below that of the model
//! ```
//!
//! The loss has the ridge of the refit, 1e-3, and not that of the stream: it is what the result is
//! fitted with. `H` of all columns is kept swept, so that a column that joins is one rank-1 update,
//! and computed anew once the curvature has drifted ([`COARSE`]). A gain that the true loss along
//! the column does not confirm is corrected, as in the full test. Cost: `n K^2` flops for each `H`,
//! some tens of them, and `n K` a column that joins, with `K` the columns of model and reserve.
//! Memory: a matrix of `K^2` an output.
//!
//! The model on the stream stays as it is, so a run that goes on has the same digits.

use serde::{Deserialize, Serialize};

use super::exact::COLLINEAR;
use super::{Curved, Model, TIE};
use crate::data::kept::Kept;
use crate::error::{Error, Result};
use crate::numeric::kernel;
use crate::numeric::linalg::Square;
use crate::numeric::products::cross;
use crate::select::refit;
use crate::select::substitution::os_plus::loss_line::LossLine;
use crate::select::substitution::os_plus::{Answer, Core};

/// How closely the model follows the optimum: the relative change of the curvature after which it is
/// computed anew, Newton steps at most, and the share of the loss that a step promises below which it
/// is not made.
#[derive(Clone, Copy)]
struct Care {
    drift: f64,
    steps: usize,
    reached: f64,
}

/// While columns join. At a drift of 0.3 recall and error on the papers' classes were no better, in
/// half as much time again.
const COARSE: Care = Care { drift: 0.5, steps: 3, reached: 1e-5 };
/// The same where computing the curvature takes no more than [`CHEAP`] products.
const FINE: Care = Care { drift: 0.01, steps: 20, reached: 1e-10 };
const CHEAP: usize = 1 << 23;
/// On the way to the optimum.
const OPTIMUM: Care = Care { drift: 0.05, steps: 40, reached: 1e-11 };
const HALVINGS: usize = 12;
/// Share of the loss by which the answer must be below the model.
const BELOW: f64 = 1e-9;

/// What the last pass chose.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Chosen {
    /// Places in the slots of the model and, behind them, of the reserve.
    places: Vec<usize>,
    /// Features that came from the reserve.
    entered: u64,
    objective: f64,
}

impl Chosen {
    /// Whether one that was read back can be of so many columns.
    pub(super) fn sound(&self, columns: usize) -> bool {
        let mut seen = vec![false; columns];
        let new = |at: &usize| *at < columns && !std::mem::replace(&mut seen[*at], true);
        self.places.iter().all(new) && self.objective.is_finite()
    }
}

impl Curved {
    /// The answer that the last pass chose.
    pub(super) fn answer_of(&self, chosen: &Chosen) -> Option<Answer<'_>> {
        let all: Vec<&Kept> = self.all_columns();
        let columns =
            chosen.places.iter().map(|at| all.get(*at).copied()).collect::<Option<_>>()?;
        Some(Answer { columns, objective: chosen.objective, entered: chosen.entered })
    }

    fn all_columns(&self) -> Vec<&Kept> {
        self.state.kept.slots().iter().chain(self.state.reserve.columns()).collect()
    }

    /// Forward selection over the model and the reserve; `None` where the model stays the answer.
    pub(super) fn last_pass(&self) -> Result<Option<Chosen>> {
        if !self.full() || self.state.reserve.columns().is_empty() {
            return Ok(None);
        }
        let all = self.all_columns();
        let held = self.state.kept.len();
        let mut pass = Pass::new(self, &all, refit::RIDGE);
        pass.active = (0..held).filter(|at| all[*at].pinned).collect();
        let products = self.frame.n().saturating_mul(all.len()).saturating_mul(all.len());
        let care = if products <= CHEAP { FINE } else { COARSE };
        pass.start(care)?;
        for _ in 0..self.k {
            let Some(next) = pass.best() else { return Ok(None) };
            pass.join(next, care)?;
        }
        let places = pass.active.clone();
        let entered = places.iter().filter(|at| **at >= held).count() as u64;
        if entered == 0 {
            return Ok(None);
        }
        let chosen: Vec<&Kept> = places.iter().map(|at| all[*at]).collect();
        let w: Vec<Vec<f64>> = pass.models.iter().map(|model| pass.active_of(&model.w)).collect();
        drop(pass);
        let (new, w) = self.optimum(&chosen, refit::RIDGE, w)?;
        let model = self.state.models.iter().map(|model| model.w.clone()).collect();
        let (old, _) = self.optimum(&all[..held], refit::RIDGE, model)?;
        let below = new < old - BELOW * old.abs();
        if !below {
            return Ok(None);
        }
        let (objective, _) = self.optimum(&chosen, self.ridge, w)?;
        Ok(Some(Chosen { places, entered, objective }))
    }

    /// The least penalised loss of a model on these columns, with its coefficients, from some others
    /// on the way.
    fn optimum(
        &self,
        columns: &[&Kept],
        ridge: f64,
        start: Vec<Vec<f64>>,
    ) -> Result<(f64, Vec<Vec<f64>>)> {
        let mut pass = Pass::new(self, columns, ridge);
        pass.active = (0..columns.len()).collect();
        for (model, w) in pass.models.iter_mut().zip(start) {
            model.u = self.outputs.start(self.frame.n());
            self.frame.add_prediction(columns, &w[self.base()..], &mut model.u);
            w[..self.base()].iter().for_each(|b| model.u.iter_mut().for_each(|u| *u += b));
            model.w = w;
        }
        pass.start(OPTIMUM)?;
        let value = pass.models.iter().map(|model| model.value).sum();
        Ok((value, pass.models.into_iter().map(|model| model.w).collect()))
    }
}

/// A model on some of the columns; the indices of its numbers are `0` for the intercept, where there
/// is one, then all columns.
struct Pass<'a> {
    core: &'a Curved,
    columns: &'a [&'a Kept],
    ridges: Vec<f64>,
    models: Vec<Model>,
    /// Own curvature of each column, before sweeping; one row an output.
    own: Vec<Vec<f64>>,
    /// Places of the columns of the model, in the order in which they joined.
    active: Vec<usize>,
}

impl<'a> Pass<'a> {
    fn new(core: &'a Curved, columns: &'a [&'a Kept], ridge: f64) -> Self {
        let n = core.frame.n();
        let ridge_of = |kept: &&Kept| {
            let share = if kept.id.is_none() { super::newton::COVARIATE_RIDGE } else { ridge };
            share * core.frame.square(&kept.stats)
        };
        let model = || Model {
            w: vec![0.0; core.base() + columns.len()],
            u: core.outputs.start(n),
            g: vec![0.0; n],
            d: vec![0.0; n],
            sum_g: 0.0,
            sum_d: 0.0,
            swept: Square::default(),
            value: 0.0,
        };
        let count = core.outputs.y.len();
        let ridges = columns.iter().map(ridge_of).collect();
        let models = (0..count).map(|_| model()).collect();
        Self { core, columns, ridges, models, own: vec![Vec::new(); count], active: Vec::new() }
    }

    /// Intercept and coefficients of the columns of the model, in their order.
    fn active_of(&self, w: &[f64]) -> Vec<f64> {
        let base = self.core.base();
        let active = self.active.iter().map(|at| w[base + at]);
        w[..base].iter().copied().chain(active).collect()
    }

    /// Brings the columns of the model to the optimum.
    fn start(&mut self, care: Care) -> Result<()> {
        for c in 0..self.models.len() {
            self.renew_slopes(c);
            self.fit(c, Care { steps: OPTIMUM.steps, reached: OPTIMUM.reached, ..care })?;
        }
        Ok(())
    }

    /// A column joins the model.
    fn join(&mut self, at: usize, care: Care) -> Result<()> {
        let (index, size) = (self.core.base() + at, self.core.base() + self.columns.len());
        self.active.push(at);
        for c in 0..self.models.len() {
            self.models[c].swept.sweep(index, 1.0, size, &mut Vec::new());
            self.fit(c, care)?;
        }
        Ok(())
    }

    /// Newton steps of one output.
    fn fit(&mut self, c: usize, care: Care) -> Result<()> {
        for _ in 0..care.steps {
            self.renew_curvature(c, care.drift)?;
            if !self.newton_step(c, care.reached) {
                break;
            }
        }
        // The gains need a curvature that is not too old.
        self.renew_curvature(c, care.drift)
    }

    fn renew_slopes(&mut self, c: usize) {
        let core = self.core;
        let model = &mut self.models[c];
        core.outputs.loss.slopes(&model.u, &core.outputs.y[c], core.frame.weight(), &mut model.g);
        model.sum_g = kernel::sum(&model.g);
        model.value = core.value(c, &model.u, &model.w, &self.ridges);
    }

    fn renew_curvature(&mut self, c: usize, drift: f64) -> Result<()> {
        let core = self.core;
        let mut d = vec![0.0; core.frame.n()];
        let (y, weight) = (&core.outputs.y[c], core.frame.weight());
        core.outputs.loss.curvatures(&self.models[c].u, y, weight, &mut d);
        let old = &self.models[c];
        let moved: f64 = d.iter().zip(&old.d).map(|(a, b)| (a - b).abs()).sum();
        // Before the first time there is no curvature, and none of the sums is above 0.
        if !self.own[c].is_empty() && moved <= drift * old.sum_d {
            return Ok(());
        }
        let (total, base) = (core.frame.weight_sum(), core.base());
        let (h, ones) = core.frame.hessian(self.columns, &d);
        let (sum_d, size) = (kernel::sum(&d), base + self.columns.len());
        let mut swept = Square::new(size);
        for i in 0..self.columns.len() {
            for j in 0..=i {
                let ridge = if i == j { self.ridges[i] } else { 0.0 };
                swept.set(base + i, base + j, h.at(i, j) + ridge);
            }
            if base > 0 {
                swept.set(base + i, 0, ones[i]);
            }
        }
        self.own[c] = (base..size).map(|i| swept.at(i, i)).collect();
        let mut scratch = Vec::new();
        if base > 0 {
            // The intercept needs a finite step also where no row has curvature.
            swept.set(0, 0, (sum_d / total).max(1e-6));
            swept.sweep(0, 1.0, size, &mut scratch);
        }
        for at in &self.active {
            let own = swept.at(base + at, base + at);
            if own.is_nan() || own <= 0.0 {
                let why = "the curvature of the kept set is not positive definite";
                return Err(Error::Data(why.into()));
            }
            swept.sweep(base + at, 1.0, size, &mut scratch);
        }
        let model = &mut self.models[c];
        (model.swept, model.sum_d, model.d) = (swept, sum_d, d);
        Ok(())
    }

    /// One step, halved until the penalised loss falls; `false` where it would be too small.
    fn newton_step(&mut self, c: usize, reached: f64) -> bool {
        let (core, base) = (self.core, self.core.base());
        let columns: Vec<&Kept> = self.active.iter().map(|at| self.columns[*at]).collect();
        let model = &self.models[c];
        let mut slopes = vec![0.0; model.w.len()];
        if base > 0 {
            slopes[0] = model.sum_g / core.frame.weight_sum();
        }
        for (slope, at) in self.slopes(c, &columns).into_iter().zip(&self.active) {
            slopes[base + at] = slope + self.ridges[*at] * model.w[base + at];
        }
        let all = model.swept.times(&slopes);
        let step: Vec<f64> = self.active.iter().map(|at| all[base + at]).collect();
        let shift = if base > 0 { all[0] } else { 0.0 };
        let along = self.active.iter().zip(&step).map(|(at, step)| step * slopes[base + at]);
        let descent = along.sum::<f64>() + shift * slopes[0] * base as f64;
        if -descent <= reached * model.value {
            return false;
        }
        let mut ahead = vec![shift; core.frame.n()];
        core.frame.add_prediction(&columns, &step, &mut ahead);
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let u: Vec<f64> =
                model.u.iter().zip(&ahead).map(|(u, step)| u + length * step).collect();
            let mut w = model.w.clone();
            self.active.iter().zip(&step).for_each(|(at, step)| w[base + at] += length * step);
            w[..base].iter_mut().for_each(|w| *w += length * shift);
            let value = core.value(c, &u, &w, &self.ridges);
            if value <= model.value + 1e-4 * length * descent {
                let model = &mut self.models[c];
                (model.u, model.w) = (u, w);
                self.renew_slopes(c);
                return true;
            }
            length *= 0.5;
        }
        false
    }

    /// Slope of the loss in each of these columns, without the ridge.
    fn slopes(&self, c: usize, columns: &[&Kept]) -> Vec<f64> {
        let (frame, model) = (&self.core.frame, &self.models[c]);
        let views: Vec<_> = columns.iter().map(|kept| kept.column()).collect();
        let mut slopes = vec![0.0; columns.len()];
        cross(&views, &[&model.g], &mut slopes);
        for (slope, kept) in slopes.iter_mut().zip(columns) {
            *slope = (*slope - frame.mean(&kept.stats) * model.sum_g) / frame.weight_sum();
        }
        slopes
    }

    /// The column of largest gain that is not in the model; ties go to the earlier feature.
    fn best(&self) -> Option<usize> {
        let base = self.core.base();
        let slopes: Vec<Vec<f64>> =
            (0..self.models.len()).map(|c| self.slopes(c, self.columns)).collect();
        let mut outside = vec![true; self.columns.len()];
        self.active.iter().for_each(|at| outside[*at] = false);
        let gain = |at: usize, raised: &dyn Fn(usize) -> f64| -> f64 {
            let of = |(c, model): (usize, &Model)| {
                let schur = model.swept.at(base + at, base + at);
                let apart = schur > COLLINEAR * self.own[c][at].max(self.ridges[at]);
                let slope = slopes[c][at];
                apart.then(|| slope * (slope / (schur + raised(c))))
            };
            self.models.iter().enumerate().map(of).sum::<Option<f64>>().unwrap_or(0.0)
        };
        let mut gains: Vec<f64> = (0..self.columns.len())
            .map(|at| if outside[at] { gain(at, &|_| 0.0) } else { 0.0 })
            .collect();
        let mut confirmed = vec![false; gains.len()];
        loop {
            let most = gains.iter().copied().fold(0.0, f64::max);
            let near = most * (1.0 - TIE);
            let ties = (0..gains.len()).filter(|at| gains[*at] > 0.0 && gains[*at] >= near);
            let best = ties.min_by_key(|at| self.columns[*at].id)?;
            if confirmed[best] {
                return Some(best);
            }
            confirmed[best] = true;
            let raised: Vec<f64> =
                (0..self.models.len()).map(|c| self.raised(c, best, slopes[c][best])).collect();
            gains[best] = gain(best, &|c| raised[c]);
        }
    }

    /// What must be added to the curvature of a column so that its quadratic model promises no more
    /// than the loss along the column falls.
    fn raised(&self, c: usize, at: usize, slope: f64) -> f64 {
        let curve = self.own[c][at];
        let modelled = 0.5 * slope * (slope / curve);
        let line = self.core.loss_line_of(&self.models[c], c, self.columns[at]);
        let fall = line.fall(-slope, curve, self.ridges[at]);
        if LossLine::confirmed(fall, modelled) {
            return 0.0;
        }
        curve * (modelled / fall.max(1e-9 * modelled) - 1.0)
    }
}
