//! Small dense symmetric matrices: factorisation by faer, and the sweep operator.

use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::{Mat, Side};
use serde::{Deserialize, Serialize};

use super::kernel::{Lanes, add_products};

/// A square matrix with room to grow, row by row.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Square {
    stride: usize,
    data: Vec<f64>,
}

impl Square {
    /// A zero matrix with room for `n` rows.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Self { stride: n, data: vec![0.0; n * n] }
    }

    /// Whether a matrix from a saved state has room for `n` rows.
    #[must_use]
    pub fn room(&self, n: usize) -> bool {
        self.stride >= n && self.stride.checked_mul(self.stride) == Some(self.data.len())
    }

    /// Whether it has room for `n` rows and all its numbers are finite.
    #[must_use]
    pub fn sound(&self, n: usize) -> bool {
        self.room(n) && self.data.iter().all(|v| v.is_finite())
    }

    /// Makes room for `n` rows, keeping what is there.
    pub fn reserve(&mut self, n: usize) {
        if n <= self.stride {
            return;
        }
        let mut wider = Self::new(n.max(2 * self.stride).max(8));
        for i in 0..self.stride {
            wider.row_mut(i)[..self.stride].copy_from_slice(self.row(i));
        }
        *self = wider;
    }

    /// One row, with the room at its end.
    #[must_use]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.stride..(i + 1) * self.stride]
    }

    /// One row to write to.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.stride..(i + 1) * self.stride]
    }

    /// The product of its first `v.len()` rows and columns with a vector.
    #[must_use]
    pub fn times(&self, v: &[f64]) -> Vec<f64> {
        let rows: Vec<&[f64]> = (0..v.len()).map(|i| &self.row(i)[..v.len()]).collect();
        let mut lanes = vec![Lanes::default(); v.len()];
        add_products(&rows, &[v], &mut lanes);
        lanes.iter().map(Lanes::sum).collect()
    }

    /// One entry.
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.stride + j]
    }

    /// Sets an entry and its mirror image.
    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        self.data[i * self.stride + j] = value;
        self.data[j * self.stride + i] = value;
    }

    /// Row and column `from` take the place of row and column `to` in a matrix of `n` rows.
    pub fn relocate(&mut self, from: usize, to: usize, n: usize) {
        if from == to {
            return;
        }
        for i in (0..n).filter(|i| *i != from && *i != to) {
            self.set(i, to, self.at(i, from));
        }
        self.set(to, to, self.at(from, from));
    }

    /// The lower triangle of the first `n` rows, row by row.
    #[must_use]
    pub fn lower(&self, n: usize) -> Vec<f64> {
        (0..n).flat_map(|i| self.row(i)[..=i].iter().copied()).collect()
    }

    /// The symmetric matrix of `n` rows with this lower triangle; `None` of another length.
    #[must_use]
    pub fn of_lower(n: usize, lower: &[f64]) -> Option<Self> {
        if lower.len() != n * (n + 1) / 2 {
            return None;
        }
        let (mut out, mut next) = (Self::new(n), lower.iter());
        for i in 0..n {
            for j in 0..=i {
                out.set(i, j, *next.next()?);
            }
        }
        Some(out)
    }

    /// Makes the first `n` rows symmetric to the last digit: sweeping rounds the two halves apart.
    pub fn mirror(&mut self, n: usize) {
        for i in 0..n {
            for j in 0..i {
                self.set(i, j, self.at(i, j));
            }
        }
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        8 * self.data.len() as u64
    }

    /// Exchanges index `pivot` between the two sides of the linear system: the sweep operator.
    ///
    /// For a symmetric `[G, c]` swept over a set `S`, entries become
    ///
    /// ```text
    /// SS: -inverse(G_SS)    SR: inverse(G_SS) G_SR    RR: G_RR - G_RS inverse(G_SS) G_SR
    /// ```
    ///
    /// so coefficients, residual correlations and Schur complements are all in one matrix, and
    /// adding or removing a column is one rank-1 update of `n^2` entries. Goodnight, The American
    /// Statistician 33 (1979). `direction` is 1 to add `pivot` and -1 to remove it.
    pub fn sweep(&mut self, pivot: usize, direction: f64, n: usize, scratch: &mut Vec<f64>) {
        scratch.clear();
        scratch.extend_from_slice(&self.row(pivot)[..n]);
        let inverse = 1.0 / scratch[pivot];
        for i in (0..n).filter(|i| *i != pivot) {
            let factor = -scratch[i] * inverse;
            super::kernel::axpy(factor, &scratch[..n], &mut self.row_mut(i)[..n]);
        }
        for i in (0..n).filter(|i| *i != pivot) {
            self.set(i, pivot, direction * scratch[i] * inverse);
        }
        self.set(pivot, pivot, -inverse);
    }
}

fn mat(n: usize, entry: impl Fn(usize, usize) -> f64) -> Mat<f64> {
    Mat::from_fn(n, n, entry)
}

/// The inverse of a symmetric positive definite matrix; `None` where it is not.
pub fn inverse(n: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Square> {
    let inverse = mat(n, entry).llt(Side::Lower).ok()?.inverse();
    let mut out = Square::new(n);
    for i in 0..n {
        for j in 0..=i {
            let value = inverse[(i, j)];
            if !value.is_finite() {
                return None;
            }
            out.set(i, j, value);
        }
    }
    Some(out)
}

/// Solves a symmetric positive definite system in place; `None` where it is not definite.
pub fn solve(n: usize, entry: impl Fn(usize, usize) -> f64, rhs: &mut [f64]) -> Option<()> {
    let factor = mat(n, entry).llt(Side::Lower).ok()?;
    let mut x = Mat::from_fn(n, 1, |i, _| rhs[i]);
    factor.solve_in_place(x.as_mut());
    rhs.iter_mut().enumerate().for_each(|(i, out)| *out = x[(i, 0)]);
    rhs.iter().all(|x| x.is_finite()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(i: usize, j: usize) -> f64 {
        if i == j { 4.0 + i as f64 } else { 1.0 / (1.0 + i.abs_diff(j) as f64) }
    }

    #[test]
    fn the_inverse_and_the_solution_undo_the_matrix() {
        let n = 6;
        let a = inverse(n, example).unwrap();
        for i in 0..n {
            for j in 0..n {
                let product: f64 = (0..n).map(|k| example(i, k) * a.at(k, j)).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        let mut x: Vec<f64> = (0..n).map(|i| (0..n).map(|j| example(i, j)).sum()).collect();
        solve(n, example, &mut x).unwrap();
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-12));
        assert!(inverse(2, |i, j| if i == j { 1.0 } else { 2.0 }).is_none());
    }

    #[test]
    fn sweeping_in_gives_the_inverse_and_out_gives_the_matrix_back() {
        let n = 5;
        let mut z = Square::new(n);
        for i in 0..n {
            for j in 0..=i {
                z.set(i, j, example(i, j));
            }
        }
        let mut scratch = Vec::new();
        let set = [0, 2, 3];
        set.iter().for_each(|j| z.sweep(*j, 1.0, n, &mut scratch));
        let a = inverse(3, |i, j| example(set[i], set[j])).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                assert!((z.at(set[i], set[j]) + a.at(i, j)).abs() < 1e-12);
            }
        }
        // Schur complement of index 4 by the formula.
        let g: Vec<f64> = set.iter().map(|i| example(*i, 4)).collect();
        let taken: f64 = (0..3)
            .flat_map(|i| (0..3).map(move |j| (i, j)))
            .map(|(i, j)| g[i] * a.at(i, j) * g[j])
            .sum();
        assert!((z.at(4, 4) - (example(4, 4) - taken)).abs() < 1e-12);
        set.iter().for_each(|j| z.sweep(*j, -1.0, n, &mut scratch));
        for i in 0..n {
            for j in 0..n {
                assert!((z.at(i, j) - example(i, j)).abs() < 1e-12);
            }
        }
    }
}
