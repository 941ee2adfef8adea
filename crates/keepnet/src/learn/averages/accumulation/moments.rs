//! Second moments, and how a block or other moments are added to them.
//!
//! [`super::running`] has the recurrences.

use serde::{Deserialize, Serialize};

use super::means::Means;
use crate::data::row::{Row, RowBlock, margin};
use crate::numeric::block_product::Product;
use crate::numeric::kernel;
use crate::numeric::packed::Packed;
use crate::numeric::row_loops;

/// Moments of all rows but those of the unfinished block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moments {
    pub(crate) rows: u64,
    /// Sample weights are divided by this power of four near the first of them, so that no square
    /// of a weight leaves the range of an f64; 0 before the first row.
    pub(crate) weight_unit: f64,
    /// Sum of the sample weights.
    pub(crate) weight: f64,
    /// Sum of their squares.
    pub(crate) weight2: f64,
    pub(crate) mean_x: Means,
    pub(crate) mean_y: Means,
    pub(crate) xx: Packed,
    /// One vector an output.
    pub(crate) xy: Vec<Vec<f64>>,
    pub(crate) yy: Vec<f64>,
    /// What was subtracted from sparse rows, which are summed without centring.
    pub(crate) raw: Option<Shift>,
    /// Whether some product was rounded to f32.
    pub(crate) f32_products: bool,
}

/// Subtracted from sparse rows before they are multiplied: the first row's values of the features
/// that every row of the first block has. A feature with an offset is stored in every row. A feature
/// that is often zero has a mean no larger than its deviation, and needs no shift.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shift {
    pub(crate) index: Vec<u32>,
    pub(crate) value: Vec<f64>,
    pub(crate) y: Vec<f64>,
}

/// Features that are centred at a time: their line stays in cache until it is in the strips.
const LINE: usize = 256;
/// Rows that are multiplied by the target together.
const TOGETHER: usize = 8;
/// Range of a feature's largest value in a block whose products all fit f32.
const F32_RANGE: std::ops::RangeInclusive<f64> = 1e-16..=1e17;

/// Sums of one block, without its second moments.
pub(crate) struct BlockSums {
    /// Sample weights over the unit, with forgetting.
    pub(crate) row_weight: Vec<f64>,
    pub(crate) weight: f64,
    pub(crate) weight2: f64,
    pub(crate) mean_x: Means,
    pub(crate) mean_y: Means,
    /// Largest distance of each feature from its first value in the block; empty for sparse rows.
    pub(crate) deviation: Vec<f64>,
    /// Factor on all earlier rows.
    pub(crate) decay: f64,
}

impl Moments {
    /// Whether the products of a block fit f32: none overflows and no square underflows.
    pub(crate) fn fits_f32(&self, sums: &BlockSums) -> bool {
        let most = sums.row_weight.iter().copied().fold(0.0, f64::max).sqrt();
        let joint = (self.weight * sums.weight / (self.weight + sums.weight)).sqrt();
        let fits = |d: &f64| *d == 0.0 || F32_RANGE.contains(&(d * most));
        let near = |d: &f64| joint * d.abs() <= *F32_RANGE.end();
        sums.deviation.iter().all(fits) && sums.mean_x.minus(&self.mean_x).iter().all(near)
    }

    /// Adds a block of dense rows, by the recurrence of [`super::running`].
    pub(crate) fn update<T: Product>(
        &mut self,
        block: &RowBlock,
        classes: usize,
        sums: &BlockSums,
    ) {
        let (p, b) = (self.mean_x.len(), block.len());
        self.decay(sums.decay);
        let joint = usize::from(self.weight > 0.0);
        let f = (self.weight * sums.weight / (self.weight + sums.weight)).sqrt();
        let d = sums.mean_x.minus(&self.mean_x);
        let y = self.targets(block, classes, sums, f);
        let rows = b + joint;
        let xy = &mut self.xy;
        self.xx.update(rows, sums.decay, |strips: &mut [T]| {
            for from in (0..p).step_by(LINE) {
                let part = from..p.min(from + LINE);
                let mut lines = [[T::default(); LINE]; TOGETHER];
                for first in (0..rows).step_by(TOGETHER) {
                    let group = first..rows.min(first + TOGETHER);
                    for (i, line) in group.clone().zip(&mut lines) {
                        let out = &mut line[..part.len()];
                        match i < b {
                            true => {
                                let root = sums.row_weight[i].sqrt();
                                centre_row(block.row(i), &part, &sums.mean_x, root, out);
                            }
                            false => {
                                let pairs = out.iter_mut().zip(&d[part.clone()]);
                                pairs.for_each(|(out, d)| *out = T::narrow(f * d));
                            }
                        }
                        let whole = part.len().next_multiple_of(T::WIDTH);
                        write_strips(&line[..whole], from * rows + i * T::WIDTH, rows, strips);
                    }
                    let x = lines.each_ref().map(|line| &line[..part.len()]);
                    for (xy, y) in xy.iter_mut().zip(&y) {
                        let xy = &mut xy[part.clone()];
                        kernel::add_combination(&y[group.clone()], &x[..group.len()], xy);
                    }
                }
            }
        });
        self.add_totals(sums, b as u64, &d);
    }

    /// The centred and weighted targets of a block, then `sqrt(f) d` where there are earlier rows.
    /// Adds their squares to `yy`.
    fn targets(
        &mut self,
        block: &RowBlock,
        classes: usize,
        sums: &BlockSums,
        f: f64,
    ) -> Vec<Vec<f64>> {
        let d = sums.mean_y.minus(&self.mean_y);
        let mut out = Vec::with_capacity(self.yy.len());
        for (output, d) in d.iter().enumerate() {
            let (high, low) = (sums.mean_y.high[output], sums.mean_y.low[output]);
            let centred =
                |(y, w): (&f64, &f64)| w.sqrt() * ((margin(classes, *y, output) - high) - low);
            let mut y: Vec<f64> = block.y().iter().zip(&sums.row_weight).map(centred).collect();
            if self.weight > 0.0 {
                y.push(f * d);
            }
            self.yy[output] += y.iter().map(|y| y * y).sum::<f64>();
            out.push(y);
        }
        out
    }

    /// Adds a block of sparse rows, from which the shift is already subtracted, without centring.
    pub(crate) fn scatter(&mut self, block: &RowBlock, classes: usize, sums: &BlockSums) {
        self.decay(sums.decay);
        self.xx.scatter(block, &sums.row_weight, sums.decay);
        let shift = self.raw.as_ref().map_or(&[][..], |shift| &shift.y);
        for ((row, y), w) in block.rows().zip(block.y()).zip(&sums.row_weight) {
            for output in 0..self.yy.len() {
                let y = margin(classes, *y, output) - shift[output];
                self.yy[output] += w * y * y;
                row.axpy(w * y, &mut self.xy[output]);
            }
        }
        let d = sums.mean_x.minus(&self.mean_x);
        self.add_totals(sums, block.len() as u64, &d);
    }

    /// Multiplies everything but `xx` by `decay`.
    pub(crate) fn decay(&mut self, decay: f64) {
        if decay != 1.0 {
            self.weight *= decay;
            self.weight2 *= decay * decay;
            self.yy.iter_mut().for_each(|v| *v *= decay);
            self.xy.iter_mut().flatten().for_each(|v| *v *= decay);
        }
    }

    /// Adds the counts, weights and means of a block; `d` is the difference of the means.
    fn add_totals(&mut self, sums: &BlockSums, rows: u64, d: &[f64]) {
        let total = self.weight + sums.weight;
        if self.weight == 0.0 {
            (self.mean_x, self.mean_y) = (sums.mean_x.clone(), sums.mean_y.clone());
        } else {
            let share = sums.weight / total;
            self.mean_x.step(share, d);
            let d = sums.mean_y.minus(&self.mean_y);
            self.mean_y.step(share, &d);
        }
        self.weight = total;
        self.weight2 += sums.weight2;
        self.rows += rows;
    }

    /// Turns sums of sparse rows into centred ones.
    pub(crate) fn centre(&mut self) {
        let Some(shift) = self.raw.take() else { return };
        if self.rows == 0 {
            return;
        }
        let mut dense = vec![0.0; self.mean_x.len()];
        shift.index.iter().zip(&shift.value).for_each(|(j, v)| dense[*j as usize] = *v);
        let mean = self.mean_x.less(&dense);
        self.xx.rank_one(-self.weight, &mean);
        self.xx.lift_diagonal();
        for (output, mean_y) in self.mean_y.less(&shift.y).iter().enumerate() {
            kernel::axpy(-self.weight * mean_y, &mean, &mut self.xy[output]);
            self.yy[output] = (self.yy[output] - self.weight * mean_y * mean_y).max(0.0);
        }
    }

    /// Adds the rows of another; both are centred.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.weight == 0.0 {
            return;
        }
        if self.weight == 0.0 {
            self.weight_unit = other.weight_unit;
        }
        // A power of two, so the change of unit loses no digit.
        let unit = other.weight_unit / self.weight_unit;
        let theirs = other.weight * unit;
        let total = self.weight + theirs;
        let (f, share) = (self.weight * theirs / total, theirs / total);
        let d = other.mean_x.minus(&self.mean_x);
        let dy = other.mean_y.minus(&self.mean_y);
        self.xx.add(unit, &other.xx);
        self.xx.rank_one(f, &d);
        for output in 0..self.yy.len() {
            kernel::axpy(unit, &other.xy[output], &mut self.xy[output]);
            kernel::axpy(f * dy[output], &d, &mut self.xy[output]);
            self.yy[output] += unit * other.yy[output] + f * dy[output] * dy[output];
        }
        if self.weight == 0.0 {
            (self.mean_x, self.mean_y) = (other.mean_x.clone(), other.mean_y.clone());
        } else {
            self.mean_x.step(share, &d);
            self.mean_y.step(share, &dy);
        }
        self.weight = total;
        self.weight2 += unit * unit * other.weight2;
        self.rows += other.rows;
        self.f32_products |= other.f32_products;
    }
}

impl Shift {
    /// The shift of a first block of sparse rows.
    pub(crate) fn of(block: &RowBlock, classes: usize, outputs: usize) -> Self {
        let mut shift = Self::default();
        let Some(first) = block.rows().next() else { return shift };
        first.each(|j, x| {
            shift.index.push(j as u32);
            shift.value.push(x);
        });
        for row in block.rows().skip(1) {
            let Row::Sparse { index, .. } = row else { continue };
            let kept = shift.index.iter().zip(&shift.value);
            (shift.index, shift.value) =
                kept.filter(|(j, _)| index.binary_search(j).is_ok()).unzip();
        }
        shift.y = (0..outputs).map(|output| margin(classes, block.y()[0], output)).collect();
        shift
    }

    /// The rows of a block with the shift subtracted; `None` where the shift is zero.
    pub(crate) fn subtracted_from(&self, block: &RowBlock) -> Option<RowBlock> {
        if self.index.is_empty() {
            return None;
        }
        let mut out = RowBlock::new(block.features(), block.len());
        let (mut index, mut value) = (Vec::new(), Vec::new());
        for (i, row) in block.rows().enumerate() {
            index.clear();
            value.clear();
            let mut shifts = self.index.iter().zip(&self.value).peekable();
            row.each(|j, x| {
                while let Some((at, shift)) = shifts.next_if(|(at, _)| (**at as usize) < j) {
                    index.push(*at);
                    value.push(-shift);
                }
                let shift = shifts.next_if(|(at, _)| **at as usize == j).map_or(0.0, |(_, v)| *v);
                index.push(j as u32);
                value.push(x - shift);
            });
            for (at, shift) in shifts {
                index.push(*at);
                value.push(-shift);
            }
            let row = Row::Sparse { index: &index, value: &value };
            out.push(row, block.y()[i], block.weight()[i]).expect("the features ascend");
        }
        Some(out)
    }
}

/// Features `part` of a row, centred and scaled.
fn centre_row<T: Product>(
    row: Row<'_>,
    part: &std::ops::Range<usize>,
    mean: &Means,
    root: f64,
    out: &mut [T],
) {
    let (high, low) = (&mean.high[part.clone()], &mean.low[part.clone()]);
    match row {
        Row::F32(x) => row_loops::centre(root, &x[part.clone()], high, low, out),
        Row::F64(x) => row_loops::centre(root, &x[part.clone()], high, low, out),
        Row::Sparse { .. } => unreachable!("dense averages store their rows dense"),
    }
}

/// Writes a line of features into their strips; a strip has `rows` rows.
fn write_strips<T: Product>(line: &[T], first: usize, rows: usize, strips: &mut [T]) {
    let places = (first..).step_by(rows * T::WIDTH);
    for (piece, at) in line.chunks(T::WIDTH).zip(places) {
        strips[at..at + T::WIDTH].copy_from_slice(piece);
    }
}
