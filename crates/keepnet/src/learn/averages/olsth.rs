//! Online least squares with thresholding: the `k` largest coefficients of the full model.
//!
//! ```text
//! b = (S + ridge I)^-1 s;  keep the k largest |b_j|, ties to the earlier;  refit
//! ```
//!
//! Coefficients are compared on the standardised scale. Plain least squares is at its worst with
//! about as many rows as features; a ridge of 0.1 to 10 repairs it. Cost `p^3 / 3` flops. Source:
//! Sun and Barbu, arXiv 1803.11521, Algorithm 1 (the ridge is ours).

use super::extract::Extract;
use super::gram::{Gram, sizes};
use super::ols::{self, OlsParams, full};
use super::settings::{build, info, with_shared};
use super::ties::{ranked, same, strongest};
use crate::data::row::RowProblem;
use crate::error::Result;
use crate::learn::RowLearner;
use crate::registry::{MethodInfo, MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

/// The `k` largest coefficients of the least-squares model.
#[derive(Clone, Copy, Debug)]
pub struct Olsth {
    params: OlsParams,
}

impl Olsth {
    /// Checks the settings.
    pub fn new(params: OlsParams) -> Result<Self> {
        RIDGE.check(params.ridge)?;
        Ok(Self { params })
    }
}

impl Extract for Olsth {
    fn name(&self) -> &'static str {
        "olsth"
    }

    fn choose(&self, gram: &Gram, k: usize) -> Result<Vec<usize>> {
        Ok(strongest(&sizes(&full(gram, self.params.ridge)?), k, same(gram)))
    }

    fn rank(&self, gram: &Gram, most: usize) -> Result<Vec<usize>> {
        let mut order = ranked(&sizes(&full(gram, self.params.ridge)?), same(gram));
        order.truncate(most);
        Ok(order)
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        vec![("ridge", self.params.ridge.into())]
    }

    fn many_outputs(&self) -> bool {
        true
    }
}

const RIDGE: Setting =
    Setting { help: "ridge on correlations, needed with no more rows than features", ..ols::RIDGE };

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "olsth",
    "the k largest weights of least squares, refitted",
    "p^2 flops a row; p^3 / 3 an extraction",
    "Sun and Barbu, arXiv 1803.11521, Algorithm 1",
    &with_shared::<1, 6>([RIDGE]),
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let params = OlsParams { ridge: spec.number(&RIDGE)? };
    let extract = Olsth::new(params)?;
    build(spec, problem, extract, budget)
}
