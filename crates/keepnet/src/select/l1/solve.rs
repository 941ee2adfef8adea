//! Solves a penalised problem on a set of held columns.
//!
//! ```text
//! squared:  the penalty's descent on the Gram
//! others:   quadratic model at u: H = X'DX / W, lin = H w - slope;  that descent on it;
//!           the step is halved until the objective falls (proximal Newton)
//! ```
//!
//! Source: Yuan, Ho, Lin, JMLR 13 (2012), with the full Hessian of the small set.

use super::gram::Gram;
use super::penalty::Penalty;
use super::quadratic_model::QuadraticModel;
use super::{Columns, Point};
use crate::data::kept::Kept;

/// Most Newton steps of a solve.
const NEWTON: usize = 60;

impl Columns {
    /// The quadratic model of the loss at `point` on `set`; the intercept comes last.
    pub(in crate::select) fn quadratic_model(
        &self,
        gram: &mut Gram,
        point: &Point,
        set: &[usize],
    ) -> QuadraticModel {
        let curve = |slot: &usize| self.curvature(&self.kept.slots()[*slot]);
        if self.squared() {
            gram.complete(self, set);
            let (h, lin) = gram.part(set, self.count());
            return QuadraticModel {
                size: set.len(),
                h: vec![h],
                lin,
                floor: vec![0.0; set.len()],
            };
        }
        let (size, total) =
            (set.len() + usize::from(self.has_intercept()), self.frame.weight_sum());
        let gradient = self.gradient(&point.u);
        let slopes = self.slopes(&gradient, set);
        let mut floor: Vec<f64> = set.iter().map(|slot| 1e-6 * curve(slot)).collect();
        floor.resize(size, 1e-6);
        let kept: Vec<&Kept> = set.iter().map(|slot| &self.kept.slots()[*slot]).collect();
        let scale: Vec<f64> = set.iter().map(|slot| self.scale[*slot]).collect();
        let mut d = vec![0.0; self.frame.n()];
        let mut quadratic_model = QuadraticModel { size, h: Vec::new(), lin: Vec::new(), floor };
        for c in 0..self.count() {
            self.outputs.loss.curvatures(&point.u[c], self.y(c), self.frame.weight(), &mut d);
            let (h, ones) = self.frame.hessian(&kept, &d);
            let mut flat = vec![0.0; size * size];
            for i in 0..set.len() {
                for j in 0..set.len() {
                    flat[i * size + j] = h.at(i, j) * scale[i] * scale[j];
                }
            }
            if size > set.len() {
                let last = set.len();
                for i in 0..last {
                    flat[i * size + last] = ones[i] * scale[i];
                    flat[last * size + i] = ones[i] * scale[i];
                }
                flat[size * size - 1] = crate::numeric::kernel::sum(&d) / total;
            }
            quadratic_model.h.push(flat);
            let w = self.gather(point, set, c);
            let mut lin = quadratic_model.product(c, &w);
            for (i, lin) in lin.iter_mut().enumerate() {
                *lin -= match i < set.len() {
                    true => slopes[i * self.count() + c],
                    false => gradient.sum[c] / total,
                };
            }
            quadratic_model.lin.push(lin);
        }
        quadratic_model
    }

    /// Coefficients of `set` in output `c`, and the intercept where it is a variable.
    pub(in crate::select) fn gather(&self, point: &Point, set: &[usize], c: usize) -> Vec<f64> {
        let mut w: Vec<f64> = set.iter().map(|slot| point.w[slot * self.count() + c]).collect();
        if self.has_intercept() {
            w.push(point.b[c]);
        }
        w
    }

    /// Writes coefficients of `set` into `point`, without updating the predictions.
    pub(in crate::select) fn scatter(&self, point: &mut Point, set: &[usize], w: &[Vec<f64>]) {
        let count = self.count();
        for (c, w) in w.iter().enumerate() {
            for (at, slot) in set.iter().enumerate() {
                point.w[slot * count + c] = w[at];
            }
            if self.has_intercept() {
                point.b[c] = w[set.len()];
            }
        }
    }

    /// Minimises over `set` until the KKT conditions hold to `tolerance`.
    pub(in crate::select) fn solve(
        &self,
        gram: &mut Gram,
        point: &mut Point,
        set: &[usize],
        penalty: &impl Penalty,
        tolerance: f64,
    ) {
        let all = |point: &Point| -> Vec<Vec<f64>> {
            (0..self.count()).map(|c| self.gather(point, set, c)).collect()
        };
        if self.squared() {
            let mut w = all(point);
            let quadratic_model = self.quadratic_model(gram, point, set);
            penalty.descend(self, &quadratic_model, set, &mut w, 0.1 * tolerance);
            self.scatter(point, set, &w);
            self.predict(point);
            return;
        }
        for _ in 0..NEWTON {
            let residual = self.kkt(point, set, penalty);
            if residual <= tolerance {
                return;
            }
            let quadratic_model = self.quadratic_model(gram, point, set);
            let from = all(point);
            let mut to = from.clone();
            let tolerance = (1e-3 * residual).max(0.1 * tolerance);
            penalty.descend(self, &quadratic_model, set, &mut to, tolerance);
            if !self.line_search(point, set, penalty, &quadratic_model, (&from, &to)) {
                return;
            }
        }
    }

    /// Steps from `from` towards `to`, halving until the objective falls enough.
    fn line_search(
        &self,
        point: &mut Point,
        set: &[usize],
        penalty: &impl Penalty,
        quadratic_model: &QuadraticModel,
        (from, to): (&[Vec<f64>], &[Vec<f64>]),
    ) -> bool {
        let value = self.objective(point, penalty);
        let mut full = point.clone();
        self.scatter(&mut full, set, to);
        // slope = H from - lin at the start of the step.
        let mut descent = penalty.value(self, &full) - penalty.value(self, point);
        let mut along = Vec::with_capacity(from.len());
        for (c, (from, to)) in from.iter().zip(to).enumerate() {
            let d: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
            let slope = quadratic_model.product(c, from);
            let slope = slope.iter().zip(&quadratic_model.lin[c]).map(|(a, b)| a - b);
            descent += slope.zip(&d).map(|(s, d)| s * d).sum::<f64>();
            let mut du = vec![0.0; self.frame.n()];
            let b = if self.has_intercept() { d[set.len()] } else { 0.0 };
            self.add(set, &d[..set.len()], b, &mut du);
            along.push(du);
        }
        let mut length = 1.0;
        while length > 1e-9 {
            let mut next = match length == 1.0 {
                true => full.clone(),
                false => point.clone(),
            };
            if length < 1.0 {
                let mix = |(a, b): (&f64, &f64)| a + length * (b - a);
                next.w = point.w.iter().zip(&full.w).map(mix).collect();
                next.b = point.b.iter().zip(&full.b).map(mix).collect();
            }
            for ((next, u), du) in next.u.iter_mut().zip(&point.u).zip(&along) {
                next.iter_mut().zip(u).zip(du).for_each(|((n, u), du)| *n = u + length * du);
            }
            let found = self.objective(&next, penalty);
            if found <= value + 1e-4 * length * descent && found < value {
                *point = next;
                return true;
            }
            length *= 0.5;
        }
        false
    }
}
