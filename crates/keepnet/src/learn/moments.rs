//! The finished part of running averages: second moments, and how a block or another joins them.
//!
//! The recurrences are at the head of [`super::averages`].

use serde::{Deserialize, Serialize};

use super::lanes;
use super::packed::{Packed, Product, TILE};
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
    /// The centred rows of one block: a fresh allocation a block would cost its page faults.
    #[serde(skip)]
    pub(crate) scratch: Scratch,
}

/// A buffer that is no part of the state.
#[derive(Default)]
pub(crate) struct Scratch(pub(crate) Vec<f32>, pub(crate) Vec<f64>);

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Scratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratch")
    }
}

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
    pub(crate) fn update<T: Product>(
        &mut self,
        block: &RowBlock,
        classes: usize,
        sums: &Sums,
        x: &mut Vec<T>,
    ) {
        let (p, b, q) = (self.mean_x.len(), block.len(), self.mean_y.len());
        self.age(sums.decay);
        let f = self.weight * sums.weight / (self.weight + sums.weight);
        let joint = usize::from(self.weight > 0.0);
        let mut y = vec![vec![0.0; b + joint]; q];
        let rows = b + joint;
        x.resize(rows * p, T::narrow(0.0));
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
        for (panel, from) in x.chunks_mut(rows * TILE).zip((0..p).step_by(TILE)) {
            let part = from..p.min(from + TILE);
            for (i, line) in panel.chunks_exact_mut(part.len()).enumerate() {
                let mean = &sums.mean_x[part.clone()];
                match i < b {
                    true => centre_row(block.row(i), &part, mean, sums.row_weight[i].sqrt(), line),
                    false => lanes::centre(f.sqrt(), mean, &self.mean_x[part.clone()], line),
                }
                for (xy, y) in self.xy.iter_mut().zip(&y) {
                    kernel::axpy(y[i], line, &mut xy[part.clone()]);
                }
            }
        }
        self.xx.update(x, rows, sums.decay);
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
