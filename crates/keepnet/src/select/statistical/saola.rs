//! SAOLA: pairwise redundancy on a stream of features.
//!
//! With `s` the strength of a feature against the target and `t` the strength between the
//! newcomer `i` and a kept feature `f`, walked in insertion order:
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
//! feature, and skips columns whose values sum to 0. By the paper's rules numbers within 1e-12
//! of each other are equal, so that rounding decides no tie.
//!
//! An irrelevant feature costs one pass over its values. A pair is not computed where its
//! scores are equal (no rule can fire), where the measure's bound shows `t < bound`, or where
//! the two share no row (closed form); none of this changes a decision. Memory: the kept
//! columns in their stored width and, of sparse ones, `n / 8` bytes of index.

use super::rules::{self, OnFull, PairSettings, Pairwise, Rules, WithMeasure};
use super::shelf::Shelf;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::column::{Column, ColumnData};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::lofs::sums_to_zero;
use crate::measure::{Evidence, Measure, Side};
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
    /// Whose rules decide.
    pub rules: Rules,
    /// Whether the bound is the larger of the two strengths.
    pub max: bool,
    /// What happens at the budget.
    pub on_full: OnFull,
}

impl Default for SaolaParams {
    fn default() -> Self {
        Self { k: None, rules: Rules::Paper, max: false, on_full: OnFull::Error }
    }
}

/// How often pairs were looked at, and how they were answered.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct PairCounts {
    /// Computed from both columns.
    pub computed: u64,
    /// Answered in closed form, as the columns share no row.
    pub closed: u64,
    /// Skipped, as no strength that is possible could decide.
    pub skipped: u64,
}

/// SAOLA with one measure.
pub struct Saola<M: Measure> {
    params: SaolaParams,
    settings: Vec<(&'static str, Value)>,
    measure: M,
    rule: Pairwise,
    shelf: Shelf<M::Facts>,
    pairs: PairCounts,
    evictions: u64,
    ended: bool,
}

/// What a walk along the kept list found.
#[derive(Default)]
struct Walk {
    gone: Vec<usize>,
    by: Option<(usize, f64)>,
}

impl<M: Measure> Saola<M> {
    /// An empty selection for `rows` rows; the measure holds the target.
    pub fn new(params: SaolaParams, measure: M, rows: usize, budget: Budget) -> Result<Self> {
        if params.k == Some(0) {
            return Err(Error::param("k", 0, "at least 1"));
        }
        let rule = Pairwise::new(params.rules, params.max, &measure);
        let shelf = Shelf::new(rows, budget);
        let (settings, pairs) = (Vec::new(), PairCounts::default());
        Ok(Self { params, settings, measure, rule, shelf, pairs, evictions: 0, ended: false })
    }

    /// How pairs were answered so far.
    #[must_use]
    pub fn pairs(&self) -> PairCounts {
        self.pairs
    }

    /// Offers one feature.
    pub fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        if self.ended {
            let held = self.shelf.holds(feature.id);
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
        let walk = self.walk(x, &facts, evidence.strength, feature.pinned);
        if let Some((by, t)) = walk.by {
            let by = self.shelf.id(by);
            let evicted = walk.gone.iter().rev().map(|at| self.shelf.remove(*at)).collect();
            let verdict = Verdict::Dropped(Reason::Redundant { by: Some(by) });
            return Ok(Outcome { verdict, evicted, marginal, score: Some(t) });
        }
        let outcome = self.keep(walk.gone, feature, data, facts, evidence)?;
        Ok(Outcome { marginal, score: marginal, ..outcome })
    }

    /// Compares a newcomer with the kept list in insertion order; nothing is changed yet.
    fn walk(&mut self, x: Column<'_>, facts: &M::Facts, score: f64, pinned: bool) -> Walk {
        let mut walk = Walk::default();
        let newcomer = Side { x, facts };
        let mut loaded = false;
        for at in 0..self.shelf.len() {
            let other = self.shelf.note(at).score;
            let bound = self.rule.bound(score, other);
            let most = || self.measure.most(facts, &self.shelf.note(at).facts);
            if !self.rule.open(score, other) || !self.rule.reaches(most(), bound) {
                self.pairs.skipped += 1;
                continue;
            }
            if !loaded {
                self.measure.load(newcomer);
                self.shelf.probe(x);
                loaded = true;
            }
            let t = self.strength(newcomer, at);
            if !self.rule.reaches(t, bound) {
                continue;
            }
            if self.rule.newcomer_loses(score, other) && !pinned {
                walk.by = Some((at, t));
                break;
            }
            if self.rule.above(score, other) && !self.shelf.kept(at).pinned {
                walk.gone.push(at);
            }
        }
        walk
    }

    fn strength(&mut self, newcomer: Side<'_, M::Facts>, at: usize) -> f64 {
        if !self.shelf.may_share(at) {
            let other = &self.shelf.note(at).facts;
            if let Some(t) = self.measure.apart(newcomer.facts, other) {
                self.pairs.closed += 1;
                return t;
            }
        }
        self.pairs.computed += 1;
        self.measure.strength(newcomer, self.shelf.side(at))
    }

    /// Appends a newcomer, then lets the weakest go past `k` or, if asked, at the budget.
    fn keep(
        &mut self,
        mut gone: Vec<usize>,
        feature: &Feature<'_>,
        data: Option<ColumnData>,
        facts: M::Facts,
        evidence: Evidence,
    ) -> Result<Outcome> {
        let full = |error: &Error| matches!(error.root(), Error::Budget { .. });
        let mut evicted = loop {
            let again = (data.clone(), facts.clone());
            match self.shelf.exchange(&gone, feature, again.0, again.1, evidence) {
                Ok(evicted) => break evicted,
                Err(error) if full(&error) && self.params.on_full == OnFull::Evict => {
                    let score = |at: &usize| self.shelf.note(*at).score;
                    match self
                        .shelf
                        .weakest(&gone)
                        .filter(|at| score(at) < evidence.strength || feature.pinned)
                    {
                        Some(at) => {
                            let place = gone.partition_point(|g| *g < at);
                            gone.insert(place, at);
                        }
                        // Nobody weaker is left: the newcomer is the weakest.
                        None => return Ok(Outcome::dropped(Reason::Weak)),
                    }
                }
                Err(error) => return Err(error),
            }
        };
        let over = self.params.k.is_some_and(|k| self.shelf.free() > k);
        if let Some(weakest) = self.shelf.weakest(&[]).filter(|_| over) {
            let id = self.shelf.remove(weakest);
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
        // Features are seen once: a second scan would not be the published method.
        self.ended = true;
        Ok(true)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let PairCounts { computed, closed, skipped } = self.pairs;
        let p_value_kind = rules::marginal(self.measure.name(), self.params.rules);
        let mut selection = Selection {
            method: if self.params.max { "saola-max" } else { "saola" },
            params: self.settings.clone(),
            score_kind: score_kind(self.measure.name()),
            p_value_kind,
            substitutions: self.evictions,
            metrics: vec![
                ("pairs_computed", computed.into()),
                ("pairs_closed_form", closed.into()),
                ("pairs_skipped", skipped.into()),
            ],
            ..Selection::default()
        };
        self.shelf.fill(&mut selection);
        Ok(selection)
    }

    fn centres(&self) -> bool {
        self.measure.centres()
    }

    fn compacts(&self) -> bool {
        self.params.rules == Rules::Paper
    }

    fn status(&self) -> Status {
        let (kept, bytes) = (self.shelf.len(), self.shelf.bytes());
        Status { kept, loss: None, substitutions: self.evictions, bytes }
    }

    /// The kept columns and one under test, with the levels of each; the target, coded or centred,
    /// and what a pair is computed in.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        self.shelf.footprint(self.params.k, 1, 6).bytes(column, features)
    }
}

/// What the score of a statistical method means.
pub(crate) fn score_kind(measure: &str) -> &'static str {
    match measure {
        "su" => "symmetrical uncertainty with the target",
        "mi" => "mutual information with the target in bits",
        "g2" => "G2 statistic against the target",
        _ => "absolute correlation with the target",
    }
}

impl<M: Measure> Snapshot for Saola<M> {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&(self.shelf.parts(), self.pairs, self.evictions, self.ended))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (parts, pairs, evictions, ended) = snapshot::decode(state)?;
        let measure = &mut self.measure;
        self.shelf.restore(parts, |x, stats| measure.weigh(x, stats).map(|(facts, _)| facts))?;
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
    let (pairs, on_full) = (PairSettings::parse(spec)?, OnFull::parse(spec)?);
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
    fn with<M: Measure + 'static>(self, measure: M) -> Result<Box<dyn ColumnSelector>> {
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
            settings: &[
                rules::MEASURE,
                rules::RULES,
                rules::DELTA,
                rules::ALPHA,
                rules::BINS,
                rules::ON_FULL,
            ],
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
