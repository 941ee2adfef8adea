//! Fully corrective online substitution: the default on a stream of features.
//!
//! The kept set is always at its optimum, so the gradient is constant between substitutions and
//! a feature that is let go costs one dot product. Decisions compare exact changes of the loss,
//! not sizes of weights:
//!
//! ```text
//! arrival x:   a = -slope of the loss in x,   h = its curvature
//!   full and a^2 / h < theta thr              let go
//!   gain = a^2 / schur(x)                     exact fall of the loss if x joined
//!   loss_i = (w_i - d_i a / schur)^2 / (A_ii + d_i^2 / schur)    exact rise if i left afterwards
//!   min loss_i < gain                         x takes the place of i
//! ```
//!
//! with `A` the inverse curvature of the kept set, `d = A <X_S, x>` and `thr` the least gain that
//! could matter. `theta` allows for columns whose correlation with the kept set hides a large
//! exact gain: `auto` is half the first percentile of schur / h over the tests so far.
//!
//! Cost: one pass over a column that is let go; `2 n (k + reserve)` flops for a full test; memory
//! `k + reserve` columns and `O(n + (k + reserve)^2)`. This is ours, built on Algorithm 1 of Yang,
//! Fujimaki, Kusumura, Liu, KDD 2016; see `docs/methods.md` for what it buys.

mod curved;
mod in_turn;
mod line;
mod squared;
mod theta;

use crate::data::check::{CheckedBlock, Feature};
use crate::data::kept::{Kept, KeptSet};
use crate::data::target::{Problem, Task};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::numeric::inner_product::Frame;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, SettingInfo, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{Snapshot, decode, encode};
use crate::run::verdict::Fitted;
use crate::select::kept_products::{Row, Rows};
use crate::select::refit::Outputs;
use crate::select::{
    ColumnSelector, Glance, Glances, Holds, Marginal, Memory, Outcome, Status, fitted,
};
use crate::selection::{Selection, Value};

use curved::Curved;
use squared::Squared;
use theta::Theta;

/// Settings of [`OsPlus`].
#[derive(Clone, Debug)]
pub struct OsPlusParams {
    /// Features to keep, at least 1 and below the number of rows for the squared loss.
    pub k: usize,
    /// Further columns that wait outside the model; squared loss only.
    pub reserve: usize,
    /// Share of `h` below which a Schur complement is taken to be impossible; `None` is `auto`.
    pub theta: Option<f64>,
    /// The loss; by task where `None`: squared for numbers, logistic for classes.
    pub loss: Option<LossKind>,
    /// Half-width of the tube of the insensitive loss; a tenth of sd(y) where `None`.
    pub epsilon: Option<f64>,
    /// Ridge of the curved losses, in units of a column's variance.
    pub ridge: f64,
    /// Whether there is an intercept, and columns are centred.
    pub intercept: bool,
}

impl OsPlusParams {
    /// The defaults for `k` features.
    #[must_use]
    pub fn new(k: usize) -> Self {
        let (theta, loss, epsilon) = (None, None, None);
        Self { k, reserve: 0, theta, loss, epsilon, ridge: 1e-2, intercept: true }
    }
}

/// What the two forms of the method share with the walk over a block.
trait Core: Send + Sync {
    fn kept(&self) -> &KeptSet;
    /// The vector whose product with a column is the greater part of its marginal.
    fn probe(&self) -> Option<&[f64]> {
        None
    }
    /// Strength of a newcomer against the current residual, given its product with the probe
    /// where that is known; pure, so it can be computed ahead.
    fn marginal(&self, feature: &Feature<'_>, product: Option<f64>) -> Marginal;
    /// Whether as many features are kept as may be, so that a newcomer must beat one of them.
    fn full(&self) -> bool;
    /// Whether the marginal alone shows that the newcomer cannot enter.
    fn rejects(&self, marginal: &Marginal) -> bool;
    /// A closer look at one that was not rejected; it may sharpen the marginal.
    fn confirms(&self, feature: &Feature<'_>, marginal: &mut Marginal) -> bool {
        let _ = (feature, marginal);
        true
    }
    /// Row weights of the products a full test needs, one set an output or one for all.
    fn scales(&self) -> Vec<Option<&[f64]>>;
    /// Targets whose products a full test needs too.
    fn targets(&self) -> Vec<&[f64]>;
    /// Changes whenever marginals computed before no longer hold.
    fn version(&self) -> u64;
    /// When the products with a slot's column last changed, on the clock of [`Core::clock`].
    fn born(&self, slot: usize) -> u64;
    fn clock(&self) -> u64;
    /// Decides, given the products with the kept columns and the targets.
    fn full_test(
        &mut self,
        feature: &Feature<'_>,
        marginal: &Marginal,
        row: &Row,
    ) -> Result<Outcome>;
    /// Slots of the model, in its own order.
    fn model(&self) -> Vec<usize>;
    /// Full tests so far.
    fn tests(&self) -> u64;
    fn status(&self) -> Status;
    fn save(&self) -> Result<Vec<u8>>;
    fn restore(&mut self, state: &[u8]) -> Result<()>;
}

/// The method, for any loss.
pub struct OsPlus {
    params: OsPlusParams,
    reserve: usize,
    outputs: Outputs,
    frame: Frame,
    core: Box<dyn Core>,
    rows: Rows,
    warnings: Vec<String>,
}

impl OsPlus {
    /// Starts with an empty kept set.
    pub fn new(params: OsPlusParams, problem: &Problem, budget: Budget) -> Result<Self> {
        problem.check()?;
        let n = problem.n();
        if params.k == 0 {
            return Err(Error::param("k", 0, "at least 1"));
        }
        if params.theta.is_some_and(|theta| !(0.0..=1.0).contains(&theta)) {
            let got = params.theta.unwrap_or_default();
            return Err(Error::param("theta", got, "auto or a number from 0 to 1"));
        }
        if !(params.ridge > 0.0 && params.ridge.is_finite()) {
            return Err(Error::param("ridge", params.ridge, "a number above 0"));
        }
        let kind = params.loss.unwrap_or(match problem.target.task() {
            Task::Regression => LossKind::Squared,
            Task::Classification => LossKind::Logistic,
        });
        let frame = Frame::new(problem, params.intercept);
        let outputs = Outputs::new(problem, kind, params.epsilon, &frame)?;
        let kept = KeptSet::new(budget);
        let mut reserve = 0;
        let mut warnings = Vec::new();
        let core: Box<dyn Core> = if kind == LossKind::Squared {
            fitted::check_k(params.k, n)?;
            reserve = params.reserve;
            // Past half the rows the model would chase noise, unless k alone is past it.
            let most = (n / 2).saturating_sub(params.k);
            if reserve > most {
                warnings.push(format!("the reserve was lowered to {most}: half the rows bound it"));
            }
            reserve = reserve.min(most);
            Box::new(Squared::new(
                params.k,
                reserve,
                params.theta,
                &frame,
                &outputs,
                problem,
                kept,
            )?)
        } else {
            if params.reserve > 0 {
                warnings.push(format!("the {} loss has no reserve", kind.name()));
            }
            Box::new(Curved::new(&params, &frame, problem, kind, kept)?)
        };
        Ok(Self { params, reserve, outputs, frame, core, rows: Rows::default(), warnings })
    }
}

impl Glances for OsPlus {
    fn probe(&self) -> Option<&[f64]> {
        self.core.probe().filter(|_| self.core.full())
    }

    fn glance(&self, feature: &Feature<'_>, product: Option<f64>) -> Option<Glance> {
        // Until the kept set is full nearly every feature changes the residual.
        if !self.core.full() || self.core.kept().slot(feature.id).is_some() {
            return None;
        }
        let marginal = self.core.marginal(feature, product);
        Some(Glance { version: self.core.version(), marginal })
    }
}

impl ColumnSelector for OsPlus {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        in_turn::offer(&mut *self.core, &mut self.rows, &self.frame, &block.features, out)
    }

    fn end_scan(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let model = self.core.model();
        let mut selection =
            fitted::selection(&self.frame, self.core.kept(), &model, &self.outputs)?;
        selection.method = INFO.name;
        selection.substitutions = self.core.status().substitutions;
        selection.warnings.extend(self.warnings.iter().cloned());
        selection.metrics = vec![("full_tests", self.core.tests().into())];
        selection.params = vec![
            ("k", self.params.k.into()),
            ("loss", self.outputs.kind.name().into()),
            ("reserve", self.reserve.into()),
            ("theta", self.params.theta.map_or(Value::Text("auto".into()), Value::Float)),
            ("ridge", self.params.ridge.into()),
            ("intercept", self.params.intercept.into()),
        ];
        Ok(selection)
    }

    fn glances(&self) -> Option<&dyn Glances> {
        Some(self)
    }

    fn fitted(&self, see: &mut dyn FnMut(&Fitted<'_>) -> Result<()>) -> Result<()> {
        let columns: Vec<&Kept> = self.core.kept().slots().iter().collect();
        see(&Fitted { columns: &columns, frame: &self.frame, outputs: &self.outputs })
    }

    fn centres(&self) -> bool {
        self.frame.centred()
    }

    fn status(&self) -> Status {
        let mut status = self.core.status();
        status.bytes += self.rows.bytes();
        status
    }

    /// `k + reserve` columns. Squared loss: target and residual an output, 13 columns written out,
    /// a refit; Gram and swept matrix, and those of the refit. Other losses: all of it an output.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let (q, squared) = (self.outputs.y.len(), self.outputs.kind == LossKind::Squared);
        let weights = 2 * usize::from(self.frame.weight().is_some());
        Holds {
            rows: self.frame.n(),
            kept: Some(self.params.k.saturating_add(self.reserve)),
            spare: 1,
            facts: 0,
            covariates: self.core.kept().covariates(),
            vectors: weights + if squared { 31 + 3 * q } else { 14 + 27 * q },
            matrices: if squared { 5 } else { 2 + 3 * q },
        }
        .bytes(column, features)
    }
}

impl Snapshot for OsPlus {
    fn save(&self) -> Result<Vec<u8>> {
        encode(&(self.core.save()?, &self.warnings))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (core, warnings): (Vec<u8>, Vec<String>) = decode(state)?;
        self.core.restore(&core)?;
        self.warnings = warnings;
        self.rows = Rows::default();
        Ok(())
    }
}

/// The registry's entry.
pub const INFO: MethodInfo = MethodInfo {
    name: "os-plus",
    stream: Stream::Features,
    summary: "fully corrective substitution: exact gains, one dot product a rejected feature",
    tasks: "regression, classification (several classes one against the rest)",
    cost: "2 n flops a rejected feature, 2 n (k + reserve) a full test",
    memory: "k + reserve columns, O(n) vectors, O((k + reserve)^2)",
    paper: "ours, on Algorithm 1 of Yang, Fujimaki, Kusumura, Liu, KDD 2016",
    scans: 2,
    needs_k: true,
    has_loss: true,
    settings: &[
        SettingInfo {
            name: "reserve",
            default: "0",
            help: "columns that wait outside the model (squared loss): up to k buys recall at low noise",
        },
        SettingInfo {
            name: "theta",
            default: "auto",
            help: "auto, or 0 to 1: smaller tests more features fully, for correlated columns",
        },
        SettingInfo {
            name: "ridge",
            default: "0.01",
            help: "ridge of the losses other than squared, in units of a column's variance",
        },
        SettingInfo {
            name: "epsilon",
            default: "0.1 sd(y)",
            help: "half-width of the tube of squared-epsilon",
        },
        SettingInfo {
            name: "intercept",
            default: "true",
            help: "false leaves columns and target uncentred, as the papers do",
        },
    ],
    promises: Promises::ALL,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    let defaults = OsPlusParams::new(spec.need_k()?);
    let number = |name, want| match spec.settings.get(name).map(String::as_str) {
        None | Some("auto") => Ok(None),
        Some(_) => spec.get(name, 0.0, want).map(Some),
    };
    let params = OsPlusParams {
        reserve: spec.get("reserve", 0, "a whole number")?,
        theta: number("theta", "auto or a number from 0 to 1")?,
        loss: spec.loss,
        epsilon: number("epsilon", "a number of at least 0")?,
        ridge: spec.get("ridge", defaults.ridge, "a number above 0")?,
        intercept: spec.get("intercept", true, "true or false")?,
        ..defaults
    };
    Ok(Box::new(OsPlus::new(params, problem, budget)?))
}

/// Theta of a run: fixed or learnt.
fn theta(fixed: Option<f64>) -> Theta {
    fixed.map_or_else(Theta::auto, Theta::fixed)
}
