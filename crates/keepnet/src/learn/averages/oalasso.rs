//! Online adaptive lasso: a lasso with a smaller penalty where the pilot coefficient is large.
//!
//! ```text
//! min 1/2 b'S b - s'b + lambda sum |b_j| / |b0_j|,   b0 = (S + ridge I)^-1 s;  then least squares
//! ```
//!
//! The slides scale the Gram by `|b0|` and use a plain lasso; a penalty factor `1 / |b0_j|` is the
//! same problem. With a pilot ridge near 1 it is among the best methods here. The published pilot is
//! least squares, for which we use a ridge of 1e-8. Cost `p^3 / 3` for the pilot, then as `oelnet`. Source: Zou
//! 2006; Sun and Barbu, arXiv 1803.11521, Algorithm 3.

use super::gram::{Gram, solve};
use super::penalised::{LAMBDA, Penalised, PenalisedProblem, Solver, check_lambda};
use super::penalty::{Penalty, Shape};
use super::settings::{build, info, with_shared};
use crate::data::row::RowProblem;
use crate::error::Result;
use crate::learn::RowLearner;
use crate::registry::setting::Bounds;
use crate::registry::{MethodInfo, MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

/// Settings of [`Oalasso`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OalassoParams {
    /// Ridge of the pilot, at least 0.
    pub ridge: f64,
    /// A penalty that fixes the size of the model; `None` asks for `k`.
    pub lambda: Option<f64>,
}

impl Default for OalassoParams {
    fn default() -> Self {
        Self { ridge: const { RIDGE.usual_number() }, lambda: None }
    }
}

/// The adaptive lasso on running averages.
#[derive(Clone, Copy, Debug)]
pub struct Oalasso {
    params: OalassoParams,
}

const PENALTY: Penalty = Penalty { shape: Shape::Lasso, l2: 0.0 };

impl Oalasso {
    /// Checks the settings.
    pub fn new(params: OalassoParams) -> Result<Self> {
        RIDGE.check(params.ridge)?;
        check_lambda(params.lambda)?;
        Ok(Self { params })
    }
}

impl Penalised for Oalasso {
    fn problem(&self) -> PenalisedProblem {
        let (solver, lambda) = (Solver::Cd, self.params.lambda);
        PenalisedProblem { name: "oalasso", penalty: PENALTY, solver, lambda }
    }

    fn own_params(&self) -> Vec<(&'static str, Value)> {
        vec![("ridge", self.params.ridge.into())]
    }

    fn factor(&self, gram: &Gram) -> Result<Vec<f64>> {
        let pilot = solve(|| gram.s.clone(), &gram.xy[..1], self.params.ridge)?;
        let sd_y = gram.sd_y();
        let floor = 1e-12 * sd_y;
        Ok(pilot[0].iter().map(|b| sd_y / b.abs().max(floor)).collect())
    }
}

const RIDGE: Setting = Setting::number(
    "ridge",
    Bounds::at_least(0.0),
    1e-8,
    "ridge of the pilot; 1 is better than the published 0",
);

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "oalasso",
    "the adaptive lasso, weighted by a pilot fit",
    "p^2 flops a row; p^3 / 3 and a walk along lambda",
    "Zou 2006; Sun and Barbu, arXiv 1803.11521, Algorithm 3",
    &with_shared::<2, 7>([RIDGE, LAMBDA]),
    make,
)
.of_two_classes();

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let params =
        OalassoParams { ridge: spec.number(&RIDGE)?, lambda: spec.optional_number(&LAMBDA)? };
    let extract = Oalasso::new(params)?;
    build(spec, problem, extract, budget)
}
