//! Iteratively reweighted least squares: rows of the logistic loss, linearised at the current model.
//!
//! ```text
//! z = (x - m) / sd, m and sd weighted moments of the rows before the block
//! f = w'z + b0 with the model before the block;  s = 1 / (1 + exp(-f));  h = max(s (1 - s), 1e-3)
//! linearised row: target f + (y01 - s) / h, sample weight h times the row's own
//! w: logistic gradient descent over the same rows with z of the moments that include them,
//!    step 0.2 / p times the row's weight over the mean weight
//! after 1024, 2048, 4096, ... rows all earlier linearised rows are damped by 0.3
//! ```
//!
//! A row is linearised once, when its block of 256 rows is full, or earlier where a model is asked
//! for. Every extraction then works on the weighted Gram without change. Rows near the boundary have
//! the largest weights, while least squares on -1 and 1 weighs all rows alike. Damping reduces the
//! effect of rows that were linearised at early, poor models. This is better than least squares
//! where classes are nearly separable, and no better where they overlap much.
//!
//! The result does not depend on the unit or origin of a feature: the first block is linearised at
//! f = 0, and the model learns from it once its moments are known. A feature that has not varied yet
//! is 0 and has coefficient 0. A step is at most `4 / (1 + z'z)`, which no curvature of the loss
//! overshoots. The papers' features have variance 2, where a step of 0.2 / p on `z` is their 0.1 / p
//! on `x`. Cost O(p) a row, sparse or not; memory 256 rows and O(p). Source: this project (renewable
//! iteratively reweighted least squares, specs of running averages, section 5).

use serde::{Deserialize, Serialize};

use crate::data::row::{Row, RowBlock};
use crate::error::Result;
use crate::learn::averages::means::Means;
use crate::learn::averages::running::{GRID, weight_unit};
use crate::numeric::kernel;
use crate::numeric::row_loops;

/// Least curvature of a linearised row.
const FLOOR: f64 = 1e-3;
const RATE: f64 = 0.2;
/// Factor on earlier linearised rows when an epoch ends.
pub(crate) const DAMP: f64 = 0.3;
/// Rows of the first epoch.
const FIRST: u64 = 1024;

/// The model at which rows are linearised, and the rows of the unfinished block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Irls {
    /// Coefficients of the standardised features.
    coefficient: Vec<f64>,
    intercept: f64,
    scale: Scale,
    /// Rows of finished blocks.
    rows: u64,
    epoch_end: u64,
    /// Rows of either class, including the unfinished block.
    class_counts: [u64; 2],
    /// Share of the past that each row forgets.
    forget: f64,
    /// Rows of the unfinished block, with their original classes and sample weights.
    pending: RowBlock,
}

/// Weighted first and second moments of each feature.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Scale {
    /// Sample weights are divided by this power of four; 0 before the first row.
    weight_unit: f64,
    /// Sum of the sample weights.
    weight: f64,
    /// Number of rows, with forgetting.
    count: f64,
    mean: Means,
    /// `sum w (x - mean)^2`.
    second: Vec<f64>,
}

/// `1 / (1 + exp(-f))`, without overflow.
pub(crate) fn sigmoid(f: f64) -> f64 {
    let e = (-f.abs()).exp();
    if f >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// `x - mean` of a row, every feature.
fn centred(x: Row<'_>, mean: &Means, out: &mut [f64]) {
    match x {
        Row::F32(x) => row_loops::centre(1.0, x, &mean.high, &mean.low, out),
        Row::F64(x) => row_loops::centre(1.0, x, &mean.high, &mean.low, out),
        Row::Sparse { .. } => {
            let mut dense = vec![0.0; out.len()];
            x.axpy(1.0, &mut dense);
            row_loops::centre(1.0, &dense, &mean.high, &mean.low, out);
        }
    }
}

impl Irls {
    pub(crate) fn new(features: usize, forget: f64) -> Self {
        let scale = Scale {
            weight_unit: 0.0,
            weight: 0.0,
            count: 0.0,
            mean: Means::zeros(features),
            second: vec![0.0; features],
        };
        Self {
            coefficient: vec![0.0; features],
            intercept: 0.0,
            scale,
            rows: 0,
            epoch_end: FIRST,
            class_counts: [0; 2],
            forget,
            pending: RowBlock::new(features, GRID),
        }
    }

    /// Bytes of the model and of a block of rows with a linearised copy.
    pub(crate) fn bytes_for(features: usize) -> u64 {
        (features * (16 * GRID + 64)) as u64
    }

    /// Rows so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows + self.pending.len() as u64
    }

    /// Rows of either class.
    pub(crate) fn class_counts(&self) -> [u64; 2] {
        self.class_counts
    }

    /// Adds rows of class 0 and 1. Each block that is full is linearised and passed to `out`, with
    /// whether an epoch ends with it; the model learns from it.
    pub(crate) fn push(
        &mut self,
        rows: &RowBlock,
        mut out: impl FnMut(&RowBlock, bool) -> Result<()>,
    ) -> Result<()> {
        for (i, row) in rows.rows().enumerate() {
            let y = rows.y()[i];
            self.pending.push(row, y, rows.weight()[i])?;
            self.class_counts[usize::from(y > 0.5)] += 1;
            if self.pending.len() < GRID {
                continue;
            }
            let block = self.linearised(&self.pending)?;
            self.learn();
            self.rows += GRID as u64;
            self.pending.reset(GRID);
            let ended = self.rows >= self.epoch_end;
            if ended {
                self.epoch_end *= 2;
            }
            out(&block, ended)?;
        }
        Ok(())
    }

    /// The rows of the unfinished block and `more`, linearised at the current model.
    pub(crate) fn pending_with(&self, more: Option<&RowBlock>) -> Result<RowBlock> {
        let mut all = RowBlock::new(self.coefficient.len(), GRID);
        for block in std::iter::once(&self.pending).chain(more) {
            for (i, row) in block.rows().enumerate() {
                all.push(row, block.y()[i], block.weight()[i])?;
            }
        }
        self.linearised(&all)
    }

    fn linearised(&self, rows: &RowBlock) -> Result<RowBlock> {
        let raw: Vec<f64> =
            self.scale.inverse_sd().iter().zip(&self.coefficient).map(|(d, w)| d * w).collect();
        let mut z = vec![0.0; raw.len()];
        let (mut target, mut weight) = (Vec::new(), Vec::new());
        for (i, row) in rows.rows().enumerate() {
            centred(row, &self.scale.mean, &mut z);
            let f = kernel::dot(&z, &raw) + self.intercept;
            let s = sigmoid(f);
            let h = (s * (1.0 - s)).max(FLOOR);
            target.push(f + (rows.y()[i] - s) / h);
            weight.push(rows.weight()[i] * h);
        }
        let mut out = rows.clone();
        out.relabel(&target, &weight);
        Ok(out)
    }

    /// Adds the block's rows to the moments, then takes a gradient step for each.
    fn learn(&mut self) {
        let block = &self.pending;
        self.scale.add(block, 1.0 - self.forget);
        let (inverse, scale) = (self.scale.inverse_sd(), &self.scale);
        let mut z = vec![0.0; inverse.len()];
        for (i, row) in block.rows().enumerate() {
            centred(row, &scale.mean, &mut z);
            z.iter_mut().zip(&inverse).for_each(|(z, d)| *z *= d);
            let slope = sigmoid(kernel::dot(&z, &self.coefficient) + self.intercept) - block.y()[i];
            let share = block.weight()[i] / scale.weight_unit * scale.count / scale.weight;
            let most = 4.0 / (1.0 + kernel::dot(&z, &z));
            let step = (RATE / z.len() as f64 * share).min(most);
            kernel::axpy(-step * slope, &z, &mut self.coefficient);
            self.intercept -= step * slope;
        }
    }

    /// Whether a loaded state can belong to so many features.
    pub(crate) fn sound(&self, features: usize) -> bool {
        let s = &self.scale;
        let finite = |v: &f64| v.is_finite();
        let sizes = self.coefficient.len() == features
            && s.second.len() == features
            && s.mean.sound(features)
            && self.pending.features() == features
            && self.pending.len() < GRID
            && self.pending.sound();
        let whole = self.rows.is_multiple_of(GRID as u64) && self.rows < 1 << 60;
        let scaled = match self.rows {
            0 => s.weight == 0.0,
            _ => s.weight > 0.0 && s.weight.is_finite() && s.weight_unit >= f64::MIN_POSITIVE,
        };
        sizes
            && whole
            && scaled
            && s.weight_unit.is_finite()
            && s.count.is_finite()
            && s.second.iter().all(|v| v.is_finite() && *v >= 0.0)
            && self.coefficient.iter().all(finite)
            && self.intercept.is_finite()
            && (0.0..1.0).contains(&self.forget)
            && self.epoch_end > self.rows
            && self.epoch_end < 1 << 62
            && self.class_counts[0].checked_add(self.class_counts[1]) == Some(self.rows())
            && self.pending.y().iter().all(|y| *y == 0.0 || *y == 1.0)
            && self.pending.weight().iter().all(|w| *w > 0.0)
    }
}

impl Scale {
    /// `1 / sd` of each feature, 0 for one that has not varied.
    fn inverse_sd(&self) -> Vec<f64> {
        let one = |v: &f64| if *v > 0.0 { (self.weight / v).sqrt() } else { 0.0 };
        self.second.iter().map(one).collect()
    }

    /// Adds a block of rows; each row multiplies the sums of all earlier ones by `keep`.
    fn add(&mut self, block: &RowBlock, keep: f64) {
        if self.weight_unit == 0.0 {
            self.weight_unit = weight_unit(block.weight()[0]);
        }
        let (p, b) = (self.second.len(), block.len());
        let weight: Vec<f64> = block.weight().iter().map(|w| w / self.weight_unit).collect();
        let total: f64 = weight.iter().sum();
        // Relative to the first row, so that equal values give exactly 0 and an offset costs no
        // digit.
        let mut first = vec![0.0; p];
        block.row(0).axpy(1.0, &mut first);
        let shift = Means::of(first.clone(), vec![0.0; p]);
        let (mut z, mut mean) = (vec![0.0; p], vec![0.0; p]);
        for (row, w) in block.rows().zip(&weight) {
            centred(row, &shift, &mut z);
            kernel::axpy(w / total, &z, &mut mean);
        }
        let mean = Means::of(first, mean);
        let decay = keep.powi(b as i32);
        self.weight *= decay;
        self.count *= decay;
        self.second.iter_mut().for_each(|v| *v *= decay);
        for (row, w) in block.rows().zip(&weight) {
            centred(row, &mean, &mut z);
            self.second.iter_mut().zip(&z).for_each(|(v, z)| *v += w * z * z);
        }
        let difference = mean.minus(&self.mean);
        let all = self.weight + total;
        let f = self.weight * total / all;
        if self.weight == 0.0 {
            self.mean = mean;
        } else {
            self.second.iter_mut().zip(&difference).for_each(|(v, d)| *v += f * d * d);
            self.mean.step(total / all, &difference);
        }
        self.weight = all;
        self.count += b as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(rows: &[([f64; 2], f64, f64)]) -> RowBlock {
        let mut block = RowBlock::new(2, rows.len());
        for (x, y, w) in rows {
            block.push(Row::F64(x), *y, *w).unwrap();
        }
        block
    }

    #[test]
    fn the_first_block_is_linearised_at_zero() {
        // f = 0: s = 1/2, h = 1/4, target (y - 1/2) / (1/4) = 2 or -2.
        let mut irls = Irls::new(2, 0.0);
        irls.push(&block(&[([1.0, -2.0], 1.0, 3.0), ([1.0, 1.0], 0.0, 1.0)]), |_, _| Ok(()))
            .unwrap();
        let rows = irls.pending_with(None).unwrap();
        assert_eq!((rows.y(), rows.weight()), (&[2.0, -2.0][..], &[0.75, 0.25][..]));
        assert_eq!((irls.rows(), irls.class_counts()), (2, [1, 1]));
    }

    #[test]
    fn the_model_learns_from_standardised_rows() {
        // x = (5 +- 2, 7): mean 5, deviation 2, z = +-1; the second feature does not vary. The
        // class follows the first. By hand, step 0.2 / 2 = 0.1: each row moves w by
        // 0.1 (y - s(w z + b)) z.
        let rows: Vec<_> = (0..GRID)
            .map(|i| if i % 2 == 0 { ([7.0, 7.0], 1.0, 1.0) } else { ([3.0, 7.0], 0.0, 1.0) })
            .collect();
        let mut irls = Irls::new(2, 0.0);
        let mut blocks = 0;
        irls.push(&block(&rows), |block, ended| {
            blocks += 1;
            assert!(!ended && block.len() == GRID);
            Ok(())
        })
        .unwrap();
        let (mut w, mut b) = (0.0, 0.0);
        for i in 0..GRID {
            let (z, y) = if i % 2 == 0 { (1.0, 1.0) } else { (-1.0, 0.0) };
            let slope = sigmoid(w * z + b) - y;
            (w, b) = (w - 0.1 * slope * z, b - 0.1 * slope);
        }
        assert_eq!(blocks, 1);
        assert!((irls.coefficient[0] - w).abs() < 1e-12 && irls.coefficient[1] == 0.0);
        assert!((irls.intercept - b).abs() < 1e-12);
    }
}
