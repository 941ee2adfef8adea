//! The ridge of least generalised cross-validation, from one tridiagonalisation.
//!
//! ```text
//! S = Q T Q', t = Q's;  (T + lambda I) u = t
//! RSS = syy - t'u - lambda u'u      df = p - lambda tr (T + lambda I)^-1
//! GCV(lambda) = RSS / (1 - (df + 1) / n_eff)^2          the 1 is the intercept
//! ```
//!
//! `T` is tridiagonal, so a value of lambda costs O(p): `u` by elimination, and the trace from
//! the pivots `d+` from the top and `d-` from the bottom, `(T + lambda)^-1_ii = 1 / (d+_i +
//! d-_i - t_ii - lambda)`. Cost `4/3 p^3` once, `p r^2` where the rank `r` is far below `p` (fewer
//! rows than features). Source: Golub, Heath and Wahba 1979.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::tridiag;
use faer::linalg::householder;
use faer::{Conj, Mat, Par};

use super::gram::Gram;
use crate::numeric::kernel;

/// Number of lambdas that are tried, evenly spaced in the logarithm.
const STEPS: usize = 60;
const LEAST: f64 = 1e-4;
const MOST: f64 = 1e3;
/// A pivot of zero may be this large after block products in f32.
const ROUNDING: f64 = 1e-6;

/// `S` in tridiagonal form with its right-hand sides.
struct Tridiagonal {
    diagonal: Vec<f64>,
    below: Vec<f64>,
    right: Vec<Vec<f64>>,
}

/// The ridge that minimises generalised cross-validation, summed over outputs; computed once a Gram.
pub(crate) fn ridge(gram: &Gram) -> f64 {
    *gram.ridge.get_or_init(|| minimise(gram))
}

fn minimise(gram: &Gram) -> f64 {
    // With few rows S has low rank, and a small matrix has the same eigenvalues.
    let small = if 2.0 * gram.n < gram.p() as f64 { low_rank(gram) } else { None };
    let tri = small.unwrap_or_else(|| tridiagonalise(gram));
    let step = (MOST / LEAST).powf(1.0 / (STEPS - 1) as f64);
    let mut best = (f64::INFINITY, MOST);
    let mut lambda = LEAST;
    for _ in 0..STEPS {
        let score = tri.score(lambda, gram);
        if score < best.0 {
            best = (score, lambda);
        }
        lambda *= step;
    }
    best.1
}

/// `S = L L'` by Cholesky with pivoting, stopped at rank r; `L'L = V D V'`, of order r, has the
/// same non-zero eigenvalues, and `t = D^-1/2 V'L's`: a tridiagonal form that is diagonal. Cost
/// `p r^2`. `None` where the rank is more than half of `p`.
fn low_rank(gram: &Gram) -> Option<Tridiagonal> {
    let p = gram.p();
    let mut left = vec![1.0f64; p];
    let mut columns: Vec<Vec<f64>> = Vec::new();
    loop {
        let (pivot, most) = (0..p).map(|j| (j, left[j])).max_by(|a, b| a.1.total_cmp(&b.1))?;
        if most <= ROUNDING {
            break;
        }
        if 2 * columns.len() >= p {
            return None;
        }
        let mut column = gram.column(pivot).to_vec();
        for earlier in &columns {
            kernel::axpy(-earlier[pivot], earlier, &mut column);
        }
        let root = most.sqrt();
        column.iter_mut().for_each(|v| *v /= root);
        left.iter_mut().zip(&column).for_each(|(left, v)| *left -= v * v);
        left[pivot] = 0.0;
        columns.push(column);
    }
    let r = columns.len();
    let small = Mat::from_fn(r, r, |i, j| kernel::dot(&columns[i], &columns[j]));
    let eigen = small.self_adjoint_eigen(faer::Side::Lower).ok()?;
    let (vectors, values) = (eigen.U(), eigen.S().column_vector());
    let rotate = |xy: &Vec<f64>| -> Vec<f64> {
        let h: Vec<f64> = columns.iter().map(|column| kernel::dot(column, xy)).collect();
        let one = |i: usize| (0..r).map(|j| vectors[(j, i)] * h[j]).sum::<f64>();
        (0..r).map(|i| one(i) / values[i].max(ROUNDING).sqrt()).collect()
    };
    Some(Tridiagonal {
        diagonal: (0..r).map(|i| values[i].max(0.0)).collect(),
        below: vec![0.0; r.saturating_sub(1)],
        right: gram.xy.iter().map(rotate).collect(),
    })
}

fn tridiagonalise(gram: &Gram) -> Tridiagonal {
    let p = gram.p();
    let mut right = Mat::from_fn(p, gram.xy.len(), |i, output| gram.xy[output][i]);
    let mut s = gram.s.clone();
    if p > 1 {
        let block = faer::linalg::qr::no_pivoting::factor::recommended_block_size::<f64>(p, p);
        let mut factor = Mat::<f64>::zeros(block, p - 1);
        let first = tridiag::tridiag_in_place_scratch::<f64>(p, Par::Seq, Default::default());
        let second =
            householder::apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<
                f64,
            >(p - 1, block, right.ncols());
        let mut memory = MemBuffer::new(first.or(second));
        let stack = MemStack::new(&mut memory);
        tridiag::tridiag_in_place(s.as_mut(), factor.as_mut(), Par::Seq, stack, Default::default());
        let outputs = right.ncols();
        householder::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
            s.as_ref().submatrix(1, 0, p - 1, p - 1),
            factor.as_ref(),
            Conj::No,
            right.as_mut().submatrix_mut(1, 0, p - 1, outputs),
            Par::Seq,
            stack,
        );
    }
    Tridiagonal {
        diagonal: (0..p).map(|i| s[(i, i)]).collect(),
        below: (1..p).map(|i| s[(i, i - 1)]).collect(),
        right: (0..right.ncols()).map(|o| right.col_as_slice(o).to_vec()).collect(),
    }
}

impl Tridiagonal {
    /// `GCV(lambda)` times a constant; infinite where the fit would use up the rows.
    fn score(&self, lambda: f64, gram: &Gram) -> f64 {
        let p = self.diagonal.len();
        let floor = f64::EPSILON;
        let mut down = vec![0.0; p];
        let mut up = vec![0.0; p];
        for i in 0..p {
            let before = if i > 0 { self.below[i - 1].powi(2) / down[i - 1] } else { 0.0 };
            down[i] = (self.diagonal[i] + lambda - before).max(floor);
            let j = p - 1 - i;
            let after = if i > 0 { self.below[j].powi(2) / up[j + 1] } else { 0.0 };
            up[j] = (self.diagonal[j] + lambda - after).max(floor);
        }
        let inverse = |i: usize| 1.0 / (down[i] + up[i] - self.diagonal[i] - lambda).max(floor);
        let trace: f64 = (0..p).map(inverse).sum();
        let free = 1.0 - (p as f64 - lambda * trace + 1.0) / gram.n;
        if free <= 0.0 {
            return f64::INFINITY;
        }
        let rss: f64 = (0..self.right.len()).map(|o| self.rss(o, lambda, &down, gram)).sum();
        rss / (free * free)
    }

    fn rss(&self, output: usize, lambda: f64, down: &[f64], gram: &Gram) -> f64 {
        let (right, p) = (&self.right[output], down.len());
        let mut u = right.clone();
        for i in 1..p {
            u[i] -= self.below[i - 1] / down[i - 1] * u[i - 1];
        }
        u[p - 1] /= down[p - 1];
        for i in (0..p - 1).rev() {
            u[i] = (u[i] - self.below[i] * u[i + 1]) / down[i];
        }
        let fit: f64 = u.iter().zip(right).map(|(u, t)| u * t).sum();
        let size: f64 = u.iter().map(|u| u * u).sum();
        (gram.yy[output] - fit - lambda * size).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::averages::gram::solve;

    #[test]
    fn few_rows_give_the_ridge_of_the_full_matrix() {
        // 25 rows of 120 features: rank 24. The other way to the score is the reference.
        let gram = crate::learn::testing::gram(25, 120, 5);
        let (few, all) = (low_rank(&gram).unwrap(), tridiagonalise(&gram));
        assert_eq!(few.diagonal.len(), 24);
        for lambda in [1e-2, 0.4, 20.0] {
            let ratio = few.score(lambda, &gram) / all.score(lambda, &gram);
            assert!((ratio - 1.0).abs() < 1e-6, "lambda {lambda}: {ratio}");
        }
        assert!(low_rank(&crate::learn::testing::gram(200, 20, 5)).is_none());
    }

    /// RSS and degrees of freedom against a dense solve with every unit vector.
    #[test]
    fn the_score_is_that_of_the_dense_formula() {
        let gram = crate::learn::testing::gram(40, 7, 3);
        let tri = tridiagonalise(&gram);
        for lambda in [1e-3, 0.4, 20.0] {
            let p = gram.p();
            let b = solve(|| gram.s.clone(), &gram.xy, lambda).unwrap();
            let all: Vec<usize> = (0..p).collect();
            let rss = gram.rss(&all, &b);
            let units: Vec<Vec<f64>> =
                (0..p).map(|j| (0..p).map(|i| f64::from(u8::from(i == j))).collect()).collect();
            let inverse = solve(|| gram.s.clone(), &units, lambda).unwrap();
            let trace: f64 = (0..p).map(|j| inverse[j][j]).sum();
            let room = 1.0 - (p as f64 - lambda * trace + 1.0) / gram.n;
            let want = rss / (room * room);
            assert!((tri.score(lambda, &gram) / want - 1.0).abs() < 1e-10, "lambda {lambda}");
        }
    }
}
