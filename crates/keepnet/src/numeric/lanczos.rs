//! The largest eigenvalue of a symmetric matrix that is known by its products alone.
//!
//! ```text
//! q_1 random of a fixed seed;  S q_k = beta_{k-1} q_{k-1} + alpha_k q_k + beta_k q_{k+1}
//! theta = the largest eigenvalue of the tridiagonal matrix of alpha and beta, y its vector
//! bound:  theta + beta_m |y_m|
//! ```
//!
//! A start with all ones would miss an eigenvector that is orthogonal to it; a random start misses
//! the largest eigenvalue with probability zero. `theta` is at most the largest eigenvalue, and
//! some eigenvalue lies within `beta_m |y_m|` of it, so the bound is at least that eigenvalue. Cost
//! at most thirty products; memory `30 p` numbers. Source: Lanczos 1950; Kuczynski and Wozniakowski 1992 (random start).

use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;

use super::kernel;
use crate::data::order::generator;

/// Largest number of products.
const STEPS: usize = 30;

/// An estimate from above of the largest eigenvalue of a positive semidefinite matrix of `p` rows;
/// `times` multiplies a vector of `width` entries, of which those beyond `p` are zero.
pub(crate) fn largest_eigenvalue(
    p: usize,
    width: usize,
    mut times: impl FnMut(&[f64], &mut [f64]),
) -> f64 {
    let mut random = generator(0x1a2c05, p as u64);
    let mut q: Vec<f64> = (0..p).map(|_| random.sample::<f64, _>(StandardNormal)).collect();
    let norm = kernel::dot(&q, &q).sqrt();
    q.iter_mut().for_each(|v| *v /= norm);
    q.resize(width, 0.0);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let (mut alpha, mut beta): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut next = vec![0.0; width];
    let mut bound = (0.0, 0.0);
    for _ in 0..STEPS.min(p) {
        times(&q, &mut next);
        alpha.push(kernel::dot(&q, &next));
        basis.push(std::mem::replace(&mut q, next.clone()));
        // Orthogonalised against all earlier vectors, twice: rounding would bring them back.
        for _ in 0..2 {
            for before in &basis {
                let share = kernel::dot(before, &q);
                kernel::axpy(-share, before, &mut q);
            }
        }
        let norm = kernel::dot(&q, &q).sqrt();
        bound = top(&alpha, &beta, norm);
        if norm.is_nan() || norm <= 1e-12 * bound.0 || bound.1 <= 1e-14 * bound.0 {
            break;
        }
        beta.push(norm);
        q.iter_mut().for_each(|v| *v /= norm);
    }
    let (theta, away) = bound;
    theta + away.min(theta)
}

/// The largest eigenvalue of the tridiagonal matrix, and how far a true one may be from it.
fn top(alpha: &[f64], beta: &[f64], next: f64) -> (f64, f64) {
    let m = alpha.len();
    let tri = Mat::from_fn(m, m, |i, j| match i.abs_diff(j) {
        0 => alpha[i],
        1 => beta[i.min(j)],
        _ => 0.0,
    });
    match tri.self_adjoint_eigen(faer::Side::Lower) {
        // Eigenvalues ascend.
        Ok(eigen) => (eigen.S().column_vector()[m - 1], next * eigen.U()[(m - 1, m - 1)].abs()),
        Err(_) => (alpha.iter().sum::<f64>().abs(), f64::INFINITY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_a_full_decomposition_wherever_the_eigenvector_points() {
        // One correlation r between two features: eigenvalues 1 - |r|, 1 + |r| and ones. With r < 0
        // the top eigenvector (1, -1) is at right angles to ones. Random signs on a common factor:
        // 1 + (p - 1) / 2, eigenvector the signs.
        for (p, at) in [(2, 1), (30, 7), (300, 299)] {
            for r in [-0.2, 0.2, -0.9] {
                let times = |x: &[f64], y: &mut [f64]| {
                    y.copy_from_slice(x);
                    y[0] += r * x[at];
                    y[at] += r * x[0];
                };
                let found = largest_eigenvalue(p, p, times);
                let want = 1.0 + f64::abs(r);
                assert!(found >= want * (1.0 - 1e-12) && found < want * 1.05, "{p} {r}: {found}");
            }
            let sign: Vec<f64> = (0..p).map(|j| if j * j % 7 < 3 { -1.0 } else { 1.0 }).collect();
            let times = |x: &[f64], y: &mut [f64]| {
                let dot = kernel::dot(&sign, x);
                for j in 0..p {
                    y[j] = 0.5 * x[j] + 0.5 * sign[j] * dot;
                }
            };
            let want = 0.5 + 0.5 * p as f64;
            let found = largest_eigenvalue(p, p, times);
            assert!((found / want - 1.0).abs() < 1e-10, "{p}: {found} for {want}");
        }
    }
}
