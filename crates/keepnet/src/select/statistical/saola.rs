//! SAOLA: pairwise redundancy on a stream of features.
//!
//! `s` is the strength of a feature against the target, `t` the strength between the newcomer `i`
//! and a kept feature `f`. Kept features are compared in insertion order:
//!
//! ```text
//! i irrelevant                        -> drop i (weak)
//! s_f > s_i  and  t >= bound          -> drop i (redundant by f), stop
//! s_i > s_f  and  t >= bound          -> remove f at once, go on
//! append i                               bound = min(s_i, s_f); saola-max: max(s_i, s_f)
//! ```
//!
//! Yu, Wu, Ding, Pei, ACM TKDD 11 (2016), Algorithm 1; for Fisher's Z `t > bound` (section
//! 3.4.2). A feature removed by a newcomer stays removed even if the newcomer is dropped later.
//! With `k` the `k` strongest stay after each accepted newcomer (section 3.4.3).
//! `rules=lofs` compares `t > bound`, gives a tie of scores under Fisher's Z to the older
//! feature, and skips columns whose values sum to 0. With the paper's rules numbers within 1e-12
//! of each other are equal, so that rounding decides no tie.
//!
//! An irrelevant feature costs one pass over its values. A pair is not computed where its
//! scores are equal (no rule applies), where an upper bound of the measure shows `t < bound`, or
//! where the two share no row (closed form). None of this changes a decision. Memory: the kept
//! columns in their stored width, and `n / 8` bytes of index per sparse one.

use super::kept_list::KeptList;
use super::rules::{self, OnFull, PairSettings, Pairwise, Rules};
use crate::data::check::{CheckedBlock, Feature};
use crate::data::column::{Column, ColumnData};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::lofs::sums_to_zero;
use crate::measure::{ALPHA, BINS, DELTA, Evidence, Measure, Side, WithMeasure};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::{ColumnSelector, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::{Selection, Value};

/// Settings of [`Saola`].
#[derive(Clone, Copy, Debug)]
pub struct SaolaParams {
    /// Most features to keep; `None` is no limit but the budget.
    pub k: Option<usize>,
    /// The paper's rules or the library's.
    pub rules: Rules,
    /// Whether the bound is the larger of the two strengths.
    pub max: bool,
    /// What to do when the budget is reached.
    pub on_full: OnFull,
}

impl Default for SaolaParams {
    fn default() -> Self {
        Self { k: None, rules: Rules::Paper, max: false, on_full: OnFull::Error }
    }
}

/// How many pairs were computed, answered in closed form or skipped.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct PairCounts {
    /// Computed from both columns.
    pub computed: u64,
    /// Answered in closed form, because the columns share no row.
    pub closed: u64,
    /// Skipped, because no possible strength would change a decision.
    pub skipped: u64,
}

/// SAOLA with one measure.
pub struct Saola<M: Measure> {
    params: SaolaParams,
    settings: Vec<(&'static str, Value)>,
    measure: M,
    rule: Pairwise,
    list: KeptList<M::Facts>,
    pairs: PairCounts,
    evictions: u64,
    ended: bool,
}

/// The newcomer compared with the kept list.
#[derive(Default)]
struct Comparison {
    /// Positions of the kept features that the newcomer makes redundant.
    removed: Vec<usize>,
    /// Position of the kept feature that makes the newcomer redundant, and their strength.
    redundant_by: Option<(usize, f64)>,
}

impl<M: Measure> Saola<M> {
    /// An empty selection for `rows` rows; the measure holds the target.
    pub fn new(params: SaolaParams, measure: M, rows: usize, budget: Budget) -> Result<Self> {
        if params.k == Some(0) {
            return Err(Error::param("k", 0, "at least 1"));
        }
        let rule = Pairwise::new(params.rules, params.max, &measure);
        let list = KeptList::new(rows, budget);
        let (settings, pairs) = (Vec::new(), PairCounts::default());
        Ok(Self { params, settings, measure, rule, list, pairs, evictions: 0, ended: false })
    }

    /// The counts of pairs so far.
    #[must_use]
    pub fn pairs(&self) -> PairCounts {
        self.pairs
    }

    /// Offers one feature.
    pub fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        if self.ended {
            let held = self.list.contains(feature.id);
            return Ok(Outcome::new(if held {
                Verdict::Held
            } else {
                Verdict::Dropped(Reason::Weak)
            }));
        }
        let lofs = self.params.rules == Rules::Lofs;
        if lofs && !feature.pinned && sums_to_zero(feature.column()) {
            return Ok(Outcome::dropped(Reason::Weak));
        }
        let named = |error: Error| error.at(format!("feature {:?}", feature.name));
        let data = self.measure.code(feature.column()).map_err(named)?;
        let x = data.as_ref().map_or_else(|| feature.column(), ColumnData::view);
        let (facts, evidence) = self.measure.weigh(x, &feature.stats).map_err(named)?;
        let marginal = Some(evidence.strength);
        if !evidence.relevant && !feature.pinned {
            return Ok(Outcome { marginal, ..Outcome::dropped(Reason::Weak) });
        }
        let comparison = self.compare_with_kept(x, &facts, evidence.strength, feature.pinned);
        if let Some((by, t)) = comparison.redundant_by {
            let by = self.list.id(by);
            let evicted = comparison.removed.iter().rev().map(|at| self.list.remove(*at)).collect();
            let verdict = Verdict::Dropped(Reason::Redundant { by: Some(by) });
            return Ok(Outcome { verdict, evicted, marginal, score: Some(t) });
        }
        let outcome = self.keep(comparison.removed, feature, data, facts, evidence)?;
        Ok(Outcome { marginal, score: marginal, ..outcome })
    }

    /// Compares a newcomer with the kept list in insertion order; nothing is changed yet.
    fn compare_with_kept(
        &mut self,
        x: Column<'_>,
        facts: &M::Facts,
        score: f64,
        pinned: bool,
    ) -> Comparison {
        let mut comparison = Comparison::default();
        let newcomer = Side { x, facts };
        let mut loaded = false;
        for at in 0..self.list.len() {
            let other = self.list.record(at).score;
            let bound = self.rule.bound(score, other);
            let most = || self.measure.upper_bound(facts, &self.list.record(at).facts);
            if !self.rule.open(score, other) || !self.rule.reaches(most(), bound) {
                self.pairs.skipped += 1;
                continue;
            }
            if !loaded {
                self.measure.load(newcomer);
                self.list.probe(x);
                loaded = true;
            }
            let t = self.strength(newcomer, at);
            if !self.rule.reaches(t, bound) {
                continue;
            }
            if self.rule.newcomer_loses(score, other) && !pinned {
                comparison.redundant_by = Some((at, t));
                break;
            }
            if self.rule.above(score, other) && !self.list.kept(at).pinned {
                comparison.removed.push(at);
            }
        }
        comparison
    }

    fn strength(&mut self, newcomer: Side<'_, M::Facts>, at: usize) -> f64 {
        if !self.list.may_share_rows(at) {
            let other = &self.list.record(at).facts;
            if let Some(t) = self.measure.strength_disjoint(newcomer.facts, other) {
                self.pairs.closed += 1;
                return t;
            }
        }
        self.pairs.computed += 1;
        self.measure.strength(newcomer, self.list.side(at))
    }

    /// Appends a newcomer. Beyond `k`, or at the budget with `on-full=evict`, the weakest goes.
    fn keep(
        &mut self,
        mut removed: Vec<usize>,
        feature: &Feature<'_>,
        data: Option<ColumnData>,
        facts: M::Facts,
        evidence: Evidence,
    ) -> Result<Outcome> {
        let full = |error: &Error| matches!(error.root(), Error::Budget { .. });
        let mut evicted = loop {
            let again = (data.clone(), facts.clone());
            match self.list.exchange(&removed, feature, again.0, again.1, evidence) {
                Ok(evicted) => break evicted,
                Err(error) if full(&error) && self.params.on_full == OnFull::Evict => {
                    let score = |at: &usize| self.list.record(*at).score;
                    match self
                        .list
                        .weakest(&removed)
                        .filter(|at| score(at) < evidence.strength || feature.pinned)
                    {
                        Some(at) => {
                            let place = removed.partition_point(|g| *g < at);
                            removed.insert(place, at);
                        }
                        // The newcomer is the weakest.
                        None => return Ok(Outcome::dropped(Reason::Weak)),
                    }
                }
                Err(error) => return Err(error),
            }
        };
        let over = self.params.k.is_some_and(|k| self.list.free() > k);
        if let Some(weakest) = self.list.weakest(&[]).filter(|_| over) {
            let id = self.list.remove(weakest);
            if id == feature.id {
                return Ok(Outcome { evicted, ..Outcome::dropped(Reason::Weak) });
            }
            evicted.push(id);
        }
        self.evictions += evicted.len() as u64;
        Ok(Outcome { evicted, ..Outcome::new(Verdict::Kept) })
    }
}

impl<M: Measure> ColumnSelector for Saola<M> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            let pairs = self.pairs;
            out.push(self.offer(feature).inspect_err(|_| self.pairs = pairs)?);
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        // The published method sees each feature once.
        self.ended = true;
        Ok(true)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let PairCounts { computed, closed, skipped } = self.pairs;
        let p_value_kind = rules::p_value_kind::<M>();
        let mut selection = Selection {
            method: if self.params.max { "saola-max" } else { "saola" },
            params: self.settings.clone(),
            score_kind: M::KIND.info().score,
            p_value_kind,
            substitutions: self.evictions,
            metrics: vec![
                ("pairs_computed", computed.into()),
                ("pairs_closed_form", closed.into()),
                ("pairs_skipped", skipped.into()),
            ],
            ..Selection::default()
        };
        self.list.add_to(&mut selection);
        Ok(selection)
    }

    fn centres(&self) -> bool {
        self.measure.centres()
    }

    fn compacts(&self) -> bool {
        self.params.rules == Rules::Paper
    }

    fn status(&self) -> Status {
        let (kept, bytes) = (self.list.len(), self.list.bytes());
        Status { kept, loss: None, substitutions: self.evictions, bytes }
    }

    /// The kept columns and one under test, with the levels of each; the target, coded or centred,
    /// and what a pair is computed in.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        self.list.footprint(self.params.k, 1, 6).bytes(column, features)
    }
}

impl<M: Measure> Snapshot for Saola<M> {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&(self.list.parts(), self.pairs, self.evictions, self.ended))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (parts, pairs, evictions, ended) = snapshot::decode(state)?;
        let measure = &mut self.measure;
        self.list.restore(parts, |x, stats| measure.weigh(x, stats).map(|(facts, _)| facts))?;
        (self.pairs, self.evictions, self.ended) = (pairs, evictions, ended);
        Ok(())
    }
}

fn make(
    spec: &MethodSpec,
    problem: &Problem,
    budget: Budget,
    max: bool,
) -> Result<Box<dyn ColumnSelector>> {
    let name = if max { "saola-max" } else { "saola" };
    rules::no_model(problem, name)?;
    let (pairs, on_full) = (PairSettings::parse(spec)?, OnFull::of(spec)?);
    let params = SaolaParams { k: spec.k, rules: pairs.rules, max, on_full };
    let mut own = vec![("on-full", Value::from(on_full.name()))];
    own.extend(spec.k.map(|k| ("k", k.into())));
    let settings = pairs.shown(own);
    pairs.build(problem, Making { params, rows: problem.n(), budget, settings })
}

/// All that `saola` needs but its measure.
struct Making {
    params: SaolaParams,
    rows: usize,
    budget: Budget,
    settings: Vec<(&'static str, Value)>,
}

impl WithMeasure for Making {
    type Made = Box<dyn ColumnSelector>;

    fn with<M: Measure + 'static>(self, measure: M) -> Result<Self::Made> {
        let mut method = Saola::new(self.params, measure, self.rows, self.budget)?;
        method.settings = self.settings;
        Ok(Box::new(method))
    }
}

macro_rules! saola_info {
    ($name:literal, $summary:literal, $max:literal) => {
        MethodInfo {
            name: $name,
            stream: Stream::Features,
            summary: $summary,
            tasks: "classification; regression with fisher-z",
            cost: "one pass a weak feature; a pair a kept feature for the others",
            memory: "the kept columns as stored; n/8 bytes more of each sparse one",
            paper: "Yu, Wu, Ding, Pei, ACM TKDD 11 (2016), Algorithm 1",
            scans: 1,
            needs_k: false,
            has_loss: false,
            settings: &[rules::MEASURE, rules::RULES, DELTA, ALPHA, BINS, rules::ON_FULL],
            promises: Promises::STATISTICAL,
            make: Maker::Columns(|spec, problem, budget| make(spec, problem, budget, $max)),
        }
    };
}

/// The registry's entry of `saola`.
pub const SAOLA: MethodInfo =
    saola_info!("saola", "pairwise redundancy by symmetrical uncertainty or Fisher's Z", false);

/// The registry's entry of `saola-max`.
pub const SAOLA_MAX: MethodInfo =
    saola_info!("saola-max", "saola with the larger strength as the bound: keeps more", true);
