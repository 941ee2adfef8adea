//! The standardised problem that every extraction starts from, and the model on the original scale.
//!
//! ```text
//! sd_j = sqrt(C_jj / W)    d_j = 1 / sd_j    S = D (C / W) D, unit diagonal    s = D c / W
//! RSS / W of b = syy - 2 s'b + b'S b;  after least squares on A: syy - s_A'b_A
//! original scale: b_raw = D b,  b0 = mu_y - b_raw'mu_x
//! ```
//!
//! Features that do not vary are left out, so that `S` has no zero row. Memory `8 p^2` bytes.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::{self, factor};
use faer::{Mat, Par};

use crate::error::{Error, Result};
use crate::learn::averages::moments::Moments;
use crate::learn::averages::running::RunningAverages;

/// Added to the diagonal of a least-squares system, so that equal features do not make it fail.
pub(crate) const JITTER: f64 = 1e-10;
/// Error of a correlation from products in f32, and from products in f64.
pub(crate) const F32: f64 = 1e-7;
const F64: f64 = 1e-13;
/// Largest number of steps that remove the jitter from a least-squares solution.
const REFINE: usize = 20;

/// A standardised Gram with its right-hand sides.
#[derive(Clone, Debug)]
pub struct Gram {
    /// Correlations of the features that vary, full and symmetric.
    pub s: Mat<f64>,
    /// Covariance of each with each output.
    pub xy: Vec<Vec<f64>>,
    /// Variance of each output.
    pub yy: Vec<f64>,
    /// `W^2 / W2`.
    pub n: f64,
    /// Feature of each row of `s`.
    pub index: Vec<u32>,
    /// Standard deviation of each row's feature.
    pub sd: Vec<f64>,
    /// Mean of each row's feature.
    pub mean: Vec<f64>,
    /// Mean of each output.
    pub mean_y: Vec<f64>,
    /// Error of an entry of `s`, as block products in f32 or f64 leave it.
    pub(crate) rounding: f64,
    /// Whether the averages are stored in f32.
    pub(crate) f32_storage: bool,
    /// The ridge of generalised cross-validation, once computed.
    pub(crate) ridge: std::sync::OnceLock<f64>,
}

/// A linear model on the original scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Features, ascending.
    pub index: Vec<u32>,
    /// For each output, a coefficient a feature.
    pub coefficient: Vec<Vec<f64>>,
    /// One an output.
    pub intercept: Vec<f64>,
}

impl Model {
    /// The margins of one row.
    pub fn predict(&self, x: crate::data::row::Row<'_>, out: &mut [f64]) {
        for ((out, b), b0) in out.iter_mut().zip(&self.coefficient).zip(&self.intercept) {
            let dot: f64 = self.index.iter().zip(b).map(|(j, b)| b * x.get(*j as usize)).sum();
            *out = b0 + dot;
        }
    }
}

impl RunningAverages {
    /// The standardised problem of the rows so far.
    pub fn gram(&self) -> Result<Gram> {
        Gram::new(&self.settled())
    }

    /// Mean squared error of a model on these rows, exact: one number an output.
    #[must_use]
    pub fn error_of(&self, model: &Model) -> Vec<f64> {
        let m = self.settled();
        let error = |output: usize| {
            let b = &model.coefficient[output];
            let dot = |v: &[f64]| -> f64 {
                model.index.iter().zip(b).map(|(i, b)| b * v[*i as usize]).sum()
            };
            let offset = model.intercept[output] + dot(&m.mean_x.high) - m.mean_y.high[output];
            let fit = quadratic(&m, &model.index, b) - 2.0 * dot(&m.xy[output]);
            (m.yy[output] + fit) / m.weight + offset * offset
        };
        (0..m.yy.len()).map(error).collect()
    }

    /// The same summed over outputs, and by how much rounding may change it, from the size of the
    /// terms that cancel.
    pub(crate) fn error_and_slack(&self, model: &Model) -> (f64, f64) {
        let m = self.settled();
        let slack = |output: usize| {
            let b = model.index.iter().zip(&model.coefficient[output]);
            let (mut size, mut offset) = (0.0, model.intercept[output].abs());
            for (j, b) in b {
                let j = *j as usize;
                size += b.abs() * (m.xx.get(j, j) / m.weight).sqrt();
                offset += (b * m.mean_x.high[j]).abs();
            }
            let (yy, offset) =
                (m.yy[output] / m.weight, 1e-14 * (offset + m.mean_y.high[output].abs()));
            1e-6 * yy + 1e-11 * size * size + offset * (offset + yy.sqrt())
        };
        (self.error_of(model).iter().sum(), (0..m.yy.len()).map(slack).sum())
    }

    /// Mean square of the difference of two models' margins on these rows, over all outputs.
    #[must_use]
    pub fn difference_of(&self, a: &Model, b: &Model) -> f64 {
        let m = self.settled();
        let mut index: Vec<u32> = a.index.iter().chain(&b.index).copied().collect();
        index.sort_unstable();
        index.dedup();
        let of = |model: &Model, output: usize, j: &u32| {
            model.index.binary_search(j).map_or(0.0, |at| model.coefficient[output][at])
        };
        let one = |output: usize| {
            let d: Vec<f64> = index.iter().map(|j| of(a, output, j) - of(b, output, j)).collect();
            let mean: f64 = index.iter().zip(&d).map(|(j, d)| d * m.mean_x.high[*j as usize]).sum();
            let offset = a.intercept[output] - b.intercept[output] + mean;
            quadratic(&m, &index, &d) / m.weight + offset * offset
        };
        (0..m.yy.len()).map(one).sum()
    }
}

/// `b'C b` over the features `index`.
fn quadratic(m: &Moments, index: &[u32], b: &[f64]) -> f64 {
    let at = |i: u32, j: u32| m.xx.get(i.max(j) as usize, i.min(j) as usize);
    let row = |i: u32| index.iter().zip(b).map(|(j, b)| b * at(i, *j)).sum::<f64>();
    index.iter().zip(b).map(|(i, b)| b * row(*i)).sum()
}

impl Gram {
    pub(crate) fn new(m: &Moments) -> Result<Self> {
        if m.rows < 2 {
            return Err(Error::Data("a selection needs at least two rows".into()));
        }
        let p = m.mean_x.len();
        let sd_all: Vec<f64> =
            (0..p).map(|j| (m.xx.get(j, j).max(0.0) / m.weight).sqrt()).collect();
        let mut sums = m.xy.iter().flatten().chain(&m.yy).chain(&sd_all);
        if !sums.all(|v| v.is_finite()) {
            return Err(Error::Data(
                "the sums of products are beyond the largest number; scale the columns, the target \
                 or the sample weights down, and leave storage=f32 out"
                    .into(),
            ));
        }
        // Equal values have a variance of exactly 0. Below 1e-150 a square underflows.
        let varying: Vec<usize> = (0..p).filter(|j| sd_all[*j] > 1e-150).collect();
        if varying.is_empty() {
            return Err(Error::Data("no feature varies in the rows so far".into()));
        }
        let d: Vec<f64> = varying.iter().map(|j| 1.0 / sd_all[*j]).collect();
        let s = correlations(m, &varying, &d);
        let scale = |xy: &Vec<f64>| -> Vec<f64> {
            varying.iter().zip(&d).map(|(j, d)| xy[*j] * d / m.weight).collect()
        };
        Ok(Self {
            s,
            xy: m.xy.iter().map(scale).collect(),
            yy: m.yy.iter().map(|v| v.max(0.0) / m.weight).collect(),
            n: m.weight * m.weight / m.weight2,
            sd: varying.iter().map(|j| sd_all[*j]).collect(),
            mean: varying.iter().map(|j| m.mean_x.high[*j]).collect(),
            index: varying.into_iter().map(|j| j as u32).collect(),
            mean_y: m.mean_y.high.clone(),
            rounding: if m.f32_products { F32 } else { F64 },
            f32_storage: m.xx.is_f32(),
            ridge: std::sync::OnceLock::new(),
        })
    }

    /// Features that vary.
    #[must_use]
    pub fn p(&self) -> usize {
        self.index.len()
    }

    /// Standard deviation of the first output; positive, so that it can divide.
    pub(crate) fn sd_y(&self) -> f64 {
        self.yy[0].sqrt().max(f64::MIN_POSITIVE)
    }

    /// Column `j` of `S`.
    #[must_use]
    pub fn column(&self, j: usize) -> &[f64] {
        self.s.col_as_slice(j)
    }

    /// Features that are no copy of an earlier one, with either sign, up to rounding.
    pub(crate) fn distinct(&self) -> Vec<usize> {
        let copy = |j: usize| self.column(j)[..j].iter().any(|s| 1.0 - s.abs() <= self.rounding);
        (0..self.p()).filter(|j| !copy(*j)).collect()
    }

    /// The Gram over the rows `keep` of this one.
    pub(crate) fn sub(&self, keep: &[usize]) -> (Mat<f64>, Vec<Vec<f64>>) {
        let s = gather(&self.s, keep);
        (s, self.xy.iter().map(|xy| keep.iter().map(|j| xy[*j]).collect()).collect())
    }

    /// Least squares on the rows `set`, standardised: one vector an output.
    pub fn refit(&self, set: &[usize]) -> Result<Vec<Vec<f64>>> {
        let (s, xy) = self.sub(set);
        Ok(least_squares(&s, &xy)?.0)
    }

    /// `RSS / W` of standardised coefficients `b` on the rows `set`, summed over outputs.
    #[must_use]
    pub fn rss(&self, set: &[usize], b: &[Vec<f64>]) -> f64 {
        let one = |output: usize| {
            let (b, xy) = (&b[output], &self.xy[output]);
            let mut sum = self.yy[output];
            for (j, bj) in set.iter().zip(b) {
                let column = self.column(*j);
                let row: f64 = set.iter().zip(b).map(|(i, bi)| bi * column[*i]).sum();
                sum += bj * (row - 2.0 * xy[*j]);
            }
            sum
        };
        (0..self.yy.len()).map(one).sum()
    }

    /// The model of standardised coefficients `b` on the rows `set`, on the original scale.
    #[must_use]
    pub fn model(&self, set: &[usize], b: &[Vec<f64>]) -> Model {
        let mut order: Vec<usize> = (0..set.len()).collect();
        order.sort_by_key(|at| self.index[set[*at]]);
        let coefficient: Vec<Vec<f64>> =
            b.iter().map(|b| order.iter().map(|at| b[*at] / self.sd[set[*at]]).collect()).collect();
        let offset = |(w, mean): (&Vec<f64>, &f64)| {
            let dot: f64 = order.iter().zip(w).map(|(at, w)| w * self.mean[set[*at]]).sum();
            mean - dot
        };
        Model {
            index: order.iter().map(|at| self.index[set[*at]]).collect(),
            intercept: coefficient.iter().zip(&self.mean_y).map(offset).collect(),
            coefficient,
        }
    }
}

/// `S` of the features that vary: both triangles, written tile by tile.
fn correlations(m: &Moments, varying: &[usize], d: &[f64]) -> Mat<f64> {
    const SIDE: usize = 64;
    let p = varying.len();
    let mut s = Mat::<f64>::zeros(p, p);
    for top in (0..p).step_by(SIDE) {
        for left in (0..=top).step_by(SIDE) {
            for i in top..p.min(top + SIDE) {
                let scale = d[i] / m.weight;
                for j in left..(left + SIDE).min(i) {
                    let v = m.xx.get(varying[i], varying[j]) * scale * d[j];
                    s[(i, j)] = v;
                    s[(j, i)] = v;
                }
            }
        }
    }
    (0..p).for_each(|j| s[(j, j)] = 1.0);
    s
}

/// Rows and columns `keep` of a symmetric matrix.
pub(crate) fn gather(s: &Mat<f64>, keep: &[usize]) -> Mat<f64> {
    let mut out = Mat::zeros(keep.len(), keep.len());
    for (to, from) in keep.iter().enumerate() {
        let (source, target) = (s.col_as_slice(*from), out.col_as_slice_mut(to));
        for (t, i) in target.iter_mut().zip(keep) {
            *t = source[*i];
        }
    }
    out
}

/// Solves `(S + ridge I) b = xy` for every output; `fresh` makes `S`, of unit diagonal.
///
/// Block products in f32 leave an error of some 1e-7 in `S`, which can make a singular matrix
/// indefinite. Where the factorisation fails, the diagonal is raised beyond that error, by at most
/// 1e-5. A failed factorisation destroys its matrix, so each attempt starts with a fresh one.
pub(crate) fn solve(
    fresh: impl Fn() -> Mat<f64>,
    xy: &[Vec<f64>],
    ridge: f64,
) -> Result<Vec<Vec<f64>>> {
    Ok(factorise(fresh, xy, ridge)?.0)
}

/// The solution of [`solve`] with the Cholesky factor.
fn factorise(
    fresh: impl Fn() -> Mat<f64>,
    xy: &[Vec<f64>],
    ridge: f64,
) -> Result<(Vec<Vec<f64>>, Mat<f64>)> {
    for extra in [0.0, 1e-7, 1e-6, 1e-5] {
        let mut s = fresh();
        let p = s.nrows();
        let scratch = factor::cholesky_in_place_scratch::<f64>(p, Par::Seq, faer::Spec::default());
        let mut memory = MemBuffer::new(scratch);
        (0..p).for_each(|j| s[(j, j)] = 1.0 + ridge + extra);
        let stack = MemStack::new(&mut memory);
        let plain = factor::LltRegularization::default();
        let done =
            factor::cholesky_in_place(s.as_mut(), plain, Par::Seq, stack, faer::Spec::default());
        if done.is_err() {
            continue;
        }
        let mut b = Mat::from_fn(p, xy.len(), |i, output| xy[output][i]);
        let stack = MemStack::new(&mut memory);
        llt::solve::solve_in_place(s.as_ref(), b.as_mut(), Par::Seq, stack);
        let out: Vec<Vec<f64>> = (0..xy.len()).map(|o| b.col_as_slice(o).to_vec()).collect();
        if out.iter().flatten().all(|v| v.is_finite()) {
            return Ok((out, s));
        }
    }
    Err(singular())
}

/// Solves `S b = xy` for every output, and the Cholesky factor of `S + jitter I`.
///
/// The jitter makes equal features solvable. Steps `b += (S + jitter I)^-1 (xy - S b)` then remove
/// it: each divides the error along an eigenvector by `1 + lambda / jitter`. Where `S` is singular
/// they converge to the shortest solution. They end when a step does not halve the residual.
pub(crate) fn least_squares(s: &Mat<f64>, xy: &[Vec<f64>]) -> Result<(Vec<Vec<f64>>, Mat<f64>)> {
    let (mut b, factor) = factorise(|| s.clone(), xy, JITTER)?;
    let mut memory =
        MemBuffer::new(llt::solve::solve_in_place_scratch::<f64>(s.nrows(), 1, Par::Seq));
    for (b, xy) in b.iter_mut().zip(xy) {
        let residual_of = |b: &[f64]| -> Vec<f64> {
            let mut residual = xy.clone();
            for (j, b) in b.iter().enumerate() {
                crate::numeric::kernel::axpy(-b, s.col_as_slice(j), &mut residual);
            }
            residual
        };
        let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        let mut residual = residual_of(b);
        for _ in 0..REFINE {
            let mut step = Mat::from_fn(residual.len(), 1, |i, _| residual[i]);
            let stack = MemStack::new(&mut memory);
            llt::solve::solve_in_place(factor.as_ref(), step.as_mut(), Par::Seq, stack);
            let next: Vec<f64> = b.iter().zip(step.col_as_slice(0)).map(|(b, d)| b + d).collect();
            let next_residual = residual_of(&next);
            let halved = square(&next_residual) <= 0.25 * square(&residual);
            if !halved {
                break;
            }
            (*b, residual) = (next, next_residual);
        }
    }
    Ok((b, factor))
}

fn singular() -> Error {
    Error::Data(
        "the features are linearly dependent in the rows so far, so least squares has no answer; \
         give more rows, fewer features, or `ridge=0.01`"
            .into(),
    )
}

/// `|b_j|`, or the norm over outputs.
pub(crate) fn sizes(b: &[Vec<f64>]) -> Vec<f64> {
    if let [b] = b {
        return b.iter().map(|b| b.abs()).collect();
    }
    let square = |j: usize| b.iter().map(|b| b[j] * b[j]).sum::<f64>();
    (0..b.first().map_or(0, Vec::len)).map(|j| square(j).sqrt()).collect()
}

/// The `k` places of the largest values, ascending; ties go to the earlier place.
pub(crate) fn largest(values: &[f64], k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    if k < order.len() && k > 0 {
        let by = |a: &usize, b: &usize| values[*b].total_cmp(&values[*a]).then(a.cmp(b));
        order.select_nth_unstable_by(k - 1, by);
    }
    order.truncate(k);
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_rounding_made_indefinite_is_solved_with_a_raised_diagonal() {
        // Two copies whose correlation is above 1, as f32 products can leave it. They share 1.2, so
        // each coefficient is 0.6 up to the error of the products, not 1.2.
        for p in [2, 40] {
            let entry = |i: usize, j: usize| match (i, j) {
                (0, 1) | (1, 0) => 1.0 + 3e-7,
                _ => f64::from(u8::from(i == j)),
            };
            let s = Mat::from_fn(p, p, entry);
            let mut xy = vec![0.0; p];
            (xy[0], xy[1]) = (1.2, 1.2);
            let b = least_squares(&s, &[xy]).unwrap().0;
            assert!((b[0][0] + b[0][1] - 1.2).abs() < 1e-5, "{:?}", &b[0][..2]);
            assert!((b[0][0] - 0.6).abs() < 1e-5, "{:?}", &b[0][..2]);
        }
    }
}
