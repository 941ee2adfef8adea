//! What the L1 and L0 rivals share: held columns on one scale, predictions, slopes, KKT.
//!
//! ```text
//! minimise over w   sum_c L(u_c, y_c) / W + lambda sum_j |w_j|      u_c = X w_c + b_c
//! slope_j = x_j'g / W,  g = dL/du
//! KKT:  w_j = 0: |slope_j| <= lambda     w_j != 0: slope_j = -lambda w_j / |w_j|
//! ```
//!
//! `|w_j|` is the Euclidean norm over the outputs, so several classes share one set; with one
//! output it is the absolute value. Columns are centred where there is an intercept and, with
//! `standardise`, scaled to unit variance, both by formula. Pinned columns and the intercept
//! carry no penalty. For the squared loss the target is centred and there is no intercept
//! variable, as everywhere in this crate.

pub(in crate::select) mod baseline;
pub(super) mod batch;
mod copies;
pub mod grafting;
pub mod grafting_light;
pub(super) mod gram;
pub mod l0_cd;
pub mod l1_cd;
pub mod l1_hinge;
pub mod lasso;
pub mod proj_gd;
pub(in crate::select) mod quad;
pub(super) mod settings;
pub(super) mod solve;
pub(super) mod stream;

use serde::{Deserialize, Serialize};

use super::refit::Outputs;
use crate::data::check::Feature;
use crate::data::column::Column;
use crate::data::kept::{Kept, KeptSet};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::numeric::inner_product::{Frame, HasColumn};
use crate::numeric::kernel;
use crate::numeric::products::{combine, cross};
use crate::run::budget::Budget;
use crate::run::verdict::Fitted;

pub use settings::L1Params;

/// Held columns and what they are fitted to.
pub(super) struct Columns {
    pub(super) frame: Frame,
    pub(super) outputs: Outputs,
    pub(super) kept: KeptSet,
    /// Factor on each column that brings it to the scale of the penalty, by slot.
    pub(super) scale: Vec<f64>,
    standardise: bool,
}

/// Weights on scaled columns, intercepts and the predictions they give.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Point {
    /// Weight of a slot in output `c` at `slot * outputs + c`.
    pub(super) w: Vec<f64>,
    /// Intercepts on centred columns; stay 0 for the squared loss.
    pub(super) b: Vec<f64>,
    /// Predictions, one vector an output.
    pub(super) u: Vec<Vec<f64>>,
}

impl Point {
    /// Whether a point that was read back is one of `held` columns, `count` outputs, `n` rows.
    pub(super) fn sound(&self, held: usize, count: usize, n: usize) -> bool {
        let u = self.u.len() == count && self.u.iter().all(|u| u.len() == n);
        u && self.w.len() == held * count && self.b.len() == count
    }

    /// Size of the weights of a slot.
    pub(super) fn size(&self, slot: usize) -> f64 {
        let count = self.b.len();
        norm(&self.w[slot * count..(slot + 1) * count])
    }
}

/// Euclidean norm; the absolute value of a single number.
pub(super) fn norm(v: &[f64]) -> f64 {
    match v {
        [one] => one.abs(),
        _ => v.iter().map(|v| v * v).sum::<f64>().sqrt(),
    }
}

impl Columns {
    /// No columns but the covariates, which are pinned.
    pub(super) fn new(params: &L1Params, problem: &Problem, budget: Budget) -> Result<Self> {
        problem.check()?;
        let kind = params.kind(problem);
        let frame = Frame::new(problem, params.intercept);
        let outputs = Outputs::new(problem, kind, params.epsilon, &frame)?;
        let (kept, scale) = (KeptSet::new(budget), Vec::new());
        let standardise = params.standardise;
        let mut columns = Self { frame, outputs, kept, scale, standardise };
        for covariate in &problem.covariates {
            let (data, stats) = columns.frame.column(&covariate.values);
            if stats.variance <= 0.0 {
                let name = &covariate.name;
                return Err(Error::Data(format!("covariate {name:?} is constant; leave it out")));
            }
            columns.kept.push_covariate(&covariate.name, data, stats)?;
            columns.rescale();
        }
        Ok(columns)
    }

    /// Shows the held columns to one who checks the model.
    pub(super) fn fitted(&self, see: &mut dyn FnMut(&Fitted<'_>) -> Result<()>) -> Result<()> {
        let columns: Vec<&Kept> = self.kept.slots().iter().collect();
        see(&Fitted { columns: &columns, frame: &self.frame, outputs: &self.outputs })
    }

    /// Completes the scales after columns came in.
    pub(super) fn rescale(&mut self) {
        for slot in self.scale.len()..self.kept.len() {
            self.scale.push(self.scale_of(&self.kept.slots()[slot]));
        }
    }

    /// The factor that brings a column to the scale of the penalty.
    pub(super) fn scale_of(&self, x: &impl HasColumn) -> f64 {
        let square = self.frame.square(x.stats());
        match self.standardise {
            true if square > 0.0 => 1.0 / square.sqrt(),
            true => 0.0,
            false => 1.0,
        }
    }

    /// Root of `<x, x>` of the scaled column: 1 where columns are standardised.
    pub(super) fn length(&self, x: &impl HasColumn) -> f64 {
        self.frame.square(x.stats()).max(0.0).sqrt() * self.scale_of(x)
    }

    /// `<x, x>` of the scaled column times the steepest curvature of the loss.
    pub(super) fn curvature(&self, x: &impl HasColumn) -> f64 {
        let scale = self.scale_of(x);
        self.frame.square(x.stats()) * scale * scale * self.outputs.loss.steepest()
    }

    /// Takes a feature in; over budget is an error that changes nothing.
    pub(super) fn push(&mut self, feature: &Feature<'_>) -> Result<usize> {
        let slot = self.kept.push(feature)?;
        self.rescale();
        Ok(slot)
    }

    /// Lets a slot go; the last slot takes its place.
    pub(super) fn remove(&mut self, slot: usize) -> Kept {
        self.scale.swap_remove(slot);
        self.kept.swap_remove(slot)
    }

    /// Number of outputs.
    pub(super) fn count(&self) -> usize {
        self.outputs.y.len()
    }

    /// Columns that may go and count in `k`.
    pub(super) fn free(&self) -> usize {
        self.kept.slots().iter().filter(|kept| !kept.pinned).count()
    }

    /// Whether a slot is never let go.
    pub(super) fn pinned(&self, slot: usize) -> bool {
        self.kept.slots()[slot].pinned
    }

    pub(super) fn squared(&self) -> bool {
        self.outputs.kind == LossKind::Squared
    }

    /// Whether the intercept is a variable of its own.
    pub(super) fn has_intercept(&self) -> bool {
        self.frame.centred() && !self.squared()
    }

    /// The target of an output.
    pub(super) fn y(&self, c: usize) -> &[f64] {
        &self.outputs.y[c]
    }

    /// All weights zero.
    pub(super) fn origin(&self) -> Point {
        let count = self.count();
        let start = match self.squared() {
            true => vec![0.0; self.frame.n()],
            false => self.outputs.start(self.frame.n()),
        };
        let w = vec![0.0; self.kept.len() * count];
        Point { w, b: vec![0.0; count], u: vec![start; count] }
    }

    /// Predictions at the weights of `point`, made anew.
    pub(super) fn predict(&self, point: &mut Point) {
        let count = self.count();
        let used: Vec<usize> = (0..self.kept.len()).filter(|j| point.size(*j) != 0.0).collect();
        let (u, b) = (self.origin().u, point.b.clone());
        point.u = u;
        for c in 0..count {
            let w: Vec<f64> = used.iter().map(|j| point.w[j * count + c]).collect();
            self.add(&used, &w, b[c], &mut point.u[c]);
        }
    }

    /// `u += sum_j w_j x_j + b` over scaled, centred columns.
    pub(super) fn add(&self, set: &[usize], w: &[f64], b: f64, u: &mut [f64]) {
        let kept: Vec<&Kept> = set.iter().map(|j| &self.kept.slots()[*j]).collect();
        let w: Vec<f64> = set.iter().zip(w).map(|(j, w)| w * self.scale[*j]).collect();
        let views: Vec<Column<'_>> = kept.iter().map(|x| x.column()).collect();
        combine(&views, &w, u);
        let shift: f64 = kept.iter().zip(&w).map(|(x, w)| w * self.frame.mean(&x.stats)).sum();
        if b != shift {
            u.iter_mut().for_each(|u| *u += b - shift);
        }
    }

    /// Adds `w` times one scaled, centred column to the prediction of output `c`.
    pub(super) fn add_one(&self, x: &impl HasColumn, w: f64, u: &mut [f64]) {
        let w = w * self.scale_of(x);
        x.values().axpy(w, u);
        let shift = w * self.frame.mean(x.stats());
        if shift != 0.0 {
            u.iter_mut().for_each(|u| *u -= shift);
        }
    }

    /// Gradient of the loss in the predictions, sample weights included.
    pub(super) fn gradient(&self, u: &[Vec<f64>]) -> Gradient {
        let one = |(u, y): (&Vec<f64>, &Vec<f64>)| {
            let mut g = vec![0.0; u.len()];
            self.outputs.loss.slopes(u, y, self.frame.weight(), &mut g);
            g
        };
        let g: Vec<Vec<f64>> = u.iter().zip(&self.outputs.y).map(one).collect();
        let sum = g.iter().map(|g| kernel::sum(g)).collect();
        Gradient { g, sum }
    }

    /// Slope of the loss in each slot of `set` and output, at `place * outputs + c`.
    pub(super) fn slopes(&self, gradient: &Gradient, set: &[usize]) -> Vec<f64> {
        let kept: Vec<&Kept> = set.iter().map(|j| &self.kept.slots()[*j]).collect();
        let views: Vec<Column<'_>> = kept.iter().map(|x| x.column()).collect();
        let g: Vec<&[f64]> = gradient.g.iter().map(Vec::as_slice).collect();
        let mut out = vec![0.0; views.len() * g.len()];
        cross(&views, &g, &mut out);
        for ((x, slot), out) in kept.iter().zip(set).zip(out.chunks_mut(g.len())) {
            self.finish_slopes(gradient, &x.stats, self.scale[*slot], out);
        }
        out
    }

    /// Slope of the loss in a newcomer, one an output.
    pub(super) fn slope_of(&self, gradient: &Gradient, x: &impl HasColumn) -> Vec<f64> {
        let mut out: Vec<f64> = gradient.g.iter().map(|g| x.values().dot(g)).collect();
        self.finish_slopes(gradient, x.stats(), self.scale_of(x), &mut out);
        out
    }

    /// `<x_j, u>` of each scaled slot of `set` with a vector, under the sample weights.
    pub(super) fn products(&self, set: &[usize], mut u: Vec<f64>) -> Vec<f64> {
        if let Some(weight) = self.frame.weight() {
            kernel::scale_by(&mut u, weight);
        }
        let sum = vec![kernel::sum(&u)];
        self.slopes(&Gradient { g: vec![u], sum }, set)
    }

    fn finish_slopes(
        &self,
        gradient: &Gradient,
        stats: &crate::data::check::ColumnStats,
        scale: f64,
        raw: &mut [f64],
    ) {
        let (mean, total) = (self.frame.mean(stats), self.frame.weight_sum());
        for (raw, sum) in raw.iter_mut().zip(&gradient.sum) {
            *raw = (*raw - mean * sum) * scale / total;
        }
    }

    /// Loss of predictions, summed over outputs and divided by W.
    pub(super) fn loss(&self, u: &[Vec<f64>]) -> f64 {
        let one =
            |(u, y): (&Vec<f64>, &Vec<f64>)| self.outputs.loss.value(u, y, self.frame.weight());
        u.iter().zip(&self.outputs.y).map(one).sum::<f64>() / self.frame.weight_sum()
    }

    /// Loss and penalty.
    pub(super) fn objective(&self, point: &Point, lambda: f64) -> f64 {
        let free = (0..self.kept.len()).filter(|j| !self.pinned(*j));
        self.loss(&point.u) + lambda * free.map(|j| point.size(j)).sum::<f64>()
    }

    /// The largest breach of the KKT conditions over `set` and the intercepts.
    pub(super) fn kkt(&self, point: &Point, set: &[usize], lambda: f64) -> f64 {
        let gradient = self.gradient(&point.u);
        let slopes = self.slopes(&gradient, set);
        self.breach(point, set, &slopes, &gradient, lambda)
    }

    pub(super) fn breach(
        &self,
        point: &Point,
        set: &[usize],
        slopes: &[f64],
        gradient: &Gradient,
        lambda: f64,
    ) -> f64 {
        let count = self.count();
        let mut most: f64 = 0.0;
        for (slot, slope) in set.iter().zip(slopes.chunks(count)) {
            let (w, size) = (&point.w[slot * count..(slot + 1) * count], point.size(*slot));
            let here = if self.pinned(*slot) {
                norm(slope)
            } else if size == 0.0 {
                (norm(slope) - lambda).max(0.0)
            } else {
                let off = |(s, w): (&f64, &f64)| (s + lambda * w / size).abs();
                slope.iter().zip(w).map(off).fold(0.0, f64::max)
            };
            most = most.max(here);
        }
        if self.has_intercept() {
            let total = self.frame.weight_sum();
            most = gradient.sum.iter().fold(most, |most, sum| most.max((sum / total).abs()));
        }
        most
    }
}

/// Gradient in the predictions and its sum, one an output.
pub(super) struct Gradient {
    pub(super) g: Vec<Vec<f64>>,
    pub(super) sum: Vec<f64>,
}
