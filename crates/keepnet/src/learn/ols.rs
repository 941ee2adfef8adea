//! Online least squares: every feature, `S b = s` by Cholesky.
//!
//! ```text
//! b = (S + ridge I)^-1 s
//! S singular, ridge = 0:   b = sum over lambda_i > e lambda_max of v_i (v_i's) / lambda_i
//! ```
//!
//! The same as least squares on the whole data, whenever asked. With no more rows than features,
//! or with features that depend on each other, many weights fit equally well; then `b` is the
//! shortest of them on standardised features, the limit of a vanishing ridge (what `lstsq` gives
//! on standardised columns). Eigenvalues below a share `e` of the largest count as zero, ten times
//! the error that block products leave: 1e-6 with f32, 1e-12 with f64. Cost `p^3 / 3` flops an extraction, about `9 p^3`
//! where singular. Source: Sun and Barbu, arXiv 1803.11521, "Online Least Squares"; the shortest
//! solution and the ridge are ours.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par, Spec};

use super::RowLearner;
use super::extract::{Extract, ranked};
use super::gram::{Gram, JITTER, least_squares, sizes, solve};
use super::settings::{SHARED, build, info};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::registry::{MethodInfo, MethodSpec, SettingInfo};
use crate::row::RowProblem;
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
        check_ridge(params.ridge)?;
        Ok(Self { params })
    }

    /// Weights of every feature.
    fn every(&self, gram: &Gram) -> Result<Vec<Vec<f64>>> {
        match self.params.ridge {
            0.0 => shortest(gram),
            ridge => solve(|| gram.s.clone(), &gram.xy, ridge),
        }
    }
}

pub(crate) fn check_ridge(ridge: f64) -> Result<()> {
    if ridge >= 0.0 && ridge.is_finite() {
        return Ok(());
    }
    Err(Error::param("ridge", ridge, "a number of at least 0"))
}

/// `(S + ridge I)^-1 s` on every feature; least squares is refused where it is singular.
pub(crate) fn full(gram: &Gram, ridge: f64) -> Result<Vec<Vec<f64>>> {
    if ridge == 0.0 && gram.n <= gram.p() as f64 {
        return Err(Error::Data(format!(
            "least squares on {} features needs more than the {:.0} rows so far; \
             give more rows, or --set ridge=0.01, or another method",
            gram.p(),
            gram.n
        )));
    }
    match ridge {
        0.0 => Ok(least_squares(&gram.s, &gram.xy)?.0),
        ridge => solve(|| gram.s.clone(), &gram.xy, ridge),
    }
}

/// Least squares on every feature, the shortest solution where there are several.
fn shortest(gram: &Gram) -> Result<Vec<Vec<f64>>> {
    if gram.n > gram.p() as f64
        && let Ok((b, factor)) = least_squares(&gram.s, &gram.xy)
    {
        // Pivots of jitter or rounding, or a diagonal that had to be raised, tell of dependence.
        let pivots = (0..gram.p()).map(|j| factor[(j, j)] * factor[(j, j)]);
        let least = pivots.fold(f64::INFINITY, f64::min);
        let raised = factor[(0, 0)] * factor[(0, 0)] > 1.0 + 100.0 * JITTER;
        if least > 10.0 * JITTER.max(gram.rounding) && !raised {
            return Ok(b);
        }
    }
    eigen(gram)
}

/// `pinv(S) s` by eigenvectors.
fn eigen(gram: &Gram) -> Result<Vec<Vec<f64>>> {
    let p = gram.p();
    let mut values = faer::diag::Diag::<f64>::zeros(p);
    let mut vectors = Mat::<f64>::zeros(p, p);
    let yes = ComputeEigenvectors::Yes;
    let scratch = self_adjoint_evd_scratch::<f64>(p, yes, Par::Seq, Spec::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    let (s, u) = (gram.s.as_ref(), Some(vectors.as_mut()));
    self_adjoint_evd(s, values.as_mut(), u, Par::Seq, stack, Spec::default()).map_err(|_| {
        Error::Data(
            "the eigenvalues of the correlations were not found; give --set ridge=0.01".into(),
        )
    })?;
    let largest = values.column_vector().iter().copied().fold(0.0, f64::max);
    let one = |xy: &Vec<f64>| {
        let mut b = vec![0.0; p];
        for (i, lambda) in values.column_vector().iter().enumerate() {
            if *lambda <= 10.0 * gram.rounding * largest {
                continue;
            }
            let v = vectors.col_as_slice(i);
            let scale = v.iter().zip(xy).map(|(v, s)| v * s).sum::<f64>() / lambda;
            b.iter_mut().zip(v).for_each(|(b, v)| *b += scale * v);
        }
        b
    };
    Ok(gram.xy.iter().map(one).collect())
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
        Ok(ranked(&sizes(&self.every(gram)?), most))
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

    fn weights(&self, gram: &Gram, _: &[usize]) -> Option<Result<Vec<Vec<f64>>>> {
        Some(self.every(gram))
    }
}

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "ols",
    "least squares on every feature",
    "p^2 flops a row; p^3 / 3 an extraction",
    "Sun and Barbu, arXiv 1803.11521",
    &[
        SettingInfo {
            name: "ridge",
            default: "0",
            help: "ridge on correlations; 0 gives the shortest solution where several fit equally",
        },
        SHARED[0],
        SHARED[1],
        SHARED[2],
        SHARED[3],
        SHARED[4],
    ],
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let params = OlsParams { ridge: spec.get("ridge", 0.0, "a number of at least 0")? };
    let extract = Ols::new(params)?;
    build(spec, problem, extract, budget)
}
