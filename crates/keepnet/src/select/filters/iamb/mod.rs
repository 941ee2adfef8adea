//! IAMB: a Markov blanket that grows by the strongest link with the target and then shrinks.
//!
//! ```text
//! B = {}
//! grow:   j outside B with the strongest link with y given B, if p <= alpha: add;  repeat
//! shrink: for x in B in order of entry: if p(x; y | B - x) > alpha: remove at once
//! iamb         shrinks once, at the end
//! inter-iamb   after every addition; what is removed as soon as it was added is barred
//! fast-iamb    adds every j with p <= alpha given the B of the scan's start, strongest first, as
//!              long as the rows allow a test of the next given all before it; then shrinks
//! ```
//!
//! The strongest link has the least p-value, of equal ones the larger statistic, then the earlier
//! feature. Tsamardinos, Aliferis, Statnikov, FLAIRS 2003; `fast-iamb`: Yaramakala, Margaritis,
//! ICDM 2005. A G² test with fewer than `few-rows` rows a degree of freedom is not made and counts
//! as independence, which ends the growth on small data; under Fisher's Z `max-condition` does.
//! `inter-iamb` and `fast-iamb` could go round in circles: they end where a set comes again.
//! Covariates are in every condition, pinned features in B from the start.
//!
//! Out of core: a scan a step of growth, with the best newcomer so far and B held; the backward
//! steps need no scan. Where every column fits into `hold` there is one scan. The tests are the same
//! to the last digit, and so is the blanket. Cost: a table, or `|B| + 1` products, a feature and
//! step.

mod settings;

use serde::{Deserialize, Serialize};

pub use self::settings::{FAST_IAMB, IAMB, INTER_IAMB};
use super::markov::{Asked, Held, few_rows_warning};
use super::pool::{Candidate, Chosen, Offered, Pool};
use super::rank::Rank;
use crate::data::block::FeatureId;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::column::ColumnData;
use crate::error::{Error, Result};
use crate::measure::Side;
use crate::measure::newcomer::{Link, Newcomer, Node};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot, ensure};
use crate::select::{ColumnSelector, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::{Selection, Value};

/// When the blanket grows and shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steps {
    Plain,
    Inter,
    Fast,
}

impl Steps {
    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "iamb",
            Self::Inter => "inter-iamb",
            Self::Fast => "fast-iamb",
        }
    }
}

/// Where the search stands, beside the columns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Progress {
    /// How many of B the scan's tests are given.
    given: usize,
    /// Pinned features arrived in this scan: its tests did not know them.
    pins: bool,
    /// Features of this scan with p <= alpha.
    dependent: u64,
    /// The scan goes on with the conditions of the one before: `fast-iamb` could not hold all.
    again: bool,
    /// Not every column fits: there is no use in holding more than the best.
    many: bool,
    barred: Vec<FeatureId>,
    /// Blankets after each step, with how many were barred.
    past: Vec<(Vec<FeatureId>, usize)>,
    tests: u64,
    few: u64,
    /// The largest set of conditions was met.
    limited: bool,
    circle: bool,
    done: bool,
}

/// IAMB with one kind of test.
struct Iamb<T: Newcomer> {
    steps: Steps,
    asked: Asked,
    most: Option<usize>,
    settings: Vec<(&'static str, Value)>,
    rows: usize,
    budget: Budget,
    /// B, pinned features first, then in order of entry.
    held: Held<T>,
    pool: Pool<T::Facts>,
    at: Progress,
    ready: bool,
}

impl<T: Newcomer> Iamb<T> {
    fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        let weak = || Ok(Outcome::dropped(Reason::Weak));
        if self.held.place(feature.id).is_some() {
            return Ok(Outcome::new(Verdict::Held));
        }
        if self.at.done || self.at.barred.contains(&feature.id) {
            return weak();
        }
        let named = |error: Error| error.at(format!("feature {:?}", feature.name));
        let data = self.held.tests.code(feature.column()).map_err(named)?;
        let x = data.as_ref().map_or_else(|| feature.column(), ColumnData::view);
        let facts = self.held.tests.facts(x, &feature.stats).map_err(named)?;
        let room = self.asked.hold.room(&self.budget, self.held.bytes());
        if feature.pinned {
            let pinned = Candidate::new(feature, data, facts, (0.0, None));
            self.budget.check(self.held.bytes() + pinned.bytes(), "the blanket")?;
            self.at.pins = true;
            self.ready = false;
            self.held.push(pinned);
            return Ok(Outcome::new(Verdict::Kept));
        }
        self.prepare();
        let link = self.link(Side { x, facts: &facts });
        let rank = self.asked.order.rank(link, self.asked.alpha, feature.id);
        let room = if self.at.many && self.steps != Steps::Fast { room.one() } else { room };
        let make = || candidate(feature, data, facts, link);
        let outcome = match self.pool.offer(rank, room, false, make)? {
            Offered::Held(evicted) => Outcome { evicted, ..Outcome::new(Verdict::Reserved) },
            Offered::Refused => Outcome::dropped(Reason::Weak),
        };
        self.count(link);
        let statistic = link.map(|link| link.statistic);
        Ok(Outcome { marginal: statistic, score: statistic, ..outcome })
    }

    /// Prepares the condition of the scan.
    fn prepare(&mut self) {
        if !self.ready {
            let given: Vec<Node> = (0..self.at.given).map(Node::Held).collect();
            self.held.condition(Node::Target, &given);
            self.ready = true;
        }
    }

    /// The link of a newcomer with the target given B.
    fn link(&mut self, x: Side<'_, T::Facts>) -> Option<Link> {
        let given = self.at.given;
        let met = self.held.meet(x, |at| at < given);
        self.held.tests.test(x, &met)
    }

    /// Counts the test of a newcomer, unless it was made in the scan before too.
    fn count(&mut self, link: Option<Link>) {
        if !self.at.again {
            self.at.tests += 1;
            self.at.few += u64::from(link.is_none());
        }
        self.at.dependent += u64::from(self.dependent(link));
    }

    fn dependent(&self, link: Option<Link>) -> bool {
        link.is_some_and(|link| link.holds(self.asked.alpha))
    }

    /// Ends a scan, and makes further steps without one where every column is held.
    fn advance(&mut self) {
        loop {
            let every = self.pool.floor().is_none();
            let removed = self.step();
            if self.at.done || !every {
                self.pool = Pool::default();
                self.at.many |= !every;
                return;
            }
            let rest: Vec<_> = self.pool.drain().chain(removed).collect();
            self.prepare();
            for mut candidate in rest {
                let link = self.link(candidate.side());
                self.count(link);
                let id = candidate.id();
                note(&mut candidate, link);
                let rank = self.asked.order.rank(link, self.asked.alpha, id);
                self.pool.put(rank, candidate);
            }
        }
    }

    /// One step of growth; gives the columns that left B and may come back.
    fn step(&mut self) -> Vec<Candidate<T::Facts>> {
        let mut removed = Vec::new();
        if std::mem::take(&mut self.at.pins) {
            // B begins with them.
            self.held.sort_pins();
            self.begin(self.held.len());
            return removed;
        }
        let dependents = std::mem::take(&mut self.at.dependent);
        let (added, ended) = self.grow();
        // What the passes of this step added before is still to shrink.
        if ended && added == 0 && !self.at.again {
            if self.steps == Steps::Plain {
                self.shrink();
            }
            self.at.done = true;
            return removed;
        }
        if self.steps == Steps::Fast && !ended && dependents > added {
            // Others with p <= alpha could not be held: they come again.
            self.at.again = true;
            self.ready = false;
            return removed;
        }
        if self.steps != Steps::Plain {
            let new = self.held.list()[self.at.given..].iter();
            let new: Vec<FeatureId> = new.map(Candidate::id).collect();
            for gone in self.shrink() {
                match new.contains(&gone.id()) {
                    true => self.at.barred.push(gone.id()),
                    false => removed.push(gone),
                }
            }
            self.look_for_circle();
        }
        self.begin(self.held.len());
        removed
    }

    fn begin(&mut self, given: usize) {
        self.at.given = given;
        self.at.again = false;
        self.at.dependent = 0;
        self.ready = false;
    }

    /// Adds to B what the step adds: how many, and whether there is no more to add.
    fn grow(&mut self) -> (u64, bool) {
        let mut added = 0;
        self.at.limited = false;
        loop {
            // The ranking begins with those that depend on the target.
            let best = self.pool.first().filter(|(_, best)| self.dependent(link_of(best)));
            let Some((rank, _)) = best else { return (added, added == 0) };
            let rank = *rank;
            let free = self.held.list().iter().filter(|held| !held.kept.pinned).count();
            if self.asked.k.is_some_and(|k| free >= k) {
                return (added, true);
            }
            if self.most.is_some_and(|most| self.held.len() > most) {
                self.at.limited = true;
                return (added, true);
            }
            if self.held.len() > self.at.given && !self.testable(rank) {
                return (added, true);
            }
            if let Some(candidate) = self.pool.remove(&rank) {
                self.held.push(candidate);
                self.ready = false;
                added += 1;
            }
            if self.steps != Steps::Fast {
                return (added, false);
            }
        }
    }

    /// Whether the rows allow a test of a held newcomer given all of B.
    fn testable(&mut self, rank: Rank) -> bool {
        let given: Vec<Node> = (0..self.held.len()).map(Node::Held).collect();
        self.held.condition(Node::Target, &given);
        self.ready = false;
        let Some(candidate) = self.pool.get(&rank) else { return false };
        let met = self.held.meet(candidate.side(), |_| true);
        self.held.tests.test(candidate.side(), &met).is_some()
    }

    /// Removes each member that the others make independent of the target.
    fn shrink(&mut self) -> Vec<Candidate<T::Facts>> {
        let mut removed = Vec::new();
        let stays =
            self.asked.bnlearn.then(|| self.held.list().last().map(Candidate::id)).flatten();
        let mut at = 0;
        while at < self.held.len() {
            let member = &self.held.list()[at];
            if member.kept.pinned || stays == Some(member.id()) {
                at += 1;
                continue;
            }
            let others: Vec<Node> =
                (0..self.held.len()).filter(|other| *other != at).map(Node::Held).collect();
            self.held.condition(Node::Target, &others);
            let link = self.held.test_node(Node::Held(at));
            self.at.tests += 1;
            self.at.few += u64::from(link.is_none());
            match self.dependent(link) {
                true => at += 1,
                false => removed.push(self.held.remove(at)),
            }
        }
        self.ready = false;
        removed
    }

    fn look_for_circle(&mut self) {
        let mut ids: Vec<FeatureId> = self.held.list().iter().map(Candidate::id).collect();
        ids.sort_unstable();
        let now = (ids, self.at.barred.len());
        if self.at.past.contains(&now) {
            (self.at.circle, self.at.done) = (true, true);
        }
        self.at.past.push(now);
    }
}

/// A candidate with its link: the statistic as its strength, and the logarithm of the p-value.
fn candidate<F>(
    feature: &Feature<'_>,
    data: Option<ColumnData>,
    facts: F,
    link: Option<Link>,
) -> Candidate<F> {
    let mut candidate = Candidate::new(feature, data, facts, (0.0, None));
    note(&mut candidate, link);
    candidate
}

fn note<F>(candidate: &mut Candidate<F>, link: Option<Link>) {
    let link = link.unwrap_or(Link::NONE);
    (candidate.strength, candidate.total) = (link.statistic, link.ln_p.max(f64::MIN));
}

fn link_of<F>(candidate: &Candidate<F>) -> Option<Link> {
    Some(Link { ln_p: candidate.total, statistic: candidate.strength })
}

impl<T: Newcomer> ColumnSelector for Iamb<T> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            out.push(self.offer(feature)?);
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        if !self.at.done {
            self.advance();
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
        let mut selection = Selection {
            method: self.steps.name(),
            params: self.settings.clone(),
            score_kind: self.held.tests.score(),
            p_value_kind: Some("marginal"),
            metrics: vec![("tests", self.at.tests.into())],
            ..Selection::default()
        };
        for (order, held) in self.held.list().iter().enumerate() {
            let list = match held.kept.pinned {
                true => &mut selection.pinned,
                false => &mut selection.selected,
            };
            list.extend(Chosen::of(held, held.strength).selected(order));
        }
        selection.sort();
        selection.warnings.extend(few_rows_warning(self.at.few, self.asked.few, true));
        if let Some(most) = self.most.filter(|_| self.at.limited) {
            selection.warnings.push(format!(
                "growth ended at max-condition={most} with features left that depend on the \
                 target given those selected"
            ));
        }
        if self.at.circle {
            selection
                .warnings
                .push("the steps came back to a set that had been there, and ended with it".into());
        }
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
        let bytes = self.held.bytes() + self.pool.bytes();
        Status { kept: self.held.len(), bytes, ..Status::default() }
    }

    /// The blanket and the held columns with their levels, the target, the condition, and what a
    /// test is computed in.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let most = self.most.map(|most| most + 1).into_iter().chain(self.asked.k).min();
        self.asked.memory(&self.budget, self.rows, (column, features), most)
    }
}

impl<T: Newcomer> Snapshot for Iamb<T> {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&(self.held.list(), &self.pool, &self.at))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        type State<F> = (Vec<Candidate<F>>, Pool<F>, Progress);
        let (list, pool, at): State<T::Facts> = snapshot::decode(state)?;
        ensure(at.given <= list.len(), "a condition of more columns than there are")?;
        let tests = &mut self.held.tests;
        let pool = pool.restored(self.rows, &mut |x, stats| tests.facts(x, stats))?;
        self.held.restore(list, self.rows)?;
        (self.pool, self.at, self.ready) = (pool, at, false);
        Ok(())
    }
}
