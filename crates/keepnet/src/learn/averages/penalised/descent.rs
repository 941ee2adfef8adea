//! Coordinate descent on a standardised Gram, and the path down lambda to `k` features.
//!
//! ```text
//! g = s - S b;  for each j:  z = g_j + b_j;  b_j <- minimiser(z, lambda w_j);  g -= delta S_j
//! ```
//!
//! One sweep over all features is followed by sweeps over the non-zero ones until they converge, and
//! so on until a full sweep changes nothing. Sweeps over the non-zero set work on its own small
//! Gram, so they cost `|A|^2` and not `|A| p`. Coefficients are in units of sd(y), so one tolerance
//! suits every target.
//!
//! Of columns that are copies of each other only the first is a candidate. The slopes of the others
//! equal lambda exactly, and rounding would decide which of them enter. With an L2 penalty copies
//! share a coefficient, so all are candidates.
//!
//! The path to `k` features: lambda falls from `max |s_j| / w_j` by `1e-3^(1/49)` a step, with warm
//! starts, until at least `k` coefficients are not zero. Then at most 12 bisections follow from the
//! sparser side. The `k` largest coefficients of the smallest model with at least `k` are kept.
//! Source: Friedman, Hastie and Tibshirani 2010 (covariance updates); the search is this project's.

use std::sync::Arc;

use super::penalty::Penalty;
use crate::learn::averages::gram::{Gram, largest};
use crate::numeric::kernel;

/// Largest change of a coefficient, in sd(y), at which a path goes to the next lambda.
pub(crate) const LOOSE: f64 = 1e-5;
/// The same where the coefficients themselves are the result.
pub(crate) const TIGHT: f64 = 1e-10;
/// Largest number of sweeps of a solve, full and partial together; a guard against endless loops.
const SWEEPS: usize = 100_000;
const BISECTIONS: usize = 12;
const STEPS: usize = 200;

/// The state of a solve: coefficients and residual correlations, in units of sd(y).
#[derive(Clone)]
pub(crate) struct Descent<'a> {
    gram: &'a Gram,
    penalty: Penalty,
    /// The factor on lambda of each feature; empty means 1.
    factor: Vec<f64>,
    /// Features that may enter; shared by the clones that a path makes.
    candidates: Arc<[usize]>,
    pub(crate) b: Vec<f64>,
    g: Vec<f64>,
    sd_y: f64,
}

impl<'a> Descent<'a> {
    /// Starts at zero on the first output.
    pub(crate) fn new(gram: &'a Gram, penalty: Penalty, factor: Vec<f64>) -> Self {
        let sd_y = gram.sd_y();
        let g = gram.xy[0].iter().map(|v| v / sd_y).collect();
        let candidates: Vec<usize> = match penalty.l2 > 0.0 {
            true => (0..gram.p()).collect(),
            false => gram.distinct(),
        };
        Self {
            gram,
            penalty,
            factor,
            candidates: candidates.into(),
            b: vec![0.0; gram.p()],
            g,
            sd_y,
        }
    }

    fn lambda_of(&self, j: usize, lambda: f64) -> f64 {
        self.factor.get(j).map_or(lambda, |w| w * lambda)
    }

    /// The smallest lambda, in sd(y), at which every coefficient is zero; valid only at the start.
    pub(crate) fn lambda_max(&self) -> f64 {
        let ratio = |(j, g): (usize, &f64)| g.abs() / self.lambda_of(j, 1.0);
        self.g.iter().enumerate().map(ratio).fold(0.0, f64::max)
    }

    /// Features whose coefficient is not zero.
    pub(crate) fn support(&self) -> Vec<usize> {
        (0..self.b.len()).filter(|j| self.b[*j] != 0.0).collect()
    }

    /// The coefficients on the scale of the target.
    pub(crate) fn coefficients(&self) -> Vec<f64> {
        self.b.iter().map(|b| b * self.sd_y).collect()
    }

    /// Converges to the minimum at `lambda`, given in sd(y).
    pub(crate) fn solve(&mut self, lambda: f64, tolerance: f64) {
        let mut sweeps = SWEEPS;
        while sweeps > 0 {
            if self.sweep(lambda) < tolerance {
                return;
            }
            sweeps -= 1;
            sweeps -= self.sweep_support(lambda, tolerance, sweeps);
        }
    }

    /// One sweep over every candidate; returns the largest change.
    fn sweep(&mut self, lambda: f64) -> f64 {
        let mut most: f64 = 0.0;
        for &j in &*Arc::clone(&self.candidates) {
            let next = self.penalty.minimiser(self.g[j] + self.b[j], self.lambda_of(j, lambda));
            let change = next - self.b[j];
            if change != 0.0 {
                self.b[j] = next;
                kernel::axpy(-change, self.gram.column(j), &mut self.g);
                most = most.max(change.abs());
            }
        }
        most
    }

    /// Sweeps over the non-zero coefficients until they converge, at most `limit` times; returns
    /// the number of sweeps.
    fn sweep_support(&mut self, lambda: f64, tolerance: f64, limit: usize) -> usize {
        let set = self.support();
        let m = set.len();
        let mut s = Vec::with_capacity(m * m);
        for j in &set {
            let column = self.gram.column(*j);
            s.extend(set.iter().map(|i| column[*i]));
        }
        let before: Vec<f64> = set.iter().map(|j| self.b[*j]).collect();
        let mut b = before.clone();
        let mut g: Vec<f64> = set.iter().map(|j| self.g[*j]).collect();
        let mut sweeps = 0;
        while sweeps < limit {
            sweeps += 1;
            let mut most: f64 = 0.0;
            for at in 0..m {
                let lambda = self.lambda_of(set[at], lambda);
                let next = self.penalty.minimiser(g[at] + b[at], lambda);
                let change = next - b[at];
                if change != 0.0 {
                    b[at] = next;
                    kernel::axpy(-change, &s[at * m..(at + 1) * m], &mut g);
                    most = most.max(change.abs());
                }
            }
            if most < tolerance {
                break;
            }
        }
        for ((j, old), new) in set.iter().zip(before).zip(b) {
            if new != old {
                kernel::axpy(old - new, self.gram.column(*j), &mut self.g);
                self.b[*j] = new;
            }
        }
        sweeps
    }
}

/// The step of the grid in lambda.
pub(crate) fn ratio() -> f64 {
    1e-3f64.powf(1.0 / 49.0)
}

/// The places of `k` features, ascending, by the path to `k` with any solver.
pub(crate) fn path_to_size<S: Clone>(
    start: S,
    lambda_max: f64,
    k: usize,
    solve: impl Fn(&mut S, f64),
    coefficients: impl Fn(&S) -> &[f64],
) -> Vec<usize> {
    let best = lambda_path(start, (lambda_max, 0.0), k, solve, &coefficients).0;
    let b = coefficients(&best);
    let sizes: Vec<f64> = b.iter().map(|b| b.abs()).collect();
    largest(&sizes, k).into_iter().filter(|j| b[*j] != 0.0).collect()
}

/// The smallest model found with at least `k` coefficients, and its lambda; the first model below
/// `least` where none has as many.
pub(crate) fn lambda_path<S: Clone>(
    start: S,
    (lambda_max, least): (f64, f64),
    k: usize,
    solve: impl Fn(&mut S, f64),
    coefficients: impl Fn(&S) -> &[f64],
) -> (S, f64) {
    let count = |state: &S| coefficients(state).iter().filter(|b| **b != 0.0).count();
    let (mut now, mut sparser) = (start.clone(), start);
    let (mut high, mut low) = (lambda_max, lambda_max);
    for _ in 0..STEPS {
        low *= ratio();
        solve(&mut now, low);
        if count(&now) >= k || low < least {
            break;
        }
        sparser = now.clone();
        high = low;
    }
    let mut best = (now, low);
    for _ in 0..BISECTIONS {
        if count(&best.0) <= k {
            break;
        }
        let middle = (low * high).sqrt();
        let mut state = sparser.clone();
        solve(&mut state, middle);
        if count(&state) >= k {
            low = middle;
            if count(&state) <= count(&best.0) {
                best = (state, middle);
            }
        } else {
            high = middle;
            sparser = state;
        }
    }
    best
}

/// Features in order of entry on the path down lambda, at most `most`.
pub(crate) fn entry_order(mut descent: Descent<'_>, most: usize) -> Vec<usize> {
    let mut lambda = descent.lambda_max();
    let mut order = Vec::new();
    let mut entered = vec![false; descent.b.len()];
    for _ in 0..STEPS {
        if order.len() >= most {
            break;
        }
        lambda *= ratio();
        descent.solve(lambda, LOOSE);
        let mut new: Vec<usize> = descent.support().into_iter().filter(|j| !entered[*j]).collect();
        new.sort_by(|a, b| descent.b[*b].abs().total_cmp(&descent.b[*a].abs()).then(a.cmp(b)));
        new.iter().for_each(|j| entered[*j] = true);
        order.extend(new);
    }
    order.truncate(most);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::averages::penalty::Shape;
    use crate::learn::testing;

    /// Slope of the smooth part against the penalty's, at every feature.
    fn kkt(gram: &Gram, descent: &Descent<'_>, lambda: f64) -> f64 {
        let one = |j: usize| {
            let dot = kernel::dot(gram.column(j), &descent.b);
            let slope = gram.xy[0][j] / descent.sd_y - dot;
            let b = descent.b[j];
            match b == 0.0 {
                true => (slope.abs() - lambda).max(0.0),
                false => (slope.abs() - descent.penalty.slope(b.abs(), lambda)).abs(),
            }
        };
        (0..gram.p()).map(one).fold(0.0, f64::max)
    }

    #[test]
    fn the_minimum_meets_the_kkt_conditions() {
        let gram = testing::gram(300, 60, 6);
        for shape in [Shape::Lasso, Shape::Mcp(3.0), Shape::Scad(3.7)] {
            for l2 in [0.0, 0.05] {
                for share in [0.5, 0.1, 0.02] {
                    let mut descent = Descent::new(&gram, Penalty { shape, l2 }, Vec::new());
                    let lambda = share * descent.lambda_max();
                    descent.solve(lambda, TIGHT);
                    let off = kkt(&gram, &descent, lambda);
                    assert!(off < 1e-6, "{shape:?} l2 {l2} share {share}: {off:e}");
                }
            }
        }
    }

    #[test]
    fn mcp_with_a_large_gamma_is_the_lasso() {
        let gram = testing::gram(200, 30, 5);
        let solve = |shape| {
            let mut descent = Descent::new(&gram, Penalty { shape, l2: 0.0 }, Vec::new());
            let lambda = 0.1 * descent.lambda_max();
            descent.solve(lambda, TIGHT);
            descent.coefficients()
        };
        for (mcp, lasso) in solve(Shape::Mcp(1e9)).iter().zip(solve(Shape::Lasso)) {
            assert!((mcp - lasso).abs() < 1e-7);
        }
    }

    #[test]
    fn a_path_keeps_exactly_k() {
        let gram = testing::gram(300, 60, 6);
        for k in [1, 5, 17, 60] {
            let descent = Descent::new(&gram, Penalty { shape: Shape::Lasso, l2: 0.0 }, Vec::new());
            let lambda_max = descent.lambda_max();
            let set = path_to_size(descent, lambda_max, k, |d, l| d.solve(l, LOOSE), |d| &d.b);
            assert_eq!(set.len(), k);
        }
    }
}
