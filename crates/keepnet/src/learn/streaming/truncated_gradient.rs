//! Truncated gradient: every `every` rows small coefficients move towards zero.
//!
//! ```text
//! w -= eta_t l'(f, y) x;   every K rows, with a = K eta_t lambda:
//! w_j <- max(0, w_j - a) on [0, theta], min(0, w_j + a) on [-theta, 0], w_j beyond
//! ```
//!
//! A coefficient within theta stays there while it only shrinks. So shrinkages add up and are
//! applied when a row next has the feature: O(nnz) a row, with the same numbers.
//! Source: Langford, Li and Zhang, JMLR 10 (2009), equation 4 and section 3.3.

use serde::{Deserialize, Serialize};

use super::baseline::{PRESET, REGRET, STANDARDISE, info, preset};
use super::sgd::{Gradient, POWER, RATE};
use super::stream::{Rule, Streaming};
use crate::data::row::{Row, RowProblem};
use crate::error::Result;
use crate::learn::RowLearner;
use crate::learn::averages::penalty::soft;
use crate::loss::LossKind;
use crate::registry::setting::Bounds;
use crate::registry::{MethodInfo, MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

#[derive(Serialize, Deserialize)]
struct TruncatedGradient {
    gradient: Gradient,
    lambda: f64,
    every: u64,
    theta: f64,
    /// Sum of all shrinkage due so far, and of that already done on each coefficient.
    due: f64,
    done: Vec<f64>,
}

impl TruncatedGradient {
    fn shrunk(&self, j: usize) -> f64 {
        let w = self.gradient.w[j];
        if w.abs() <= self.theta { soft(w, self.due - self.done[j]) } else { w }
    }

    fn apply_shrinkage(&mut self, x: Row<'_>) {
        x.each(|j, _| {
            self.gradient.w[j] = self.shrunk(j);
            self.done[j] = self.due;
        });
    }
}

impl Rule for TruncatedGradient {
    const NAME: &'static str = "truncated-gradient";

    fn margin(&mut self, x: Row<'_>) -> f64 {
        self.apply_shrinkage(x);
        x.dot(&self.gradient.w) + self.gradient.b0
    }

    fn learn(&mut self, x: Row<'_>, y: f64, weight: f64, f: f64) {
        let eta = self.gradient.eta();
        self.gradient.step(x, y, weight, f);
        if self.gradient.t.is_multiple_of(self.every) {
            self.due += self.every as f64 * eta * self.lambda;
        }
    }

    fn coefficients(&self) -> Vec<f64> {
        (0..self.gradient.w.len()).map(|j| self.shrunk(j)).collect()
    }

    fn intercept(&self) -> f64 {
        self.gradient.b0
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut params = self.gradient.params();
        params.push(("lambda", self.lambda.into()));
        params.push(("every", self.every.into()));
        params.push(("theta", self.theta.into()));
        params
    }

    fn loss(&self) -> LossKind {
        self.gradient.loss
    }

    fn sound(&self, features: usize) -> bool {
        self.gradient.sound(features) && self.done.len() == features && self.every > 0
    }
}

const LAMBDA: Setting = Setting::number("lambda", Bounds::above(0.0), 0.001, "gravity, above 0");
const EVERY: Setting = Setting::whole("every", (1, u64::MAX), 10, "rows between two truncations");
const THETA: Setting = Setting::number(
    "theta",
    Bounds::above(0.0).or_infinity(),
    f64::INFINITY,
    "largest weight that is drawn to zero",
);

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "truncated-gradient",
    "stochastic gradient descent that draws small weights to zero every few rows",
    "regression, binary classification",
    "O(p) a row, O(nnz) with standardise=false",
    "Langford, Li and Zhang 2009",
    &[RATE, POWER, LAMBDA, EVERY, THETA, STANDARDISE, PRESET, REGRET],
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let rule = TruncatedGradient {
        gradient: Gradient::new(spec, problem)?,
        lambda: spec.number(&LAMBDA)?,
        every: spec.whole(&EVERY)? as u64,
        theta: spec.number(&THETA)?,
        due: 0.0,
        done: vec![0.0; problem.features()],
    };
    Ok(Box::new(Streaming::new(rule, spec, problem, budget, preset(spec)?)?))
}
