//! Features and target on one scale while they stream.
//!
//! ```text
//! share = w / W;   d = x - m;   m += share d;   v += share (d (x - m) - v);   z = (x - m) / sqrt v
//! ```
//!
//! A row counts in its own mean and deviation, so no `z` of equally weighted rows is beyond
//! `sqrt(t - 1)`, and a feature that has not varied yet is 0. The papers' data have features of one
//! scale and no mean; with `z` in the place of `x` a step that suits them suits every table, and
//! neither the unit nor the origin of a feature shows in the choice. The numbers held are O(p).
//!
//! Centring touches every feature, so a sparse row costs O(p) as a dense one does, and gives the
//! same digits. Without standardising rows are passed on as they are, in O(nnz), and only the means
//! are kept. Source of the recurrence: West, CACM 22 (1979).

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
    /// Counts in a value whose weight is `share` of the weight so far, its own included.
    pub(super) fn push(&mut self, x: f64, share: f64) {
        let d = x - self.mean;
        self.mean += share * d;
        self.variance += share * (d * (x - self.mean) - self.variance);
    }

    /// The value in deviations from the mean; 0 before anything varied.
    pub(super) fn standard(&self, x: f64) -> f64 {
        if self.variance > 0.0 { (x - self.mean) / self.variance.sqrt() } else { 0.0 }
    }
}

/// What is known of the features so far.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Scale {
    /// Rows are passed on as they are; weighted sums of their values.
    Raw { sum: Vec<f64> },
    /// Rows are standardised. Means are those of the values less `origin`, the first row, so that
    /// an offset costs no digits; it is empty before that row.
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

    /// Counts a row in and gives it as a rule is to see it, with the most that it may weigh: a
    /// standardised row of square length `p`, and 1 for the intercept, weighs up to 1. `room` holds
    /// the row.
    pub(super) fn pass<'a>(
        &mut self,
        row: Row<'a>,
        (weight, share): (f64, f64),
        room: &'a mut Vec<f64>,
    ) -> (Row<'a>, f64) {
        match self {
            Self::Raw { sum } => {
                row.axpy(weight, sum);
                (row, f64::INFINITY)
            }
            Self::Running { origin, mean, variance } => {
                room.resize(mean.len(), 0.0);
                match row {
                    Row::F32(x) => widen(x, room),
                    Row::F64(x) => widen(x, room),
                    Row::Sparse { .. } => {
                        room.fill(0.0);
                        row.each(|j, x| room[j] = x);
                    }
                }
                if origin.is_empty() {
                    origin.clone_from(room);
                }
                standardise(origin, share, mean, variance, room);
                let most = (room.len() as f64 + 1.0) / (kernel::dot(room, room) + 1.0);
                (Row::F64(room), most)
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

    /// What a weight of the rule's feature is to be divided by, and the value at which the rule's
    /// feature is 0; `None` for a feature that never varied.
    pub(super) fn unit(&self, j: usize) -> Option<(f64, f64)> {
        match self {
            Self::Raw { .. } => Some((1.0, 0.0)),
            Self::Running { variance, .. } => {
                (variance[j] > 0.0).then(|| (variance[j].sqrt(), self.mean(j, 1.0)))
            }
        }
    }

    /// Features that never varied, where variances are known.
    pub(super) fn constant(&self) -> Option<usize> {
        match self {
            Self::Raw { .. } => None,
            Self::Running { variance, .. } => Some(variance.iter().filter(|v| **v == 0.0).count()),
        }
    }

    /// Whether rows are standardised.
    pub(super) fn runs(&self) -> bool {
        matches!(self, Self::Running { .. })
    }

    /// Whether this can be what was saved of so many features.
    pub(super) fn sound(&self, features: usize) -> bool {
        match self {
            Self::Raw { sum } => sum.len() == features,
            Self::Running { origin, mean, variance } => {
                let begun = origin.is_empty() || origin.len() == features;
                begun && mean.len() == features && variance.len() == features
            }
        }
    }

    /// The first feature whose moments are no numbers any more.
    pub(super) fn lost(&self) -> Option<usize> {
        let broken = |v: &Vec<f64>| v.iter().position(|v| !v.is_finite());
        match self {
            Self::Raw { sum } => broken(sum),
            Self::Running { origin, mean, variance } => {
                broken(origin).or_else(|| broken(mean)).or_else(|| broken(variance))
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
        // Values far from zero, so that a plain sum of squares would lose them; weights differ.
        let rows: Vec<[f64; 3]> =
            (0..50).map(|i| [1e8 + f64::from(i % 7), 0.1, f64::from(i * i % 11)]).collect();
        let weights: Vec<f64> = (0..50).map(|i| 1.0 + f64::from(i % 3)).collect();
        let run = |sparse: bool| {
            let (mut scale, mut all, mut room) = (Scale::new(3, true), 0.0, Vec::new());
            let mut last = Vec::new();
            for (x, w) in rows.iter().zip(&weights) {
                all += w;
                let index = [0, 1, 2];
                let row =
                    if sparse { Row::Sparse { index: &index, value: x } } else { Row::F64(x) };
                let (z, most) = scale.pass(row, (*w, w / all), &mut room);
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
            let (sd, at) = scale.unit(j).unwrap();
            assert!((sd * sd / variance - 1.0).abs() < 1e-12, "{} {variance}", sd * sd);
            assert!((z[j] - (rows[49][j] - at) / sd).abs() < 1e-7);
        }
        assert!(scale.unit(1).is_none());
    }
}
