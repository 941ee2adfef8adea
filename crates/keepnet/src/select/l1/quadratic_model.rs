//! Coordinate descent on a quadratic model with an L1 penalty.
//!
//! ```text
//! minimise over w   sum_c (w_c'H_c w_c / 2 - lin_c'w_c) + sum_j lambda_j |w_j|
//! for each j:  z = h w_j - (H w - lin)_j,   w_j = z (1 - lambda_j / |z|)+ / h
//! ```
//!
//! with `h` the largest `H_c,jj`: exact for one output or a shared `H`, a majorant otherwise.
//! A sweep over all coordinates alternates with sweeps over the nonzero ones until these no longer
//! move. Cost: one row of `H` per changed coefficient. Source: Friedman, Hastie, Tibshirani 2010.

use super::norm;
use crate::error::{Error, Result};
use crate::numeric::kernel;

/// Most sweeps of a solve.
pub(super) const SWEEPS: usize = 3_000;
/// Relative precision of the search for a lambda, and its first step.
const PRECISION: f64 = 1.001;
const STEP: f64 = 1.15;
/// How far a slope must be above lambda for a coefficient other than 0. The slope of a copy of a
/// column in the model is within rounding of lambda, and rounding must not decide.
pub(in crate::select) const EDGE: f64 = 1.0 + 5e-9;
/// Most steps of that search: enough to go from any f64 to any other.
const SEARCH: usize = 10_000;
/// Most halvings, on the logarithm, of a step to that precision.
const HALVINGS: usize = 20;

/// The model: matrices row by row, one for all outputs or one per output.
pub(in crate::select) struct QuadraticModel {
    pub(in crate::select) size: usize,
    pub(in crate::select) h: Vec<Vec<f64>>,
    pub(in crate::select) lin: Vec<Vec<f64>>,
    /// Least curvature of a coordinate, so that steps stay finite.
    pub(in crate::select) floor: Vec<f64>,
}

impl QuadraticModel {
    pub(super) fn row(&self, c: usize, j: usize) -> &[f64] {
        let h = &self.h[if self.h.len() == 1 { 0 } else { c }];
        &h[j * self.size..(j + 1) * self.size]
    }

    pub(super) fn curve(&self, j: usize) -> f64 {
        let own = |h: &Vec<f64>| h[j * self.size + j];
        self.h.iter().map(own).fold(self.floor[j], f64::max)
    }

    /// `H w` of an output.
    pub(in crate::select) fn product(&self, c: usize, w: &[f64]) -> Vec<f64> {
        (0..self.size).map(|j| kernel::dot(self.row(c, j), w)).collect()
    }

    /// Minimises from `w`, one vector per output, until no slope moves by `tolerance`.
    pub(in crate::select) fn descend(&self, w: &mut [Vec<f64>], lambda: &[f64], tolerance: f64) {
        let mut q: Vec<Vec<f64>> = (0..w.len())
            .map(|c| {
                let product = self.product(c, &w[c]);
                product.iter().zip(&self.lin[c]).map(|(a, b)| a - b).collect()
            })
            .collect();
        let curve: Vec<f64> = (0..self.size).map(|j| self.curve(j)).collect();
        let mut z = vec![0.0; w.len()];
        let mut sweeps = 0;
        while sweeps < SWEEPS {
            let all = 0..self.size;
            let most = self.sweep(all, &curve, w, &mut q, lambda, &mut z);
            sweeps += 1;
            if most < tolerance {
                return;
            }
            let some: Vec<usize> =
                (0..self.size).filter(|j| w.iter().any(|w| w[*j] != 0.0)).collect();
            while sweeps < SWEEPS {
                let most = self.sweep(some.iter().copied(), &curve, w, &mut q, lambda, &mut z);
                sweeps += 1;
                if most < tolerance {
                    break;
                }
            }
        }
    }

    fn sweep(
        &self,
        over: impl Iterator<Item = usize>,
        curve: &[f64],
        w: &mut [Vec<f64>],
        q: &mut [Vec<f64>],
        lambda: &[f64],
        z: &mut [f64],
    ) -> f64 {
        let mut most: f64 = 0.0;
        for j in over.filter(|j| curve[*j] > 0.0) {
            let h = curve[j];
            for (c, z) in z.iter_mut().enumerate() {
                *z = h * w[c][j] - q[c][j];
            }
            let size = norm(z);
            let shrink = if size <= EDGE * lambda[j] { 0.0 } else { (1.0 - lambda[j] / size) / h };
            for (c, z) in z.iter().enumerate() {
                let change = z * shrink - w[c][j];
                if change != 0.0 {
                    w[c][j] += change;
                    if shrink == 0.0 {
                        w[c][j] = 0.0;
                    }
                    kernel::axpy(change, self.row(c, j), &mut q[c]);
                    most = most.max(h * change.abs());
                }
            }
        }
        most
    }

    /// The least lambda, to a thousandth, at which the coefficient of one of the coordinates in
    /// `free` is 0, searched from `lambda`; `w` becomes the minimum there.
    pub(in crate::select) fn first_zero(
        &self,
        w: &mut Vec<Vec<f64>>,
        free: &[bool],
        lambda: f64,
        tolerance: impl Fn(f64) -> f64,
    ) -> Result<f64> {
        let solve = |w: &mut Vec<Vec<f64>>, lambda: f64| {
            let each: Vec<f64> = free.iter().map(|free| if *free { lambda } else { 0.0 }).collect();
            self.descend(w, &each, tolerance(lambda));
            if !w.iter().flatten().all(|w| w.is_finite()) {
                return Err(Error::overflow("the weights of the L1 problem"));
            }
            let zero = |j: &usize| w.iter().all(|w| w[*j] == 0.0);
            Ok((0..free.len()).filter(|j| free[*j]).any(|j| zero(&j)))
        };
        let mut high = lambda;
        let (mut low, mut full);
        let mut steps = 0;
        if solve(w, high)? {
            loop {
                (low, full) = (high / STEP, w.clone());
                steps += 1;
                if !solve(&mut full, low)? || low < lambda * 1e-4 || steps == SEARCH {
                    break;
                }
                (high, *w) = (low, full.clone());
            }
        } else {
            loop {
                (low, full) = (high, w.clone());
                high *= STEP;
                steps += 1;
                if solve(w, high)? {
                    break;
                }
                if steps == SEARCH || !high.is_finite() {
                    return Err(Error::overflow("the penalties of the L1 problem"));
                }
            }
        }
        for _ in 0..HALVINGS {
            if high <= low * PRECISION {
                break;
            }
            let product = low * high;
            let middle = match product.is_normal() {
                true => product.sqrt(),
                false => low.sqrt() * high.sqrt(),
            };
            let mut state = full.clone();
            if solve(&mut state, middle)? {
                (high, *w) = (middle, state);
            } else {
                (low, full) = (middle, state);
            }
        }
        Ok(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quadratic_model() -> QuadraticModel {
        let h = vec![2.0, 0.5, 0.1, 0.5, 1.0, 0.3, 0.1, 0.3, 1.5];
        QuadraticModel { size: 3, h: vec![h], lin: vec![vec![1.0, -0.8, 0.3]], floor: vec![0.0; 3] }
    }

    /// One coordinate by hand: `h = 2`, `lin = 1`, lambda 0.4 gives (1 - 0.4) / 2.
    #[test]
    fn one_coordinate_is_the_soft_threshold() {
        let one =
            QuadraticModel { size: 1, h: vec![vec![2.0]], lin: vec![vec![1.0]], floor: vec![0.0] };
        let mut w = vec![vec![0.0]];
        one.descend(&mut w, &[0.4], 1e-12);
        assert!((w[0][0] - 0.3).abs() < 1e-12);
        one.descend(&mut w, &[1.0], 1e-12);
        assert_eq!(w[0][0], 0.0);
    }

    #[test]
    fn the_minimum_meets_the_kkt_conditions() {
        let (quadratic_model, lambda) = (quadratic_model(), 0.25);
        let mut w = vec![vec![0.0; 3]];
        quadratic_model.descend(&mut w, &[lambda; 3], 1e-13);
        for (j, product) in quadratic_model.product(0, &w[0]).iter().enumerate() {
            let slope = product - quadratic_model.lin[0][j];
            match w[0][j] {
                0.0 => assert!(slope.abs() <= lambda),
                w => assert!((slope + lambda * w.signum()).abs() < 1e-10),
            }
        }
    }

    #[test]
    fn the_first_zero_is_where_one_coefficient_just_vanishes() {
        let quadratic_model = quadratic_model();
        for start in [0.01, 0.2, 5.0] {
            let mut w = vec![vec![0.0; 3]];
            let lambda =
                quadratic_model.first_zero(&mut w, &[true; 3], start, |l| 1e-9 * l).unwrap();
            let zeros = |w: &[Vec<f64>]| w[0].iter().filter(|w| **w == 0.0).count();
            assert_eq!(zeros(&w), 1, "from {start}: {w:?} at {lambda}");
            let mut less = w.clone();
            quadratic_model.descend(&mut less, &[lambda / 1.002; 3], 1e-12);
            assert_eq!(zeros(&less), 0, "from {start}");
        }
    }

    #[test]
    fn a_copy_of_a_column_in_the_model_keeps_a_coefficient_of_zero() {
        // One column twice, the second off by rounding: once the first has its coefficient, the
        // slope of the second is lambda but for the last digit.
        for off in [-4.0, -1.0, 0.0, 1.0, 4.0] {
            let near = 1.0 + off * f64::EPSILON;
            let h = vec![1.0, near, near, 1.0];
            let lin = vec![vec![0.7, 0.7 * near]];
            let twice = QuadraticModel { size: 2, h: vec![h], lin, floor: vec![0.0; 2] };
            let mut w = vec![vec![0.0; 2]];
            twice.descend(&mut w, &[0.3; 2], 1e-12);
            assert!((w[0][0] - 0.4).abs() < 1e-8 && w[0][1] == 0.0, "{off}: {w:?}");
        }
    }

    /// A search from the least or largest lambda ends; numbers that are not finite are an error.
    #[test]
    fn no_search_is_without_end() {
        let (done, ended) = std::sync::mpsc::channel();
        let searches = std::thread::spawn(move || {
            search_at_the_edge();
            done.send(())
        });
        let minute = std::time::Duration::from_secs(60);
        let late = ended.recv_timeout(minute) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        assert!(!late, "a search has no end");
        searches.join().unwrap().unwrap();
    }

    fn search_at_the_edge() {
        for start in [f64::MIN_POSITIVE, 1e-300, 1e300] {
            let mut w = vec![vec![0.0; 3]];
            let lambda =
                quadratic_model().first_zero(&mut w, &[true; 3], start, |l| 1e-9 * l).unwrap();
            assert!(lambda.is_finite() && w[0].contains(&0.0), "from {start}");
        }
        for broken in [f64::NAN, f64::INFINITY] {
            let mut quadratic_model = quadratic_model();
            quadratic_model.lin[0][1] = broken;
            let mut w = vec![vec![0.0; 3]];
            let error =
                quadratic_model.first_zero(&mut w, &[true; 3], 0.1, |l| 1e-9 * l).unwrap_err();
            assert!(error.to_string().contains("no finite numbers"), "{error}");
        }
    }
}
