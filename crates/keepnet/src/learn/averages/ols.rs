//! Online least squares: every feature, `S b = s` by Cholesky.
//!
//! ```text
//! b = (S + ridge I)^-1 s
//! S singular, ridge = 0:   b = sum over lambda_i > e lambda_max of v_i (v_i's) / lambda_i
//! ```
//!
//! This is least squares on all rows so far, at any time. With no more rows than features, or with
//! dependent features, many solutions fit equally well. Then `b` is the shortest of them on
//! standardised features, the limit of a vanishing ridge (what `lstsq` gives on standardised
//! columns). Eigenvalues below a share `e` of the largest count as zero. `e` is ten times the error
//! of block products: 1e-6 with f32, 1e-12 with f64. Cost `p^3 / 3` flops an extraction, about
//! `9 p^3` where singular. Source: Sun and Barbu, arXiv 1803.11521, "Online Least Squares"; the shortest
//! solution and the ridge are ours.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par, Spec};

use super::extract::{Extract, ranked};
use super::gram::{Gram, JITTER, least_squares, sizes, solve};
use super::settings::{build, info, with_shared};
use crate::data::row::RowProblem;
use crate::error::{Error, Result};
use crate::learn::RowLearner;
use crate::registry::setting::Bounds;
use crate::registry::{MethodInfo, MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

/// Settings of [`Ols`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OlsParams {
    /// Added to the unit diagonal of the correlations; 0 is least squares, the shortest solution
    /// where there are several.
    pub ridge: f64,
}

/// Every feature, by least squares.
#[derive(Clone, Copy, Debug)]
pub struct Ols {
    params: OlsParams,
}

impl Ols {
    /// Checks the settings.
    pub fn new(params: OlsParams) -> Result<Self> {
        RIDGE.check(params.ridge)?;
        Ok(Self { params })
    }

    /// Coefficients of every feature.
    fn solution(&self, gram: &Gram) -> Result<Vec<Vec<f64>>> {
        match self.params.ridge {
            0.0 => shortest(gram),
            ridge => solve(|| gram.s.clone(), &gram.xy, ridge),
        }
    }
}

/// `(S + ridge I)^-1 s` on every feature; an error where there are too few rows for least squares.
///
/// There are too few rows where `S` is singular, the target is fitted exactly in every row, and
/// fewer than half of the coefficients are determined. The first two conditions also hold for a
/// target without noise and a copied feature, but there most coefficients are determined and copies
/// share theirs. All conditions are computed from `S`, which is the same for a row of weight 2 and
/// for two equal rows.
pub(crate) fn full(gram: &Gram, ridge: f64) -> Result<Vec<Vec<f64>>> {
    if ridge > 0.0 {
        return solve(|| gram.s.clone(), &gram.xy, ridge);
    }
    let (mut b, factor) = least_squares(&gram.s, &gram.xy)?;
    // The pivot of a dependent feature is the jitter times 1 plus the squared coefficients on the
    // features before it.
    if !dependent(gram, &factor, 1e6) {
        return Ok(b);
    }
    super::ties::level(gram, &mut b);
    if exact(gram, &b) {
        let (rank, determined) = Spectrum::new(gram)?.rank_and_determined();
        if rank < gram.p() && 2 * determined < gram.p() {
            return Err(Error::Data(format!(
                "least squares on {} features needs more than the {} different rows so far; \
                 give more rows, or `ridge=0.01`, or another method",
                gram.p(),
                rank + 1
            )));
        }
    }
    Ok(b)
}

/// Whether the Cholesky factor shows dependent features: a pivot of at most `times` jitter or
/// rounding, or a raised diagonal.
fn dependent(gram: &Gram, factor: &Mat<f64>, times: f64) -> bool {
    let pivots = (0..gram.p()).map(|j| factor[(j, j)] * factor[(j, j)]);
    let least = pivots.fold(f64::INFINITY, f64::min);
    let raised = factor[(0, 0)] * factor[(0, 0)] > 1.0 + 100.0 * JITTER;
    least <= times * JITTER.max(gram.rounding) || raised
}

/// Whether coefficients fit the target exactly in every row, up to rounding.
fn exact(gram: &Gram, b: &[Vec<f64>]) -> bool {
    let every: Vec<usize> = (0..gram.p()).collect();
    let size: f64 = b.iter().flatten().map(|b| b * b).sum();
    gram.rss(&every, b) <= 1e-6 * gram.yy.iter().sum::<f64>() + 10.0 * gram.rounding * size
}

/// Least squares on every feature, the shortest solution where there are several.
fn shortest(gram: &Gram) -> Result<Vec<Vec<f64>>> {
    if gram.n > gram.p() as f64
        && let Ok((b, factor)) = least_squares(&gram.s, &gram.xy)
        && !dependent(gram, &factor, 10.0)
    {
        return Ok(b);
    }
    Ok(Spectrum::new(gram)?.solve(&gram.xy))
}

/// Eigenvalues and eigenvectors of `S`.
struct Spectrum {
    values: Vec<f64>,
    vectors: Mat<f64>,
    /// Eigenvalues up to this one count as zero.
    zero: f64,
    rounding: f64,
}

impl Spectrum {
    fn new(gram: &Gram) -> Result<Self> {
        let p = gram.p();
        let mut values = faer::diag::Diag::<f64>::zeros(p);
        let mut vectors = Mat::<f64>::zeros(p, p);
        let yes = ComputeEigenvectors::Yes;
        let scratch = self_adjoint_evd_scratch::<f64>(p, yes, Par::Seq, Spec::default());
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        let (s, u) = (gram.s.as_ref(), Some(vectors.as_mut()));
        self_adjoint_evd(s, values.as_mut(), u, Par::Seq, stack, Spec::default()).map_err(
            |_| {
                Error::Data(
                    "the eigenvalues of the correlations were not found; give `ridge=0.01`".into(),
                )
            },
        )?;
        let values: Vec<f64> = values.column_vector().iter().copied().collect();
        let largest = values.iter().copied().fold(0.0, f64::max);
        let rounding = gram.rounding;
        Ok(Self { values, vectors, zero: 10.0 * rounding * largest, rounding })
    }

    /// `pinv(S) s` for every output.
    fn solve(&self, xy: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let one = |xy: &Vec<f64>| {
            let mut b = vec![0.0; xy.len()];
            for (i, lambda) in self.values.iter().enumerate() {
                if *lambda <= self.zero {
                    continue;
                }
                let v = self.vectors.col_as_slice(i);
                let scale = v.iter().zip(xy).map(|(v, s)| v * s).sum::<f64>() / lambda;
                b.iter_mut().zip(v).for_each(|(b, v)| *b += scale * v);
            }
            b
        };
        xy.iter().map(one).collect()
    }

    /// The rank, and the number of features with the same coefficient in every solution: features
    /// that are zero in every eigenvector of eigenvalue zero.
    fn rank_and_determined(&self) -> (usize, usize) {
        let mut null_square = vec![0.0; self.values.len()];
        let mut rank = 0;
        for (i, lambda) in self.values.iter().enumerate() {
            if *lambda > self.zero {
                rank += 1;
                continue;
            }
            let v = self.vectors.col_as_slice(i);
            null_square.iter_mut().zip(v).for_each(|(t, v)| *t += v * v);
        }
        (rank, null_square.iter().filter(|t| **t <= 10.0 * self.rounding).count())
    }
}

impl Extract for Ols {
    fn name(&self) -> &'static str {
        "ols"
    }

    fn choose(&self, gram: &Gram, k: usize) -> Result<Vec<usize>> {
        let mut set = self.rank(gram, k)?;
        set.sort_unstable();
        Ok(set)
    }

    fn rank(&self, gram: &Gram, most: usize) -> Result<Vec<usize>> {
        Ok(ranked(&sizes(&self.solution(gram)?), most))
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        vec![("ridge", self.params.ridge.into())]
    }

    fn many_outputs(&self) -> bool {
        true
    }

    fn fixed(&self, gram: &Gram) -> Option<Result<Vec<usize>>> {
        Some(Ok((0..gram.p()).collect()))
    }

    fn coefficients(&self, gram: &Gram, _: &[usize]) -> Option<Result<Vec<Vec<f64>>>> {
        Some(self.solution(gram))
    }
}

pub(crate) const RIDGE: Setting = Setting::number(
    "ridge",
    Bounds::at_least(0.0),
    0.0,
    "ridge on correlations; 0 gives the shortest solution where several fit equally",
);

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "ols",
    "least squares on every feature",
    "p^2 flops a row; p^3 / 3 an extraction",
    "Sun and Barbu, arXiv 1803.11521",
    &with_shared::<1, 6>([RIDGE]),
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let params = OlsParams { ridge: spec.number(&RIDGE)? };
    let extract = Ols::new(params)?;
    build(spec, problem, extract, budget)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::row::{Row, RowBlock};
    use crate::learn::averages::running::{AveragesParams, RunningAverages};
    use crate::learn::testing;

    /// The papers' rows; every other row has the sample weight `weight` and comes `times` times. With
    /// `copy` the last feature is a copy of the first, and the target has no noise.
    fn gram(rows: usize, p: usize, copy: bool, weight: f64, times: usize) -> Gram {
        let params = AveragesParams { f64_products: true, ..AveragesParams::default() };
        let mut averages = RunningAverages::new(p, 0, params).unwrap();
        let mut block = RowBlock::new(p, rows * times);
        let plain = testing::rows(rows, p, 3, 5);
        for (i, (row, y)) in plain.rows().zip(plain.y()).enumerate() {
            let (mut x, mut y): (Vec<f64>, f64) = ((0..p).map(|j| row.get(j)).collect(), *y);
            if copy {
                x[p - 1] = x[0];
                y = 2.0 * x[0] - x[1];
            }
            let (times, weight) = if i % 2 == 0 { (times, weight) } else { (1, 1.0) };
            for _ in 0..times {
                block.push(Row::F64(&x), y, weight).unwrap();
            }
        }
        averages.push(&block).unwrap();
        averages.gram().unwrap()
    }

    #[test]
    fn rows_that_come_twice_are_no_more_rows_than_rows_of_weight_two() {
        for (rows, p) in [(16, 18), (18, 18), (5, 9)] {
            let text = |gram: &Gram| full(gram, 0.0).unwrap_err().to_string();
            let heavy = text(&gram(rows, p, false, 2.0, 1));
            assert_eq!(heavy, text(&gram(rows, p, false, 1.0, 2)));
            assert!(heavy.contains(&format!("than the {rows} different rows")), "{heavy}");
        }
        // One row more than features is enough, with any weights.
        for weight in [1.0, 2.0, 50.0] {
            full(&gram(19, 18, false, weight, 1), 0.0).unwrap();
        }
    }

    #[test]
    fn a_copy_in_a_target_without_noise_is_not_a_lack_of_rows() {
        let b = full(&gram(60, 8, true, 1.0, 1), 0.0).unwrap();
        assert!((b[0][0] - b[0][7]).abs() < 1e-4, "{b:?}");
        assert!(b[0][2].abs() < 1e-6, "{b:?}");
    }
}
