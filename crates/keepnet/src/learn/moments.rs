//! The finished part of running averages: second moments, and how a block or another joins them.
//!
//! The recurrences are at the head of [`super::averages`].

use serde::{Deserialize, Serialize};

use super::lanes;
use super::packed::Packed;
use super::product::Product;
use crate::kernel;
use crate::row::{Row, RowBlock, margin};

/// The finished part: everything but the rows of the block under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moments {
    pub(crate) rows: u64,
    pub(crate) weight: f64,
    pub(crate) weight2: f64,
    pub(crate) mean_x: Vec<f64>,
    pub(crate) mean_y: Vec<f64>,
    pub(crate) xx: Packed,
    /// One vector an output.
    pub(crate) xy: Vec<Vec<f64>>,
    pub(crate) yy: Vec<f64>,
    /// Sparse rows were summed as they are: `xx` is not centred.
    pub(crate) raw: bool,
}

/// Features that are centred at a time: their line stays in cache on its way into the strips.
const LINE: usize = 256;
/// Rows whose lines are multiplied by the target together.
const TOGETHER: usize = 8;

/// What one block adds, apart from its second moments.
pub(crate) struct Sums {
    pub(crate) row_weight: Vec<f64>,
    pub(crate) weight: f64,
    pub(crate) weight2: f64,
    pub(crate) mean_x: Vec<f64>,
    pub(crate) mean_y: Vec<f64>,
    pub(crate) decay: f64,
}

impl Moments {
    /// One block of dense rows: the recurrence of the module's head.
    pub(crate) fn update<T: Product>(&mut self, block: &RowBlock, classes: usize, sums: &Sums) {
        let (p, b, q) = (self.mean_x.len(), block.len(), self.mean_y.len());
        self.age(sums.decay);
        let f = self.weight * sums.weight / (self.weight + sums.weight);
        let joint = usize::from(self.weight > 0.0);
        let mut y = vec![vec![0.0; b + joint]; q];
        let rows = b + joint;
        for output in 0..q {
            let (new, old) = (sums.mean_y[output], self.mean_y[output]);
            for (i, out) in y[output].iter_mut().enumerate() {
                *out = if i < b {
                    sums.row_weight[i].sqrt() * (margin(classes, block.y()[i], output) - new)
                } else {
                    f.sqrt() * (new - old)
                };
                self.yy[output] += *out * *out;
            }
        }
        let (xy, old) = (&mut self.xy, &self.mean_x);
        self.xx.update(rows, sums.decay, |strips: &mut [T]| {
            for from in (0..p).step_by(LINE) {
                let part = from..p.min(from + LINE);
                let mut lines = [[T::default(); LINE]; TOGETHER];
                let mean = &sums.mean_x[part.clone()];
                for first in (0..rows).step_by(TOGETHER) {
                    let some = first..rows.min(first + TOGETHER);
                    for (i, line) in some.clone().zip(&mut lines) {
                        let out = &mut line[..part.len()];
                        match i < b {
                            true => {
                                let root = sums.row_weight[i].sqrt();
                                centre_row(block.row(i), &part, mean, root, out);
                            }
                            false => lanes::centre(f.sqrt(), mean, &old[part.clone()], out),
                        }
                        let whole = part.len().next_multiple_of(T::WIDTH);
                        deal(&line[..whole], from * rows + i * T::WIDTH, rows, strips);
                    }
                    let x = lines.each_ref().map(|line| &line[..part.len()]);
                    for (xy, y) in xy.iter_mut().zip(&y) {
                        let xy = &mut xy[part.clone()];
                        kernel::add_combination(&y[some.clone()], &x[..some.len()], xy);
                    }
                }
            }
        });
        self.absorb(sums, b as u64);
    }

    /// One block of sparse rows, summed raw.
    pub(crate) fn scatter(&mut self, block: &RowBlock, classes: usize, sums: &Sums) {
        self.age(sums.decay);
        self.xx.scatter(block, &sums.row_weight, sums.decay);
        for ((row, y), w) in block.rows().zip(block.y()).zip(&sums.row_weight) {
            for output in 0..self.yy.len() {
                let y = margin(classes, *y, output);
                self.yy[output] += w * y * y;
                row.axpy(w * y, &mut self.xy[output]);
            }
        }
        self.absorb(sums, block.len() as u64);
    }

    pub(crate) fn age(&mut self, decay: f64) {
        if decay != 1.0 {
            self.weight *= decay;
            self.weight2 *= decay * decay;
            self.yy.iter_mut().for_each(|v| *v *= decay);
            self.xy.iter_mut().flatten().for_each(|v| *v *= decay);
        }
    }

    fn absorb(&mut self, sums: &Sums, rows: u64) {
        let total = self.weight + sums.weight;
        let share = sums.weight / total;
        let step = |(old, new): (&mut f64, &f64)| *old += share * (*new - *old);
        self.mean_x.iter_mut().zip(&sums.mean_x).for_each(step);
        self.mean_y.iter_mut().zip(&sums.mean_y).for_each(step);
        self.weight = total;
        self.weight2 += sums.weight2;
        self.rows += rows;
    }

    /// Turns raw sums into centred ones.
    pub(crate) fn centre(&mut self) {
        if !std::mem::take(&mut self.raw) {
            return;
        }
        self.xx.rank_one(-self.weight, &self.mean_x);
        for (output, mean) in self.mean_y.iter().enumerate() {
            kernel::axpy(-self.weight * mean, &self.mean_x, &mut self.xy[output]);
            self.yy[output] -= self.weight * mean * mean;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if other.weight == 0.0 {
            return;
        }
        let total = self.weight + other.weight;
        let f = self.weight * other.weight / total;
        let share = other.weight / total;
        let d: Vec<f64> = other.mean_x.iter().zip(&self.mean_x).map(|(a, b)| a - b).collect();
        self.xx.add(&other.xx);
        self.xx.rank_one(f, &d);
        for output in 0..self.yy.len() {
            let dy = other.mean_y[output] - self.mean_y[output];
            kernel::axpy(1.0, &other.xy[output], &mut self.xy[output]);
            kernel::axpy(f * dy, &d, &mut self.xy[output]);
            self.yy[output] += other.yy[output] + f * dy * dy;
            self.mean_y[output] += share * dy;
        }
        kernel::axpy(share, &d, &mut self.mean_x);
        self.weight = total;
        self.weight2 += other.weight2;
        self.rows += other.rows;
    }
}

/// Features `part` of a row, centred and scaled.
fn centre_row<T: Product>(
    row: Row<'_>,
    part: &std::ops::Range<usize>,
    mean: &[f64],
    root: f64,
    out: &mut [T],
) {
    match row {
        Row::F32(x) => lanes::centre(root, &x[part.clone()], mean, out),
        Row::F64(x) => lanes::centre(root, &x[part.clone()], mean, out),
        Row::Sparse { .. } => unreachable!("dense averages store their rows dense"),
    }
}

/// Writes a line of features into their strips, which begin `rows` strip rows apart.
fn deal<T: Product>(line: &[T], first: usize, rows: usize, strips: &mut [T]) {
    let places = (first..).step_by(rows * T::WIDTH);
    for (piece, at) in line.chunks(T::WIDTH).zip(places) {
        strips[at..at + T::WIDTH].copy_from_slice(piece);
    }
}
