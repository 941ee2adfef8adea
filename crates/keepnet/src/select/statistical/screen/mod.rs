//! Screening: one marginal test a feature, with an error rate over the whole stream.
//!
//! ```text
//! null of a feature      x and y are independent
//! test                   by the kinds of target and feature, as tsfresh chooses (test.rs)
//! at the end             bh, by, holm, bonferroni over all features tested (correction.rs)
//! on arrival             lond, lord, saffron, addis and others (online.rs)
//! ```
//!
//! A feature has the kind of its different values among the rows used: one is constant, two binary,
//! more real. P-values are kept as logarithms from the tails themselves. With more than two
//! classes each class against the rest is a question with a correction of its own, and a feature is
//! selected where at least `classes` of them reject; `combine=bonferroni` makes one question of
//! them. Christ, Braun, Neuffer, Kempa-Liehr, Neurocomputing 307 (2018).
//!
//! Cost: a sort a feature, O(nnz log nnz) of a sparse one, none of a coded one. Memory: what is
//! known of the features with p at most the level; no column is held. The set does not depend on
//! blocks or threads, and at the end not on the order either.

mod anova;
mod chi2;
mod correction;
mod correlation;
mod fisher;
mod held;
mod kendall;
mod kolmogorov;
mod ks;
mod mann_whitney;
mod online;
mod profile;
mod rows;
mod settings;
mod spearman;
mod test;
mod welch;

use rayon::prelude::*;
use smallvec::SmallVec;

use self::held::Held;
use self::mann_whitney::{Law, law_bytes};
use self::online::Past;
use self::profile::Profile;
use self::rows::{Rows, Y};
use self::test::Found;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot, ensure};
use crate::select::{ColumnSelector, Late, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::Selection;

pub use correction::AtEnd;
pub use online::OnArrival;
pub use settings::{Procedure, SCREEN, ScreenParams};
pub use test::Test;

/// A share that is known to rounding only is not taken as less.
const KNOWN: f64 = f64::EPSILON;

/// What a test says.
#[derive(Clone, Copy, Debug)]
struct Sign {
    statistic: Option<f64>,
    log_p: f64,
}

/// One test a feature; see the module.
pub struct Screen {
    params: ScreenParams,
    rows: Rows,
    // The exact law of a class against the rest, made when it is first needed.
    laws: Vec<Law>,
    held: Vec<Held>,
    pinned: Vec<Held>,
    pasts: Vec<Past>,
    budget: Budget,
    tested: u64,
    thin: u64,
    ended: bool,
    late: Vec<Late>,
}

impl Screen {
    /// Nothing tested yet.
    pub fn new(params: ScreenParams, problem: &Problem, mut budget: Budget) -> Result<Self> {
        params.check()?;
        super::rules::no_model(problem, "screen")?;
        let rows = Rows::new(problem)?;
        settings::enough_rows(&params, &rows)?;
        let classes = match &rows.y {
            Y::Classes(classes) => classes.totals.len(),
            Y::Numbers(_) => 0,
        };
        let questions = params.questions(&rows);
        if params.classes > questions {
            let want = format!("at most {questions}, the classes that are questions of their own");
            return Err(Error::param("classes", params.classes, want));
        }
        let laws = (0..classes).map(|_| Law::default()).collect();
        let pasts = match params.procedure {
            Procedure::AtEnd(_) => Vec::new(),
            Procedure::OnArrival(_) => vec![Past::new(); questions],
        };
        let method = Self {
            params,
            rows,
            laws,
            held: Vec::new(),
            pinned: Vec::new(),
            pasts,
            budget: Budget::unlimited(),
            tested: 0,
            thin: 0,
            ended: false,
            late: Vec::new(),
        };
        budget.take(method.work(), "the order of the target and of a column a thread")?;
        Ok(Self { budget, ..method })
    }

    /// Bytes of the target and of columns under test.
    fn work(&self) -> u64 {
        let n = self.rows_used() as u64;
        let (each, laws) = match &self.rows.y {
            Y::Numbers(_) => (72, 0),
            Y::Classes(classes) => {
                let all: u64 = classes.totals.iter().sum();
                let laws = classes.totals.iter().map(|n1| law_bytes(*n1, all - n1));
                let laws: u64 =
                    if classes.totals.len() == 2 { laws.take(1).sum() } else { laws.sum() };
                (40 + 8 * classes.totals.len() as u64, laws)
            }
        };
        self.rows.bytes() + laws + each * n * rayon::current_num_threads() as u64
    }

    fn rows_used(&self) -> usize {
        match &self.rows.y {
            Y::Numbers(y) => y.rank.len(),
            Y::Classes(classes) => classes.codes.len(),
        }
    }

    /// The test of a feature; questions are joined here where that was asked for.
    fn find(&self, feature: &Feature<'_>) -> Result<Found> {
        let profile = Profile::new(feature.column(), &self.rows);
        let found = test::test(self.params.test, &profile, &self.rows, &self.laws);
        let mut found =
            found.map_err(|why| Error::Data(why).at(format!("feature {:?}", feature.name)))?;
        if self.params.combine && found.log_p.len() > 1 {
            let least = found.log_p.iter().copied().fold(f64::INFINITY, f64::min);
            let joined = least + (found.log_p.len() as f64).ln();
            found.log_p = SmallVec::from_elem(joined.min(0.0), 1);
        }
        Ok(found)
    }

    /// What becomes of a feature that was tested; the budget is asked before anything changes.
    fn judge(&mut self, feature: &Feature<'_>, found: Found) -> Result<Outcome> {
        let least = found.log_p.iter().copied().fold(f64::INFINITY, f64::min);
        let said = |verdict| Outcome {
            marginal: Some(least),
            score: Some(least.exp()),
            ..Outcome::new(verdict)
        };
        let thin = u64::from(found.thin);
        if feature.pinned {
            let held = Held::new(feature, found);
            self.budget.take(held.bytes(), "a pinned feature")?;
            self.thin += thin;
            self.pinned.push(held);
            return Ok(said(Verdict::Kept));
        }
        let level = self.params.level;
        let (verdict, held) = match self.params.procedure {
            Procedure::AtEnd(_) => {
                let may = least <= level.ln();
                let held = may.then(|| Held::new(feature, found));
                (if may { Verdict::Reserved } else { Verdict::Dropped(Reason::Weak) }, held)
            }
            Procedure::OnArrival(rule) => {
                let levels: Vec<Option<f64>> = self
                    .pasts
                    .iter_mut()
                    .enumerate()
                    .map(|(at, past)| {
                        // Where all classes were tested at once there is one p-value for all.
                        let log_p = found.log_p.get(at).or(found.log_p.last());
                        rule.take(level, past, log_p.copied().unwrap_or(0.0))
                    })
                    .collect();
                let rejected = levels.iter().flatten().count() >= self.params.classes;
                let shown = levels.into_iter().flatten().reduce(f64::max);
                let held = rejected.then(|| Held::new(feature, found).at_level(shown));
                (if rejected { Verdict::Kept } else { Verdict::Dropped(Reason::Weak) }, held)
            }
        };
        if let Some(held) = held {
            self.budget.take(held.bytes(), "the p-values that may still count")?;
            self.held.push(held);
        }
        self.tested += 1;
        self.thin += thin;
        Ok(said(verdict))
    }

    /// Forgets what a block changed.
    fn back_to(&mut self, before: (usize, usize, u64, u64, Vec<Past>)) {
        let (held, pinned, tested, thin, pasts) = before;
        self.held.truncate(held);
        self.pinned.truncate(pinned);
        (self.tested, self.thin, self.pasts) = (tested, thin, pasts);
        self.count();
    }

    /// Sets what the budget has to hold.
    fn count(&mut self) {
        let held = self.held.iter().chain(&self.pinned).map(Held::bytes).sum::<u64>();
        self.budget.reset(self.work() + held);
    }
}

impl ColumnSelector for Screen {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        if self.ended {
            // The published procedures see each feature once.
            let kept = self.selection()?.indices();
            out.extend(block.features.iter().map(|feature| {
                let held = feature.pinned || kept.contains(&feature.id.index);
                let weak = Verdict::Dropped(Reason::Weak);
                Outcome::new(if held { Verdict::Held } else { weak })
            }));
            return Ok(());
        }
        let found: Vec<Found> = match block.features.len() {
            1 => vec![self.find(&block.features[0])?],
            _ => block.features.par_iter().map(|f| self.find(f)).collect::<Result<_>>()?,
        };
        let (pasts, start) = (self.pasts.clone(), out.len());
        let before = (self.held.len(), self.pinned.len(), self.tested, self.thin, pasts);
        for (feature, found) in block.features.iter().zip(found) {
            match self.judge(feature, found) {
                Ok(outcome) => out.push(outcome),
                Err(error) => {
                    out.truncate(start);
                    self.back_to(before);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn settle(&mut self, _: bool, out: &mut Vec<Late>) -> Result<()> {
        out.append(&mut self.late);
        Ok(())
    }

    /// At the end of the scan what was held meets its fate.
    fn end_scan(&mut self) -> Result<bool> {
        if !self.ended && matches!(self.params.procedure, Procedure::AtEnd(_)) {
            let kept: std::collections::HashSet<_> =
                self.selection()?.selected.iter().map(|selected| selected.id).collect();
            self.late = self.held.iter().map(|held| held.fate(kept.contains(&held.id))).collect();
        }
        self.ended = true;
        Ok(true)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        Ok(held::selection(self))
    }

    fn centres(&self) -> bool {
        false
    }

    fn compacts(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let held = self.held.iter().chain(&self.pinned).map(Held::bytes).sum::<u64>();
        let bytes = self.work() + held + self.pasts.iter().map(Past::bytes).sum::<u64>();
        Status { kept: self.held.len() + self.pinned.len(), loss: None, substitutions: 0, bytes }
    }

    fn memory(&self, _: u64, _: Option<u64>) -> Memory {
        let each = Held::most_bytes(self.params.questions(&self.rows));
        Memory { bytes: self.work(), each }
    }
}

impl Snapshot for Screen {
    fn save(&self) -> Result<Vec<u8>> {
        let Self { held, pinned, pasts, tested, thin, ended, .. } = self;
        snapshot::encode(&(held, pinned, pasts, tested, thin, ended))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (held, pinned, pasts, tested, thin, ended): (Vec<Held>, Vec<Held>, Vec<Past>, _, _, _) =
            snapshot::decode(state)?;
        let most = self.params.questions(&self.rows);
        let sound = held.iter().chain(&pinned).all(|held| held.sound(most));
        ensure(sound, "p-values that are none")?;
        let fits = pasts.len() == self.pasts.len() && pasts.iter().all(Past::sound);
        ensure(fits && held.len() as u64 <= tested, "tests that were not made")?;
        (self.held, self.pinned, self.pasts) = (held, pinned, pasts);
        (self.tested, self.thin, self.ended) = (tested, thin, ended);
        self.late.clear();
        self.count();
        Ok(())
    }
}
