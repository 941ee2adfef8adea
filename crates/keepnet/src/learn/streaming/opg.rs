//! Online proximal gradient (FOBOS): a gradient step, then a soft threshold.
//!
//! ```text
//! w <- soft(w - eta_t l'(f, y) x, eta_t lambda),   eta_t = rate / (p t^power)
//! ```
//!
//! Soft thresholds of an untouched coefficient add up, so they are applied when a row next has the
//! feature. That costs O(nnz) a row and gives the same numbers. Source: Duchi and Singer, JMLR 10
//! (2009), equations 2 and 3 and section 5 (sparse rows).

use serde::{Deserialize, Serialize};

use super::baseline::{PRESET, REGRET, STANDARDISE, info, number, preset};
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
struct Opg {
    gradient: Gradient,
    lambda: f64,
    /// Sum of all thresholds due so far, and of those already done on each coefficient.
    due: f64,
    done: Vec<f64>,
}

impl Rule for Opg {
    const NAME: &'static str = "opg";

    fn margin(&mut self, x: Row<'_>) -> f64 {
        x.each(|j, _| {
            self.gradient.w[j] = soft(self.gradient.w[j], self.due - self.done[j]);
            self.done[j] = self.due;
        });
        x.dot(&self.gradient.w) + self.gradient.b0
    }

    fn learn(&mut self, x: Row<'_>, y: f64, weight: f64, f: f64) {
        let eta = self.gradient.eta();
        self.gradient.step(x, y, weight, f);
        self.due += eta * self.lambda;
    }

    fn coefficients(&self) -> Vec<f64> {
        let open = self.done.iter().map(|done| self.due - done);
        self.gradient.w.iter().zip(open).map(|(w, open)| soft(*w, open)).collect()
    }

    fn intercept(&self) -> f64 {
        self.gradient.b0
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut params = self.gradient.params();
        params.push(("lambda", self.lambda.into()));
        params
    }

    fn loss(&self) -> LossKind {
        self.gradient.loss
    }

    fn sound(&self, features: usize) -> bool {
        self.gradient.sound(features) && self.done.len() == features
    }
}

const LAMBDA: Setting =
    Setting::number("lambda", Bounds::above(0.0), 0.001, "penalty; published: 0.0001")
        .published(1e-4);

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "opg",
    "online proximal gradient: a soft threshold after every step",
    "regression, binary classification",
    "O(p) a row, O(nnz) with standardise=false",
    "Duchi and Singer 2009",
    &[RATE, POWER, LAMBDA, STANDARDISE, PRESET, REGRET],
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let rule = Opg {
        gradient: Gradient::new(spec, problem)?,
        lambda: number(spec, &LAMBDA)?,
        due: 0.0,
        done: vec![0.0; problem.features()],
    };
    Ok(Box::new(Streaming::new(rule, spec, problem, budget, preset(spec)?)?))
}
