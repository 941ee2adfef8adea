//! Block descent on a quadratic model with the penalty of the sparse group lasso.
//!
//! ```text
//! l1 sum_j |w_j| + l2 sum_g sqrt(p_g) |w_g|           S(z) = z (1 - l1 / |z|)+
//! for each group:  z_g = H_gg w_g - (H w - lin)_g
//!   |S(z_g)| <= l2 sqrt(p_g):  w_g = 0
//!   w_g = 0 otherwise:  w_g = S(z_g) (1 - l2 sqrt(p_g) / |S(z_g)|) / |H_gg|, which leaves 0
//!   each j of g:  w_j = t z / |z|,  h t + l2 sqrt(p_g) t / sqrt(t^2 + s^2) = |z| - l1
//! ```
//!
//! with `S` member by member, `s` the norm of the other members and `p_g` the members that are not
//! pinned. `|w_j|` is the norm over the outputs. The penalty is smooth in a coefficient while
//! another of its group is not 0, so steps along one coordinate cannot rest before the minimum of
//! the block; at 0 the test of the whole group decides. Among columns that go together such steps
//! are short: Newton's method on the coefficients that are not 0, where all is smooth, then ends the
//! descent. Cost: a row of `H` per changed coefficient, and a factorisation of the active part.
//!
//! Source: Friedman, Hastie, Tibshirani, arXiv:1001.0736 (2010); Simon and others, JCGS 22 (2013).

use super::norm;
use super::quadratic_model::{EDGE, QuadraticModel, SWEEPS};
use crate::numeric::kernel;
use crate::numeric::linalg::solve;

/// Sweeps after which Newton's method is tried although the coefficients still move.
const PATIENCE: usize = 100;
/// Most coefficients for which it is tried, and most steps of a try.
const NEWTON_SIZE: usize = 800;
const NEWTON_STEPS: usize = 12;
/// Most Newton steps of a coordinate; they are quadratic, so rounding ends them long before.
const ROOT_STEPS: usize = 60;

/// Coordinates that share a penalty: a group, or one that has none.
pub(super) struct Block {
    /// Places in the model.
    pub(super) at: Vec<usize>,
    /// Penalty on each coefficient.
    pub(super) l1: f64,
    /// `l2 sqrt(p_g)`.
    pub(super) l2: f64,
    /// A bound on the largest eigenvalue of `H_gg`, over the outputs.
    pub(super) steepest: f64,
}

/// Minimises from `w`, one vector per output, until no slope moves by `tolerance`.
pub(super) fn descend(
    model: &QuadraticModel,
    blocks: &[Block],
    w: &mut [Vec<f64>],
    tolerance: f64,
) {
    let mut descent = Descent::new(model, w);
    let mut sweeps = 0;
    while sweeps < SWEEPS {
        sweeps += 1;
        if descent.sweep(blocks.iter()) < tolerance {
            break;
        }
        while sweeps < SWEEPS {
            let active: Vec<&Block> = blocks.iter().filter(|block| descent.active(block)).collect();
            sweeps += 1;
            if descent.sweep(active.iter().copied()) < tolerance || sweeps % PATIENCE == 0 {
                descent.polish(&active, tolerance);
                break;
            }
        }
    }
}

/// A descent under way: coefficients and `H w - lin`.
struct Descent<'a> {
    model: &'a QuadraticModel,
    w: &'a mut [Vec<f64>],
    q: Vec<Vec<f64>>,
    curve: Vec<f64>,
}

impl<'a> Descent<'a> {
    fn new(model: &'a QuadraticModel, w: &'a mut [Vec<f64>]) -> Self {
        Self {
            model,
            q: slope_of(model, w),
            w,
            curve: (0..model.size).map(|j| model.curve(j)).collect(),
        }
    }

    fn size(&self, j: usize) -> f64 {
        norm(&self.w.iter().map(|w| w[j]).collect::<Vec<f64>>())
    }

    fn active(&self, block: &Block) -> bool {
        block.l1 + block.l2 == 0.0 || block.at.iter().any(|j| self.size(*j) != 0.0)
    }

    /// Sets a coordinate; returns how far its slope moved by that.
    fn set(&mut self, j: usize, to: &[f64]) -> f64 {
        let mut most: f64 = 0.0;
        for (c, to) in to.iter().enumerate() {
            let change = to - self.w[c][j];
            if change != 0.0 {
                self.w[c][j] = *to;
                kernel::axpy(change, self.model.row(c, j), &mut self.q[c]);
                most = most.max(self.curve[j] * change.abs());
            }
        }
        most
    }

    fn sweep<'b>(&mut self, blocks: impl Iterator<Item = &'b Block>) -> f64 {
        blocks.map(|block| self.visit(block)).fold(0.0, f64::max)
    }

    /// One block: the test at 0, then its coordinates in turn.
    fn visit(&mut self, block: &Block) -> f64 {
        let mut most: f64 = 0.0;
        if block.l2 > 0.0 {
            let z = self.without(block);
            let kept: Vec<f64> = z.iter().map(|z| (norm(z) - block.l1).max(0.0)).collect();
            let total = norm(&kept);
            if total <= EDGE * block.l2 || block.steepest <= 0.0 {
                let zero = vec![0.0; self.w.len()];
                return block.at.iter().map(|j| self.set(*j, &zero)).fold(0.0, f64::max);
            }
            if !self.active(block) {
                let shrink = (1.0 - block.l2 / total) / block.steepest;
                for ((j, z), kept) in block.at.iter().zip(&z).zip(kept) {
                    let factor = if kept > 0.0 { shrink * kept / norm(z) } else { 0.0 };
                    let to: Vec<f64> = z.iter().map(|z| z * factor).collect();
                    most = most.max(self.set(*j, &to));
                }
            }
        }
        for j in &block.at {
            let h = self.curve[*j];
            if h <= 0.0 {
                continue;
            }
            let mut z: Vec<f64> =
                self.w.iter().zip(&self.q).map(|(w, q)| h * w[*j] - q[*j]).collect();
            let size = norm(&z);
            let length = match size <= EDGE * block.l1 {
                true => 0.0,
                false => {
                    let others = block.at.iter().filter(|i| *i != j).map(|i| self.size(*i));
                    along(h, size - block.l1, block.l2, norm(&others.collect::<Vec<f64>>()))
                }
            };
            z.iter_mut().for_each(|z| *z = if length > 0.0 { *z / size * length } else { 0.0 });
            most = most.max(self.set(*j, &z));
        }
        most
    }

    /// `z_g`: minus the slopes of a block if its coefficients were 0.
    fn without(&self, block: &Block) -> Vec<Vec<f64>> {
        let one = |j: &usize| {
            let own = |c: usize| {
                let row = self.model.row(c, *j);
                block.at.iter().map(|i| row[*i] * self.w[c][*i]).sum::<f64>() - self.q[c][*j]
            };
            (0..self.w.len()).map(own).collect()
        };
        block.at.iter().map(one).collect()
    }
}

impl Descent<'_> {
    /// Newton's method on the coefficients that are not 0; a step is taken where slopes become less.
    fn polish(&mut self, active: &[&Block], tolerance: f64) {
        let outputs = self.w.len();
        let mut places = Vec::new();
        for (b, block) in active.iter().enumerate() {
            let used =
                block.at.iter().filter(|j| block.l1 + block.l2 == 0.0 || self.size(**j) != 0.0);
            used.for_each(|j| places.extend((0..outputs).map(|c| (b, *j, c))));
        }
        if places.is_empty() || places.len() > NEWTON_SIZE {
            return;
        }
        for _ in 0..NEWTON_STEPS {
            let slopes = self.slopes(active, &places);
            let most = slopes.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
            if most <= 0.1 * tolerance || !self.newton(active, &places, slopes, most) {
                return;
            }
        }
    }

    /// Norm of the coefficients of each block.
    fn norms(&self, active: &[&Block]) -> Vec<f64> {
        let one =
            |block: &&Block| norm(&block.at.iter().map(|j| self.size(*j)).collect::<Vec<_>>());
        active.iter().map(one).collect()
    }

    /// Slopes of the model and its penalty in coefficients that are not 0.
    fn slopes(&self, active: &[&Block], places: &[(usize, usize, usize)]) -> Vec<f64> {
        let norms = self.norms(active);
        let one = |(b, j, c): &(usize, usize, usize)| {
            let (block, w) = (active[*b], self.w[*c][*j]);
            let pull =
                |by: f64, size: f64| if by > 0.0 && size > 0.0 { by * (w / size) } else { 0.0 };
            self.q[*c][*j] + pull(block.l1, self.size(*j)) + pull(block.l2, norms[*b])
        };
        places.iter().map(one).collect()
    }

    /// One step, halved until the largest slope is below `most`; `false` where it never is.
    fn newton(
        &mut self,
        active: &[&Block],
        places: &[(usize, usize, usize)],
        mut step: Vec<f64>,
        most: f64,
    ) -> bool {
        let norms = self.norms(active);
        let entry = |i: usize, k: usize| {
            let ((b, j, c), (other, i, d)) = (places[i], places[k]);
            let same = (j, c) == (i, d);
            let mut value = if c == d { self.model.row(c, j)[i] } else { 0.0 };
            // The curvature of `by |w|` is by (1 - w w' / |w|^2) / |w|.
            let mut add = |by: f64, size: f64| {
                if by > 0.0 {
                    let both = self.w[c][j] / size * (self.w[d][i] / size);
                    value += by / size * (f64::from(u8::from(same)) - both);
                }
            };
            if b == other {
                add(active[b].l2, norms[b]);
                if j == i && self.w.len() > 1 {
                    add(active[b].l1, self.size(j));
                }
            }
            value
        };
        if solve(places.len(), entry, &mut step).is_none() {
            return false;
        }
        let from: Vec<f64> = places.iter().map(|(_, j, c)| self.w[*c][*j]).collect();
        let mut length = 1.0;
        for _ in 0..8 {
            for (((_, j, c), from), step) in places.iter().zip(&from).zip(&step) {
                self.w[*c][*j] = from - length * step;
            }
            self.q = slope_of(self.model, self.w);
            let slopes = self.slopes(active, places);
            if slopes.iter().all(|s| s.abs() < most) {
                return true;
            }
            length *= 0.5;
        }
        places.iter().zip(from).for_each(|((_, j, c), from)| self.w[*c][*j] = from);
        self.q = slope_of(self.model, self.w);
        false
    }
}

/// `H w - lin`, one vector per output.
fn slope_of(model: &QuadraticModel, w: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let slope = |c: usize| {
        let product = model.product(c, &w[c]);
        product.iter().zip(&model.lin[c]).map(|(a, b)| a - b).collect()
    };
    (0..w.len()).map(slope).collect()
}

/// The root `t >= 0` of `h t + rho t / sqrt(t^2 + s^2) = a`, 0 where `a <= 0`.
///
/// The left side is concave, so Newton's steps from below the root never pass it.
fn along(h: f64, a: f64, rho: f64, s: f64) -> f64 {
    if a <= 0.0 {
        return 0.0;
    }
    let mut t = ((a - rho) / h).max(0.0);
    if s == 0.0 || rho == 0.0 {
        return t;
    }
    t = t.max(a / (h + rho / s));
    for _ in 0..ROOT_STEPS {
        let d = t.hypot(s);
        let over = h * t + rho * (t / d) - a;
        let step = over / (h + rho / d * (s / d) * (s / d));
        t -= step;
        if step.abs() <= 4.0 * f64::EPSILON * t {
            break;
        }
    }
    t.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `t + 2 t / sqrt(t^2 + 16) = a` has the root 3 for a = 3 + 2 * 3 / 5.
    #[test]
    fn a_coordinate_beside_others_of_its_group() {
        assert!((along(1.0, 3.0 + 1.2, 2.0, 4.0) - 3.0).abs() < 1e-14);
        // Alone in its group it is a soft threshold.
        assert_eq!((along(2.0, 5.0, 2.0, 0.0), along(2.0, 1.5, 2.0, 0.0)), (1.5, 0.0));
        for s in [1e-300, 1e-12, 1.0, 1e12] {
            let t = along(0.7, 0.3, 2.0, s);
            assert!((0.7 * t + 2.0 * t / t.hypot(s) - 0.3).abs() < 1e-14, "s = {s}: {t}");
        }
    }
}
