//! Least angle regression for the lasso, on a standardised Gram.
//!
//! ```text
//! A active with signs e;  S_AA d = e;  a = S_.A d;  b_A += t d, g -= t a, lambda -= t
//! t = least of: (lambda -+ g_j) / (1 -+ a_j) over j outside A (j joins), -b_j / d_j over A (j
//!     leaves), lambda - target
//! ```
//!
//! This is the exact lasso path, one feature at a time; `k` features are the first set of that size.
//! Cost `p |A|` a step and `|A|^2` for the Cholesky factor of `S_AA`. The factor gains a row when a
//! feature joins. When one leaves, it is rebuilt from that row on. Source: Efron, Hastie, Johnstone
//! and Tibshirani 2004, section 3.

use crate::learn::averages::gram::Gram;
use crate::numeric::kernel;

/// A pivot below this is a feature that the active ones already span.
const SPANNED: f64 = 1e-10;

/// The current point on the lasso path of the first output.
pub(crate) struct Lars<'a> {
    gram: &'a Gram,
    active: Vec<usize>,
    sign: Vec<f64>,
    factor: Vec<Vec<f64>>,
    pub(crate) b: Vec<f64>,
    g: Vec<f64>,
    lambda: f64,
    /// Features that the active ones spanned; they stay out.
    spanned: Vec<bool>,
    /// The feature that left in the last step; it may not join again in the next one.
    just_left: Option<usize>,
}

impl<'a> Lars<'a> {
    /// Starts where every coefficient is zero.
    pub(crate) fn new(gram: &'a Gram) -> Self {
        let g = gram.xy[0].clone();
        let lambda = g.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
        let mut lars = Self {
            gram,
            active: Vec::new(),
            sign: Vec::new(),
            factor: Vec::new(),
            b: vec![0.0; gram.p()],
            spanned: vec![false; gram.p()],
            g,
            lambda,
            just_left: None,
        };
        if let Some(j) = lars.g.iter().position(|g| g.abs() == lambda && lambda > 0.0) {
            lars.join(j);
        }
        lars
    }

    /// The places of the first `k` features that are active together, ascending.
    pub(crate) fn at_size(mut self, k: usize) -> Vec<usize> {
        self.run(k, 0.0, |_| {});
        self.active.sort_unstable();
        self.active
    }

    /// The coefficients at `lambda`, in units of the target.
    pub(crate) fn at_lambda(mut self, lambda: f64) -> Vec<f64> {
        self.run(usize::MAX, lambda, |_| {});
        self.b
    }

    /// Features in order of their first entry, at most `most`.
    pub(crate) fn order(mut self, most: usize) -> Vec<usize> {
        let mut order = self.active.clone();
        self.run(most, 0.0, |j| {
            if !order.contains(&j) {
                order.push(j);
            }
        });
        order.truncate(most);
        order
    }

    fn run(&mut self, k: usize, target: f64, mut joined: impl FnMut(usize)) {
        // A path has few more events than features. The guard ends cycles on ties.
        let guard = 20 * (self.gram.p() + 10);
        for _ in 0..guard {
            if self.active.is_empty() || self.active.len() >= k || self.lambda <= target {
                return;
            }
            let d = self.direction();
            let mut a = vec![0.0; self.g.len()];
            for (j, d) in self.active.iter().zip(&d) {
                kernel::axpy(*d, self.gram.column(*j), &mut a);
            }
            let (to_join, newcomer) = self.next_join(&a);
            let (to_leave, leaver) = self.next_leave(&d);
            let step = to_join.min(to_leave).min(self.lambda - target);
            for (j, d) in self.active.iter().zip(&d) {
                self.b[*j] += step * d;
            }
            kernel::axpy(-step, &a, &mut self.g);
            self.lambda -= step;
            self.just_left = None;
            if step == to_leave && to_leave < to_join {
                self.leave(leaver);
            } else if step == to_join {
                if self.join(newcomer) {
                    joined(newcomer);
                }
            } else {
                return;
            }
        }
    }

    fn next_join(&self, a: &[f64]) -> (f64, usize) {
        let mut best = (f64::INFINITY, 0);
        let mut excluded = self.spanned.clone();
        self.active.iter().for_each(|j| excluded[*j] = true);
        if let Some(j) = self.just_left {
            excluded[j] = true;
        }
        for j in (0..a.len()).filter(|j| !excluded[*j]) {
            for sign in [1.0, -1.0] {
                let (gap, speed) = (self.lambda - sign * self.g[j], 1.0 - sign * a[j]);
                if speed > 1e-12 {
                    let step = (gap / speed).max(0.0);
                    if step < best.0 {
                        best = (step, j);
                    }
                }
            }
        }
        best
    }

    fn next_leave(&self, d: &[f64]) -> (f64, usize) {
        let mut best = (f64::INFINITY, 0);
        for (at, (j, d)) in self.active.iter().zip(d).enumerate() {
            let step = -self.b[*j] / d;
            if step > 0.0 && step < best.0 {
                best = (step, at);
            }
        }
        best
    }

    /// Adds a feature, unless the active ones span it.
    fn join(&mut self, j: usize) -> bool {
        let column = self.gram.column(j);
        let mut row: Vec<f64> = Vec::with_capacity(self.active.len() + 1);
        for (at, i) in self.active.iter().enumerate() {
            let line = &self.factor[at];
            let v = (column[*i] - kernel::dot(&line[..at], &row)) / line[at];
            row.push(v);
        }
        let pivot = 1.0 - kernel::dot(&row, &row);
        if pivot < SPANNED {
            self.spanned[j] = true;
            return false;
        }
        row.push(pivot.sqrt());
        self.factor.push(row);
        self.active.push(j);
        self.sign.push(self.g[j].signum());
        true
    }

    fn leave(&mut self, at: usize) {
        self.just_left = Some(self.active[at]);
        self.b[self.active[at]] = 0.0;
        let tail: Vec<(usize, f64)> =
            self.active.drain(at..).zip(self.sign.drain(at..)).skip(1).collect();
        self.factor.truncate(at);
        for (j, sign) in tail {
            if self.join(j) {
                *self.sign.last_mut().expect("one has just joined") = sign;
            }
        }
    }

    /// `S_AA d = e`.
    fn direction(&self) -> Vec<f64> {
        let m = self.active.len();
        let mut d: Vec<f64> = Vec::with_capacity(m);
        for at in 0..m {
            let line = &self.factor[at];
            d.push((self.sign[at] - kernel::dot(&line[..at], &d)) / line[at]);
        }
        for at in (0..m).rev() {
            d[at] /= self.factor[at][at];
            let (head, tail) = d.split_at_mut(at);
            kernel::axpy(-tail[0], &self.factor[at][..at], head);
        }
        d
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::averages::descent::{Descent, TIGHT};
    use crate::learn::averages::penalty::{Penalty, Shape};
    use crate::learn::testing;

    #[test]
    fn coefficients_are_those_of_coordinate_descent_at_the_same_lambda() {
        for (n, p) in [(300, 60), (60, 80)] {
            let gram = testing::gram(n, p, 6);
            let sd_y = gram.sd_y();
            for share in [0.6, 0.2, 0.05] {
                let penalty = Penalty { shape: Shape::Lasso, l2: 0.0 };
                let mut descent = Descent::new(&gram, penalty, Vec::new());
                let lambda = share * descent.lambda_max();
                descent.solve(lambda, TIGHT);
                let lars = Lars::new(&gram).at_lambda(lambda * sd_y);
                for (j, (a, b)) in lars.iter().zip(descent.coefficients()).enumerate() {
                    assert!((a - b).abs() < 1e-7, "n {n} share {share} at {j}: {a} {b}");
                    assert_eq!(a.abs() > 1e-9, b.abs() > 1e-9, "support at {j}");
                }
            }
        }
    }

    #[test]
    fn equal_features_do_not_stop_the_path() {
        let mut gram = testing::gram(100, 12, 3);
        for i in 0..12 {
            let v = gram.s[(i, 0)];
            gram.s[(i, 5)] = v;
            gram.s[(5, i)] = v;
        }
        gram.s[(5, 5)] = 1.0;
        gram.xy[0][5] = gram.xy[0][0];
        let set = Lars::new(&gram).at_size(8);
        assert_eq!(set.len(), 8);
        assert!(set.contains(&0) && !set.contains(&5));
    }
}
