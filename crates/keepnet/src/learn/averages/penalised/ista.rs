//! The published iteration for penalised extraction: a gradient step, then a threshold.
//!
//! ```text
//! b <- Theta(b - eta (S b - s); eta lambda),  eta = 1 / lambda_max(S)
//! soft:  Theta(t; l) = sign(t) max(0, |t| - l)
//! MCP:   Theta(t; l) = 0 | (t - sign(t) l) / (1 - 1/b) | t   on |t| <= l | <= b l | beyond
//! ```
//!
//! The MCP operator is used exactly as published. Called with `eta lambda`, it becomes flat at
//! `b eta lambda`, so it is close to hard thresholding and does not minimise the MCP. The coordinate
//! descent of this crate does. Cost `2 p^2` an iteration. Source: Sun and Barbu, arXiv
//! 1803.11521, Algorithms 3 and 4.

use super::penalty::{Shape, soft};
use crate::learn::averages::gram::Gram;
use crate::numeric::kernel;
use crate::numeric::lanczos::largest_eigenvalue;

/// Largest number of iterations of a solve.
const ITERATIONS: usize = 1000;

/// The state of the iteration, in units of sd(y).
#[derive(Clone)]
pub(crate) struct Ista<'a> {
    gram: &'a Gram,
    shape: Shape,
    eta: f64,
    sd_y: f64,
    pub(crate) b: Vec<f64>,
}

impl<'a> Ista<'a> {
    /// Starts at zero on the first output.
    pub(crate) fn new(gram: &'a Gram, shape: Shape) -> Self {
        let p = gram.p();
        let times = |x: &[f64], y: &mut [f64]| {
            (0..p).for_each(|j| y[j] = kernel::dot(gram.column(j), x));
        };
        let eta = 1.0 / largest_eigenvalue(p, p, times).max(1.0);
        Self { gram, shape, eta, sd_y: gram.sd_y(), b: vec![0.0; gram.p()] }
    }

    /// The smallest lambda, in sd(y), at which every coefficient is zero.
    pub(crate) fn lambda_max(&self) -> f64 {
        self.gram.xy[0].iter().fold(0.0, |m: f64, v| m.max(v.abs())) / self.sd_y
    }

    fn threshold(&self, t: f64, l: f64) -> f64 {
        match self.shape {
            Shape::Mcp(b) if t.abs() <= b * l => soft(t, l) / (1.0 - 1.0 / b),
            Shape::Mcp(_) => t,
            _ => soft(t, l),
        }
    }

    /// Iterates at `lambda`, given in sd(y), until no coefficient changes by `tolerance eta`.
    pub(crate) fn solve(&mut self, lambda: f64, tolerance: f64) {
        for _ in 0..ITERATIONS {
            let mut slope: Vec<f64> = self.gram.xy[0].iter().map(|v| -v / self.sd_y).collect();
            for (j, b) in self.b.iter().enumerate().filter(|(_, b)| **b != 0.0) {
                kernel::axpy(*b, self.gram.column(j), &mut slope);
            }
            let mut most: f64 = 0.0;
            for (j, slope) in slope.iter().enumerate() {
                let next = self.threshold(self.b[j] - self.eta * slope, self.eta * lambda);
                most = most.max((next - self.b[j]).abs());
                self.b[j] = next;
            }
            if most < tolerance * self.eta {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::averages::descent::{Descent, TIGHT};
    use crate::learn::averages::penalty::Penalty;
    use crate::learn::testing;

    #[test]
    fn soft_thresholding_goes_to_the_lasso() {
        let gram = testing::gram(300, 10, 3);
        let mut ista = Ista::new(&gram, Shape::Lasso);
        let lambda = 0.2 * ista.lambda_max();
        ista.solve(lambda, 1e-12);
        let mut descent = Descent::new(&gram, Penalty { shape: Shape::Lasso, l2: 0.0 }, Vec::new());
        descent.solve(lambda, TIGHT);
        for (a, b) in ista.b.iter().zip(&descent.b) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}
