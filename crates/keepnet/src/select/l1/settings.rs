//! Settings that the rivals share.

use crate::data::target::{Problem, Task};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::registry::setting::Bounds;
use crate::registry::{MethodSpec, Setting};
use crate::select::fitted;
pub(in crate::select) use crate::select::fitted::{EPSILON, INTERCEPT};
use crate::selection::Value;

/// Settings of `grafting`, `grafting-light`, `l1-cd`, `l0-cd`, `lasso`, `l1-hinge` and `proj-gd`.
#[derive(Clone, Debug)]
pub struct L1Params {
    /// Features to keep; `None` keeps whatever has a weight at `lambda`.
    pub k: Option<usize>,
    /// Weight of the penalty on scaled columns, where the loss is divided by the sum of sample
    /// weights; `None` is found so that `k` features have a weight.
    pub lambda: Option<f64>,
    /// The loss; by task where `None`: squared for numbers, squared hinge for classes.
    pub loss: Option<LossKind>,
    /// Half-width of the tube of the insensitive loss; a tenth of sd(y) where `None`.
    pub epsilon: Option<f64>,
    /// Whether there is an intercept, and columns are centred.
    pub intercept: bool,
    /// Whether columns are scaled to unit variance before they are penalised.
    pub standardise: bool,
}

impl L1Params {
    /// The defaults for `k` features.
    #[must_use]
    pub fn new(k: usize) -> Self {
        let (lambda, loss, epsilon) = (None, None, None);
        let (intercept, standardise) = const { (INTERCEPT.usual_flag(), STANDARDISE.usual_flag()) };
        Self { k: Some(k), lambda, loss, epsilon, intercept, standardise }
    }

    /// Reads what a user asked for.
    pub(in crate::select) fn read(spec: &MethodSpec) -> Result<Self> {
        Ok(Self {
            k: spec.k,
            lambda: spec.optional_number(&LAMBDA)?,
            loss: spec.loss,
            epsilon: spec.optional_number(&EPSILON)?,
            intercept: spec.flag(&INTERCEPT)?,
            standardise: spec.flag(&STANDARDISE)?,
        })
    }

    /// The loss for a problem.
    pub(in crate::select) fn kind(&self, problem: &Problem) -> LossKind {
        self.loss.unwrap_or(match problem.target.task() {
            Task::Regression => LossKind::Squared,
            Task::Classification => LossKind::SquaredHinge,
        })
    }

    /// Whether the numbers make sense for a problem.
    pub(in crate::select) fn check(&self, problem: &Problem) -> Result<()> {
        self.lambda.map_or(Ok(()), |lambda| LAMBDA.check(lambda))?;
        match (self.k, self.lambda) {
            (Some(0), _) => Err(Error::param("k", 0, "at least 1")),
            (None, None) => Err(Error::param(
                "k",
                "not given",
                "`k=K`, the number of features to keep, or `lambda=NUMBER`",
            )),
            (Some(k), _) if self.kind(problem) == LossKind::Squared => {
                fitted::check_k(k, problem.n())
            }
            _ => Ok(()),
        }
    }

    /// The settings as a result shows them.
    pub(in crate::select) fn shown(&self, kind: LossKind) -> Vec<(&'static str, Value)> {
        let mut shown = Vec::new();
        if let Some(k) = self.k {
            shown.push(("k", k.into()));
        }
        shown.push(("loss", kind.name().into()));
        shown.push(("lambda", self.lambda.map_or(Value::Text("auto".into()), Value::Float)));
        shown.push(("standardise", self.standardise.into()));
        shown.push(("intercept", self.intercept.into()));
        shown
    }
}

/// `lambda` of a stream or a batch.
pub(in crate::select) const LAMBDA: Setting = Setting::number(
    "lambda",
    Bounds::above(0.0),
    1.0,
    "weight of the L1 penalty; auto finds it so that k features remain",
)
.or(&["auto"]);

/// `standardise`.
pub(in crate::select) const STANDARDISE: Setting = Setting::flag(
    "standardise",
    true,
    "false penalises columns as they are, without unit variance",
);
