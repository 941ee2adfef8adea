//! Regularised dual averaging ADMM.
//!
//! ```text
//! x <- eta_t (-gbar + ubar - rho (xbar - zbar)),   eta_t = rate sqrt t;  then `sadmm`
//! bars are means over the rows so far of slopes, multipliers, x and z
//! ```
//!
//! All start at zero, and the zeros count as the first term of their means. `rate` defaults to 0.02,
//! above 1,000 features to 20 / p, `rho` to 0.1. Cost O(p) a row. Source: Suzuki, ICML 2013
//! (RDA-ADMM, with the constraint `x = z`), whose text was not at hand; checked against an implementation that cites it (tyDLin/SPDPEGD on
//! GitHub, `FL/RDA_ADMM.m`): the same rule with a step that grows as `t` and means of one term
//! fewer. The slides' regression rows of this method are not reproduced.

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
struct RdaSadmm {
    split: Split,
    /// Sum of `-g + u - rho (x - z)` over the rows so far.
    sum: Vec<f64>,
    sum0: f64,
}

impl Rule for RdaSadmm {
    const NAME: &'static str = "rda-sadmm";

    fn margin(&mut self, x: Row<'_>) -> f64 {
        self.split.margin(x)
    }

    fn learn(&mut self, row: Row<'_>, y: f64, weight: f64, f: f64) {
        let split = &mut self.split;
        let slope = split.slope(y, weight, f);
        row.axpy(-slope, &mut self.sum);
        let t = split.t as f64;
        let scale = split.rate * t.sqrt() / t;
        self.sum0 -= slope;
        split.move_intercept(|_| scale * self.sum0);
        for (j, sum) in self.sum.iter_mut().enumerate() {
            *sum += split.u[j] - split.rho * (split.x[j] - split.z[j]);
            split.x[j] = scale * *sum;
        }
        split.update_split();
    }

    fn coefficients(&self) -> Vec<f64> {
        self.split.z.clone()
    }

    fn intercept(&self) -> f64 {
        self.split.intercept()
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        self.split.params()
    }

    fn loss(&self) -> LossKind {
        self.split.loss
    }

    fn sound(&self, features: usize) -> bool {
        self.split.sound(features) && self.sum.len() == features
    }
}

const RATE: Setting = sadmm::rate("0.02, or 20 / p", "step, growing as sqrt t");
const RHO: Setting = sadmm::rho(0.1);

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "rda-sadmm",
    "stochastic ADMM with dual averaging",
    "regression, binary classification",
    "O(p) a row",
    "Suzuki 2013",
    &[RATE, RHO, LAMBDA, STANDARDISE, PRESET, REGRET],
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    // The first steps have the length of a row, which grows with its features.
    let rate = 0.02 * (1000.0 / problem.features().max(1) as f64).min(1.0);
    let split = Split::new(spec, problem, (&RATE, rate), &RHO)?;
    let rule = RdaSadmm { split, sum: vec![0.0; problem.features()], sum0: 0.0 };
    Ok(Box::new(Streaming::new(rule, spec, problem, budget, preset(spec)?)?))
}
