//! Regularised dual averaging with the l1 norm.
//!
//! ```text
//! G_t = sum of slopes g_s x_s;   w_{t+1} = -(sqrt t / gamma) soft(G_t / t, lambda)
//! ```
//!
//! A coefficient depends only on its own sum and on `t`, so only those of the row's features are
//! computed: O(nnz) a row. The intercept follows the same rule without a threshold. The setting
//! `gamma` is divided by `p`: 0.5 is good here, 5 comes near the published tables. Source: Xiao, JMLR 11
//! (2010), Algorithm 1 and equation 10 with `h = |w|^2 / 2`, `beta_t = gamma sqrt t`.

use serde::{Deserialize, Serialize};

use super::baseline::{PRESET, REGRET, STANDARDISE, info, loss_of, number, preset};
use super::stream::{Rule, Streaming, loss_at};
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
struct Rda {
    sum: Vec<f64>,
    sum0: f64,
    t: u64,
    gamma: f64,
    lambda: f64,
    loss: LossKind,
}

impl Rda {
    fn scale(&self) -> f64 {
        -(self.t as f64).sqrt() / (self.gamma * self.sum.len() as f64)
    }

    fn coefficient(&self, j: usize) -> f64 {
        match self.t {
            0 => 0.0,
            t => self.scale() * soft(self.sum[j] / t as f64, self.lambda),
        }
    }
}

impl Rule for Rda {
    const NAME: &'static str = "rda";

    fn margin(&mut self, x: Row<'_>) -> f64 {
        let mut f = self.intercept();
        x.each(|j, v| f += v * self.coefficient(j));
        f
    }

    fn learn(&mut self, x: Row<'_>, y: f64, weight: f64, f: f64) {
        let slope = weight * loss_at(self.loss, f, y).1;
        x.axpy(slope, &mut self.sum);
        self.sum0 += slope;
        self.t += 1;
    }

    fn coefficients(&self) -> Vec<f64> {
        (0..self.sum.len()).map(|j| self.coefficient(j)).collect()
    }

    fn intercept(&self) -> f64 {
        if self.t == 0 { 0.0 } else { self.scale() * self.sum0 / self.t as f64 }
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        vec![("gamma", self.gamma.into()), ("lambda", self.lambda.into())]
    }

    fn loss(&self) -> LossKind {
        self.loss
    }

    fn sound(&self, features: usize) -> bool {
        self.sum.len() == features
    }
}

const GAMMA: Setting =
    Setting::number("gamma", Bounds::above(0.0), 0.5, "damping over p; published: 5")
        .published(5.0);
const LAMBDA: Setting = Setting::number("lambda", Bounds::above(0.0), 0.001, "penalty, above 0");

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "rda",
    "regularised dual averaging with the l1 norm",
    "regression, binary classification",
    "O(p) a row, O(nnz) with standardise=false",
    "Xiao 2010",
    &[GAMMA, LAMBDA, STANDARDISE, PRESET, REGRET],
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let rule = Rda {
        sum: vec![0.0; problem.features()],
        sum0: 0.0,
        t: 0,
        gamma: number(spec, &GAMMA)?,
        lambda: spec.number(&LAMBDA)?,
        loss: loss_of(spec, problem)?,
    };
    Ok(Box::new(Streaming::new(rule, spec, problem, budget, preset(spec)?)?))
}
