//! MMMB: the Markov blanket of the target, by max-min searches for parents, children and spouses.
//!
//! ```text
//! P = mmpc(t);  N(x) = mmpc(x) for x in P, where t is one of the features
//! symmetric: P = those x with t in N(x)
//! for x in P, y in N(x) outside P and not t: a spouse if p(y; t | sep(y) + x) <= alpha
//! ```
//!
//! `sep(y)` is the set that made `y` independent of the target in `mmpc(t)`. Tsamardinos, Aliferis,
//! Statnikov, KDD 2003; the symmetric correction: Tsamardinos, Brown, Aliferis, Mach. Learn. 65
//! (2006). The rules for few rows, covariates and pinned features are those of `mmpc`; a spouse is
//! none where the rows are too few for its test. `k` limits the members of P and of the blanket.
//!
//! Out of core: the scans of `mmpc(t)`, then those of all `mmpc(x)`, which are shared (`lanes.rs`).
//! Every column that the last step needs is a member of some search and is held, so it needs no
//! scan, and no set is stored for a dead feature.

use serde::{Deserialize, Serialize};

use super::hold::HOLD;
use super::lanes::{Lanes, Limits, Who};
use super::markov::{Asked, MEASURE, STRONGEST, WithTests, few_rows_warning, no_offset};
use super::mmpc::{FEW, MAX_CONDITION, limits};
use super::pool::Chosen;
use crate::data::block::FeatureId;
use crate::data::check::CheckedBlock;
use crate::data::target::Problem;
use crate::error::Result;
use crate::measure::newcomer::Newcomer;
use crate::measure::{ALPHA, BINS};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{Snapshot, ensure};
use crate::select::{ColumnSelector, Memory, Outcome, Status};
use crate::selection::{Selection, Value};

const SYMMETRIC: Setting = Setting::flag(
    "symmetric",
    true,
    "whether a parent or child must find the target in turn, as in the text of 2006",
);

/// Where the search stands, beside the lanes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Progress {
    /// P as `mmpc` of the target found it, once that has ended.
    found: Option<Vec<Who>>,
    /// The blanket, with the statistic that decided.
    blanket: Vec<(FeatureId, f64)>,
    /// Members of the blanket that are parents or children.
    close: usize,
    done: bool,
}

/// MMMB with one kind of test.
struct Mmmb<T: Newcomer> {
    asked: Asked,
    symmetric: bool,
    settings: Vec<(&'static str, Value)>,
    lanes: Lanes<T>,
    at: Progress,
}

impl<T: Newcomer> Mmmb<T> {
    /// Puts the blanket together once every search has ended.
    fn conclude(&mut self, found: &[Who]) {
        let lane = |at: usize| at + 1;
        let mut parents: Vec<(usize, FeatureId)> = Vec::new();
        for (at, who) in found.iter().enumerate() {
            let Some(id) = *who else { continue };
            let mutual = self.lanes.found(lane(at)).contains(&None);
            if mutual || !self.symmetric || self.pinned(id) {
                parents.push((at, id));
            }
        }
        for (_, id) in &parents {
            let held = self.lanes.held.list();
            let strength = self.lanes.held.place(*id).map_or(0.0, |at| held[at].strength);
            self.at.blanket.push((*id, strength));
        }
        self.at.close = parents.len();
        for (at, x) in parents {
            for y in self.lanes.found(lane(at)).into_iter().flatten() {
                if self.at.blanket.iter().any(|(id, _)| *id == y) || self.full() {
                    continue;
                }
                let Some(mut set) = self.lanes.separator(0, y) else { continue };
                if !set.contains(&Some(x)) {
                    set.push(Some(x));
                }
                let link = self.lanes.test_node(Some(y), None, &set);
                if let Some(link) = link.filter(|link| link.holds(self.asked.alpha)) {
                    self.at.blanket.push((y, link.statistic));
                }
            }
        }
    }

    fn pinned(&self, id: FeatureId) -> bool {
        let held = &self.lanes.held;
        held.place(id).is_some_and(|at| held.list()[at].kept.pinned)
    }

    fn full(&self) -> bool {
        let free = || self.at.blanket.iter().filter(|(id, _)| !self.pinned(*id)).count();
        self.asked.k.is_some_and(|k| free() >= k)
    }
}

impl<T: Newcomer> ColumnSelector for Mmmb<T> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        // The second searches begin with every feature.
        self.lanes.offer_block(block, self.at.found.is_none(), out)
    }

    fn end_scan(&mut self) -> Result<bool> {
        if self.at.done {
            return Ok(true);
        }
        if self.at.found.is_none() {
            if !self.lanes.advance() {
                return Ok(false);
            }
            let found = self.lanes.found(0);
            self.at.done = found.is_empty();
            self.lanes.begin(&found);
            self.at.found = Some(found);
            if self.at.done || !self.lanes.again() {
                return Ok(self.at.done);
            }
        }
        if self.lanes.advance() {
            let found = self.at.found.clone().unwrap_or_default();
            self.conclude(&found);
            self.at.done = true;
        }
        Ok(self.at.done)
    }

    fn unfinished(&self) -> bool {
        !self.at.done
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let mut selection = self.lanes.selection("mmmb", &self.settings);
        let (close, all) = (self.at.close, self.at.blanket.len());
        selection.metrics.push(("parents_children", close.into()));
        selection.metrics.push(("spouses", (all - close).into()));
        let held = &self.lanes.held;
        // Before its end: what the first search has.
        let early: Vec<(FeatureId, f64)> = match self.at.done {
            true => Vec::new(),
            false => self.lanes.members(0).iter().map(|held| (held.id(), held.strength)).collect(),
        };
        let blanket = self.at.blanket.iter().chain(&early);
        for (order, (id, strength)) in blanket.enumerate() {
            let Some(column) = held.place(*id).map(|at| &held.list()[at]) else { continue };
            let list = match column.kept.pinned {
                true => &mut selection.pinned,
                false => &mut selection.selected,
            };
            list.extend(Chosen::of(column, *strength).selected(order));
        }
        selection.sort();
        let few = few_rows_warning(self.lanes.few(), self.asked.few, self.lanes.independent());
        selection.warnings.extend(few);
        Ok(selection)
    }

    fn centres(&self) -> bool {
        // Codes are compared for equality.
        T::KIND.info().numbers
    }

    fn compacts(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let kept = if self.at.done { self.at.blanket.len() } else { self.lanes.members(0).len() };
        Status { kept, bytes: self.lanes.bytes(), ..Status::default() }
    }

    /// The members of every search and the held columns with their levels, the weakest link of each
    /// live feature, the target, the condition, and what a test is computed in.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        // The searches of the members have no bound of their own.
        self.lanes.memory((column, features), None)
    }
}

impl<T: Newcomer> Snapshot for Mmmb<T> {
    fn save(&self) -> Result<Vec<u8>> {
        self.lanes.save(&self.at)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let at: Progress = self.lanes.restore(state)?;
        let begun = at.found.as_ref().map_or(0, Vec::len);
        ensure(self.lanes.lanes() == 1 + begun, "searches of other features")?;
        ensure(at.close <= at.blanket.len(), "more parents and children than members")?;
        ensure(at.blanket.iter().all(|(_, score)| score.is_finite()), "a score is no number")?;
        self.at = at;
        Ok(())
    }
}

/// All that the method needs but its tests.
struct Making {
    asked: Asked,
    limits: Limits,
    symmetric: bool,
    settings: Vec<(&'static str, Value)>,
    rows: usize,
    budget: Budget,
}

impl WithTests for Making {
    fn with<T: Newcomer + 'static>(self, tests: T) -> Box<dyn ColumnSelector> {
        let Self { asked, limits, symmetric, settings, rows, budget } = self;
        let lanes = Lanes::new(asked.clone(), limits, tests, rows, budget);
        Box::new(Mmmb { asked, symmetric, settings, lanes, at: Progress::default() })
    }
}

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    no_offset(problem, "mmmb")?;
    let asked = Asked::of(spec, &FEW)?;
    let (limits, mut own) = limits(spec, &asked)?;
    let symmetric = spec.flag(&SYMMETRIC)?;
    own.push((SYMMETRIC.name, symmetric.into()));
    let settings = asked.shown(own);
    let rows = problem.n();
    asked.make(problem, Making { asked: asked.clone(), limits, symmetric, settings, rows, budget })
}

/// The registry's entry.
pub const MMMB: MethodInfo = MethodInfo {
    name: "mmmb",
    stream: Stream::Features,
    summary: "the Markov blanket: parents, children and spouses by max-min links; exact out of core",
    tasks: "classification; regression with fisher-z",
    cost: "as mmpc, once for the target and once for its parents and children together",
    memory: "the members of every search and hold columns, two numbers a live feature and search",
    paper: "Tsamardinos, Aliferis, Statnikov, KDD 2003",
    scans: 0,
    needs_k: false,
    has_loss: false,
    settings: &[MEASURE, STRONGEST, ALPHA, BINS, FEW, MAX_CONDITION, SYMMETRIC, HOLD],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
