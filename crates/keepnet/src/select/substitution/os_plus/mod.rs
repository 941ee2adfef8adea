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
//! With `certify` (`--scans rest`) further scans test every column exactly, without `theta`, until
//! a whole scan leads to no exchange; see `rounds.rs`.
//!
//! Where neighbours in the input are correlated, as variants in linkage disequilibrium are, theta must
//! be small, and most full tests are then wasted. The neighbour test is between the two: with `N` the
//! kept features at most `neighbours` places from `x`,
//!
//! ```text
//! d = inverse(G_NN) X_N'x;   s = h - x'X_N d;   v = a / s
//! need = min(thr, min over i in N of (w_i - d_i v)^2 / (A_ii + d_i^2 / s))
//! a^2 / s < 0.9 need                        dropped
//! ```
//!
//! It is a heuristic: kept features further away are taken to be uncorrelated with `x`.
//!
//! Cost: one pass over a rejected column; `2 n (k + reserve)` flops for a full test; memory
//! `k + reserve` columns and `O(n + (k + reserve)^2)`. This is ours, built on Algorithm 1 of Yang,
//! Fujimaki, Kusumura, Liu, KDD 2016; `docs/methods.md` compares them.

mod block;
mod core;
mod curved;
mod exact_test;
mod exchange;
mod loss_line;
mod rounds;
mod squared;
mod theta;
mod warm;

use crate::data::check::{CheckedBlock, Feature};
use crate::data::kept::{Kept, KeptSet};
use crate::data::target::{Problem, Task};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::numeric::inner_product::Frame;
use crate::registry::effect::without_effect;
use crate::registry::setting::Bounds;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{Snapshot, decode, encode, ensure};
use crate::run::verdict::Fitted;
use crate::select::fitted::EPSILON;
use crate::select::kept_products::{BlockProducts, GROUP};
use crate::select::refit::Outputs;
use crate::select::{
    ColumnSelector, Glance, Glances, Holds, Late, Memory, Outcome, QuickTest, Status, fitted,
};
use crate::selection::{Selection, Value};

use self::core::{Answer, Candidate, Core};
use curved::Curved;
pub use exact_test::{Best, Found};
use exact_test::{Exchange, Newcomer};
pub use exchange::Exchanged;
use rounds::Rounds;
use squared::Squared;
use theta::Theta;
pub use warm::{column_bytes, column_from_bytes};

/// Settings of [`OsPlus`].
#[derive(Clone, Debug)]
pub struct OsPlusParams {
    /// Features to keep, at least 1 and below the number of rows for the squared loss.
    pub k: usize,
    /// Further columns that wait outside the model; `None` is none under the squared loss and `2 k`
    /// under the others.
    pub reserve: Option<usize>,
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
    /// How far, in places of the input, a kept feature may be to take part in the neighbour test;
    /// 0 is no such test. Squared loss only.
    pub neighbours: usize,
}

impl OsPlusParams {
    /// The defaults for `k` features.
    #[must_use]
    pub fn new(k: usize) -> Self {
        let (reserve, theta, loss, epsilon) = (None, None, None, None);
        let (ridge, intercept) = const { (RIDGE.usual_number(), INTERCEPT.usual_flag()) };
        Self { k, reserve, theta, loss, epsilon, ridge, intercept, neighbours: 0 }
    }

    /// What was asked of the method by name.
    pub fn of(spec: &MethodSpec) -> Result<Self> {
        Ok(Self {
            k: spec.need_k()?,
            reserve: spec.optional_whole(&RESERVE)?,
            theta: spec.optional_number(&THETA)?,
            loss: spec.loss,
            epsilon: spec.optional_number(&EPSILON)?,
            ridge: spec.number(&RIDGE)?,
            intercept: spec.flag(&INTERCEPT)?,
            neighbours: spec.optional_whole(&NEIGHBOURS)?.unwrap_or(0),
        })
    }

    /// The same for a model that exchanges over all features end, and no last pass: an error where
    /// a reserve for it was asked for.
    pub fn without_last_pass(mut self, problem: &Problem) -> Result<Self> {
        if self.loss_for(problem) != LossKind::Squared {
            let asked = self.reserve.unwrap_or(0);
            if asked > 0 {
                let want =
                    "0 here, as a loss other than squared has a reserve for one stream alone";
                return Err(Error::param(RESERVE.name, asked, want));
            }
            self.reserve = Some(0);
        }
        Ok(self)
    }

    /// The loss that was named, or that of the task.
    fn loss_for(&self, problem: &Problem) -> LossKind {
        self.loss.unwrap_or(match problem.target.task() {
            Task::Regression => LossKind::Squared,
            Task::Classification => LossKind::Logistic,
        })
    }
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
    /// Where the run goes on until no exchange is left.
    rounds: Option<Rounds>,
}

impl OsPlus {
    /// Starts with an empty kept set.
    pub fn new(mut params: OsPlusParams, problem: &Problem, budget: Budget) -> Result<Self> {
        problem.check()?;
        let n = problem.n();
        if params.k == 0 {
            return Err(Error::param("k", 0, "at least 1"));
        }
        params.theta.map_or(Ok(()), |theta| THETA.check(theta))?;
        RIDGE.check(params.ridge)?;
        let kind = params.loss_for(problem);
        let frame = Frame::new(problem, params.intercept);
        let outputs = Outputs::new(problem, kind, params.epsilon, &frame)?;
        let kept = KeptSet::new(budget);
        let squared = kind == LossKind::Squared;
        let mut reserve = params.reserve.unwrap_or(if squared {
            0
        } else {
            params.k.saturating_mul(AUTO_RESERVE)
        });
        let mut warnings = Vec::new();
        let core: Box<dyn Core> = if squared {
            fitted::check_k(params.k, n)?;
            // With more columns than half the rows the model would fit noise.
            let most = (n / 2).saturating_sub(params.k);
            if reserve > most {
                warnings.push(format!("the reserve was lowered to {most}: half the rows bound it"));
            }
            reserve = reserve.min(most);
            if params.neighbours > 0 {
                params.theta.get_or_insert(NEAR_THETA);
            }
            Box::new(Squared::new(&params, reserve, &frame, &outputs, problem, kept)?)
        } else {
            if params.neighbours > 0 {
                warnings.push(format!("the {} loss has no neighbour test", kind.name()));
                params.neighbours = 0;
            }
            Box::new(Curved::new(&params, reserve, &frame, problem, kind, kept)?)
        };
        Ok(Self {
            params,
            reserve,
            outputs,
            frame,
            core,
            products: BlockProducts::default(),
            warnings,
            rounds: None,
        })
    }
}

impl OsPlus {
    /// Does without the reserve of the last pass, where the model as it stands is the answer.
    fn without_last_pass(&mut self) -> Result<()> {
        if self.outputs.kind == LossKind::Squared || self.reserve == 0 {
            return Ok(());
        }
        if self.params.reserve.is_some_and(|reserve| reserve > 0) {
            let kind = self.outputs.kind.name();
            let why = "has no reserve where exchanges go on until none is left";
            self.warnings.push(format!("the {kind} loss {why}"));
        }
        self.reserve = 0;
        self.core.close_reserve()
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

    fn quick_test(&self) -> Option<QuickTest<'_>> {
        let (probe, least) = (self.core.probe()?, self.core.least_gain()?);
        let (version, centred) = (self.core.version(), self.frame.centred());
        Some(QuickTest { probe, least, version, centred })
    }
}

impl ColumnSelector for OsPlus {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        if self.rounds.as_ref().is_some_and(Rounds::tests) {
            return self.test_block(&block.features, out);
        }
        self.core.go_on();
        block::offer_block(&mut *self.core, &mut self.products, &self.frame, &block.features, out)
    }

    fn settle(&mut self, _wait: bool, out: &mut Vec<Late>) -> Result<()> {
        self.rounds.iter_mut().for_each(|rounds| rounds.told(out));
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        self.core.end_scan();
        self.end_round()
    }

    fn unfinished(&self) -> bool {
        self.rounds.as_ref().is_some_and(|rounds| !rounds.ended())
    }

    fn certify(&mut self, scans: u32) -> Result<()> {
        self.rounds = Some(Rounds::after(scans, self.params.k));
        // The certificate is of the model as it stands.
        self.without_last_pass()
    }

    fn finish(&mut self) -> Result<()> {
        self.core.finish()
    }

    fn selection(&self) -> Result<Selection> {
        let (answer, status) = (self.core.answer(), self.core.status());
        let mut selection = match &answer {
            Some(answer) => fitted::of_columns(&self.frame, &answer.columns, &self.outputs)?,
            None => {
                let model = self.core.model();
                fitted::selection(&self.frame, self.core.kept(), &model, &self.outputs)?
            }
        };
        selection.method = INFO.name;
        (selection.substitutions, selection.objective) = (status.substitutions, status.loss);
        selection.warnings.extend(self.warnings.iter().cloned());
        selection.metrics = vec![("full_tests", self.core.tests().into())];
        if self.reserve > 0 && self.outputs.kind != LossKind::Squared {
            let entered = answer.as_ref().map_or(0, |answer| answer.entered);
            selection.metrics.push(("last_pass_entered", entered.into()));
        }
        if let Some(answer) = answer {
            selection.objective = Some(answer.objective);
        }
        if let Some(rounds) = &self.rounds {
            selection.metrics.extend(rounds.metrics(self.kind()));
            selection.warnings.extend(rounds.warning());
        }
        if self.params.neighbours > 0 {
            selection.metrics.push(("neighbour_tests", self.core.neighbour_tests().into()));
        }
        selection.params = vec![
            ("k", self.params.k.into()),
            ("loss", self.outputs.kind.name().into()),
            ("reserve", self.reserve.into()),
            ("theta", self.params.theta.map_or(Value::Text("auto".into()), Value::Float)),
            ("ridge", self.params.ridge.into()),
            ("intercept", self.params.intercept.into()),
            ("neighbours", self.params.neighbours.into()),
        ];
        if self.rounds.is_some() {
            selection.params.push(("scans", "rest".into()));
        }
        Ok(selection)
    }

    fn glances(&self) -> Option<&dyn Glances> {
        // An exact test has no use for a first look.
        let tests = self.rounds.as_ref().is_some_and(Rounds::tests);
        (!tests).then_some(self)
    }

    fn fitted(&self, see: &mut dyn FnMut(&Fitted<'_>) -> Result<()>) -> Result<()> {
        let held = self.core.kept().slots();
        let columns: Vec<&Kept> = held.iter().chain(self.core.waiting()).collect();
        see(&Fitted { columns: &columns, frame: &self.frame, outputs: &self.outputs })
    }

    fn centres(&self) -> bool {
        self.frame.centred()
    }

    fn status(&self) -> Status {
        let mut status = self.core.status();
        status.bytes += self.products.bytes();
        status.bytes += self.rounds.as_ref().map_or(0, Rounds::bytes);
        status
    }

    /// `k + reserve` columns. Squared loss: target and residual an output, 15 columns written out,
    /// a refit; Gram and swept matrix, and those of the refit; where it looks ahead, residuals of a
    /// group. Other losses: all of it an output.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let (q, squared) = (self.outputs.y.len(), self.outputs.kind == LossKind::Squared);
        let weights = 2 * usize::from(self.frame.weight().is_some());
        let held =
            (self.params.k.saturating_add(self.reserve) as u64).min(features.unwrap_or(u64::MAX));
        let ahead = squared && q == 1 && squared::looks_ahead(held.saturating_mul(column));
        // What a round found, and the columns that they drove out.
        let found = if self.rounds.is_some() { held as usize + 1 } else { 0 };
        // Residuals of models to come; a copy of the two matrices, which have room to grow.
        let (residuals, copies) = if ahead { (GROUP + 1, 6) } else { (0, 0) };
        Holds {
            rows: self.frame.n(),
            kept: Some(self.params.k.saturating_add(self.reserve)),
            spare: 1 + found,
            // Products of a group of newcomers: as they are computed, and one by one.
            facts: (16 * GROUP * if squared { 1 } else { q }) as u64,
            covariates: self.core.kept().covariates(),
            vectors: weights + residuals + if squared { 33 + 3 * q } else { 14 + 27 * q },
            matrices: copies + if squared { 5 } else { 2 + 3 * q },
        }
        .bytes(column, features)
    }
}

impl Snapshot for OsPlus {
    fn save(&self) -> Result<Vec<u8>> {
        encode(&(self.core.save()?, &self.warnings, &self.rounds))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        type State = (Vec<u8>, Vec<String>, Option<Rounds>);
        let (core, warnings, rounds): State = decode(state)?;
        let sound = |rounds: &Rounds| rounds.sound(self.frame.n());
        let fits = rounds.is_some() == self.rounds.is_some() && rounds.iter().all(sound);
        ensure(fits, "other rounds")?;
        self.core.restore(&core)?;
        (self.warnings, self.rounds) = (warnings, rounds);
        self.products = BlockProducts::default();
        Ok(())
    }
}

const RESERVE: Setting = Setting::whole(
    "reserve",
    (0, u64::MAX),
    0,
    "columns that wait outside the model; auto is 0 for the squared loss and 2 k for the others, which \
     choose again among all held columns at the end",
)
.or(&["auto"]);
/// `reserve` of the losses other than squared, in units of `k`. With `k` itself recall on the papers'
/// classes was .018 lower at p = 5,000; `4 k` found .011 more in 1.7 times the time.
const AUTO_RESERVE: usize = 2;
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

const NEIGHBOURS: Setting = Setting::whole(
    "neighbours",
    (0, u64::MAX),
    0,
    "places within which a kept feature takes part in the neighbour test (squared loss); auto is \
     200 for genotypes and 0, no such test, elsewhere",
)
.or(&["auto"]);
/// `neighbours` of genotypes.
const NEAR: usize = 200;
/// `theta` beside the neighbour test.
const NEAR_THETA: f64 = 0.05;

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
    settings: &[RESERVE, THETA, RIDGE, EPSILON, INTERCEPT, NEIGHBOURS],
    promises: Promises::ALL,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    let mut params = OsPlusParams::of(spec)?;
    let squared = params.loss_for(problem) == LossKind::Squared;
    if squared && spec.settings.contains_key(RIDGE.name) {
        return Err(without_effect(
            RIDGE.name,
            "another `loss` than squared, which needs no ridge",
        ));
    }
    if spec.genotypes && squared && spec.optional_whole(&NEIGHBOURS)?.is_none() {
        params.neighbours = NEAR;
    }
    Ok(Box::new(OsPlus::new(params, problem, budget)?))
}

/// Theta of a run: fixed or learnt.
fn theta(fixed: Option<f64>) -> Theta {
    fixed.map_or_else(Theta::auto, Theta::fixed)
}
