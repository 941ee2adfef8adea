//! Settings of `os`, and its entry in the registry.

use super::Os;
use crate::data::target::{Problem, Task};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::numeric::inner_product::Frame;
use crate::registry::effect::without_effect;
use crate::registry::setting::{Bounds, Given};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::fitted::{EPSILON, INTERCEPT};
use crate::select::refit::Outputs;
use crate::selection::Value;

/// The step length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Eta {
    /// This number.
    Fixed(f64),
    /// `c / L`, with `L` the largest eigenvalue of the kept set's Gram divided by W.
    OverL(f64),
    /// By the curvature of each feature, guarded so that the loss never rises.
    Auto,
}

impl Eta {
    fn of(spec: &MethodSpec) -> Result<Self> {
        Ok(match spec.value(&ETA)? {
            Some(Given::Number(eta)) => Self::Fixed(eta),
            Some(Given::Over(c, _)) => Self::OverL(c),
            _ => Self::Auto,
        })
    }

    fn value(self) -> Value {
        match self {
            Self::Fixed(eta) => Value::Float(eta),
            Self::OverL(c) => Value::Text(format!("{c}/L")),
            Self::Auto => Value::Text("auto".into()),
        }
    }
}

/// Settings of [`Os`].
#[derive(Clone, Debug)]
pub struct OsParams {
    /// Features to keep, at least 1.
    pub k: usize,
    /// Step length.
    pub eta: Eta,
    /// The kept set's step is `eta / m`; at least 1.
    pub m: f64,
    /// A scan that moved the weights by less, in Euclidean norm, is the last.
    pub tolerance: f64,
    /// The loss; by task where `None`: squared for numbers, squared hinge for classes.
    pub loss: Option<LossKind>,
    /// Half-width of the tube of the insensitive loss; a tenth of sd(y) where `None`.
    pub epsilon: Option<f64>,
    /// Whether there is an intercept, and columns are centred.
    pub intercept: bool,
}

impl OsParams {
    /// The defaults for `k` features.
    #[must_use]
    pub fn new(k: usize) -> Self {
        let (loss, epsilon) = (None, None);
        let (m, tolerance) = const { (M.usual_number(), TOLERANCE.usual_number()) };
        let intercept = const { INTERCEPT.usual_flag() };
        Self { k, eta: Eta::Auto, m, tolerance, loss, epsilon, intercept }
    }

    /// The settings that a user gave, the defaults for the rest.
    pub fn from_spec(spec: &MethodSpec) -> Result<Self> {
        let eta = Eta::of(spec)?;
        if eta == Eta::Auto && spec.settings.contains_key(M.name) {
            return Err(without_effect(M.name, "`eta` as a number or c/L with it"));
        }
        Ok(Self {
            k: spec.need_k()?,
            eta,
            m: spec.number(&M)?,
            tolerance: spec.number(&TOLERANCE)?,
            loss: spec.loss,
            epsilon: spec.optional_number(&EPSILON)?,
            intercept: spec.flag(&INTERCEPT)?,
        })
    }

    /// Whether the numbers are within their bounds.
    pub(super) fn check(&self) -> Result<()> {
        if self.k == 0 {
            return Err(Error::param("k", 0, "at least 1"));
        }
        M.check(self.m)?;
        TOLERANCE.check(self.tolerance)
    }

    /// The targets: less their mean where the steps are automatic, as they came where the user
    /// chose them and the published recurrence is wanted.
    pub(crate) fn outputs(&self, problem: &Problem, frame: &Frame) -> Result<Outputs> {
        let kind = self.loss_for(problem.target.task());
        match self.eta {
            Eta::Auto => Outputs::new(problem, kind, self.epsilon, frame),
            _ => Outputs::as_given(problem, kind, self.epsilon, frame),
        }
    }

    /// The loss that was named, or that of the task.
    #[must_use]
    pub fn loss_for(&self, task: Task) -> LossKind {
        self.loss.unwrap_or(match task {
            Task::Regression => LossKind::Squared,
            Task::Classification => LossKind::SquaredHinge,
        })
    }

    /// Every setting as a result shows it.
    #[must_use]
    pub fn values(&self, loss: LossKind) -> Vec<(&'static str, Value)> {
        vec![
            ("k", self.k.into()),
            ("loss", loss.name().into()),
            ("eta", self.eta.value()),
            ("m", self.m.into()),
            ("tolerance", self.tolerance.into()),
            ("intercept", self.intercept.into()),
        ]
    }
}

const ETA: Setting = Setting::step(
    "eta",
    &["L"],
    Given::Over(1.0, "L"),
    "step length: auto, a number, or c/L over the kept set's largest eigenvalue",
)
.or(&["auto"]);
const M: Setting = Setting::number(
    "m",
    Bounds::at_least(1.0),
    1.0,
    "the kept set steps by eta / m; for an eta that is not auto",
);
const TOLERANCE: Setting = Setting::number(
    "tolerance",
    Bounds::at_least(0.0).or_infinity(),
    0.0,
    "stop after a scan that moved the weights by less",
);

/// Settings of this method, and of the asynchronous one among others.
pub(in crate::select) const SETTINGS: [Setting; 5] = [ETA, M, TOLERANCE, EPSILON, INTERCEPT];

/// The registry's entry.
pub const INFO: MethodInfo = MethodInfo {
    name: "os",
    stream: Stream::Features,
    summary: "online substitution, Algorithm 1, exactly as published",
    tasks: "regression, classification (several classes one against the rest)",
    cost: "2 n k flops an arrival (squared loss, blocked), 4 n k in one pass (others)",
    memory: "k columns, O(n) vectors, O(k^2)",
    paper: "Yang, Fujimaki, Kusumura, Liu, KDD 2016, Algorithm 1",
    scans: 2,
    needs_k: true,
    has_loss: true,
    settings: &SETTINGS,
    promises: Promises::ALL,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    Ok(Box::new(Os::new(OsParams::from_spec(spec)?, problem, budget)?))
}
