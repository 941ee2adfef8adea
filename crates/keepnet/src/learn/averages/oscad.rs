//! Online SCAD: the smoothly clipped absolute deviation, then least squares.
//!
//! ```text
//! P'(b; lambda) = lambda for b <= lambda, (a lambda - b)_+ / (a - 1) beyond
//! ```
//!
//! Minimised by coordinate descent; `a = 3.7` is Fan and Li's value. Source: Fan and Li, JASA 96
//! (2001); named among the framework's penalties by Sun and Barbu, arXiv 1803.11521.

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

/// Settings of [`Oscad`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OscadParams {
    /// The penalty is flat beyond `a lambda`; a number above 2.
    pub a: f64,
    /// A penalty that fixes the size of the model; `None` asks for `k`.
    pub lambda: Option<f64>,
}

impl Default for OscadParams {
    fn default() -> Self {
        Self { a: const { A.usual_number() }, lambda: None }
    }
}

/// The smoothly clipped penalty on running averages.
#[derive(Clone, Copy, Debug)]
pub struct Oscad {
    params: OscadParams,
    penalty: Penalty,
}

impl Oscad {
    /// Checks the settings.
    pub fn new(params: OscadParams) -> Result<Self> {
        check_lambda(params.lambda)?;
        A.check(params.a)?;
        Ok(Self { params, penalty: Penalty { shape: Shape::Scad(params.a), l2: 0.0 } })
    }

    /// The standardised coefficients at `lambda`, before any refit.
    #[must_use]
    pub fn coefficients(&self, gram: &Gram, lambda: f64) -> Vec<f64> {
        self.problem().coefficients(gram, Vec::new(), lambda)
    }
}

impl Penalised for Oscad {
    fn problem(&self) -> PenalisedProblem {
        let (solver, lambda) = (Solver::Cd, self.params.lambda);
        PenalisedProblem { name: "oscad", penalty: self.penalty, solver, lambda }
    }

    fn own_params(&self) -> Vec<(&'static str, Value)> {
        vec![("a", self.params.a.into())]
    }
}

const A: Setting = Setting::number(
    "a",
    Bounds::above(2.0).or_infinity(),
    3.7,
    "where the penalty goes flat, above 2",
);

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "oscad",
    "the smoothly clipped penalty on running averages",
    "p^2 flops a row; a walk along lambda",
    "Fan and Li 2001; Sun and Barbu, arXiv 1803.11521",
    &with_shared::<2, 7>([A, LAMBDA]),
    make,
)
.of_two_classes();

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let params = OscadParams { a: spec.number(&A)?, lambda: spec.optional_number(&LAMBDA)? };
    let extract = Oscad::new(params)?;
    build(spec, problem, extract, budget)
}
