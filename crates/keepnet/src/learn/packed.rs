//! A symmetric matrix as its packed lower triangle, and the rank-b update that feeds it.
//!
//! ```text
//! C <- decay C + X'X        X is b x p, f32 or f64; C is f64
//! entry (i, j), j <= i, at i (i + 1) / 2 + j
//! ```
//!
//! The triangle is worked through in tiles; each tile of `X'X` is one product of the linear
//! algebra crate in the width of `X`, added to the f64 triangle while it is still in cache.
//! Threads take whole panels of rows of the triangle and never split the sum over samples, so
//! every digit is the same for any number of threads. Cost `b p (p + 1)` flops, memory
//! `4 p (p + 1)` bytes and one tile a thread.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::matmul::{self};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::lanes;
use crate::kernel::Element;
use crate::row::{Row, RowBlock};

/// Rows of a panel, and columns of a tile: a multiple of the product's register block.
pub(crate) const TILE: usize = 264;

/// A width in which block products are made.
pub(crate) trait Product: Element + faer::traits::ComplexField {
    /// The nearest value of this width.
    fn narrow(x: f64) -> Self;
}

impl Product for f32 {
    #[inline(always)]
    fn narrow(x: f64) -> Self {
        x as f32
    }
}

impl Product for f64 {
    #[inline(always)]
    fn narrow(x: f64) -> Self {
        x
    }
}

/// A symmetric `p x p` matrix, lower triangle, row after row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Packed {
    p: usize,
    values: Vec<f64>,
}

/// Where row `i` of the triangle starts.
#[inline]
fn start(i: usize) -> usize {
    i * (i + 1) / 2
}

impl Packed {
    /// The zero matrix.
    pub(crate) fn zeros(p: usize) -> Self {
        Self { p, values: vec![0.0; start(p)] }
    }

    /// Bytes of a triangle of `p` rows.
    pub(crate) fn bytes_for(p: usize) -> u64 {
        8 * (p as u64) * (p as u64 + 1) / 2
    }

    /// Rows.
    pub(crate) fn p(&self) -> usize {
        self.p
    }

    /// Whether the length is that of `p` rows, as after a load.
    pub(crate) fn whole(&self) -> bool {
        self.values.len() == start(self.p)
    }

    /// Entry `(i, j)` with `j <= i`.
    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        self.values[start(i) + j]
    }

    /// Entries `(i, 0)` to `(i, i)`.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.values[start(i)..start(i + 1)]
    }

    /// `C *= factor`.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|v| *v *= factor);
    }

    /// `C += other`.
    pub(crate) fn add(&mut self, other: &Self) {
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += b;
        }
    }

    /// `C += scale d d'`.
    pub(crate) fn rank_one(&mut self, scale: f64, d: &[f64]) {
        for (i, di) in d.iter().enumerate() {
            let row = &mut self.values[start(i)..start(i + 1)];
            crate::kernel::axpy(scale * di, &d[..=i], row);
        }
    }

    /// `C = decay C + X'X` with `X` of `rows` rows in panels of [`TILE`] features: one panel
    /// after the other, each row after row. Whole rows would put a panel's lines far apart.
    pub(crate) fn update<T: Product>(&mut self, x: &[T], rows: usize, decay: f64) {
        let p = self.p;
        debug_assert_eq!(x.len(), rows * p);
        let mut panels = Vec::with_capacity(p.div_ceil(TILE));
        let mut rest = self.values.as_mut_slice();
        for from in (0..p).step_by(TILE) {
            let to = p.min(from + TILE);
            let (panel, tail) = rest.split_at_mut(start(to) - start(from));
            panels.push((from, to, panel));
            rest = tail;
        }
        let scratch = || vec![T::narrow(0.0); TILE * TILE];
        if rayon::current_num_threads() > 1 && panels.len() > 1 {
            // The longest panels first, as the last one begun decides when all are done.
            panels
                .into_par_iter()
                .rev()
                .with_max_len(1)
                .for_each_init(scratch, |tile, (from, to, panel)| {
                    update_panel(x, rows, from, to, panel, decay, tile)
                });
        } else {
            let mut tile = scratch();
            for (from, to, panel) in panels {
                update_panel(x, rows, from, to, panel, decay, &mut tile);
            }
        }
    }

    /// `C = decay C + sum v_i x_i x_i'` over sparse rows: `nnz (nnz + 1) / 2` products a row.
    pub(crate) fn scatter(&mut self, rows: &RowBlock, weight: &[f64], decay: f64) {
        if decay != 1.0 {
            self.scale(decay);
        }
        for (row, v) in rows.rows().zip(weight) {
            let Row::Sparse { index, value } = row else {
                unreachable!("a raw accumulator stores its rows sparse")
            };
            for (at, (i, x)) in index.iter().zip(value).enumerate() {
                let (scaled, line) = (v * x, start(*i as usize));
                for (j, z) in index[..=at].iter().zip(value) {
                    self.values[line + *j as usize] += scaled * z;
                }
            }
        }
    }
}

/// Rows `from..to` of the triangle, tile after tile.
fn update_panel<T: Product>(
    x: &[T],
    rows: usize,
    from: usize,
    to: usize,
    panel: &mut [f64],
    decay: f64,
    tile: &mut [T],
) {
    let part = |from: usize, width: usize| {
        MatRef::from_row_major_slice(&x[rows * from..rows * (from + width)], rows, width)
    };
    let rhs = part(from, to - from);
    for left in (0..to).step_by(TILE) {
        let width = TILE.min(to - left);
        let lhs = part(left, width).transpose();
        let len = width * (to - from);
        let out = MatMut::from_column_major_slice_mut(&mut tile[..len], width, to - from);
        let one = T::narrow(1.0);
        if left < from {
            matmul::matmul(out, Accum::Replace, lhs, rhs, one, Par::Seq);
        } else {
            // The tile on the diagonal is transposed here, so its upper half is the triangle's.
            let (half, full) = (BlockStructure::TriangularUpper, BlockStructure::Rectangular);
            triangular::matmul(out, half, Accum::Replace, lhs, full, rhs, full, one, Par::Seq);
        }
        for (i, sums) in (from..to).zip(tile.chunks_exact(width)) {
            let line = start(i) - start(from) + left;
            let used = width.min(i + 1 - left.min(i + 1));
            lanes::decay_add(decay, &sums[..used], &mut panel[line..line + used]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(b: usize, p: usize) -> Vec<f64> {
        (0..b * p).map(|i| ((i * 7919) % 101) as f64 / 50.0 - 1.0).collect()
    }

    fn panels(x: &[f64], p: usize) -> Vec<f64> {
        let part = |from: usize| {
            x.chunks_exact(p).flat_map(move |row| row[from..p.min(from + TILE)].to_vec())
        };
        (0..p).step_by(TILE).flat_map(part).collect()
    }

    #[test]
    fn a_tiled_update_is_the_plain_sum_of_products() {
        // Sizes below, at and above one tile; the plain sum is the reference.
        for p in [1, 3, 255, 256, 257, 600] {
            let x = rows(5, p);
            let mut c = Packed::zeros(p);
            c.update(&panels(&x, p), 5, 1.0);
            c.update(&panels(&x, p), 5, 0.5);
            for (i, j) in [(0, 0), (p - 1, 0), (p - 1, p - 1), (p / 2, p / 3)] {
                let plain: f64 = (0..5).map(|r| x[r * p + i] * x[r * p + j]).sum();
                assert!((c.get(i, j) - 1.5 * plain).abs() < 1e-12, "p {p} at {i} {j}");
            }
        }
    }

    #[test]
    fn threads_change_no_digit() {
        let x: Vec<f32> = panels(&rows(257, 700), 700).iter().map(|v| *v as f32).collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut c = Packed::zeros(700);
            pool.install(|| c.update(&x, 257, 1.0));
            c
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn scattered_sparse_rows_give_the_dense_update() {
        let mut block = RowBlock::new(4, 8);
        block.push(Row::Sparse { index: &[0, 2], value: &[1.0, 3.0] }, 0.0, 1.0).unwrap();
        block.push(Row::Sparse { index: &[1, 2, 3], value: &[2.0, -1.0, 0.5] }, 0.0, 1.0).unwrap();
        let mut sparse = Packed::zeros(4);
        sparse.scatter(&block, &[4.0, 1.0], 1.0);
        let mut dense = Packed::zeros(4);
        dense.update(&[2.0, 0.0, 6.0, 0.0, 0.0, 2.0, -1.0, 0.5], 2, 1.0);
        assert_eq!(sparse, dense);
    }
}
