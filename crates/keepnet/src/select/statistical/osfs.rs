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
//! there are O(m^3) sets per member, so a large kept set is slow: `k` or `max-condition` limit it.

use super::kept_list::KeptList;
use super::rules::{self, Rules};
use crate::data::check::{CheckedBlock, Feature};
use crate::data::column::{Column, ColumnData};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::conditional::{Conditional, MOST_CONDITIONS, Partial};
use crate::measure::g2::G2;
use crate::measure::lofs::sums_to_zero;
use crate::measure::{self, ALPHA, BINS, Bins, Evidence, FisherZ, MeasureKind, Side};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
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
    /// Whether to use Fast-OSFS.
    pub fast: bool,
    /// The paper's rules or the library's.
    pub rules: Rules,
}

impl Default for OsfsParams {
    fn default() -> Self {
        Self {
            k: None,
            max_condition: const { MAX_CONDITION.usual_whole() },
            fast: false,
            rules: Rules::Paper,
        }
    }
}

/// OSFS with one kind of test.
pub struct Osfs<T: Conditional> {
    params: OsfsParams,
    settings: Vec<(&'static str, Value)>,
    tests: T,
    memory: T::Memory,
    list: KeptList<T::Facts>,
    conditional_tests: u64,
    too_few_rows: u64,
    evictions: u64,
    ended: bool,
}

/// The features that are redundant once the newcomer has joined the list.
struct Redundant {
    /// Positions of kept features.
    removed: Vec<usize>,
    /// Position of the kept feature that makes the newcomer redundant.
    newcomer_by: Option<usize>,
}

impl<T: Conditional> Osfs<T> {
    /// An empty selection for `rows` rows; the tests hold the target.
    pub fn new(params: OsfsParams, tests: T, rows: usize, budget: Budget) -> Result<Self> {
        if params.k == Some(0) {
            return Err(Error::param("k", 0, "at least 1"));
        }
        MAX_CONDITION.check(params.max_condition)?;
        Ok(Self {
            params,
            settings: Vec::new(),
            tests,
            memory: T::Memory::default(),
            list: KeptList::new(rows, budget),
            conditional_tests: 0,
            too_few_rows: 0,
            evictions: 0,
            ended: false,
        })
    }

    fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        if self.ended {
            let held = self.list.contains(feature.id);
            let dropped = Verdict::Dropped(Reason::Weak);
            return Ok(Outcome::new(if held { Verdict::Held } else { dropped }));
        }
        let numbers = T::KIND.info().numbers;
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
        let redundant = self.find_redundant(x, &facts, feature.pinned);
        let outcome = match redundant.newcomer_by {
            Some(by) => {
                let by = Some(self.list.id(by));
                self.tests.remove(&mut self.memory, self.list.len());
                let evicted = self.remove(&redundant.removed);
                Outcome { evicted, ..Outcome::dropped(Reason::Redundant { by }) }
            }
            None => self.keep(&redundant.removed, feature, data, facts, evidence)?,
        };
        Ok(Outcome { marginal, score: marginal, ..outcome })
    }

    fn remove(&mut self, removed: &[usize]) -> Vec<crate::FeatureId> {
        let mut ids = Vec::with_capacity(removed.len());
        for at in removed.iter().rev() {
            self.tests.remove(&mut self.memory, *at);
            ids.push(self.list.remove(*at));
        }
        ids
    }

    fn keep(
        &mut self,
        removed: &[usize],
        feature: &Feature<'_>,
        data: Option<ColumnData>,
        facts: T::Facts,
        evidence: Evidence,
    ) -> Result<Outcome> {
        let newcomer = self.list.len();
        let mut evicted = match self.list.exchange(removed, feature, data, facts, evidence) {
            Ok(evicted) => evicted,
            Err(error) => {
                self.tests.remove(&mut self.memory, newcomer);
                return Err(error);
            }
        };
        removed.iter().rev().for_each(|at| self.tests.remove(&mut self.memory, *at));
        let over = self.params.k.is_some_and(|k| self.list.free() > k);
        if let Some(weakest) = self.list.weakest(&[]).filter(|_| over) {
            let ids = self.remove(&[weakest]);
            if ids == [feature.id] {
                return Ok(Outcome { evicted, ..Outcome::dropped(Reason::Weak) });
            }
            evicted.extend(ids);
        }
        self.evictions += evicted.len() as u64;
        Ok(Outcome { evicted, ..Outcome::new(Verdict::Kept) })
    }

    /// Finds what is redundant with the newcomer at the end of the list. Afterwards the memory of
    /// the tests contains the newcomer; the list is not changed.
    fn find_redundant(&mut self, x: Column<'_>, facts: &T::Facts, pinned: bool) -> Redundant {
        let Self { list, tests, memory, .. } = self;
        let mut columns: Vec<_> = (0..list.len()).map(|at| list.side(at)).collect();
        columns.push(Side { x, facts });
        tests.push(memory, &columns);
        let newcomer = list.len();
        let most = self.params.max_condition;
        let mut count = 0;
        let mut search = Search { tests, memory, columns: &columns, most, count: &mut count };
        let mut surviving: Vec<usize> = (0..=newcomer).collect();
        let mut redundant = Redundant { removed: Vec::new(), newcomer_by: None };
        if self.params.fast && !pinned {
            redundant.newcomer_by = search.any(newcomer, &surviving[..newcomer]);
        }
        if redundant.newcomer_by.is_none() {
            for v in 0..=newcomer {
                let protected = if v == newcomer { pinned } else { list.kept(v).pinned };
                if protected {
                    continue;
                }
                let others: Vec<usize> = surviving.iter().copied().filter(|a| *a != v).collect();
                let found = match self.params.fast {
                    true => search.with_last(v, &others),
                    false => search.any(v, &others),
                };
                let Some(by) = found else { continue };
                surviving = others;
                match v == newcomer {
                    true => redundant.newcomer_by = Some(by),
                    false => redundant.removed.push(v),
                }
            }
        }
        self.conditional_tests += count;
        redundant
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
    /// Tries subsets of `others` of size 1 to `most`, in lexicographic order. Gives the first
    /// member of the set that was found.
    fn any(&mut self, v: usize, others: &[usize]) -> Option<usize> {
        (1..=self.most.min(others.len())).find_map(|size| self.sets(v, others, size, None))
    }

    /// The same with sets that end with the last of `others`.
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
            // The next combination: raise the last position that can be raised.
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
            score_kind: T::KIND.info().score,
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
        self.list.add_to(&mut selection);
        Ok(selection)
    }

    fn centres(&self) -> bool {
        self.tests.centres()
    }

    fn compacts(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let (kept, bytes) = (self.list.len(), self.list.bytes());
        Status { kept, loss: None, substitutions: self.evictions, bytes }
    }

    /// The kept columns and one under test, with the levels of each; the target, coded or centred,
    /// and what a test is computed in; a row of correlations for each.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        Holds { matrices: 1, ..self.list.footprint(self.params.k, 1, 8) }.bytes(column, features)
    }
}

impl<T: Conditional> Snapshot for Osfs<T> {
    fn save(&self) -> Result<Vec<u8>> {
        let Self { memory, conditional_tests, too_few_rows, evictions, ended, .. } = self;
        let counts = (conditional_tests, too_few_rows, evictions, ended);
        snapshot::encode(&(self.list.parts(), memory, counts))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (parts, memory, counts) = snapshot::decode(state)?;
        let tests = &mut self.tests;
        self.list.restore(parts, |x, stats| tests.weigh(x, stats).map(|(facts, _)| facts))?;
        ensure(self.tests.holds(&memory, self.list.len()), "correlations of other columns")?;
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
    let rules = Rules::of(spec)?;
    let max_condition = spec.whole(&MAX_CONDITION)?;
    let params = OsfsParams { k: spec.k, max_condition, fast, rules };
    let kind = rules::measure_kind(spec, &MEASURE, MeasureKind::G2)?;
    let (alpha, bins) = (spec.number(&ALPHA)?, Bins::of(spec)?);
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
        _ => Err(Error::param("measure", kind.name(), "fisher-z or g2")),
    }
}

/// Measures with conditional tests.
const MEASURE: Setting = Setting::choice(
    "measure",
    &measure::choices::<{ 1 + measure::able(true) }>(true),
    "fisher-z or g2; auto is g2 where every column is an integer or code",
);
const MAX_CONDITION: Setting = Setting::whole(
    "max-condition",
    (0, MOST_CONDITIONS as u64),
    3,
    "most features in a conditioning set",
);

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
            settings: &[MEASURE, rules::RULES, ALPHA, BINS, MAX_CONDITION],
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
