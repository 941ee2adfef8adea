//! The columns that an L1 or L0 method holds, on one scale: predictions, slopes, KKT residual.
//!
//! The formulas are those of the folder's `mod.rs`. Columns are centred and scaled by formula and
//! not in memory. Slots are positions in the kept set; a coefficient of slot `j` in output `c` is at
//! `j * outputs + c`.

use serde::{Deserialize, Serialize};

use super::L1Params;
use super::penalty::Penalty;
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
use crate::select::refit::Outputs;

/// Held columns and what they are fitted to.
pub(in crate::select) struct Columns {
    pub(in crate::select) frame: Frame,
    pub(in crate::select) outputs: Outputs,
    pub(in crate::select) kept: KeptSet,
    /// Factor on each column that brings it to the scale of the penalty, by slot.
    pub(in crate::select) scale: Vec<f64>,
    standardise: bool,
}

/// Coefficients on scaled columns, intercepts, and the predictions that follow from them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::select) struct Point {
    /// Coefficients.
    pub(in crate::select) w: Vec<f64>,
    /// Intercepts on centred columns; stay 0 for the squared loss.
    pub(in crate::select) b: Vec<f64>,
    /// Predictions, one vector per output.
    pub(in crate::select) u: Vec<Vec<f64>>,
}

impl Point {
    /// Whether a point from a checkpoint fits `held` columns, `count` outputs and `n` rows.
    pub(in crate::select) fn is_valid(&self, held: usize, count: usize, n: usize) -> bool {
        let u = self.u.len() == count && self.u.iter().all(|u| u.len() == n);
        u && self.w.len() == held * count && self.b.len() == count
    }

    /// Norm of the coefficients of a slot.
    pub(in crate::select) fn size(&self, slot: usize) -> f64 {
        let count = self.b.len();
        norm(&self.w[slot * count..(slot + 1) * count])
    }
}

/// Euclidean norm; the absolute value of a single number.
pub(in crate::select) fn norm(v: &[f64]) -> f64 {
    match v {
        [one] => one.abs(),
        _ => v.iter().map(|v| v * v).sum::<f64>().sqrt(),
    }
}

impl Columns {
    /// The covariates alone, which are pinned.
    pub(in crate::select) fn new(
        params: &L1Params,
        problem: &Problem,
        budget: Budget,
    ) -> Result<Self> {
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

    /// Passes the held columns to `see`, which checks the model.
    pub(in crate::select) fn fitted(
        &self,
        see: &mut dyn FnMut(&Fitted<'_>) -> Result<()>,
    ) -> Result<()> {
        let columns: Vec<&Kept> = self.kept.slots().iter().collect();
        see(&Fitted { columns: &columns, frame: &self.frame, outputs: &self.outputs })
    }

    /// Adds the scales of new columns.
    pub(in crate::select) fn rescale(&mut self) {
        for slot in self.scale.len()..self.kept.len() {
            self.scale.push(self.scale_of(&self.kept.slots()[slot]));
        }
    }

    /// The factor that brings a column to the scale of the penalty.
    pub(in crate::select) fn scale_of(&self, x: &impl HasColumn) -> f64 {
        let square = self.frame.square(x.stats());
        match self.standardise {
            true if square > 0.0 => 1.0 / square.sqrt(),
            true => 0.0,
            false => 1.0,
        }
    }

    /// Square root of `<x, x>` of the scaled column: 1 where columns are standardised.
    pub(in crate::select) fn length(&self, x: &impl HasColumn) -> f64 {
        self.frame.square(x.stats()).max(0.0).sqrt() * self.scale_of(x)
    }

    /// `<x, x>` of the scaled column times the steepest curvature of the loss.
    pub(in crate::select) fn curvature(&self, x: &impl HasColumn) -> f64 {
        let scale = self.scale_of(x);
        self.frame.square(x.stats()) * scale * scale * self.outputs.loss.steepest()
    }

    /// Adds a feature; over budget is an error that changes nothing.
    pub(in crate::select) fn push(&mut self, feature: &Feature<'_>) -> Result<usize> {
        let slot = self.kept.push(feature)?;
        self.rescale();
        Ok(slot)
    }

    /// Removes a slot; the last slot takes its place.
    pub(in crate::select) fn remove(&mut self, slot: usize) -> Kept {
        self.scale.swap_remove(slot);
        self.kept.swap_remove(slot)
    }

    /// Number of outputs.
    pub(in crate::select) fn count(&self) -> usize {
        self.outputs.y.len()
    }

    /// Number of columns that are not pinned and so count in `k`.
    pub(in crate::select) fn free(&self) -> usize {
        self.kept.slots().iter().filter(|kept| !kept.pinned).count()
    }

    /// Whether a slot is pinned.
    pub(in crate::select) fn pinned(&self, slot: usize) -> bool {
        self.kept.slots()[slot].pinned
    }

    pub(in crate::select) fn squared(&self) -> bool {
        self.outputs.kind == LossKind::Squared
    }

    /// Whether the intercept is a variable of its own.
    pub(in crate::select) fn has_intercept(&self) -> bool {
        self.frame.centred() && !self.squared()
    }

    /// The target of an output.
    pub(in crate::select) fn y(&self, c: usize) -> &[f64] {
        &self.outputs.y[c]
    }

    /// The point with all coefficients zero.
    pub(in crate::select) fn origin(&self) -> Point {
        let count = self.count();
        let start = match self.squared() {
            true => vec![0.0; self.frame.n()],
            false => self.outputs.start(self.frame.n()),
        };
        let w = vec![0.0; self.kept.len() * count];
        Point { w, b: vec![0.0; count], u: vec![start; count] }
    }

    /// Computes the predictions of `point` from its coefficients.
    pub(in crate::select) fn predict(&self, point: &mut Point) {
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
    pub(in crate::select) fn add(&self, set: &[usize], w: &[f64], b: f64, u: &mut [f64]) {
        let kept: Vec<&Kept> = set.iter().map(|j| &self.kept.slots()[*j]).collect();
        let w: Vec<f64> = set.iter().zip(w).map(|(j, w)| w * self.scale[*j]).collect();
        let views: Vec<Column<'_>> = kept.iter().map(|x| x.column()).collect();
        combine(&views, &w, u);
        let shift: f64 = kept.iter().zip(&w).map(|(x, w)| w * self.frame.mean(&x.stats)).sum();
        if b != shift {
            u.iter_mut().for_each(|u| *u += b - shift);
        }
    }

    /// Adds `w` times one scaled, centred column to the prediction `u`.
    pub(in crate::select) fn add_one(&self, x: &impl HasColumn, w: f64, u: &mut [f64]) {
        let w = w * self.scale_of(x);
        x.values().axpy(w, u);
        let shift = w * self.frame.mean(x.stats());
        if shift != 0.0 {
            u.iter_mut().for_each(|u| *u -= shift);
        }
    }

    /// Gradient of the loss in the predictions, sample weights included.
    pub(in crate::select) fn gradient(&self, u: &[Vec<f64>]) -> Gradient {
        let one = |(u, y): (&Vec<f64>, &Vec<f64>)| {
            let mut g = vec![0.0; u.len()];
            self.outputs.loss.slopes(u, y, self.frame.weight(), &mut g);
            g
        };
        let g: Vec<Vec<f64>> = u.iter().zip(&self.outputs.y).map(one).collect();
        let sum = g.iter().map(|g| kernel::sum(g)).collect();
        Gradient { g, sum }
    }

    /// Slope of the loss in each slot of `set` and output, at `position * outputs + c`.
    pub(in crate::select) fn slopes(&self, gradient: &Gradient, set: &[usize]) -> Vec<f64> {
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

    /// Slope of the loss in a newcomer, one per output.
    pub(in crate::select) fn slope_of(&self, gradient: &Gradient, x: &impl HasColumn) -> Vec<f64> {
        let mut out: Vec<f64> = gradient.g.iter().map(|g| x.values().dot(g)).collect();
        self.finish_slopes(gradient, x.stats(), self.scale_of(x), &mut out);
        out
    }

    /// `<x_j, u>` of each scaled slot of `set` with a vector, under the sample weights.
    pub(in crate::select) fn products(&self, set: &[usize], mut u: Vec<f64>) -> Vec<f64> {
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
    pub(in crate::select) fn loss(&self, u: &[Vec<f64>]) -> f64 {
        let one =
            |(u, y): (&Vec<f64>, &Vec<f64>)| self.outputs.loss.value(u, y, self.frame.weight());
        u.iter().zip(&self.outputs.y).map(one).sum::<f64>() / self.frame.weight_sum()
    }

    /// Loss and penalty.
    pub(in crate::select) fn objective(&self, point: &Point, penalty: &impl Penalty) -> f64 {
        self.loss(&point.u) + penalty.value(self, point)
    }

    /// The largest violation of the KKT conditions over `set` and the intercepts.
    pub(in crate::select) fn kkt(
        &self,
        point: &Point,
        set: &[usize],
        penalty: &impl Penalty,
    ) -> f64 {
        let gradient = self.gradient(&point.u);
        let slopes = self.slopes(&gradient, set);
        let mut most = penalty.violation(self, point, set, &slopes);
        if self.has_intercept() {
            let total = self.frame.weight_sum();
            most = gradient.sum.iter().fold(most, |most, sum| most.max((sum / total).abs()));
        }
        most
    }
}

/// Gradient in the predictions and its sum over the rows, one per output.
pub(in crate::select) struct Gradient {
    pub(in crate::select) g: Vec<Vec<f64>>,
    pub(in crate::select) sum: Vec<f64>,
}
