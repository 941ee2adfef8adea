//! Running averages: the centred second moments of a row stream, from which any model is extracted.
//!
//! ```text
//! W = sum w    W2 = sum w^2    mu = mean of x    C = sum w (x - mu)(x - mu)'
//! c = sum w (x - mu)(y - mu_y)    cyy = sum w (y - mu_y)^2
//!
//! a block b of rows, with T = W + W_b, f = W W_b / T, d = mu_b - mu (and the same for y):
//!   C += sum_b w (x - mu_b)(x - mu_b)' + f d d'     mu += d W_b / T     W = T
//! ```
//!
//! The term `f d d'` enters the block product as one more row `sqrt(f) d`, so the merge of Chan
//! costs one row in 257. With forgetting `alpha` a block of `b` rows first multiplies `W, C, c, cyy`
//! by `(1 - alpha)^b`, and its row `i` has the weight `(1 - alpha)^(b-1-i)`. Then `n_eff = W^2 / W2`
//! tends to `(2 - alpha) / alpha`.
//!
//! Blocks have 256 rows and begin at row numbers that 256 divides, whatever blocks the source has.
//! The rows of an unfinished block wait in `pending`. Reading the state includes them and leaves
//! them there, so every digit depends only on the rows. Sparse rows are summed without centring,
//! which would make them dense: `C = sum w (x - m)(x - m)'`, centred when the state is read. `m` is
//! zero except for features that every row has.
//!
//! Means have twice the digits of an f64 (`means`), so a large offset costs no precision. Sample
//! weights are divided by a power of four near the first of them, so any scale of weights gives the
//! same model. A block whose products do not fit f32 is multiplied in f64.
//!
//! Cost `p (p + 1)` flops a row; memory `4 p (p + 1)` bytes, 512 rows, and O(p). Sources: Sun and
//! Barbu, arXiv 1803.11521 (framework); Chan, Golub and LeVeque 1983 (merge).

use serde::{Deserialize, Serialize};

use super::means::Means;
use super::moments::{BlockSums, Moments, Shift};
use crate::data::row::{Row, RowBlock, margin, outputs};
use crate::error::{Error, Result};
use crate::numeric::packed::Packed;
use crate::numeric::row_loops;
use crate::registry::setting::Bounds;

/// Rows of a block product; the grid of blocks begins at row 0.
pub const GRID: usize = 256;
/// Largest value whose square fits an f32.
const MOST_F32: f64 = 1e17;
/// Largest value whose square fits an f64.
const MOST_F64: f64 = 1e150;
/// Largest sample weight, as a multiple of the first.
const MOST_WEIGHT: f64 = 1e100;

/// Settings of [`RunningAverages`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AveragesParams {
    /// Share of the past that each row forgets, in `0..1`; 0 forgets nothing.
    pub forget: f64,
    /// Block products in f64 instead of f32: half the speed, 1e-10 instead of 1e-7.
    pub f64_products: bool,
    /// Second moments stored in f32: half the memory, near 1e-6 instead of 1e-7 after 100,000
    /// rows. Not for sparse rows, which are added one at a time.
    pub f32_storage: bool,
}

/// Centred, weighted, mergeable second moments of rows and targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunningAverages {
    pub(super) params: AveragesParams,
    /// 0 for numbers; otherwise the number of classes, whose margins are the outputs.
    pub(super) classes: usize,
    pub(crate) moments: Moments,
    pub(crate) pending: RowBlock,
}

/// Shares of the past that each row may let go.
pub(crate) const FORGETTING: Bounds = Bounds::from_below(0.0, 1.0);

impl RunningAverages {
    /// Empty averages of `features` features; `classes` is 0 for regression.
    pub fn new(features: usize, classes: usize, params: AveragesParams) -> Result<Self> {
        FORGETTING.check("forget", params.forget)?;
        let q = outputs(classes);
        let moments = Moments {
            rows: 0,
            weight_unit: 0.0,
            weight: 0.0,
            weight2: 0.0,
            mean_x: Means::zeros(features),
            mean_y: Means::zeros(q),
            xx: Packed::zeros(features, params.f32_storage),
            xy: vec![vec![0.0; features]; q],
            yy: vec![0.0; q],
            raw: None,
            f32_products: false,
        };
        Ok(Self { params, classes, moments, pending: RowBlock::new(features, GRID) })
    }

    /// Bytes that averages of `features` features and `outputs` outputs take, buffers included.
    #[must_use]
    pub fn bytes_for(features: usize, outputs: usize, f32_storage: bool) -> u64 {
        let pending = 8 * GRID;
        Packed::bytes_for(features, GRID + 1, f32_storage)
            + (features * (8 * (3 + outputs) + pending)) as u64
    }

    /// Number of features.
    #[must_use]
    pub fn features(&self) -> usize {
        self.moments.xx.p()
    }

    /// Classes, 0 for regression.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The settings.
    #[must_use]
    pub fn params(&self) -> AveragesParams {
        self.params
    }

    /// Rows pushed so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.moments.rows + self.pending.len() as u64
    }

    /// `W^2 / W2`: the number of equally weighted rows with the same information.
    #[must_use]
    pub fn effective_rows(&self) -> f64 {
        let (weight, weight2) = self.weight_sums();
        if weight2 > 0.0 { weight * weight / weight2 } else { 0.0 }
    }

    /// `W` and `W2` including the pending rows.
    fn weight_sums(&self) -> (f64, f64) {
        let (row_weight, decay) = self.row_weights(&self.pending);
        let old = self.moments.weight * decay;
        let old2 = self.moments.weight2 * decay * decay;
        (old + row_weight.iter().sum::<f64>(), old2 + row_weight.iter().map(|w| w * w).sum::<f64>())
    }

    /// Adds rows. A value that is not finite or too large, or a sample weight that is not positive,
    /// is refused before anything changes.
    pub fn push(&mut self, rows: &RowBlock) -> Result<()> {
        self.check(rows)?;
        let Some(first) = rows.weight().first() else { return Ok(()) };
        if self.rows() == 0 {
            self.moments.raw = rows.is_sparse().then(Shift::default);
            self.moments.weight_unit = weight_unit(*first);
        }
        let raw = self.moments.raw.is_some();
        // A whole block of the grid need not wait in `pending`.
        if self.pending.is_empty() && rows.len() == GRID && rows.is_sparse() == raw {
            self.add_block(rows);
            return Ok(());
        }
        for (i, row) in rows.rows().enumerate() {
            match (raw, row) {
                (false, Row::Sparse { .. }) => {
                    let mut dense = vec![0.0; self.features()];
                    row.axpy(1.0, &mut dense);
                    self.pending.push(Row::F64(&dense), rows.y()[i], rows.weight()[i])?;
                }
                (true, Row::F32(_) | Row::F64(_)) => {
                    let (mut index, mut value) = (Vec::new(), Vec::new());
                    row.each(|j, x| {
                        index.push(j as u32);
                        value.push(x);
                    });
                    let row = Row::Sparse { index: &index, value: &value };
                    self.pending.push(row, rows.y()[i], rows.weight()[i])?;
                }
                _ => self.pending.push(row, rows.y()[i], rows.weight()[i])?,
            }
            if self.pending.len() == GRID {
                self.flush();
            }
        }
        Ok(())
    }

    fn check(&self, rows: &RowBlock) -> Result<()> {
        let want = self.features();
        if rows.features() != want {
            let got = rows.features();
            return Err(Error::Data(format!("a row has {got} features, expected {want}")));
        }
        let fresh = self.rows() == 0;
        let raw = if fresh { rows.is_sparse() } else { self.moments.raw.is_some() };
        let first = rows.weight().first().copied().unwrap_or(1.0);
        let unit = if fresh { weight_unit(first) } else { self.moments.weight_unit };
        if raw && self.params.f32_storage {
            return Err(Error::Unsupported(
                "sparse rows are added one at a time, which f32 cannot hold; leave storage=f32 out"
                    .into(),
            ));
        }
        let most = if self.params.f64_products || raw { MOST_F64 } else { MOST_F32 };
        for (i, row) in rows.rows().enumerate() {
            let at = self.rows() + i as u64;
            let within = match row {
                Row::F32(x) => row_loops::within(x, most),
                Row::F64(x) => row_loops::within(x, most),
                Row::Sparse { .. } => false,
            };
            if let Some(j) = (!within).then(|| row.beyond(most)).flatten() {
                return Err(Error::Data(format!(
                    "feature {j} is {} at row {at}: not a finite number small enough to square; \
                     scale the column down or choose a `missing` policy",
                    row.get(j)
                )));
            }
            check_target(self.classes, rows.y()[i], rows.weight()[i], at)?;
            if rows.weight()[i] / unit > MOST_WEIGHT {
                return Err(Error::Data(format!(
                    "the sample weight at row {at} is {}, more than 1e100 times the first",
                    rows.weight()[i]
                )));
            }
        }
        Ok(())
    }

    /// The sample weights of a block over the unit, with forgetting, and the factor on all earlier
    /// rows.
    fn row_weights(&self, block: &RowBlock) -> (Vec<f64>, f64) {
        let (keep, unit, b) = (1.0 - self.params.forget, self.moments.weight_unit, block.len());
        let aged = |(i, w): (usize, &f64)| w / unit * keep.powi((b - 1 - i) as i32);
        (block.weight().iter().enumerate().map(aged).collect(), keep.powi(b as i32))
    }

    /// Sums of a block of rows. The shift is already subtracted from sparse rows.
    fn sums(&self, block: &RowBlock) -> BlockSums {
        let (row_weight, decay) = self.row_weights(block);
        let weight: f64 = row_weight.iter().sum();
        let weight2 = row_weight.iter().map(|w| w * w).sum();
        let (p, q) = (self.features(), self.moments.mean_y.len());
        let (mut mean_x, mut mean_y) = (vec![0.0; p], vec![0.0; q]);
        // Means are relative to the first row, so that a large offset costs no digit.
        let (mut shift, mut shift_y) = (vec![0.0; p], vec![0.0; q]);
        let mut deviation = Vec::new();
        match &self.moments.raw {
            Some(raw) => {
                raw.index.iter().zip(&raw.value).for_each(|(j, v)| shift[*j as usize] = *v);
                shift_y.copy_from_slice(&raw.y);
                for (row, w) in block.rows().zip(&row_weight) {
                    row.axpy(w / weight, &mut mean_x);
                }
            }
            None => {
                deviation = vec![0.0; p];
                block.row(0).axpy(1.0, &mut shift);
                shift_y = (0..q).map(|o| margin(self.classes, block.y()[0], o)).collect();
                let rows: Vec<Row<'_>> = block.rows().collect();
                for (rows, w) in rows.chunks(4).zip(row_weight.chunks(4)) {
                    add_shifted(rows, w, weight, &shift, (&mut mean_x, &mut deviation));
                }
            }
        }
        for (y, w) in block.y().iter().zip(&row_weight) {
            for (output, mean) in mean_y.iter_mut().enumerate() {
                *mean += w / weight * (margin(self.classes, *y, output) - shift_y[output]);
            }
        }
        let (mean_x, mean_y) = (Means::of(shift, mean_x), Means::of(shift_y, mean_y));
        BlockSums { row_weight, weight, weight2, mean_x, mean_y, deviation, decay }
    }

    /// Moves the pending rows into the moments.
    pub(crate) fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut pending = std::mem::replace(&mut self.pending, RowBlock::new(0, GRID));
        self.add_block(&pending);
        pending.reset(GRID);
        self.pending = pending;
    }

    /// Adds one block of the grid to the moments.
    fn add_block(&mut self, block: &RowBlock) {
        if let Some(raw) = &mut self.moments.raw {
            if self.moments.rows == 0 {
                *raw = Shift::of(block, self.classes, self.moments.yy.len());
            }
            let shifted = raw.subtracted_from(block);
            let block = shifted.as_ref().unwrap_or(block);
            let sums = self.sums(block);
            self.moments.scatter(block, self.classes, &sums);
            return;
        }
        let sums = self.sums(block);
        let in_f32 = !self.params.f64_products && self.moments.fits_f32(&sums);
        self.moments.f32_products |= in_f32 || self.params.f32_storage;
        match in_f32 {
            true => self.moments.update::<f32>(block, self.classes, &sums),
            false => self.moments.update::<f64>(block, self.classes, &sums),
        }
    }

    /// Adds the pending rows and frees the buffers; no more rows will come.
    pub(crate) fn close(&mut self) {
        self.flush();
        self.moments.xx.close();
        self.pending = RowBlock::new(self.features(), GRID);
    }

    /// The centred moments, including the pending rows.
    pub(crate) fn settled(&self) -> std::borrow::Cow<'_, Moments> {
        let m = &self.moments;
        if self.pending.is_empty() && m.raw.is_none() && m.xx.settled() {
            return std::borrow::Cow::Borrowed(m);
        }
        let mut all = self.clone();
        all.flush();
        all.moments.xx.settle();
        all.moments.centre();
        std::borrow::Cow::Owned(all.moments)
    }

    /// Adds the rows of another, as if they had been pushed here.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.params.forget > 0.0 || other.params.forget > 0.0 {
            return Err(Error::Unsupported(
                "averages that forget cannot be merged: their rows have no common clock".into(),
            ));
        }
        if (self.features(), self.classes) != (other.features(), other.classes) {
            return Err(Error::Data(format!(
                "averages of {} features and {} classes cannot take {} features and {} classes",
                self.features(),
                self.classes,
                other.features(),
                other.classes
            )));
        }
        let (mine, theirs) = (self.moments.weight_unit, other.moments.weight_unit);
        let ratio = (mine / theirs).max(theirs / mine);
        if mine > 0.0 && theirs > 0.0 && ratio > MOST_WEIGHT {
            return Err(Error::Data(
                "the sample weights of one are more than 1e100 times those of the other".into(),
            ));
        }
        self.flush();
        self.moments.centre();
        self.moments.merge(&other.settled());
        Ok(())
    }

    /// Multiplies the weight of every row so far by `factor`; the means do not change.
    pub(crate) fn damp(&mut self, factor: f64) {
        self.flush();
        let m = &mut self.moments;
        m.decay(factor);
        m.xx.scale(factor);
    }
}

/// The power of four at or below a sample weight. Its root is exact, so division by it keeps the
/// digits of weights and of their roots.
pub(crate) fn weight_unit(weight: f64) -> f64 {
    let exponent = (weight.to_bits() >> 52) & 0x7ff;
    // The stored exponent has 1023 added, so an even power has an odd field.
    f64::from_bits((exponent - u64::from(exponent.is_multiple_of(2) && exponent > 0)).max(1) << 52)
}

/// Whether a target and a sample weight can be used.
pub(crate) fn check_target(classes: usize, y: f64, weight: f64, row: u64) -> Result<()> {
    let usable = match classes {
        0 => y.abs() <= MOST_F64,
        n => y >= 0.0 && y < n as f64 && y.fract() == 0.0,
    };
    if !usable {
        return Err(Error::Data(format!("the target at row {row} is {y}, which cannot be used")));
    }
    if !(weight > 0.0 && weight.is_finite()) {
        return Err(Error::Data(format!("the sample weight at row {row} is not positive")));
    }
    Ok(())
}

/// `out_j += w_i / total (x_ij - shift_j)` over up to four dense rows, and the largest deviations.
fn add_shifted(
    rows: &[Row<'_>],
    w: &[f64],
    total: f64,
    shift: &[f64],
    (out, deviation): (&mut [f64], &mut [f64]),
) {
    match (rows, w) {
        ([Row::F32(a), Row::F32(b), Row::F32(c), Row::F32(d)], &[p, q, r, s]) => {
            let scale = [p / total, q / total, r / total, s / total];
            row_loops::add_shifted(scale, [a, b, c, d], shift, out, deviation);
        }
        ([Row::F64(a), Row::F64(b), Row::F64(c), Row::F64(d)], &[p, q, r, s]) => {
            let scale = [p / total, q / total, r / total, s / total];
            row_loops::add_shifted(scale, [a, b, c, d], shift, out, deviation);
        }
        _ => {
            for (row, w) in rows.iter().zip(w) {
                match row {
                    Row::F32(x) => row_loops::add_shifted([w / total], [x], shift, out, deviation),
                    Row::F64(x) => row_loops::add_shifted([w / total], [x], shift, out, deviation),
                    Row::Sparse { .. } => unreachable!("dense averages store their rows dense"),
                }
            }
        }
    }
}
