//! Online MCP: the minimax concave penalty, unbiased for large coefficients, then least squares.
//!
//! ```text
//! P(b; lambda) = lambda integral_0^|b| max(0, 1 - x / (gamma lambda)) dx
//! ```
//!
//! `solver=cd` minimises it by coordinate descent; `solver=ista` is the published iteration, which
//! uses the thresholding operator exactly as published (see `ista`). A gamma of at most 3 reproduces
//! the published results on strong signals, about 10 those on weak ones; no single value does both. Source: Zhang,
//! Annals of Statistics 38 (2010); Sun and Barbu, arXiv 1803.11521, Algorithm 4.

use super::gram::Gram;
use super::penalised::{
    LAMBDA, Penalised, PenalisedProblem, Solver, check_lambda, check_size, check_solver,
};
use super::penalty::{Penalty, Shape};
use super::settings::{build, info, with_shared};
use crate::data::row::RowProblem;
use crate::error::Result;
use crate::learn::RowLearner;
use crate::registry::setting::Bounds;
use crate::registry::{MethodInfo, MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

/// Settings of [`Omcp`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OmcpParams {
    /// The penalty is flat beyond `gamma lambda`; a number above 1.
    pub gamma: f64,
    /// `Cd`, or `Ista` for the published iteration.
    pub solver: Solver,
    /// A penalty that fixes the size of the model; `None` asks for `k`.
    pub lambda: Option<f64>,
}

impl Default for OmcpParams {
    fn default() -> Self {
        Self { gamma: const { GAMMA.usual_number() }, solver: SOLVERS[0], lambda: None }
    }
}

/// The minimax concave penalty on running averages.
#[derive(Clone, Copy, Debug)]
pub struct Omcp {
    params: OmcpParams,
    penalty: Penalty,
}

impl Omcp {
    /// Checks the settings.
    pub fn new(params: OmcpParams) -> Result<Self> {
        check_lambda(params.lambda)?;
        check_solver(params.solver, params.lambda)?;
        GAMMA.check(params.gamma)?;
        SOLVER.check(params.solver.name())?;
        Ok(Self { params, penalty: Penalty { shape: Shape::Mcp(params.gamma), l2: 0.0 } })
    }

    /// The standardised coefficients at `lambda`, before any refit.
    #[must_use]
    pub fn coefficients(&self, gram: &Gram, lambda: f64) -> Vec<f64> {
        self.problem().coefficients(gram, Vec::new(), lambda)
    }
}

impl Penalised for Omcp {
    fn problem(&self) -> PenalisedProblem {
        let (solver, lambda) = (self.params.solver, self.params.lambda);
        PenalisedProblem { name: "omcp", penalty: self.penalty, solver, lambda }
    }

    fn own_params(&self) -> Vec<(&'static str, Value)> {
        vec![("gamma", self.params.gamma.into()), ("solver", self.params.solver.name().into())]
    }
}

const GAMMA: Setting = Setting::number(
    "gamma",
    Bounds::above(1.0).or_infinity(),
    3.0,
    "where the penalty goes flat, above 1",
);
const SOLVERS: [Solver; 2] = [Solver::Cd, Solver::Ista];
const SOLVER: Setting =
    Setting::choice("solver", &[SOLVERS[0].name(), SOLVERS[1].name()], "cd, or ista as published");

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "omcp",
    "the minimax concave penalty on running averages",
    "p^2 flops a row; a walk along lambda",
    "Zhang 2010; Sun and Barbu, arXiv 1803.11521, Algorithm 4",
    &with_shared::<3, 8>([GAMMA, SOLVER, LAMBDA]),
    make,
)
.of_two_classes();

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let params = OmcpParams {
        gamma: spec.number(&GAMMA)?,
        solver: spec.choice(&SOLVER, &SOLVERS, Solver::name)?,
        lambda: spec.optional_number(&LAMBDA)?,
    };
    check_size(params.solver, spec.k)?;
    let extract = Omcp::new(params)?;
    build(spec, problem, extract, budget)
}
