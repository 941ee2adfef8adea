//! Screening statistics of one epoch: the association of every feature with the residual of a
//! frozen model, in O(p) memory.
//!
//! ```text
//! sums over rows of w (x_j - m_j), w (x_j - m_j)^2, w (x_j - m_j) r     m: the epoch's first row
//! t_j = sqrt(n) c_j / sqrt(v_j rr);  t <- (t - median) / (1.4826 MAD)   over features outside
//! ```
//!
//! The median and the MAD are an empirical null. A common factor that the model does not explain
//! moves every `t_j` alike, and would otherwise hide true features. The sums of each feature are
//! taken row by row, in tiles of features, so neither source blocks nor threads change a digit.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::row::{Row, RowBlock};
use crate::learn::averages::running::weight_unit;
use crate::numeric::kernel::Element;
use crate::numeric::row_loops::run;

/// Features of a tile: its sums stay in the first-level cache over many rows.
const TILE: usize = 512;

/// Sums of one epoch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Screen {
    /// Sample weights are divided by this power of four near the first of them.
    weight_unit: f64,
    /// The first residual, so that an offset of the target costs no digit.
    origin: f64,
    /// The first row, where rows are dense.
    shift: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    cross: Vec<f64>,
    weight: f64,
    weight2: f64,
    residual: f64,
    residual2: f64,
}

impl Screen {
    /// Bytes for `features` features.
    pub(crate) fn bytes_for(features: usize) -> u64 {
        32 * features as u64
    }

    pub(crate) fn new(features: usize) -> Self {
        let zeros = || vec![0.0; features];
        Self {
            weight_unit: 1.0,
            origin: 0.0,
            shift: zeros(),
            first: zeros(),
            second: zeros(),
            cross: zeros(),
            weight: 0.0,
            weight2: 0.0,
            residual: 0.0,
            residual2: 0.0,
        }
    }

    /// Adds the rows `range` of a block with their residuals.
    pub(crate) fn push(&mut self, rows: &RowBlock, range: std::ops::Range<usize>, r: &[f64]) {
        let dense = !rows.is_sparse();
        if self.weight == 0.0 && !range.is_empty() {
            (self.weight_unit, self.origin) = (weight_unit(rows.weight()[range.start]), r[0]);
            self.shift.fill(0.0);
            if dense {
                rows.row(range.start).axpy(1.0, &mut self.shift);
            }
        }
        let r: Vec<f64> = r.iter().map(|r| r - self.origin).collect();
        for (i, r) in range.clone().zip(&r) {
            let w = rows.weight()[i] / self.weight_unit;
            self.weight += w;
            self.weight2 += w * w;
            self.residual += w * r;
            self.residual2 += w * r * r;
        }
        if dense {
            self.push_dense(rows, range, &r);
        } else {
            for (i, r) in range.zip(&r) {
                let w = rows.weight()[i] / self.weight_unit;
                rows.row(i).each(|j, x| {
                    self.first[j] += w * x;
                    self.second[j] += w * x * x;
                    self.cross[j] += w * x * r;
                });
            }
        }
    }

    fn push_dense(&mut self, rows: &RowBlock, range: std::ops::Range<usize>, r: &[f64]) {
        let unit = self.weight_unit;
        let tiles = self
            .first
            .par_chunks_mut(TILE)
            .zip(self.second.par_chunks_mut(TILE))
            .zip(self.cross.par_chunks_mut(TILE))
            .zip(self.shift.par_chunks(TILE))
            .enumerate();
        tiles.for_each(|(tile, (((first, second), cross), shift))| {
            let part = tile * TILE..tile * TILE + shift.len();
            for (i, r) in range.clone().zip(r) {
                let w = rows.weight()[i] / unit;
                match rows.row(i) {
                    Row::F32(x) => add(&x[part.clone()], shift, w, *r, first, second, cross),
                    Row::F64(x) => add(&x[part.clone()], shift, w, *r, first, second, cross),
                    Row::Sparse { .. } => unreachable!("a dense block has dense rows"),
                }
            }
        });
    }

    /// Whether a loaded state can belong to so many features.
    pub(crate) fn sound(&self, features: usize) -> bool {
        let all = [&self.shift, &self.first, &self.second, &self.cross];
        let sums = [self.origin, self.weight, self.weight2, self.residual, self.residual2];
        all.iter().all(|v| v.len() == features && v.iter().all(|v| v.is_finite()))
            && sums.iter().all(|v| v.is_finite())
            && self.weight_unit >= f64::MIN_POSITIVE
            && self.weight_unit.is_finite()
            && self.weight >= 0.0
            && self.weight2 >= 0.0
    }

    /// The standardised statistic of every feature; 0 for one that does not vary.
    pub(crate) fn scores(&self, inside: &[bool]) -> Vec<f64> {
        let w = self.weight.max(f64::MIN_POSITIVE);
        let rr = (self.residual2 - self.residual * self.residual / w).max(f64::MIN_POSITIVE);
        let n = w * w / self.weight2.max(f64::MIN_POSITIVE);
        let score = |j: usize| {
            let v = self.second[j] - self.first[j] * self.first[j] / w;
            let c = self.cross[j] - self.first[j] * self.residual / w;
            if v > 1e-12 * self.second[j] { (n / (v * rr)).sqrt() * c } else { 0.0 }
        };
        let mut t: Vec<f64> = (0..self.first.len()).map(score).collect();
        let outside: Vec<f64> = t
            .iter()
            .zip(inside)
            .filter(|(t, inside)| !**inside && **t != 0.0)
            .map(|p| *p.0)
            .collect();
        if outside.len() > 1 {
            let middle = median(outside.clone());
            let deviation = outside.iter().map(|t| (t - middle).abs()).collect();
            let spread = (1.4826 * median(deviation)).max(1e-12);
            t.iter_mut().filter(|t| **t != 0.0).for_each(|t| *t = (*t - middle) / spread);
        }
        t
    }
}

fn add<T: Element>(
    x: &[T],
    shift: &[f64],
    w: f64,
    r: f64,
    first: &mut [f64],
    second: &mut [f64],
    cross: &mut [f64],
) {
    let n = x.len();
    let (shift, first) = (&shift[..n], &mut first[..n]);
    let (second, cross) = (&mut second[..n], &mut cross[..n]);
    run(
        #[inline(always)]
        || {
            for j in 0..n {
                let d = x[j].wide() - shift[j];
                let wd = w * d;
                first[j] += wd;
                second[j] = wd.mul_add(d, second[j]);
                cross[j] = wd.mul_add(r, cross[j]);
            }
        },
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}
