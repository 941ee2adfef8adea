//! OSFS and Fast-OSFS: relevance, then redundancy by conditional independence.
//!
//! ```text
//! relevance    drop the newcomer if it is independent of the target
//! redundant(v) some set S of at most 3 kept features makes v independent of the target
//! osfs         append the newcomer; each member v in order, the newcomer last: remove v if it
//!              is redundant given subsets of the surviving others
//! fast-osfs    drop the newcomer if it is redundant given subsets of the whole list; else
//!              append it and go through the members as above, but only with sets that hold
//!              the last of the surviving others (for the older members: the newcomer)
//! ```
//!
//! Wu, Yu, Wang, Ding, ICML 2010; Wu, Yu, Ding, Wang, Zhu, IEEE TPAMI 35 (2013). The order of
//! the list and of the sets is that of the LOFS library, with which the selections agree;
//! `rules=lofs` adds its skipping of columns that sum to 0 and its count of levels.
//!
//! With Fisher's Z a newcomer costs one product with each kept column and every further test
//! is arithmetic on a small matrix; with G² a test is one pass over the rows. With `m` kept
//! there are O(m^3) sets a member, so a large kept set is slow: `k` or `max-condition` limit it.

use super::rules::{self, Rules};
use super::saola::score_kind;
use super::shelf::Shelf;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::column::{Column, ColumnData};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::conditional::{Conditional, MOST_CONDITIONS, Partial};
use crate::measure::g2::G2;
use crate::measure::lofs::sums_to_zero;
use crate::measure::{Evidence, FisherZ, MeasureKind, Side};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, SettingInfo, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot, ensure};
use crate::select::{ColumnSelector, Holds, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::{Selection, Value};

/// Settings of [`Osfs`].
#[derive(Clone, Copy, Debug)]
pub struct OsfsParams {
    /// Most features to keep; `None` is no limit but the budget.
    pub k: Option<usize>,
    /// Most features in a conditioning set.
    pub max_condition: usize,
    /// Fast-OSFS.
    pub fast: bool,
    /// Whose rules decide.
    pub rules: Rules,
}

impl Default for OsfsParams {
    fn default() -> Self {
        Self { k: None, max_condition: 3, fast: false, rules: Rules::Paper }
    }
}

/// OSFS with one kind of test.
pub struct Osfs<T: Conditional> {
    params: OsfsParams,
    settings: Vec<(&'static str, Value)>,
    tests: T,
    memory: T::Memory,
    shelf: Shelf<T::Facts>,
    conditional_tests: u64,
    too_few_rows: u64,
    evictions: u64,
    ended: bool,
}

/// What became of the list: survivors by place, and for each one removed who made it redundant.
struct Verdicts {
    gone: Vec<usize>,
    newcomer: Option<usize>,
}

impl<T: Conditional> Osfs<T> {
    /// An empty selection for `rows` rows; the tests hold the target.
    pub fn new(params: OsfsParams, tests: T, rows: usize, budget: Budget) -> Result<Self> {
        if params.k == Some(0) {
            return Err(Error::param("k", 0, "at least 1"));
        }
        if params.max_condition > MOST_CONDITIONS {
            return Err(Error::param("max-condition", params.max_condition, "at most 8"));
        }
        Ok(Self {
            params,
            settings: Vec::new(),
            tests,
            memory: T::Memory::default(),
            shelf: Shelf::new(rows, budget),
            conditional_tests: 0,
            too_few_rows: 0,
            evictions: 0,
            ended: false,
        })
    }

    fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        if self.ended {
            let held = self.shelf.holds(feature.id);
            let dropped = Verdict::Dropped(Reason::Weak);
            return Ok(Outcome::new(if held { Verdict::Held } else { dropped }));
        }
        let numbers = self.tests.name() == "fisher-z";
        let skips = self.params.rules == Rules::Lofs && numbers && !feature.pinned;
        if skips && sums_to_zero(feature.column()) {
            return Ok(Outcome::dropped(Reason::Weak));
        }
        let named = |error: Error| error.at(format!("feature {:?}", feature.name));
        let data = self.tests.code(feature.column()).map_err(named)?;
        let x = data.as_ref().map_or_else(|| feature.column(), ColumnData::view);
        let (facts, evidence) = self.tests.weigh(x, &feature.stats).map_err(named)?;
        let marginal = Some(evidence.strength);
        if !evidence.relevant && !feature.pinned {
            return Ok(Outcome { marginal, ..Outcome::dropped(Reason::Weak) });
        }
        let verdicts = self.judge(x, &facts, feature.pinned);
        let outcome = match verdicts.newcomer {
            Some(by) => {
                let by = Some(self.shelf.id(by));
                self.tests.remove(&mut self.memory, self.shelf.len());
                let evicted = self.remove(&verdicts.gone);
                Outcome { evicted, ..Outcome::dropped(Reason::Redundant { by }) }
            }
            None => self.keep(&verdicts.gone, feature, data, facts, evidence)?,
        };
        Ok(Outcome { marginal, score: marginal, ..outcome })
    }

    fn remove(&mut self, gone: &[usize]) -> Vec<crate::FeatureId> {
        let mut ids = Vec::with_capacity(gone.len());
        for at in gone.iter().rev() {
            self.tests.remove(&mut self.memory, *at);
            ids.push(self.shelf.remove(*at));
        }
        ids
    }

    fn keep(
        &mut self,
        gone: &[usize],
        feature: &Feature<'_>,
        data: Option<ColumnData>,
        facts: T::Facts,
        evidence: Evidence,
    ) -> Result<Outcome> {
        let newcomer = self.shelf.len();
        let mut evicted = match self.shelf.exchange(gone, feature, data, facts, evidence) {
            Ok(evicted) => evicted,
            Err(error) => {
                self.tests.remove(&mut self.memory, newcomer);
                return Err(error);
            }
        };
        gone.iter().rev().for_each(|at| self.tests.remove(&mut self.memory, *at));
        let over = self.params.k.is_some_and(|k| self.shelf.free() > k);
        if let Some(weakest) = self.shelf.weakest(&[]).filter(|_| over) {
            let ids = self.remove(&[weakest]);
            if ids == [feature.id] {
                return Ok(Outcome { evicted, ..Outcome::dropped(Reason::Weak) });
            }
            evicted.extend(ids);
        }
        self.evictions += evicted.len() as u64;
        Ok(Outcome { evicted, ..Outcome::new(Verdict::Kept) })
    }

    /// Who is redundant once the newcomer is at the end of the list. The memory of the tests
    /// holds the newcomer afterwards; the list is not changed.
    fn judge(&mut self, x: Column<'_>, facts: &T::Facts, pinned: bool) -> Verdicts {
        let Self { shelf, tests, memory, .. } = self;
        let mut columns: Vec<_> = (0..shelf.len()).map(|at| shelf.side(at)).collect();
        columns.push(Side { x, facts });
        tests.push(memory, &columns);
        let newcomer = shelf.len();
        let most = self.params.max_condition;
        let mut count = 0;
        let mut search = Search { tests, memory, columns: &columns, most, count: &mut count };
        let mut alive: Vec<usize> = (0..=newcomer).collect();
        let mut verdicts = Verdicts { gone: Vec::new(), newcomer: None };
        if self.params.fast && !pinned {
            verdicts.newcomer = search.any(newcomer, &alive[..newcomer]);
        }
        if verdicts.newcomer.is_none() {
            for v in 0..=newcomer {
                let protected = if v == newcomer { pinned } else { shelf.kept(v).pinned };
                if protected {
                    continue;
                }
                let others: Vec<usize> = alive.iter().copied().filter(|a| *a != v).collect();
                let found = match self.params.fast {
                    true => search.with_last(v, &others),
                    false => search.any(v, &others),
                };
                let Some(by) = found else { continue };
                alive = others;
                match v == newcomer {
                    true => verdicts.newcomer = Some(by),
                    false => verdicts.gone.push(v),
                }
            }
        }
        self.conditional_tests += count;
        verdicts
    }
}

/// Searches for a conditioning set that makes a column independent of the target.
struct Search<'a, T: Conditional> {
    tests: &'a mut T,
    memory: &'a T::Memory,
    columns: &'a [Side<'a, T::Facts>],
    most: usize,
    count: &'a mut u64,
}

impl<T: Conditional> Search<'_, T> {
    /// Subsets of `others` of size 1 to `most`, in lexicographic order; the first of the set.
    fn any(&mut self, v: usize, others: &[usize]) -> Option<usize> {
        (1..=self.most.min(others.len())).find_map(|size| self.sets(v, others, size, None))
    }

    /// The same with sets that hold the last of `others`, at their end.
    fn with_last(&mut self, v: usize, others: &[usize]) -> Option<usize> {
        let (last, before) = others.split_last()?;
        let most = self.most.checked_sub(1)?.min(before.len());
        (0..=most).find_map(|size| self.sets(v, before, size, Some(*last)))
    }

    fn sets(
        &mut self,
        v: usize,
        from: &[usize],
        size: usize,
        last: Option<usize>,
    ) -> Option<usize> {
        let mut at: Vec<usize> = (0..size).collect();
        let mut set = Vec::with_capacity(size + 1);
        loop {
            set.clear();
            set.extend(at.iter().map(|i| from[*i]).chain(last));
            *self.count += 1;
            if self.tests.independent(self.memory, self.columns, v, &set) {
                return last.or_else(|| set.first().copied());
            }
            // The next combination: raise the last place that has room.
            let raise = (0..size).rev().find(|i| at[*i] < from.len() - size + i)?;
            at[raise] += 1;
            for i in raise + 1..size {
                at[i] = at[i - 1] + 1;
            }
        }
    }
}

impl<T: Conditional> ColumnSelector for Osfs<T> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            let (before, tests) = (self.tests.too_few_rows(), self.conditional_tests);
            out.push(self.offer(feature).inspect_err(|_| self.conditional_tests = tests)?);
            self.too_few_rows += self.tests.too_few_rows() - before;
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        self.ended = true;
        Ok(true)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let mut selection = Selection {
            method: if self.params.fast { "fast-osfs" } else { "osfs" },
            params: self.settings.clone(),
            score_kind: score_kind(self.tests.name()),
            p_value_kind: Some("marginal"),
            substitutions: self.evictions,
            metrics: vec![("conditional_tests", self.conditional_tests.into())],
            ..Selection::default()
        };
        if self.too_few_rows > 0 {
            selection.warnings.push(format!(
                "{} tests had fewer than 5 rows a degree of freedom and counted as independence; \
                 lower max-condition or the number of levels",
                self.too_few_rows
            ));
        }
        self.shelf.fill(&mut selection);
        Ok(selection)
    }

    fn centres(&self) -> bool {
        self.tests.centres()
    }

    fn compacts(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let (kept, bytes) = (self.shelf.len(), self.shelf.bytes());
        Status { kept, loss: None, substitutions: self.evictions, bytes }
    }

    /// The kept columns and one under test, with the levels of each; the target, coded or centred,
    /// and what a test is computed in; a row of correlations for each.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        Holds { matrices: 1, ..self.shelf.footprint(self.params.k, 1, 8) }.bytes(column, features)
    }
}

impl<T: Conditional> Snapshot for Osfs<T> {
    fn save(&self) -> Result<Vec<u8>> {
        let Self { memory, conditional_tests, too_few_rows, evictions, ended, .. } = self;
        let counts = (conditional_tests, too_few_rows, evictions, ended);
        snapshot::encode(&(self.shelf.parts(), memory, counts))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (parts, memory, counts) = snapshot::decode(state)?;
        let tests = &mut self.tests;
        self.shelf.restore(parts, |x, stats| tests.weigh(x, stats).map(|(facts, _)| facts))?;
        ensure(self.tests.holds(&memory, self.shelf.len()), "correlations of other columns")?;
        self.memory = memory;
        (self.conditional_tests, self.too_few_rows, self.evictions, self.ended) = counts;
        Ok(())
    }
}

fn make(
    spec: &MethodSpec,
    problem: &Problem,
    budget: Budget,
    fast: bool,
) -> Result<Box<dyn ColumnSelector>> {
    rules::no_model(problem, if fast { "fast-osfs" } else { "osfs" })?;
    let rules = Rules::parse(spec)?;
    let max_condition = spec.get("max-condition", 3, "a whole number, at most 8")?;
    let params = OsfsParams { k: spec.k, max_condition, fast, rules };
    let kind = rules::measure_kind(spec, MeasureKind::G2)?;
    let (alpha, bins) = (rules::alpha(spec)?, rules::bins(spec)?);
    let mut settings = vec![
        ("measure", Value::from(kind.name())),
        ("rules", rules.name().into()),
        ("alpha", alpha.into()),
        ("max-condition", max_condition.into()),
    ];
    settings.extend(spec.k.map(|k| ("k", k.into())));
    settings.extend(bins.map(|bins| ("bins", bins.into())));
    let n = problem.n();
    match kind {
        MeasureKind::FisherZ => {
            let tests = Partial::new(FisherZ::new(problem, alpha)?, alpha);
            let method = Osfs { settings, ..Osfs::new(params, tests, n, budget)? };
            Ok(Box::new(method))
        }
        MeasureKind::G2 => {
            let tests = G2::new(problem, alpha, bins, rules == Rules::Lofs)?;
            let method = Osfs { settings, ..Osfs::new(params, tests, n, budget)? };
            Ok(Box::new(method))
        }
        MeasureKind::Su | MeasureKind::Mi => {
            Err(Error::param("measure", kind.name(), "fisher-z or g2"))
        }
    }
}

macro_rules! osfs_info {
    ($name:literal, $summary:literal, $fast:literal) => {
        MethodInfo {
            name: $name,
            stream: Stream::Features,
            summary: $summary,
            tasks: "classification; regression with fisher-z",
            cost: "one pass a weak feature; up to m^3 small tests for the others, m kept",
            memory: "the kept columns as stored and m^2/2 numbers",
            paper: "Wu, Yu, Ding, Wang, Zhu, IEEE TPAMI 35 (2013)",
            scans: 1,
            needs_k: false,
            has_loss: false,
            settings: &[
                SettingInfo {
                    name: "measure",
                    default: "auto",
                    help: "fisher-z or g2; auto is g2 where every column is an integer or code",
                },
                rules::RULES,
                rules::ALPHA,
                rules::BINS,
                SettingInfo {
                    name: "max-condition",
                    default: "3",
                    help: "most features in a conditioning set",
                },
            ],
            promises: Promises::STATISTICAL,
            make: Maker::Columns(|spec, problem, budget| make(spec, problem, budget, $fast)),
        }
    };
}

/// The registry's entry of `osfs`.
pub const OSFS: MethodInfo =
    osfs_info!("osfs", "relevance and redundancy by conditional independence", false);

/// The registry's entry of `fast-osfs`.
pub const FAST_OSFS: MethodInfo =
    osfs_info!("fast-osfs", "osfs that tests the newcomer first and then only sets with it", true);
