//! Running standardisation of features and target.
//!
//! ```text
//! share = w / W;   d = x - m;   m += share d;   v += share (d (x - m) - v);   z = (x - m) / sqrt v
//! ```
//!
//! The mean and deviation include the current row, so no `z` of equally weighted rows exceeds
//! `sqrt(t - 1)`, and a feature that has not varied yet is 0. The papers' features have mean zero and
//! equal scales. With `z` instead of `x`, a step that suits their data suits every table, and the
//! choice does not depend on the unit or origin of a feature. Memory O(p).
//!
//! Centring touches every feature, so a sparse row costs O(p) like a dense one, and gives the same
//! digits. Without standardisation rows are passed on unchanged, in O(nnz), and only the means are
//! computed. Source of the recurrence: West, CACM 22 (1979).

use serde::{Deserialize, Serialize};

use crate::data::row::Row;
use crate::numeric::kernel;
use crate::numeric::row_loops;
use crate::numeric::simd::Element;

/// Mean and variance of one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Moment {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Moment {
    /// Adds a value. `share` is its sample weight over the total weight so far, including its own.
    pub(super) fn push(&mut self, x: f64, share: f64) {
        let d = x - self.mean;
        self.mean += share * d;
        self.variance += share * (d * (x - self.mean) - self.variance);
    }

    /// The standardised value; 0 while nothing has varied.
    pub(super) fn standardise(&self, x: f64) -> f64 {
        if self.variance > 0.0 { (x - self.mean) / self.variance.sqrt() } else { 0.0 }
    }
}

/// Means and variances of the features so far.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Scale {
    /// Rows are passed on unchanged; weighted sums of their values.
    Raw { sum: Vec<f64> },
    /// Rows are standardised. Means are relative to `origin`, the first row, so that an offset costs
    /// no digits; it is empty before that row.
    Running { origin: Vec<f64>, mean: Vec<f64>, variance: Vec<f64> },
}

impl Scale {
    pub(super) fn new(features: usize, standardise: bool) -> Self {
        let zeros = || vec![0.0; features];
        match standardise {
            true => Self::Running { origin: Vec::new(), mean: zeros(), variance: zeros() },
            false => Self::Raw { sum: zeros() },
        }
    }

    /// Adds a row and returns the row that the rule learns from, with its largest allowed weight. A
    /// standardised row with `|z|^2 = p` may have a weight of 1. `buffer` holds the row.
    pub(super) fn add_row<'a>(
        &mut self,
        row: Row<'a>,
        (weight, share): (f64, f64),
        buffer: &'a mut Vec<f64>,
    ) -> (Row<'a>, f64) {
        match self {
            Self::Raw { sum } => {
                row.axpy(weight, sum);
                (row, f64::INFINITY)
            }
            Self::Running { origin, mean, variance } => {
                buffer.resize(mean.len(), 0.0);
                match row {
                    Row::F32(x) => widen(x, buffer),
                    Row::F64(x) => widen(x, buffer),
                    Row::Sparse { .. } => {
                        buffer.fill(0.0);
                        row.each(|j, x| buffer[j] = x);
                    }
                }
                if origin.is_empty() {
                    origin.clone_from(buffer);
                }
                standardise(origin, share, mean, variance, buffer);
                let most = (buffer.len() as f64 + 1.0) / (kernel::dot(buffer, buffer) + 1.0);
                (Row::F64(buffer), most)
            }
        }
    }

    /// The mean of a feature over rows of `weight` in all.
    pub(super) fn mean(&self, j: usize, weight: f64) -> f64 {
        match self {
            Self::Raw { sum } => sum[j] / weight,
            Self::Running { origin, mean, .. } => origin.get(j).unwrap_or(&0.0) + mean[j],
        }
    }

    /// The standard deviation and origin of a feature as the rule sees it, `z = (x - origin) / sd`;
    /// `None` for a feature that never varied.
    pub(super) fn sd_and_origin(&self, j: usize) -> Option<(f64, f64)> {
        match self {
            Self::Raw { .. } => Some((1.0, 0.0)),
            Self::Running { variance, .. } => {
                (variance[j] > 0.0).then(|| (variance[j].sqrt(), self.mean(j, 1.0)))
            }
        }
    }

    /// Number of features that never varied, where variances are computed.
    pub(super) fn constant(&self) -> Option<usize> {
        match self {
            Self::Raw { .. } => None,
            Self::Running { variance, .. } => Some(variance.iter().filter(|v| **v == 0.0).count()),
        }
    }

    /// Whether rows are standardised.
    pub(super) fn standardises(&self) -> bool {
        matches!(self, Self::Running { .. })
    }

    /// Whether a loaded state can belong to so many features.
    pub(super) fn sound(&self, features: usize) -> bool {
        match self {
            Self::Raw { sum } => sum.len() == features,
            Self::Running { origin, mean, variance } => {
                let fits = origin.is_empty() || origin.len() == features;
                fits && mean.len() == features && variance.len() == features
            }
        }
    }

    /// The first feature whose moments are not finite.
    pub(super) fn first_not_finite(&self) -> Option<usize> {
        let not_finite = |v: &Vec<f64>| v.iter().position(|v| !v.is_finite());
        match self {
            Self::Raw { sum } => not_finite(sum),
            Self::Running { origin, mean, variance } => {
                not_finite(origin).or_else(|| not_finite(mean)).or_else(|| not_finite(variance))
            }
        }
    }
}

/// A row in f64.
fn widen<T: Element>(x: &[T], z: &mut [f64]) {
    z.iter_mut().zip(x).for_each(|(z, x)| *z = x.wide());
}

/// Standardises the row in `z`.
fn standardise(origin: &[f64], share: f64, mean: &mut [f64], variance: &mut [f64], z: &mut [f64]) {
    row_loops::run(
        #[inline(always)]
        || {
            let length = z.len();
            let (mean, variance) = (&mut mean[..length], &mut variance[..length]);
            let origin = &origin[..length];
            for j in 0..length {
                let x = z[j] - origin[j];
                let d = x - mean[j];
                let m = mean[j] + share * d;
                let e = x - m;
                let v = variance[j] + share * (d * e - variance[j]);
                (mean[j], variance[j]) = (m, v);
                z[j] = if v > 0.0 { e / v.sqrt() } else { 0.0 };
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_moments_are_those_of_the_whole_in_every_storage() {
        // Values far from zero, for which a plain sum of squares has no digits; weights differ.
        let rows: Vec<[f64; 3]> =
            (0..50).map(|i| [1e8 + f64::from(i % 7), 0.1, f64::from(i * i % 11)]).collect();
        let weights: Vec<f64> = (0..50).map(|i| 1.0 + f64::from(i % 3)).collect();
        let run = |sparse: bool| {
            let (mut scale, mut all, mut buffer) = (Scale::new(3, true), 0.0, Vec::new());
            let mut last = Vec::new();
            for (x, w) in rows.iter().zip(&weights) {
                all += w;
                let index = [0, 1, 2];
                let row =
                    if sparse { Row::Sparse { index: &index, value: x } } else { Row::F64(x) };
                let (z, most) = scale.add_row(row, (*w, w / all), &mut buffer);
                last = (0..3).map(|j| z.get(j)).collect();
                assert!(most > 0.0 && z.get(1) == 0.0);
            }
            (scale, last)
        };
        let (scale, z) = run(false);
        assert_eq!((&scale, &z), (&run(true).0, &run(true).1));
        let total: f64 = weights.iter().sum();
        for j in [0, 2] {
            let of = |f: &dyn Fn(f64) -> f64| -> f64 {
                rows.iter().zip(&weights).map(|(x, w)| w * f(x[j])).sum::<f64>() / total
            };
            let mean = 1e8 * f64::from(u8::from(j == 0));
            let mean = mean + of(&|x| x - mean);
            let variance = of(&|x| (x - mean) * (x - mean));
            assert!((scale.mean(j, total) - mean).abs() < 1e-7);
            let (sd, at) = scale.sd_and_origin(j).unwrap();
            assert!((sd * sd / variance - 1.0).abs() < 1e-12, "{} {variance}", sd * sd);
            assert!((z[j] - (rows[49][j] - at) / sd).abs() < 1e-7);
        }
        assert!(scale.sd_and_origin(1).is_none());
    }
}
