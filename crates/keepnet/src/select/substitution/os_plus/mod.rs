//! Fully corrective online substitution: the default on a stream of features.
//!
//! The kept set is always at its optimum, so the gradient is constant between substitutions and
//! a rejected feature costs one dot product. Decisions compare exact changes of the loss and not
//! sizes of coefficients:
//!
//! ```text
//! arrival x:   a = -slope of the loss in x,   h = its curvature
//!   full and a^2 / h < theta thr              dropped
//!   gain = a^2 / schur(x)                     exact fall of the loss if x joined
//!   loss_i = (w_i - d_i a / schur)^2 / (A_ii + d_i^2 / schur)    exact rise if i left afterwards
//!   min loss_i < gain                         x takes the place of i
//! ```
//!
//! with `A` the inverse curvature of the kept set, `d = A <X_S, x>` and `thr` the least gain that
//! can lead to a substitution. A column that is correlated with the kept set may have a small
//! `a^2 / h` and a large exact gain; `theta` allows for that. `auto` is half the first percentile of
//! schur / h over the tests so far.
//!
//! Cost: one pass over a rejected column; `2 n (k + reserve)` flops for a full test; memory
//! `k + reserve` columns and `O(n + (k + reserve)^2)`. This is ours, built on Algorithm 1 of Yang,
//! Fujimaki, Kusumura, Liu, KDD 2016; `docs/methods.md` compares them.

mod block;
mod curved;
mod loss_line;
mod squared;
mod theta;

use crate::data::check::{CheckedBlock, Feature};
use crate::data::kept::{Kept, KeptSet};
use crate::data::target::{Problem, Task};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::numeric::inner_product::Frame;
use crate::registry::setting::Bounds;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{Snapshot, decode, encode};
use crate::run::verdict::Fitted;
use crate::select::fitted::EPSILON;
use crate::select::kept_products::{BlockProducts, GROUP, Products};
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
        let (reserve, ridge) = const { (RESERVE.usual_whole(), RIDGE.usual_number()) };
        let intercept = const { INTERCEPT.usual_flag() };
        Self { k, reserve, theta, loss, epsilon, ridge, intercept }
    }
}

/// What `block.rs` needs of the two forms of the method, squared and curved.
trait Core: Send + Sync {
    fn kept(&self) -> &KeptSet;
    /// The vector whose product with a column is the costly part of its marginal.
    fn probe(&self) -> Option<&[f64]> {
        None
    }
    /// Strength of a newcomer against the current residual, given its product with the probe where
    /// there is one. It changes no state, so it can be computed ahead.
    fn marginal(&self, feature: &Feature<'_>, product: Option<f64>) -> Marginal;
    /// Whether the kept set is full, so that a newcomer must replace a kept feature.
    fn full(&self) -> bool;
    /// Whether the marginal alone shows that the newcomer cannot enter.
    fn rejects(&self, marginal: &Marginal) -> bool;
    /// A closer test of a newcomer that was not rejected; it may correct the marginal.
    fn confirms(&self, feature: &Feature<'_>, marginal: &mut Marginal) -> bool {
        let _ = (feature, marginal);
        true
    }
    /// Row weights of the products in a full test: one set per output, or one for all.
    fn scales(&self) -> Vec<Option<&[f64]>>;
    /// Targets whose products a full test needs as well.
    fn targets(&self) -> Vec<&[f64]>;
    /// Changes whenever earlier marginals become invalid.
    fn version(&self) -> u64;
    /// When the products with a slot's column last changed, on the clock of [`Core::clock`].
    fn changed_at(&self, slot: usize) -> u64;
    fn clock(&self) -> u64;
    /// Decides, given the products with the kept columns and the targets.
    fn full_test(
        &mut self,
        feature: &Feature<'_>,
        marginal: &Marginal,
        products: &Products,
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
    products: BlockProducts,
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
        params.theta.map_or(Ok(()), |theta| THETA.check(theta))?;
        RIDGE.check(params.ridge)?;
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
            // With more columns than half the rows the model would fit noise.
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
        Ok(Self {
            params,
            reserve,
            outputs,
            frame,
            core,
            products: BlockProducts::default(),
            warnings,
        })
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
        block::offer_block(&mut *self.core, &mut self.products, &self.frame, &block.features, out)
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
        status.bytes += self.products.bytes();
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
            // Products of a group of newcomers: as they are computed, and one by one.
            facts: (16 * GROUP * if squared { 1 } else { q }) as u64,
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
        self.products = BlockProducts::default();
        Ok(())
    }
}

const RESERVE: Setting = Setting::whole(
    "reserve",
    (0, u64::MAX),
    0,
    "columns that wait outside the model (squared loss): up to k buys recall at low noise",
);
const THETA: Setting = Setting::number(
    "theta",
    Bounds::from_to(0.0, 1.0),
    1.0,
    "auto, or 0 to 1: smaller tests more features fully, for correlated columns",
)
.or(&["auto"]);
const RIDGE: Setting = Setting::number(
    "ridge",
    Bounds::above(0.0),
    0.01,
    "ridge of the losses other than squared, in units of a column's variance",
);

const INTERCEPT: Setting = Setting {
    help: "false leaves columns and target uncentred, as the papers do",
    ..fitted::INTERCEPT
};

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
    settings: &[RESERVE, THETA, RIDGE, EPSILON, INTERCEPT],
    promises: Promises::ALL,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    let params = OsPlusParams {
        k: spec.need_k()?,
        reserve: spec.whole(&RESERVE)?,
        theta: spec.optional_number(&THETA)?,
        loss: spec.loss,
        epsilon: spec.optional_number(&EPSILON)?,
        ridge: spec.number(&RIDGE)?,
        intercept: spec.flag(&INTERCEPT)?,
    };
    Ok(Box::new(OsPlus::new(params, problem, budget)?))
}

/// Theta of a run: fixed or learnt.
fn theta(fixed: Option<f64>) -> Theta {
    fixed.map_or_else(Theta::auto, Theta::fixed)
}
