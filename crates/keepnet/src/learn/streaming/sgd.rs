//! Stochastic gradient descent; the `k` largest coefficients are selected.
//!
//! ```text
//! w -= eta_t l'(f, y) x,  b0 -= eta_t l'(f, y),   eta_t = rate / (p t^power)
//! average: wbar += (w - wbar) / t, the coefficients of the result
//! ```
//!
//! The step is divided by `p` because a row of `p` standardised features has a squared norm of
//! about `p`. `rate 1, power 1/2` reproduces the published errors; `rate 0.1, power 0` finds far
//! more features. Cost O(nnz) a row, O(p) with averaging. Source: Robbins and Monro 1951; Polyak
//! and Juditsky 1992 (averaging).

use serde::{Deserialize, Serialize};

use super::baseline::{PRESET, REGRET, STANDARDISE, info, loss_of, number, preset};
use super::stream::{Rule, Streaming, loss_at};
use crate::data::row::{Row, RowProblem};
use crate::error::Result;
use crate::learn::RowLearner;
use crate::loss::LossKind;
use crate::registry::setting::Bounds;
use crate::registry::{MethodInfo, MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

/// A gradient step with a falling rate; several baselines are built on it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Gradient {
    pub(crate) w: Vec<f64>,
    pub(crate) b0: f64,
    pub(crate) t: u64,
    rate: f64,
    power: f64,
    pub(crate) loss: LossKind,
}

impl Gradient {
    /// Starts at zero, with the settings of `spec`.
    pub(crate) fn new(spec: &MethodSpec, problem: &RowProblem) -> Result<Self> {
        let (rate, power) = (number(spec, &RATE)?, number(spec, &POWER)?);
        let loss = loss_of(spec, problem)?;
        Ok(Self { w: vec![0.0; problem.features()], b0: 0.0, t: 0, rate, power, loss })
    }

    /// The step size for the next row.
    pub(crate) fn eta(&self) -> f64 {
        self.rate / (self.w.len() as f64 * ((self.t + 1) as f64).powf(self.power))
    }

    pub(crate) fn step(&mut self, x: Row<'_>, y: f64, weight: f64, f: f64) {
        let slope = weight * loss_at(self.loss, f, y).1;
        let eta = self.eta();
        x.axpy(-eta * slope, &mut self.w);
        self.b0 -= eta * slope;
        self.t += 1;
    }

    pub(crate) fn sound(&self, features: usize) -> bool {
        self.w.len() == features
    }

    pub(crate) fn params(&self) -> Vec<(&'static str, Value)> {
        vec![("rate", self.rate.into()), ("power", self.power.into())]
    }
}

/// The settings of [`Gradient`].
pub(crate) const RATE: Setting =
    Setting::number("rate", Bounds::above(0.0), 0.1, "step times p; published: 1").published(1.0);
/// How the step falls.
pub(crate) const POWER: Setting = Setting::number(
    "power",
    Bounds::from_to(0.0, 1.0),
    0.0,
    "the step falls as t^-power, 0 to 1; published: 0.5",
)
.published(0.5);

/// Plain stochastic gradient descent.
#[derive(Serialize, Deserialize)]
struct Sgd {
    gradient: Gradient,
    mean: Option<Vec<f64>>,
}

impl Rule for Sgd {
    const NAME: &'static str = "sgd";

    fn margin(&mut self, x: Row<'_>) -> f64 {
        x.dot(&self.gradient.w) + self.gradient.b0
    }

    fn learn(&mut self, x: Row<'_>, y: f64, weight: f64, f: f64) {
        self.gradient.step(x, y, weight, f);
        if let Some(mean) = &mut self.mean {
            let share = 1.0 / self.gradient.t as f64;
            mean.iter_mut().zip(&self.gradient.w).for_each(|(m, w)| *m += share * (w - *m));
        }
    }

    fn coefficients(&self) -> Vec<f64> {
        self.mean.as_ref().unwrap_or(&self.gradient.w).clone()
    }

    fn intercept(&self) -> f64 {
        self.gradient.b0
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut params = self.gradient.params();
        params.push(("average", self.mean.is_some().into()));
        params
    }

    fn loss(&self) -> LossKind {
        self.gradient.loss
    }

    fn sound(&self, features: usize) -> bool {
        self.gradient.sound(features)
            && self.mean.as_ref().is_none_or(|mean| mean.len() == features)
    }
}

const AVERAGE: Setting = Setting::flag("average", false, "show the mean of all weights");

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "sgd",
    "stochastic gradient descent, the k largest weights",
    "regression, binary classification",
    "O(p) a row, O(nnz) with standardise=false",
    "Robbins and Monro 1951",
    &[RATE, POWER, AVERAGE, STANDARDISE, PRESET, REGRET],
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let gradient = Gradient::new(spec, problem)?;
    let average = spec.flag(&AVERAGE)?;
    let mean = average.then(|| vec![0.0; problem.features()]);
    let rule = Sgd { gradient, mean };
    Ok(Box::new(Streaming::new(rule, spec, problem, budget, preset(spec)?)?))
}
