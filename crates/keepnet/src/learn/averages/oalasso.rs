//! Online adaptive lasso: a lasso whose penalty is small where least squares sees much.
//!
//! ```text
//! min 1/2 b'S b - s'b + lambda sum |b_j| / |b0_j|,   b0 = (S + ridge I)^-1 s;  then least squares
//! ```
//!
//! The slides scale the Gram by `|b0|` and use a plain lasso; a penalty factor `1 / |b0_j|` is the
//! same problem. With a pilot ridge near 1 it is among the best here; the published pilot is least
//! squares, for which 1e-8 stands. Cost `p^3 / 3` for the pilot, then as `oelnet`. Source: Zou
//! 2006; Sun and Barbu, arXiv 1803.11521, Algorithm 3.

use super::extract::Extract;
use super::gram::{Gram, solve};
use super::penalised::{self, LAMBDA, check_lambda, lambda_value};
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

    fn factor(&self, gram: &Gram) -> Result<Vec<f64>> {
        let pilot = solve(|| gram.s.clone(), &gram.xy[..1], self.params.ridge)?;
        let floor = 1e-12 * gram.yy[0].sqrt().max(f64::MIN_POSITIVE);
        let unit = gram.yy[0].sqrt().max(f64::MIN_POSITIVE);
        Ok(pilot[0].iter().map(|b| unit / b.abs().max(floor)).collect())
    }
}

impl Extract for Oalasso {
    fn name(&self) -> &'static str {
        "oalasso"
    }

    fn choose(&self, gram: &Gram, k: usize) -> Result<Vec<usize>> {
        Ok(penalised::choose(gram, PENALTY, self.factor(gram)?, k))
    }

    fn rank(&self, gram: &Gram, most: usize) -> Result<Vec<usize>> {
        Ok(penalised::rank(gram, PENALTY, self.factor(gram)?, most))
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        vec![("ridge", self.params.ridge.into()), ("lambda", lambda_value(self.params.lambda))]
    }

    fn fixed(&self, gram: &Gram) -> Option<Result<Vec<usize>>> {
        let lambda = self.params.lambda?;
        Some(
            self.factor(gram).map(|factor| {
                penalised::support(&penalised::weights(gram, PENALTY, factor, lambda))
            }),
        )
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
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let params =
        OalassoParams { ridge: spec.number(&RIDGE)?, lambda: spec.optional_number(&LAMBDA)? };
    let extract = Oalasso::new(params)?;
    build(spec, problem, extract, budget)
}
