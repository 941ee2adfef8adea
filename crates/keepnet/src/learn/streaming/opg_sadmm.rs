//! Online proximal gradient ADMM.
//!
//! ```text
//! x <- (x / eta_t - g + u + rho z) / (1 / eta_t + rho),   eta_t = rate / sqrt t;  then `sadmm`
//! ```
//!
//! The same as `x - eta_t / gamma (g - u + rho (x - z))` with `gamma = 1 + rho eta_t`. `rate` defaults
//! to `0.1 / sqrt p`. Cost O(p) a row. Source: Suzuki, "Dual averaging and proximal gradient descent
//! for online alternating direction multiplier method", ICML 2013 (OPG-ADMM, with the constraint
//! `x = z`), whose text was not at hand; checked against an implementation that cites it
//! (tyDLin/SPDPEGD on GitHub, `FL/OPG_ADMM.m`), which has the second form with a fixed
//! `eta / gamma` and reports the mean of `x`. The slides' regression rows of this method are not
//! reproduced.

use serde::{Deserialize, Serialize};

use super::baseline::{PRESET, REGRET, STANDARDISE, info, preset};
use super::sadmm::{self, LAMBDA, Split};
use super::stream::{Rule, Streaming};
use crate::data::row::{Row, RowProblem};
use crate::error::Result;
use crate::learn::RowLearner;
use crate::loss::LossKind;
use crate::registry::{MethodInfo, MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

#[derive(Serialize, Deserialize)]
struct OpgSadmm(Split);

impl Rule for OpgSadmm {
    const NAME: &'static str = "opg-sadmm";

    fn margin(&mut self, x: Row<'_>) -> f64 {
        self.0.margin(x)
    }

    fn learn(&mut self, row: Row<'_>, y: f64, weight: f64, f: f64) {
        let split = &mut self.0;
        let slope = split.slope(y, weight, f);
        let inverse = (split.t as f64).sqrt() / split.rate;
        let scale = 1.0 / (inverse + split.rho);
        for ((x, z), u) in split.x.iter_mut().zip(&split.z).zip(&split.u) {
            *x = scale * (inverse * *x + u + split.rho * z);
        }
        row.axpy(-scale * slope, &mut split.x);
        // The intercept is neither penalised nor constrained: the same step with rho = 0.
        split.move_intercept(|b0| b0 - slope / inverse);
        split.update_split();
    }

    fn coefficients(&self) -> Vec<f64> {
        self.0.z.clone()
    }

    fn intercept(&self) -> f64 {
        self.0.intercept()
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        self.0.params()
    }

    fn loss(&self) -> LossKind {
        self.0.loss
    }

    fn sound(&self, features: usize) -> bool {
        self.0.sound(features)
    }
}

const RATE: Setting = sadmm::rate("0.1 / sqrt p", "step, falling as 1 / sqrt t");
const RHO: Setting = sadmm::rho(1.0);

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "opg-sadmm",
    "stochastic ADMM with proximal gradient steps",
    "regression, binary classification",
    "O(p) a row",
    "Suzuki 2013; Ouyang et al. 2013",
    &[RATE, RHO, LAMBDA, STANDARDISE, PRESET, REGRET],
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let rate = 0.1 / (problem.features().max(1) as f64).sqrt();
    let rule = OpgSadmm(Split::new(spec, problem, (&RATE, rate), &RHO)?);
    Ok(Box::new(Streaming::new(rule, spec, problem, budget, preset(spec)?)?))
}
