//! Online elastic net: `min 1/2 b'S b - s'b + lambda |b|_1 + l2/2 |b|^2`, then least squares.
//!
//! ```text
//! b_j <- soft(g_j + b_j, lambda) / (1 + l2)          coordinate descent of `descent`
//! ```
//!
//! scikit-learn's `ElasticNet(alpha, l1_ratio)` on standardised features is `lambda = alpha
//! l1_ratio`, `l2 = alpha (1 - l1_ratio)`. Source: Zou and Hastie 2005; Sun and Barbu, arXiv
//! 1803.11521; `l2 = 0.01` reproduces their tables (the slides state no value).

use super::gram::Gram;
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

/// Settings of [`Oelnet`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OelnetParams {
    /// Factor of `|b|^2 / 2`, at least 0.
    pub l2: f64,
    /// A penalty that fixes the size of the model; `None` asks for `k`.
    pub lambda: Option<f64>,
}

impl Default for OelnetParams {
    fn default() -> Self {
        Self { l2: const { L2.usual_number() }, lambda: None }
    }
}

/// The elastic net on running averages.
#[derive(Clone, Copy, Debug)]
pub struct Oelnet {
    params: OelnetParams,
    penalty: Penalty,
}

impl Oelnet {
    /// Checks the settings.
    pub fn new(params: OelnetParams) -> Result<Self> {
        L2.check(params.l2)?;
        check_lambda(params.lambda)?;
        Ok(Self { params, penalty: Penalty { shape: Shape::Lasso, l2: params.l2 } })
    }

    /// The standardised elastic-net coefficients at `lambda`, before any refit.
    #[must_use]
    pub fn coefficients(&self, gram: &Gram, lambda: f64) -> Vec<f64> {
        self.problem().coefficients(gram, Vec::new(), lambda)
    }
}

impl Penalised for Oelnet {
    fn problem(&self) -> PenalisedProblem {
        let (solver, lambda) = (Solver::Cd, self.params.lambda);
        PenalisedProblem { name: "oelnet", penalty: self.penalty, solver, lambda }
    }

    fn own_params(&self) -> Vec<(&'static str, Value)> {
        vec![("l2", self.params.l2.into())]
    }
}

const L2: Setting =
    Setting::number("l2", Bounds::at_least(0.0), 0.01, "weight of the squared norm");

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "oelnet",
    "the elastic net on running averages",
    "p^2 flops a row; a walk along lambda",
    "Zou and Hastie 2005; Sun and Barbu, arXiv 1803.11521",
    &with_shared::<2, 7>([L2, LAMBDA]),
    make,
)
.of_two_classes();

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let params = OelnetParams { l2: spec.number(&L2)?, lambda: spec.optional_number(&LAMBDA)? };
    let extract = Oelnet::new(params)?;
    build(spec, problem, extract, budget)
}
