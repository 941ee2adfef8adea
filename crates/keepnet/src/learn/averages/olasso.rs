//! Online lasso: `min 1/2 b'S b - s'b + lambda |b|_1`, then least squares on what is left.
//!
//! ```text
//! k given: the first k features of the lasso path (solver=lars), or the path to k of `descent`
//! lambda given: the features with a non-zero coefficient at that lambda
//! ```
//!
//! Coefficients are standardised and lambda is in units of the target, as in scikit-learn's `Lasso`
//! on standardised features. Cost `p k` a feature with LARS. Source: Sun and Barbu, arXiv
//! 1803.11521, whose solver is `solver=ista`; LARS and coordinate descent solve the same problem.

use super::gram::Gram;
use super::penalised::{
    LAMBDA, Penalised, PenalisedProblem, Solver, check_lambda, check_size, check_solver,
};
use super::penalty::{Penalty, Shape};
use super::settings::{build, info, with_shared};
use crate::data::row::RowProblem;
use crate::error::Result;
use crate::learn::RowLearner;
use crate::registry::{MethodInfo, MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

/// Settings of [`Olasso`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OlassoParams {
    /// How the problem is solved.
    pub solver: Solver,
    /// A penalty that fixes the size of the model; `None` asks for `k`.
    pub lambda: Option<f64>,
}

impl Default for OlassoParams {
    fn default() -> Self {
        Self { solver: SOLVERS[0], lambda: None }
    }
}

/// The lasso on running averages.
#[derive(Clone, Copy, Debug)]
pub struct Olasso {
    params: OlassoParams,
}

const PENALTY: Penalty = Penalty { shape: Shape::Lasso, l2: 0.0 };

impl Olasso {
    /// Checks the settings.
    pub fn new(params: OlassoParams) -> Result<Self> {
        check_lambda(params.lambda)?;
        check_solver(params.solver, params.lambda)?;
        Ok(Self { params })
    }

    /// The standardised lasso coefficients at `lambda`, before any refit.
    #[must_use]
    pub fn coefficients(&self, gram: &Gram, lambda: f64) -> Vec<f64> {
        self.problem().coefficients(gram, Vec::new(), lambda)
    }
}

impl Penalised for Olasso {
    fn problem(&self) -> PenalisedProblem {
        let (solver, lambda) = (self.params.solver, self.params.lambda);
        PenalisedProblem { name: "olasso", penalty: PENALTY, solver, lambda }
    }

    fn own_params(&self) -> Vec<(&'static str, Value)> {
        vec![("solver", self.params.solver.name().into())]
    }
}

const SOLVERS: [Solver; 3] = [Solver::Lars, Solver::Cd, Solver::Ista];
const SOLVER: Setting = Setting::choice(
    "solver",
    &[SOLVERS[0].name(), SOLVERS[1].name(), SOLVERS[2].name()],
    "lars, cd, or ista as published",
);

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "olasso",
    "the lasso on running averages",
    "p^2 flops a row; k p a feature",
    "Sun and Barbu, arXiv 1803.11521; Efron et al. 2004",
    &with_shared::<2, 7>([SOLVER, LAMBDA]),
    make,
)
.of_two_classes();

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let params = OlassoParams {
        solver: spec.choice(&SOLVER, &SOLVERS, Solver::name)?,
        lambda: spec.optional_number(&LAMBDA)?,
    };
    check_size(params.solver, spec.k)?;
    let extract = Olasso::new(params)?;
    build(spec, problem, extract, budget)
}
