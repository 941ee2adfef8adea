//! Online least squares: every feature, `S b = s` by Cholesky.
//!
//! ```text
//! b = (S + ridge I)^-1 s
//! ```
//!
//! The same as least squares on the whole data, whenever asked. With no more rows than features
//! the system is singular and a ridge is needed. Cost `p^3 / 3` flops an extraction. Source: Sun
//! and Barbu, arXiv 1803.11521, "Online Least Squares".

use super::RowLearner;
use super::averaged::{SHARED, build, info};
use super::extract::{Extract, ranked};
use super::gram::{Gram, sizes, solve};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::registry::{MethodInfo, MethodSpec, SettingInfo};
use crate::row::RowProblem;
use crate::selection::Value;

/// Settings of [`Ols`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OlsParams {
    /// Added to the unit diagonal of the correlations; 0 is least squares.
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
    solve(&mut gram.s.clone(), &gram.xy, ridge)
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
        Ok(ranked(&sizes(&full(gram, self.params.ridge)?), most))
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
            help: "ridge on correlations, needed with no more rows than features",
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
