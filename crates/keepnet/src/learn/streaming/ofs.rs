//! Online feature selection: a perceptron with shrinkage, projected on a ball and truncated to `k`
//! coefficients.
//!
//! ```text
//! if y f <= margin:  w <- (1 - lambda eta) w + eta y x
//!                    w <- w min(1, (1 / sqrt lambda) / |w|);  keep the k largest |w|
//! ```
//!
//! `margin 1` is the hinge form of the authors' library, `margin 0` the perceptron of the paper.
//! Where rows are standardised there is an intercept, which moves by `eta y` and is never truncated.
//! The published form (`standardise=false`) has none. Only the `k` coefficients and the row's
//! features are touched: O(k + nnz) a row. Source: Wang, Zhao,
//! Hoi and Jin, TKDE 26 (2014), Algorithm 2.

use serde::{Deserialize, Serialize};

use super::baseline::{PUBLISHED, STANDARDISE, info};
use super::stream::{Rule, Streaming};
use super::truncation::Truncation;
use crate::data::row::{Row, RowProblem};
use crate::data::target::Task;
use crate::error::{Error, Result};
use crate::learn::RowLearner;
use crate::loss::LossKind;
use crate::registry::setting::Bounds;
use crate::registry::{MethodInfo, MethodSpec, Promises, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

#[derive(Serialize, Deserialize)]
struct Ofs {
    w: Vec<f64>,
    b0: Option<f64>,
    support: Truncation,
    eta: f64,
    lambda: f64,
    margin: f64,
}

impl Rule for Ofs {
    const NAME: &'static str = "ofs";

    fn margin(&mut self, x: Row<'_>) -> f64 {
        x.dot(&self.w) + self.intercept()
    }

    fn learn(&mut self, x: Row<'_>, y: f64, weight: f64, f: f64) {
        if y * f > self.margin {
            return;
        }
        let keep = 1.0 - self.lambda * self.eta;
        self.support.members.iter().for_each(|j| self.w[*j as usize] *= keep);
        x.axpy(weight * self.eta * y, &mut self.w);
        self.b0 = self.b0.map(|b0| b0 + weight * self.eta * y);
        // Every non-zero coefficient belongs to a member or to a feature of this row.
        let mut square: f64 = 0.0;
        x.each(|j, _| square += self.w[j] * self.w[j]);
        let outside = |j: &&u32| x.get(**j as usize) == 0.0;
        let rest = self.support.members.iter().filter(outside).map(|j| self.w[*j as usize].powi(2));
        let norm = (square + if is_sparse(x) { rest.sum() } else { 0.0 }).sqrt();
        let ball = 1.0 / self.lambda.sqrt();
        self.support.truncate(x, &mut self.w, |_, w| w.abs());
        if norm > ball {
            self.support.members.iter().for_each(|j| self.w[*j as usize] *= ball / norm);
        }
    }

    fn coefficients(&self) -> Vec<f64> {
        self.w.clone()
    }

    fn intercept(&self) -> f64 {
        self.b0.unwrap_or(0.0)
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("eta", self.eta.into()),
            ("lambda", self.lambda.into()),
            ("margin", self.margin.into()),
        ]
    }

    fn loss(&self) -> LossKind {
        LossKind::SquaredHinge
    }

    fn sound(&self, features: usize) -> bool {
        self.w.len() == features && self.support.sound(features)
    }
}

fn is_sparse(x: Row<'_>) -> bool {
    matches!(x, Row::Sparse { .. })
}

const ETA: Setting = Setting::number("eta", Bounds::above(0.0), 0.2, "step, above 0");
const LAMBDA: Setting = Setting::number("lambda", Bounds::above(0.0), 0.01, "shrinkage, above 0");
const MARGIN: Setting =
    Setting::whole("margin", (0, 1), 1, "1 is the hinge form, 0 the perceptron");

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "ofs",
    "online feature selection: a perceptron cut to k weights after each mistake",
    "binary classification",
    "O(p) a row, O(k + nnz) with standardise=false",
    "Wang, Zhao, Hoi and Jin 2014",
    &[ETA, LAMBDA, MARGIN, STANDARDISE],
    make,
)
.promising(Promises::STREAMING_CLASSES);

/// An error unless the target has two classes and the loss is the rule's own.
pub(crate) fn two_classes(name: &str, spec: &MethodSpec, problem: &RowProblem) -> Result<()> {
    if let Some(loss) = spec.loss.filter(|loss| *loss != LossKind::SquaredHinge) {
        return Err(Error::Unsupported(format!(
            "{name} has a rule of its own and cannot follow the {} loss; leave `loss` out",
            loss.name()
        )));
    }
    problem.check()?;
    if problem.task() == Task::Classification && problem.classes.len() == 2 {
        return Ok(());
    }
    Err(Error::Unsupported(format!("{name} needs a target of two classes")))
}

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    two_classes("ofs", spec, problem)?;
    let rule = Ofs {
        w: vec![0.0; problem.features()],
        b0: spec.flag(&STANDARDISE)?.then_some(0.0),
        support: Truncation::new(problem.features(), spec.need_k()?),
        eta: spec.number(&ETA)?,
        lambda: spec.number(&LAMBDA)?,
        margin: spec.whole(&MARGIN)? as f64,
    };
    Ok(Box::new(Streaming::new(rule, spec, problem, budget, PUBLISHED)?))
}
