//! Stochastic ADMM for the lasso split `x = z`: what `opg-sadmm` and `rda-sadmm` share.
//!
//! ```text
//! z <- soft(x - u / rho, lambda / rho);   u <- u - rho (x - z);   the model is z
//! ```
//!
//! Every coordinate moves at every row, so a row costs O(p), sparse or dense. Where rows are
//! standardised there is an intercept, neither penalised nor constrained. The published form
//! (`standardise=false`) has none.

use serde::{Deserialize, Serialize};

use super::baseline::{STANDARDISE, loss_of};
use super::stream::loss_at;
use crate::data::row::{Row, RowProblem};
use crate::error::Result;
use crate::learn::averages::penalty::soft;
use crate::loss::LossKind;
use crate::registry::setting::Bounds;
use crate::registry::{MethodSpec, Setting};
use crate::selection::Value;

/// The split's variables and settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Split {
    pub(crate) x: Vec<f64>,
    pub(crate) z: Vec<f64>,
    pub(crate) u: Vec<f64>,
    b0: Option<f64>,
    pub(crate) t: u64,
    pub(crate) rate: f64,
    pub(crate) rho: f64,
    lambda: f64,
    pub(crate) loss: LossKind,
}

impl Split {
    /// Starts at zero; `rate` has the method's own default.
    pub(crate) fn new(
        spec: &MethodSpec,
        problem: &RowProblem,
        (rate, usual): (&Setting, f64),
        rho: &Setting,
    ) -> Result<Self> {
        let zeros = || vec![0.0; problem.features()];
        Ok(Self {
            x: zeros(),
            z: zeros(),
            u: zeros(),
            b0: spec.flag(&STANDARDISE)?.then_some(0.0),
            t: 0,
            rate: spec.optional_number(rate)?.unwrap_or(usual),
            rho: spec.number(rho)?,
            lambda: spec.number(&LAMBDA)?,
            loss: loss_of(spec, problem)?,
        })
    }

    /// Counts the row; returns its slope times its sample weight.
    pub(crate) fn slope(&mut self, y: f64, weight: f64, f: f64) -> f64 {
        self.t += 1;
        weight * loss_at(self.loss, f, y).1
    }

    /// Updates `z` and `u`.
    pub(crate) fn update_split(&mut self) {
        let (rho, threshold) = (self.rho, self.lambda / self.rho);
        for ((x, z), u) in self.x.iter().zip(&mut self.z).zip(&mut self.u) {
            *z = soft(x - *u / rho, threshold);
            *u -= rho * (x - *z);
        }
    }

    pub(crate) fn margin(&self, row: Row<'_>) -> f64 {
        row.dot(&self.x) + self.intercept()
    }

    pub(crate) fn intercept(&self) -> f64 {
        self.b0.unwrap_or(0.0)
    }

    /// Moves the intercept, where there is one.
    pub(crate) fn move_intercept(&mut self, to: impl FnOnce(f64) -> f64) {
        self.b0 = self.b0.map(to);
    }

    pub(crate) fn sound(&self, features: usize) -> bool {
        [&self.x, &self.z, &self.u].iter().all(|v| v.len() == features)
    }

    pub(crate) fn params(&self) -> Vec<(&'static str, Value)> {
        vec![("rate", self.rate.into()), ("rho", self.rho.into()), ("lambda", self.lambda.into())]
    }
}

/// The step of a method, with its default in words and its course.
pub(crate) const fn rate(usual: &'static str, help: &'static str) -> Setting {
    Setting::number("rate", Bounds::above(0.0), 1.0, help).derived(usual)
}

/// The penalty of the constraint.
pub(crate) const fn rho(default: f64) -> Setting {
    Setting::number("rho", Bounds::above(0.0), default, "weight of the constraint")
}

/// Penalty of the weights.
pub(crate) const LAMBDA: Setting =
    Setting::number("lambda", Bounds::above(0.0), 0.001, "penalty, above 0");
