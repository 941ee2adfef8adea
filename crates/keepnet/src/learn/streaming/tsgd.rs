//! Truncated stochastic gradient descent: a burn-in, then truncation to `k` coefficients at each row.
//!
//! ```text
//! t <= burn:  w -= eta_t l'(f, y) x
//! t >  burn:  w <- H_k(w - eta_t l'(f, y) x)
//! ```
//!
//! Fan, Gong, Li and Sun burn in by an offline fit of the first rows. Here the burn-in is plain
//! gradient descent, which stores no rows. Its length decides the support, so it is a setting
//! (default: as many rows as features). Cost O(nnz) a row, then O(k + nnz). Source: Fan, Gong, Li
//! and Sun, AISTATS 2018 (burn-in and refinement); Langford, Li and Zhang 2009 (truncation).

use serde::{Deserialize, Serialize};

use super::baseline::{PRESET, REGRET, STANDARDISE, info, preset};
use super::sgd::{Gradient, POWER, RATE};
use super::stream::{Rule, Streaming};
use super::truncation::Truncation;
use crate::data::row::{Row, RowProblem};
use crate::error::Result;
use crate::learn::RowLearner;
use crate::loss::LossKind;
use crate::registry::{MethodInfo, MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

#[derive(Serialize, Deserialize)]
struct Tsgd {
    gradient: Gradient,
    support: Truncation,
    burn: u64,
}

impl Rule for Tsgd {
    const NAME: &'static str = "tsgd";

    fn margin(&mut self, x: Row<'_>) -> f64 {
        x.dot(&self.gradient.w) + self.gradient.b0
    }

    fn learn(&mut self, x: Row<'_>, y: f64, weight: f64, f: f64) {
        self.gradient.step(x, y, weight, f);
        if self.gradient.t == self.burn + 1 {
            // The first truncation examines every coefficient, later ones only those that changed.
            let all = self.gradient.w.clone();
            self.support.truncate(Row::F64(&all), &mut self.gradient.w, |_, w| w.abs());
        } else if self.gradient.t > self.burn {
            self.support.truncate(x, &mut self.gradient.w, |_, w| w.abs());
        }
    }

    fn coefficients(&self) -> Vec<f64> {
        self.gradient.w.clone()
    }

    fn intercept(&self) -> f64 {
        self.gradient.b0
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut params = self.gradient.params();
        params.push(("burn", self.burn.into()));
        params
    }

    fn loss(&self) -> LossKind {
        self.gradient.loss
    }

    fn sound(&self, features: usize) -> bool {
        self.gradient.sound(features) && self.support.sound(features)
    }
}

const BURN: Setting =
    Setting::whole("burn", (0, u64::MAX), 0, "rows before the first truncation").derived("p");

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "tsgd",
    "stochastic gradient descent that truncates to k weights after a burn-in",
    "regression, binary classification",
    "O(p) a row, O(k + nnz) with standardise=false",
    "Fan, Gong, Li and Sun 2018",
    &[RATE, POWER, BURN, STANDARDISE, PRESET, REGRET],
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let gradient = Gradient::new(spec, problem)?;
    let support = Truncation::new(problem.features(), spec.need_k()?);
    let burn = spec.optional_whole(&BURN)?.unwrap_or(problem.features()) as u64;
    let rule = Tsgd { gradient, support, burn };
    Ok(Box::new(Streaming::new(rule, spec, problem, budget, preset(spec)?)?))
}
