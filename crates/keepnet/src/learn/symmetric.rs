//! A symmetric matrix in f32, half of it stored, for methods that multiply by it many times.
//!
//! ```text
//! y_i = sum_j s_ij x_j     row i below the diagonal serves y_i and every y_j, j < i, at once
//! ```
//!
//! A product reads `2 p^2` bytes, a quarter of what a full f64 matrix would take, and sums in
//! f64; each sum has its own fixed order. Four rows are taken together, so that `x` and `y` are
//! read and written once for all of them.

use super::gram::Gram;
use super::packed::start;
use crate::kernel::Element;
use crate::vector::{Vector, on_best};

/// Rows that are taken together, and columns of a step.
const ROWS: usize = 4;

/// The lower triangle, row after row.
pub(crate) struct Symmetric {
    p: usize,
    s: Vec<f32>,
}

impl Symmetric {
    /// The correlations of a Gram.
    pub(crate) fn of(gram: &Gram) -> Self {
        let p = gram.p();
        let mut s = Vec::with_capacity(start(p));
        for i in 0..p {
            s.extend(gram.column(i)[..=i].iter().map(|v| *v as f32));
        }
        Self { p, s }
    }

    /// Rows and columns.
    pub(crate) fn p(&self) -> usize {
        self.p
    }

    /// The rows and columns `keep`, ascending.
    pub(crate) fn keep(&mut self, keep: &[usize]) {
        let mut s = Vec::with_capacity(start(keep.len()));
        for (i, from) in keep.iter().enumerate() {
            let row = &self.s[start(*from)..start(from + 1)];
            s.extend(keep[..=i].iter().map(|j| row[*j]));
        }
        (self.p, self.s) = (keep.len(), s);
    }

    /// `y = S x`.
    pub(crate) fn times(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        let whole = self.p / ROWS * ROWS;
        for top in (0..whole).step_by(ROWS) {
            let rows: [&[f32]; ROWS] = std::array::from_fn(|r| &self.s[start(top + r)..][..top]);
            let factor: [f64; ROWS] = std::array::from_fn(|r| x[top + r]);
            let sums = on_best!(v => left_part(v, rows, x, factor, y));
            for (r, sum) in sums.into_iter().enumerate() {
                y[top + r] += sum;
                self.corner(top + r, top, x, y);
            }
        }
        for i in whole..self.p {
            self.corner(i, 0, x, y);
        }
    }

    /// Row `i` from column `left` to the diagonal.
    fn corner(&self, i: usize, left: usize, x: &[f64], y: &mut [f64]) {
        let row = &self.s[start(i)..start(i + 1)];
        for j in left..i {
            let s = f64::from(row[j]);
            y[i] += s * x[j];
            y[j] += s * x[i];
        }
        y[i] += f64::from(row[i]) * x[i];
    }

    /// The largest eigenvalue: power iterations from the vector of ones, at most 30, fewer where
    /// the value no longer moves. At least 1, which the unit diagonal guarantees.
    pub(crate) fn largest_eigenvalue(&self) -> f64 {
        let mut v = vec![1.0 / (self.p as f64).sqrt(); self.p];
        let mut next = vec![0.0; self.p];
        let mut norm = 1.0;
        for _ in 0..30 {
            self.times(&v, &mut next);
            let before = norm;
            norm = next.iter().map(|v| v * v).sum::<f64>().sqrt();
            if norm == 0.0 {
                return 1.0;
            }
            v.iter_mut().zip(&next).for_each(|(v, next)| *v = next / norm);
            if (norm - before).abs() <= 1e-14 * norm {
                break;
            }
        }
        norm.max(1.0)
    }
}

/// Four rows left of their square on the diagonal: `y += rows' factor`, and the sums `rows x`.
#[inline(always)]
fn left_part<V: Vector>(
    v: V,
    rows: [&[f32]; ROWS],
    x: &[f64],
    factor: [f64; ROWS],
    y: &mut [f64],
) -> [f64; ROWS] {
    let [a, b, c, d] = rows;
    let (a, b) = (a.as_chunks::<ROWS>().0, b.as_chunks::<ROWS>().0);
    let (c, d) = (c.as_chunks::<ROWS>().0, d.as_chunks::<ROWS>().0);
    let (x, y) = (x.as_chunks::<ROWS>().0, y.as_chunks_mut::<ROWS>().0);
    let (mut s0, mut s1, mut s2, mut s3) = (v.splat(0.0), v.splat(0.0), v.splat(0.0), v.splat(0.0));
    let [f0, f1, f2, f3] =
        [v.splat(factor[0]), v.splat(factor[1]), v.splat(factor[2]), v.splat(factor[3])];
    for (((((a, b), c), d), x), y) in a.iter().zip(b).zip(c).zip(d).zip(x).zip(y) {
        let (a, b) = (f32::load(v, a), f32::load(v, b));
        let (c, d) = (f32::load(v, c), f32::load(v, d));
        let x = v.load64(x);
        s0 = v.fma(a, x, s0);
        s1 = v.fma(b, x, s1);
        s2 = v.fma(c, x, s2);
        s3 = v.fma(d, x, s3);
        let first = v.fma(b, f1, v.fma(a, f0, v.load64(y)));
        *y = v.store(v.fma(d, f3, v.fma(c, f2, first)));
    }
    [v.store(s0), v.store(s1), v.store(s2), v.store(s3)].map(|sum| sum.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_the_plain_one_before_and_after_rows_left() {
        // The plain sum over the Gram's own entries, rounded to f32 as the matrix is.
        let gram = crate::learn::testing::gram(80, 43, 4);
        let mut matrix = Symmetric::of(&gram);
        let mut alive: Vec<usize> = (0..43).collect();
        for _ in 0..3 {
            let x: Vec<f64> = (0..alive.len()).map(|i| (i as f64).sin()).collect();
            let mut y = vec![9.0; x.len()];
            matrix.times(&x, &mut y);
            for (i, y) in alive.iter().zip(&y) {
                let entry = |j: &usize| f64::from(gram.column(*i)[*j] as f32);
                let plain: f64 = alive.iter().zip(&x).map(|(j, x)| entry(j) * x).sum();
                assert!((plain - y).abs() < 1e-12, "row {i}: {y} for {plain}");
            }
            let keep: Vec<usize> = (0..alive.len()).filter(|i| i % 3 != 1).collect();
            matrix.keep(&keep);
            alive = keep.iter().map(|i| alive[*i]).collect();
        }
    }
}
