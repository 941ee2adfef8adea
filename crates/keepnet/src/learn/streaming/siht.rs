//! Stochastic iterative hard thresholding: a gradient step, then the `k` largest coefficients.
//!
//! ```text
//! w <- H_k(w - eta_t l'(f, y) x),   eta_t = rate / (p t^power)
//! ```
//!
//! With the published falling step the support freezes after the first rows, and detection stays
//! near chance for any number of rows. The method is kept as published. Cost O(k + nnz) a row, as
//! only the support and the row's features can change. Source: Nguyen, Needell and Woolf
//! 2017 (stochastic iterative hard thresholding); compared by Sun and Barbu, arXiv 1803.11521.

use serde::{Deserialize, Serialize};

use super::baseline::{PRESET, REGRET, STANDARDISE, info, preset};
use super::sgd::{Gradient, POWER, RATE};
use super::stream::{Rule, Streaming};
use super::truncation::Truncation;
use crate::data::row::{Row, RowProblem};
use crate::error::Result;
use crate::learn::RowLearner;
use crate::loss::LossKind;
use crate::registry::{MethodInfo, MethodSpec};
use crate::run::budget::Budget;
use crate::selection::Value;

#[derive(Serialize, Deserialize)]
struct Siht {
    gradient: Gradient,
    support: Truncation,
}

impl Rule for Siht {
    const NAME: &'static str = "siht";

    fn margin(&mut self, x: Row<'_>) -> f64 {
        x.dot(&self.gradient.w) + self.gradient.b0
    }

    fn learn(&mut self, x: Row<'_>, y: f64, weight: f64, f: f64) {
        self.gradient.step(x, y, weight, f);
        self.support.truncate(x, &mut self.gradient.w, |_, w| w.abs());
    }

    fn coefficients(&self) -> Vec<f64> {
        self.gradient.w.clone()
    }

    fn intercept(&self) -> f64 {
        self.gradient.b0
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        self.gradient.params()
    }

    fn loss(&self) -> LossKind {
        self.gradient.loss
    }

    fn sound(&self, features: usize) -> bool {
        self.gradient.sound(features) && self.support.sound(features)
    }
}

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "siht",
    "stochastic gradient descent that keeps the k largest weights at every row",
    "regression, binary classification",
    "O(p) a row, O(k + nnz) with standardise=false",
    "Nguyen, Needell and Woolf 2017",
    &[RATE, POWER, STANDARDISE, PRESET, REGRET],
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let gradient = Gradient::new(spec, problem)?;
    let support = Truncation::new(problem.features(), spec.need_k()?);
    let rule = Siht { gradient, support };
    Ok(Box::new(Streaming::new(rule, spec, problem, budget, preset(spec)?)?))
}
