//! MMPC: the parents and children of a target, by the strongest of the weakest links.
//!
//! ```text
//! C = {}; the weakest link of a feature is the one of the largest p-value over the sets tried
//! repeat: test each live feature given every S = {newest of C} + up to k-1 older ones (first: {})
//!             p > alpha: dead
//!         add the live feature whose weakest link is the strongest
//! backward: x in C goes if some S of C - x, |S| <= k, has p > alpha
//! ```
//!
//! with `k` the setting `max-condition`. Tsamardinos, Aliferis, Statnikov, KDD 2003; Tsamardinos,
//! Brown, Aliferis, Mach. Learn. 65 (2006). A dead feature never comes back, so the sets with the
//! newest member suffice. A test with too few rows proves nothing and is passed over, except the
//! first, given nothing, which the feature does not survive (`few-rows=independent`: nor any
//! other). Covariates are in every set, pinned features in C from the start.
//!
//! Out of core: a scan a member (`lanes.rs`), with the best feature so far and the members held, and
//! the weakest link of each live feature. Where the live features fit into `hold` the rest needs
//! no scan. Cost: up to 2^(|C| - 1) sets a live feature and scan, limited by `k`.

use super::hold::HOLD;
use super::lanes::{Lanes, Limits};
use super::markov::{
    Asked, FEW_ROWS, MEASURE, RULES, STRONGEST, WithTests, few_rows_warning, no_offset,
};
use super::pool::Chosen;
use crate::data::check::CheckedBlock;
use crate::data::target::Problem;
use crate::error::Result;
use crate::measure::newcomer::Newcomer;
use crate::measure::{ALPHA, BINS};
use crate::registry::setting::Given;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::Snapshot;
use crate::select::{ColumnSelector, Memory, Outcome, Status};
use crate::selection::{Selection, Value};

pub(crate) const MAX_CONDITION: Setting =
    Setting::whole("max-condition", (1, 20), 3, "most features in a conditioning set");

pub(crate) const FEW: Setting = Setting {
    words: &["independent"],
    help: "g2: rows a degree of freedom below which a test is not made and proves nothing; 0 makes \
           every test, independent reads one that is not made (5 rows) as independence",
    ..FEW_ROWS
};

/// MMPC with one kind of test.
struct Mmpc<T: Newcomer> {
    asked: Asked,
    settings: Vec<(&'static str, Value)>,
    lanes: Lanes<T>,
    done: bool,
}

impl<T: Newcomer> ColumnSelector for Mmpc<T> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        self.lanes.offer_block(block, false, out)
    }

    fn end_scan(&mut self) -> Result<bool> {
        if !self.done {
            self.done = self.lanes.advance();
        }
        Ok(self.done)
    }

    fn unfinished(&self) -> bool {
        !self.done
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let mut selection = self.lanes.selection("mmpc", &self.settings);
        for (order, held) in self.lanes.members(0).into_iter().enumerate() {
            let list = match held.kept.pinned {
                true => &mut selection.pinned,
                false => &mut selection.selected,
            };
            list.extend(Chosen::of(held, held.strength).selected(order));
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
        let bytes = self.lanes.bytes();
        Status { kept: self.lanes.members(0).len(), bytes, ..Status::default() }
    }

    /// The members and the held columns with their levels, the weakest link of each live feature,
    /// the target, the condition, and what a test is computed in.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        self.lanes.memory((column, features), self.asked.k)
    }
}

impl<T: Newcomer> Snapshot for Mmpc<T> {
    fn save(&self) -> Result<Vec<u8>> {
        self.lanes.save(&self.done)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.done = self.lanes.restore(state)?;
        Ok(())
    }
}

/// What is asked of both methods: the limits of the search, and its settings as results show them.
pub(crate) fn limits(
    spec: &MethodSpec,
    asked: &Asked,
) -> Result<(Limits, Vec<(&'static str, Value)>)> {
    let condition = spec.whole(&MAX_CONDITION)?;
    let independent = matches!(spec.value(&FEW)?, Some(Given::Word("independent")));
    let mut own: Vec<(&'static str, Value)> = vec![(MAX_CONDITION.name, condition.into())];
    own.extend(asked.shown_few(&FEW).map(|(name, rows)| match independent {
        true => (name, "independent".into()),
        false => (name, rows),
    }));
    // The package limits how many candidates there are, by the same number.
    let members = if asked.bnlearn { condition + 1 } else { usize::MAX };
    Ok((Limits { condition, members, independent }, own))
}

/// All that the method needs but its tests.
struct Making {
    asked: Asked,
    limits: Limits,
    settings: Vec<(&'static str, Value)>,
    rows: usize,
    budget: Budget,
}

impl WithTests for Making {
    fn with<T: Newcomer + 'static>(self, tests: T) -> Box<dyn ColumnSelector> {
        let Self { asked, limits, settings, rows, budget } = self;
        let lanes = Lanes::new(asked.clone(), limits, tests, rows, budget);
        Box::new(Mmpc { asked, settings, lanes, done: false })
    }
}

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    no_offset(problem, "mmpc")?;
    let asked = Asked::of(spec, &FEW)?;
    let (limits, own) = limits(spec, &asked)?;
    let settings = asked.shown(own);
    let making = Making { asked: asked.clone(), limits, settings, rows: problem.n(), budget };
    asked.make(problem, making)
}

/// The registry's entry.
pub const MMPC: MethodInfo = MethodInfo {
    name: "mmpc",
    stream: Stream::Features,
    summary: "parents and children of the target in a network, by max-min links; exact out of core",
    tasks: "classification; regression with fisher-z",
    cost: "a pass a member; up to 2^(members - 1) sets a live feature, limited by max-condition",
    memory: "the members and hold columns as stored, two numbers a live feature",
    paper: "Tsamardinos, Brown, Aliferis, Mach. Learn. 65 (2006)",
    scans: 0,
    needs_k: false,
    has_loss: false,
    settings: &[MEASURE, RULES, STRONGEST, ALPHA, BINS, FEW, MAX_CONDITION, HOLD],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
