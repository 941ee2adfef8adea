//! mRMR: relevance to the target less, or over, the mean redundancy with what is selected.
//!
//! ```text
//! first: the largest rel_j;  then, with S selected and m_j = (sum over f in S of red(j; f)) / |S|:
//!     mid, fcd:  rel_j - m_j          miq, fcq:  rel_j / (m_j + floor)          the largest
//! mid, miq:  mutual information in bits on codes, floor 0.0001 (Peng's program)
//! fcd, fcq:  rel the F statistic, red abs(r), floor 0
//! ```
//!
//! Peng, Long, Ding, IEEE TPAMI 27 (2005); the F forms: Ding and Peng, 2005.
//! `rules=mrmr-selection` are those of that package: F above 0, each abs(r) at least 0.001, a mean
//! of exactly 1 counts as infinite. Scores within 1e-12 are equal and the earlier feature goes
//! first. Pinned features are selected before all others.
//!
//! Out of core: a scan brings the sum R_j of each feature up to date for all that was selected since
//! and holds the features of the highest score. As redundancies are not negative, after further
//! selections one that is not held has at most the score that its old sum gives:
//!
//! ```text
//! mid: score_j <= rel_j - R_j / |S|         miq: score_j <= rel_j / (R_j / |S| + floor)
//! ```
//!
//! so as long as the best of the held ones is above the largest of these it is the best of all, and
//! is selected without a scan. Scans: at most one a selection. Cost: a table or product a feature
//! and selection. Memory: `hold` columns and two numbers a feature.

use serde::{Deserialize, Serialize};

use super::hold::{HOLD, Hold};
use super::per_feature::PerFeature;
use super::pool::{Candidate, Chosen, Offered, Pool, sound};
use super::rank::Rank;
use crate::data::block::FeatureId;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::column::{Column, ColumnData};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::anova::Anova;
use crate::measure::{BINS, Bins, Measure, Mi, Side};
use crate::registry::setting::Given;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::statistical::rules;
use crate::select::{ColumnSelector, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::{Selection, Value};

const CRITERION: Setting = Setting::choice(
    "criterion",
    &["auto", "mid", "miq", "fcd", "fcq"],
    "mid or miq: mutual information, less or over the mean redundancy; fcd or fcq: F statistic and \
     correlation; auto is mid where every column is an integer, bool or code, else fcq",
);

const RULES: Setting = Setting::choice(
    "rules",
    &["paper", "mrmr-selection"],
    "paper, or mrmr-selection for what that package does (with fcq)",
);

/// Peng's program adds this to the mean redundancy before it divides.
const FLOOR: f64 = 1e-4;
/// The package raises each correlation to at least this.
const LEAST: f64 = 1e-3;
/// A held feature is selected before one that is not held only where it is clearly better.
const CLEAR: f64 = 1e-9;

/// How relevance and redundancy are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Criterion {
    Mid,
    Miq,
    Fcd,
    Fcq,
}

impl Criterion {
    const ALL: [Self; 4] = [Self::Mid, Self::Miq, Self::Fcd, Self::Fcq];

    const fn name(self) -> &'static str {
        match self {
            Self::Mid => "mid",
            Self::Miq => "miq",
            Self::Fcd => "fcd",
            Self::Fcq => "fcq",
        }
    }

    fn codes(self) -> bool {
        matches!(self, Self::Mid | Self::Miq)
    }
}

#[derive(Clone, Copy, Debug)]
struct Params {
    k: usize,
    criterion: Criterion,
    package: bool,
    hold: Hold,
}

impl Params {
    /// The score of a feature with these numbers after `n` selections.
    fn score(&self, relevance: f64, total: f64, n: usize) -> f64 {
        if n == 0 {
            return relevance;
        }
        let mean = total / n as f64;
        match self.criterion {
            Criterion::Mid | Criterion::Fcd => relevance - mean,
            _ if relevance <= 0.0 => 0.0,
            _ if self.package && mean == 1.0 => 0.0,
            Criterion::Miq => relevance / (mean + FLOOR),
            Criterion::Fcq => relevance / mean,
        }
    }
}

/// What is known of a feature between two scans.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Standing {
    // No number: it has not come yet, is selected, or cannot be.
    relevance: f64,
    total: f64,
}

/// mRMR with one pair of measures.
struct Mrmr<M: Measure> {
    params: Params,
    settings: Vec<(&'static str, Value)>,
    measure: M,
    rows: usize,
    budget: Budget,
    standings: PerFeature<Standing>,
    pool: Pool<M::Facts>,
    // Selected since the last scan began: every feature is still to meet them.
    pending: Vec<Candidate<M::Facts>>,
    pending_bytes: u64,
    chosen: Vec<Chosen>,
    chosen_bytes: u64,
    scans: u32,
    done: bool,
}

impl<M: Measure> Mrmr<M> {
    fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        let id = feature.id;
        if self.chosen.iter().any(|chosen| chosen.id() == id) {
            return Ok(Outcome::new(Verdict::Held));
        }
        let standing = self.standings.get(id);
        if self.done || (self.scans > 0 && standing.relevance.is_nan()) {
            return Ok(Outcome::dropped(Reason::Weak));
        }
        let others = self.standings.bytes_with(id) + self.pending_bytes + self.chosen_bytes;
        self.budget.check(others, "two numbers a feature")?;
        let named =
            |error: Error| self.params.advised(error).at(format!("feature {:?}", feature.name));
        let data = self.measure.code(feature.column()).map_err(named)?;
        let x = data.as_ref().map_or_else(|| feature.column(), ColumnData::view);
        let (facts, evidence) = self.measure.weigh(x, &feature.stats).map_err(named)?;
        let relevance = evidence.strength;
        if self.params.package && relevance <= 0.0 && !feature.pinned {
            return Ok(Outcome::dropped(Reason::Weak));
        }
        let mut total = if self.scans > 0 { standing.total } else { 0.0 };
        let side = Side { x, facts: &facts };
        if !self.pending.is_empty() {
            self.measure.load(side);
            for selected in &self.pending {
                total += redundancy(&mut self.measure, &self.params, side, selected.side());
            }
        }
        let score = self.params.score(relevance, total, self.chosen.len());
        let room = self.params.hold.room(&self.budget, others);
        let make = || {
            let candidate = Candidate::new(feature, data, facts, (relevance, evidence.p_value));
            Candidate { total, ..candidate }
        };
        let offered = self.pool.offer(Rank::new(score, id), room, feature.pinned, make)?;
        self.standings.set(id, Standing { relevance, total });
        let outcome = match offered {
            Offered::Held(evicted) => Outcome { evicted, ..Outcome::new(Verdict::Reserved) },
            Offered::Refused => Outcome::dropped(Reason::Weak),
        };
        Ok(Outcome { marginal: Some(relevance), score: Some(score), ..outcome })
    }

    /// Selects among the held features as long as none of the others can be better.
    fn select(&mut self) {
        self.pending.clear();
        let (floor, before) = (self.pool.floor(), self.chosen.len());
        let mut pinned: Vec<(FeatureId, Rank)> = self
            .pool
            .iter()
            .filter(|(_, held)| held.kept.pinned)
            .map(|(rank, _)| (rank.id(), *rank))
            .collect();
        pinned.sort_unstable();
        pinned.into_iter().for_each(|(_, rank)| self.take(rank));
        let mut free = self.chosen.iter().filter(|chosen| !chosen.pinned()).count();
        while free < self.params.k {
            let n = self.chosen.len();
            let scored = self.pool.iter().map(|(rank, held)| {
                let score = self.params.score(held.strength, held.total, n);
                (Rank::new(score, rank.id()), score, *rank)
            });
            let Some((_, best, rank)) = scored.min_by_key(|(place, ..)| *place) else { break };
            // Before the first selection of a scan the scores of all are known, and the ranking.
            if n > before && floor.is_some_and(|floor| !self.clear(best, floor, before)) {
                break;
            }
            self.take(rank);
            free += 1;
        }
        // With too little room to hold one there is nothing, and with no feature left.
        let every = floor.is_none() && self.pool.is_empty();
        self.done = free >= self.params.k || every || self.chosen.len() == before;
        self.pool = Pool::default();
        if self.done {
            self.pending.clear();
        }
        self.count();
    }

    /// Whether a score is above what any feature that is not held can have now. `before` is how
    /// many were selected when their sums were brought up to date.
    fn clear(&self, best: f64, floor: Rank, before: usize) -> bool {
        let least = best - CLEAR * best.abs().max(1.0);
        let n = self.chosen.len();
        self.standings.iter().all(|(id, Standing { relevance, total })| {
            relevance.is_nan()
                || self.params.score(relevance, total, n) < least
                || Rank::new(self.params.score(relevance, total, before), id) < floor
        })
    }

    /// Moves a held feature to the selected ones, and brings the sums of the others up to date.
    fn take(&mut self, rank: Rank) {
        let Some(selected) = self.pool.remove(&rank) else { return };
        let n = self.chosen.len();
        let score = self.params.score(selected.strength, selected.total, n).min(f64::MAX);
        self.chosen.push(Chosen::of(&selected, score));
        self.standings.set(rank.id(), Standing { relevance: f64::NAN, total: 0.0 });
        let (measure, params) = (&mut self.measure, &self.params);
        for other in self.pool.values_mut() {
            measure.load(other.side());
            other.total += redundancy(measure, params, other.side(), selected.side());
        }
        self.pending.push(selected);
    }

    fn count(&mut self) {
        self.pending_bytes = self.pending.iter().map(Candidate::bytes).sum();
        self.chosen_bytes = self.chosen.iter().map(Chosen::bytes).sum();
    }
}

/// Redundancy of a loaded newcomer and a selected feature.
fn redundancy<M: Measure>(
    measure: &mut M,
    params: &Params,
    newcomer: Side<'_, M::Facts>,
    selected: Side<'_, M::Facts>,
) -> f64 {
    let redundancy = measure.strength(newcomer, selected);
    if params.package { redundancy.max(LEAST) } else { redundancy }
}

impl Params {
    /// An error of the measure in the words of this method.
    fn advised(&self, error: Error) -> Error {
        match error {
            Error::Data(text) => Error::Data(text.replace("measure=fisher-z", "criterion=fcq")),
            error => error,
        }
    }
}

impl<M: Measure> ColumnSelector for Mrmr<M> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            out.push(self.offer(feature)?);
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        if !self.done {
            self.select();
            self.scans += 1;
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
        let mut selection = Selection {
            method: "mrmr",
            params: self.settings.clone(),
            score_kind: "criterion when it was selected",
            p_value_kind: Some("marginal"),
            ..Selection::default()
        };
        for (order, chosen) in self.chosen.iter().enumerate() {
            let list = match chosen.pinned() {
                true => &mut selection.pinned,
                false => &mut selection.selected,
            };
            list.extend(chosen.selected(order));
        }
        selection.sort();
        Ok(selection)
    }

    fn centres(&self) -> bool {
        self.measure.centres()
    }

    /// Numbers are multiplied, which dense columns are made for.
    fn compacts(&self) -> bool {
        self.params.criterion.codes()
    }

    fn status(&self) -> Status {
        let bytes = self.pool.bytes() + self.pending_bytes + self.chosen_bytes;
        Status { kept: self.chosen.len(), bytes, ..Status::default() }
    }

    /// Two numbers a feature, the held columns with their levels, the target, coded or centred, and
    /// what a pair is computed in.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let rows = self.rows as u64;
        let standings = PerFeature::<Standing>::planned(features.unwrap_or(0));
        let facts = 20 * rows.min(256);
        self.params.hold.planned(&self.budget, (column, facts), features, standings + 6 * 8 * rows)
    }
}

impl<M: Measure> Snapshot for Mrmr<M> {
    fn save(&self) -> Result<Vec<u8>> {
        let lists = (&self.standings, &self.pool, &self.pending, &self.chosen);
        snapshot::encode(&(lists, self.scans, self.done))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        type Lists<F> = (PerFeature<Standing>, Pool<F>, Vec<Candidate<F>>, Vec<Chosen>);
        let (lists, scans, done): (Lists<M::Facts>, u32, bool) = snapshot::decode(state)?;
        let (standings, pool, pending, chosen) = lists;
        let measure = &mut self.measure;
        let mut facts = |x: Column<'_>, stats: &_| measure.weigh(x, stats).map(|(facts, _)| facts);
        let pool = pool.restored(self.rows, &mut facts)?;
        pending.iter().try_for_each(|held| sound(held, self.rows, &mut facts))?;
        snapshot::ensure(chosen.iter().all(Chosen::sound), "a score is no number")?;
        (self.standings, self.pool, self.pending) = (standings, pool, pending);
        (self.chosen, self.scans, self.done) = (chosen, scans, done);
        self.count();
        Ok(())
    }
}

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    rules::no_model(problem, "mrmr")?;
    let bins = Bins::of(spec)?;
    let auto = if spec.integral || bins.is_some() { Criterion::Mid } else { Criterion::Fcq };
    let named = match spec.value(&CRITERION)? {
        Some(Given::Word(word)) => Criterion::ALL.into_iter().find(|one| one.name() == word),
        _ => None,
    };
    let criterion = named.unwrap_or(auto);
    let package =
        spec.choice(
            &RULES,
            &[false, true],
            |package| {
                if package { "mrmr-selection" } else { "paper" }
            },
        )?;
    if package && criterion != Criterion::Fcq {
        let want = "criterion=fcq with rules=mrmr-selection";
        return Err(Error::param("criterion", criterion.name(), want));
    }
    if bins.is_some() && !criterion.codes() {
        let want = "criterion=mid or miq with `bins`: the F statistic is of numbers";
        return Err(Error::param("criterion", criterion.name(), want));
    }
    let params = Params { k: spec.need_k()?, criterion, package, hold: Hold::of(spec)? };
    let mut settings: Vec<(&'static str, Value)> = vec![
        ("k", params.k.into()),
        (CRITERION.name, criterion.name().into()),
        (RULES.name, if package { "mrmr-selection" } else { "paper" }.into()),
    ];
    settings.extend(bins.map(|bins| (BINS.name, bins.into())));
    settings.push((HOLD.name, params.hold.shown()));
    match criterion.codes() {
        true => {
            let measure = Mi::new(problem, 0.0, bins).map_err(|error| params.advised(error))?;
            Ok(Mrmr::boxed(params, settings, measure, problem.n(), budget))
        }
        false => Ok(Mrmr::boxed(params, settings, Anova::new(problem)?, problem.n(), budget)),
    }
}

impl<M: Measure + 'static> Mrmr<M> {
    fn boxed(
        params: Params,
        settings: Vec<(&'static str, Value)>,
        measure: M,
        rows: usize,
        budget: Budget,
    ) -> Box<dyn ColumnSelector> {
        Box::new(Self {
            params,
            settings,
            measure,
            rows,
            budget,
            standings: PerFeature::new(Standing { relevance: f64::NAN, total: 0.0 }),
            pool: Pool::default(),
            pending: Vec::new(),
            pending_bytes: 0,
            chosen: Vec::new(),
            chosen_bytes: 0,
            scans: 0,
            done: false,
        })
    }
}

/// The registry's entry.
pub const MRMR: MethodInfo = MethodInfo {
    name: "mrmr",
    stream: Stream::Features,
    summary: "relevance less, or over, the mean redundancy with what is selected; exact out of core",
    tasks: "regression, classification",
    cost: "a pass a scan; a pair a feature and selection",
    memory: "hold columns as stored, two numbers a feature",
    paper: "Peng, Long, Ding, IEEE TPAMI 27 (2005)",
    scans: 0,
    needs_k: true,
    has_loss: false,
    settings: &[CRITERION, RULES, BINS, HOLD],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
