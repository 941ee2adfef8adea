//! Settings that the rivals share.

use crate::data::target::{Problem, Task};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::registry::{MethodSpec, SettingInfo};
use crate::select::fitted;
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
        Self { k: Some(k), lambda, loss, epsilon, intercept: true, standardise: true }
    }

    /// Reads what a user asked for.
    pub(in crate::select) fn read(spec: &MethodSpec) -> Result<Self> {
        let positive = "a number above 0, or auto";
        let lambda = match spec.settings.get("lambda").map(String::as_str) {
            None | Some("auto") => None,
            Some(_) => Some(spec.get("lambda", 0.0, positive)?),
        };
        let epsilon = match spec.settings.contains_key("epsilon") {
            true => Some(spec.get("epsilon", 0.0, "a number of at least 0")?),
            false => None,
        };
        Ok(Self {
            k: spec.k,
            lambda,
            loss: spec.loss,
            epsilon,
            intercept: spec.get("intercept", true, "true or false")?,
            standardise: spec.get("standardise", true, "true or false")?,
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
        if let Some(lambda) = self.lambda.filter(|l| !(*l > 0.0 && l.is_finite())) {
            return Err(Error::param("lambda", lambda, "a number above 0, or auto"));
        }
        match (self.k, self.lambda) {
            (Some(0), _) => Err(Error::param("k", 0, "at least 1")),
            (None, None) => Err(Error::param(
                "k",
                "not given",
                "-k K, the number of features to keep, or --set lambda=NUMBER",
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
pub(in crate::select) const LAMBDA: SettingInfo = SettingInfo {
    name: "lambda",
    default: "auto",
    help: "weight of the L1 penalty; auto finds it so that k features remain",
};

/// `standardise`.
pub(in crate::select) const STANDARDISE: SettingInfo = SettingInfo {
    name: "standardise",
    default: "true",
    help: "false penalises columns as they are, without unit variance",
};

/// `epsilon`.
pub(in crate::select) const EPSILON: SettingInfo = SettingInfo {
    name: "epsilon",
    default: "0.1 sd(y)",
    help: "half-width of the tube of squared-epsilon",
};

/// `intercept`.
pub(in crate::select) const INTERCEPT: SettingInfo = SettingInfo {
    name: "intercept",
    default: "true",
    help: "false leaves columns and target uncentred, as the paper does",
};
