//! Second-order online feature selection: keep the `k` coefficients of smallest variance.
//!
//! ```text
//! Sigma = 1;  l = 1 - y f;  if l > 0:  beta = 1 / (r + sum Sigma_j x_j^2)
//!   w += l beta y Sigma x;   Sigma_j <- Sigma_j / (1 + Sigma_j x_j^2 / r)
//!   keep the k features of smallest Sigma_j, w = 0 elsewhere
//! ```
//!
//! Where rows are standardised the intercept is a feature that is 1 in every row and is never
//! truncated. The published form (`standardise=false`) has none. `Sigma` measures how often and how
//! strongly a feature occurs, not how well it predicts. On dense data of equal variances the choice
//! is therefore random; the method is meant for sparse text. Cost O(k + nnz) a row. Source: Wu, Hoi, Mei and Yu, TKDD 11 (2017), Algorithm 2.

use serde::{Deserialize, Serialize};

use super::baseline::{PUBLISHED, STANDARDISE, info};
use super::ofs::two_classes;
use super::stream::{Rule, Streaming};
use super::truncation::Truncation;
use crate::data::row::{Row, RowProblem};
use crate::error::Result;
use crate::learn::RowLearner;
use crate::loss::LossKind;
use crate::registry::setting::Bounds;
use crate::registry::{MethodInfo, MethodSpec, Promises, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

#[derive(Serialize, Deserialize)]
struct Sofs {
    w: Vec<f64>,
    sigma: Vec<f64>,
    /// The intercept and its variance.
    constant: Option<(f64, f64)>,
    support: Truncation,
    r: f64,
}

impl Rule for Sofs {
    const NAME: &'static str = "sofs";

    fn margin(&mut self, x: Row<'_>) -> f64 {
        x.dot(&self.w) + self.intercept()
    }

    fn learn(&mut self, x: Row<'_>, y: f64, weight: f64, f: f64) {
        let miss = 1.0 - y * f;
        if miss <= 0.0 {
            return;
        }
        let r = self.r / weight;
        let mut spread = self.constant.map_or(0.0, |(_, sigma)| sigma);
        x.each(|j, v| spread += self.sigma[j] * v * v);
        let step = miss / (r + spread) * y;
        x.each(|j, v| {
            self.w[j] += step * self.sigma[j] * v;
            self.sigma[j] /= 1.0 + self.sigma[j] * v * v / r;
        });
        if let Some((b0, sigma)) = &mut self.constant {
            *b0 += step * *sigma;
            *sigma /= 1.0 + *sigma / r;
        }
        let sigma = &self.sigma;
        self.support.truncate(x, &mut self.w, |j, _| -sigma[j]);
    }

    fn coefficients(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn intercept(&self) -> f64 {
        self.constant.map_or(0.0, |(b0, _)| b0)
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        vec![("r", self.r.into())]
    }

    fn loss(&self) -> LossKind {
        LossKind::SquaredHinge
    }

    fn sound(&self, features: usize) -> bool {
        self.w.len() == features && self.sigma.len() == features && self.support.sound(features)
    }
}

const R: Setting =
    Setting::number("r", Bounds::above(0.0), 1.0, "regularisation of the variances, above 0");

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "sofs",
    "second-order online feature selection: the k weights of smallest variance",
    "binary classification",
    "O(p) a row, O(k + nnz) with standardise=false",
    "Wu, Hoi, Mei and Yu 2017",
    &[R, STANDARDISE],
    make,
)
.promising(Promises::STREAMING_CLASSES);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    two_classes("sofs", spec, problem)?;
    let rule = Sofs {
        w: vec![0.0; problem.features()],
        sigma: vec![1.0; problem.features()],
        constant: spec.flag(&STANDARDISE)?.then_some((0.0, 1.0)),
        support: Truncation::new(problem.features(), spec.need_k()?),
        r: spec.number(&R)?,
    };
    Ok(Box::new(Streaming::new(rule, spec, problem, budget, PUBLISHED)?))
}
