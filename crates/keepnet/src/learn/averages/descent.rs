//! Coordinate descent on a standardised Gram, and the walk down lambda to `k` features.
//!
//! ```text
//! g = s - S b;  for each j:  z = g_j + b_j;  b_j <- minimiser(z, lambda w_j);  g -= delta S_j
//! ```
//!
//! One sweep over all features, then sweeps over the non-zero ones alone until they rest, and so
//! on until a full sweep changes nothing. Sweeps over the non-zero set work on its own small
//! Gram, so they cost `|A|^2` and not `|A| p`. Weights are in units of sd(y), so one tolerance
//! fits every target.
//!
//! Of columns that are copies of each other only the first takes part: the others would stand at
//! lambda exactly, and rounding would say which of them enter. With an L2 part copies share a
//! weight, so all take part.
//!
//! To reach `k` features: lambda falls from `max |s_j| / w_j` by `1e-3^(1/49)` a step, warm, until
//! at least `k` weights are not zero; then at most 12 bisections from the sparser side; the `k`
//! largest weights of the smallest model with at least `k` are kept. Source: Friedman, Hastie and
//! Tibshirani 2010 (covariance updates); the search is this project's.

use std::sync::Arc;

use super::gram::{Gram, largest};
use super::penalty::Penalty;
use crate::numeric::kernel;

/// Largest change of a weight, in sd(y), at which a walk along lambda moves on.
pub(crate) const LOOSE: f64 = 1e-5;
/// The same where the weights themselves are asked for.
pub(crate) const TIGHT: f64 = 1e-10;
/// Sweeps after which a solve gives up on a resting point, large and small ones together; a guard,
/// not a setting.
const SWEEPS: usize = 100_000;
const BISECTIONS: usize = 12;
const STEPS: usize = 200;

/// A solve under way: weights and residual correlations, in units of sd(y).
#[derive(Clone)]
pub(crate) struct Descent<'a> {
    gram: &'a Gram,
    penalty: Penalty,
    /// A factor on lambda a feature; empty is 1.
    factor: Vec<f64>,
    /// Features that may have a weight; shared with the copies of a walk.
    takes_part: Arc<[usize]>,
    pub(crate) b: Vec<f64>,
    g: Vec<f64>,
    unit: f64,
}

impl<'a> Descent<'a> {
    /// Starts at zero on the first output.
    pub(crate) fn new(gram: &'a Gram, penalty: Penalty, factor: Vec<f64>) -> Self {
        let unit = gram.yy[0].sqrt().max(f64::MIN_POSITIVE);
        let g = gram.xy[0].iter().map(|v| v / unit).collect();
        let takes_part = match penalty.l2 > 0.0 {
            true => (0..gram.p()).collect(),
            false => gram.distinct(),
        };
        Self {
            gram,
            penalty,
            factor,
            takes_part: takes_part.into(),
            b: vec![0.0; gram.p()],
            g,
            unit,
        }
    }

    fn lambda_of(&self, j: usize, lambda: f64) -> f64 {
        self.factor.get(j).map_or(lambda, |w| w * lambda)
    }

    /// The smallest lambda, in sd(y), at which every weight is zero; only at the start.
    pub(crate) fn lambda_max(&self) -> f64 {
        let ratio = |(j, g): (usize, &f64)| g.abs() / self.lambda_of(j, 1.0);
        self.g.iter().enumerate().map(ratio).fold(0.0, f64::max)
    }

    /// Features with a weight.
    pub(crate) fn support(&self) -> Vec<usize> {
        (0..self.b.len()).filter(|j| self.b[*j] != 0.0).collect()
    }

    /// The weights on the scale of the target.
    pub(crate) fn weights(&self) -> Vec<f64> {
        self.b.iter().map(|b| b * self.unit).collect()
    }

    /// Goes to the resting point at `lambda`, given in sd(y).
    pub(crate) fn solve(&mut self, lambda: f64, tolerance: f64) {
        let mut left = SWEEPS;
        while left > 0 {
            if self.sweep(lambda) < tolerance {
                return;
            }
            left -= 1;
            left -= self.rest(lambda, tolerance, left);
        }
    }

    /// One sweep over every feature; the largest change.
    fn sweep(&mut self, lambda: f64) -> f64 {
        let mut most: f64 = 0.0;
        for &j in &*Arc::clone(&self.takes_part) {
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

    /// Sweeps over the non-zero weights until they rest, at most `limit`; how many.
    fn rest(&mut self, lambda: f64, tolerance: f64, limit: usize) -> usize {
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

/// The places of `k` features, ascending: the walk of the module's head with any solver.
pub(crate) fn walk_to<S: Clone>(
    start: S,
    lambda_max: f64,
    k: usize,
    solve: impl Fn(&mut S, f64),
    weights: impl Fn(&S) -> &[f64],
) -> Vec<usize> {
    let best = walk(start, (lambda_max, 0.0), k, solve, &weights).0;
    let b = weights(&best);
    let sizes: Vec<f64> = b.iter().map(|b| b.abs()).collect();
    largest(&sizes, k).into_iter().filter(|j| b[*j] != 0.0).collect()
}

/// The smallest model found with at least `k` weights, and its lambda; the one at `least` or
/// below where none has as many.
pub(crate) fn walk<S: Clone>(
    start: S,
    (lambda_max, least): (f64, f64),
    k: usize,
    solve: impl Fn(&mut S, f64),
    weights: impl Fn(&S) -> &[f64],
) -> (S, f64) {
    let count = |state: &S| weights(state).iter().filter(|b| **b != 0.0).count();
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

/// Features in the order in which a walk down lambda first gives them a weight, at most `most`.
pub(crate) fn entry_order(mut descent: Descent<'_>, most: usize) -> Vec<usize> {
    let mut lambda = descent.lambda_max();
    let mut order = Vec::new();
    let mut seen = vec![false; descent.b.len()];
    for _ in 0..STEPS {
        if order.len() >= most {
            break;
        }
        lambda *= ratio();
        descent.solve(lambda, LOOSE);
        let mut new: Vec<usize> = descent.support().into_iter().filter(|j| !seen[*j]).collect();
        new.sort_by(|a, b| descent.b[*b].abs().total_cmp(&descent.b[*a].abs()).then(a.cmp(b)));
        new.iter().for_each(|j| seen[*j] = true);
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
            let slope = gram.xy[0][j] / descent.unit - dot;
            let b = descent.b[j];
            match b == 0.0 {
                true => (slope.abs() - lambda).max(0.0),
                false => (slope.abs() - descent.penalty.slope(b.abs(), lambda)).abs(),
            }
        };
        (0..gram.p()).map(one).fold(0.0, f64::max)
    }

    #[test]
    fn the_resting_point_meets_the_kkt_conditions() {
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
            descent.weights()
        };
        for (mcp, lasso) in solve(Shape::Mcp(1e9)).iter().zip(solve(Shape::Lasso)) {
            assert!((mcp - lasso).abs() < 1e-7);
        }
    }

    #[test]
    fn a_walk_keeps_exactly_k() {
        let gram = testing::gram(300, 60, 6);
        for k in [1, 5, 17, 60] {
            let descent = Descent::new(&gram, Penalty { shape: Shape::Lasso, l2: 0.0 }, Vec::new());
            let lambda_max = descent.lambda_max();
            let set = walk_to(descent, lambda_max, k, |d, l| d.solve(l, LOOSE), |d| &d.b);
            assert_eq!(set.len(), k);
        }
    }
}
