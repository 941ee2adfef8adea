//! FCBF: features in the order of their strength, each against the stronger ones that are kept.
//!
//! ```text
//! s_j = SU(j; y);  candidates: s_j > delta, by descending s, ties to the earlier
//! q is kept  iff  no kept p before it has SU(p; q) >= s_q          rules=strict: >
//! ```
//!
//! Yu and Liu, ICML 2003 and JMLR 5 (2004): the published form takes the strongest candidate, keeps
//! it, and removes every later one with `SU(p; q) >= s_q`; that is the same. With Fisher's Z a
//! candidate passes the test at `alpha` and the strength is `abs(r)`. With `k` it ends after `k`
//! kept features. Strengths within 1e-12 are equal.
//!
//! Out of core: a scan drops what a feature kept in the scan before makes redundant, and holds the
//! first of the ranking of the rest; at its end these are resolved in their order. Each has then
//! met every kept feature that ranks before it, so the list is that of a run with all columns in
//! memory. Scans: one more than the rounds, usually 2 or 3; columns kept in a round are let go
//! after the next. Cost: p tables, and a pair a live feature and newly kept one, less those that a
//! bound or a disjoint support answers. Memory: `hold` columns, a byte a feature.

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
use crate::measure::{ALPHA, BINS, Bins, DELTA, Measure, Side, Thresholds, WithMeasure};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::statistical::row_index::RowIndex;
use crate::select::statistical::rules::{self, MEASURE, TIE};
use crate::select::{ColumnSelector, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::{Selection, Value};

const RULES: Setting = Setting::choice(
    "rules",
    &["paper", "strict"],
    "a feature goes where a kept one says as much of it as it says of the target: paper; more: strict",
);

fn rules_name(strict: bool) -> &'static str {
    if strict { "strict" } else { "paper" }
}

#[derive(Clone, Copy, Debug)]
struct Params {
    k: Option<usize>,
    strict: bool,
    hold: Hold,
}

/// What is known of a feature between two scans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Fate {
    #[default]
    Open,
    Weak,
    Redundant,
    Kept,
}

/// The features kept in one round, which the next scan is compared with.
struct Fresh<F> {
    list: Vec<(Rank, Candidate<F>)>,
    bits: Vec<Option<u32>>,
    index: RowIndex,
}

impl<F> Fresh<F> {
    fn new(rows: usize) -> Self {
        Self { list: Vec::new(), bits: Vec::new(), index: RowIndex::new(rows) }
    }

    fn push(&mut self, rank: Rank, candidate: Candidate<F>) {
        self.bits.push(self.index.add(candidate.kept.column()));
        self.list.push((rank, candidate));
    }

    fn bytes(&self) -> u64 {
        self.index.bytes() + self.list.iter().map(|(_, held)| held.bytes()).sum::<u64>()
    }
}

/// FCBF with one measure.
struct Fcbf<M: Measure> {
    params: Params,
    settings: Vec<(&'static str, Value)>,
    measure: M,
    rows: usize,
    budget: Budget,
    fates: PerFeature<Fate>,
    pool: Pool<M::Facts>,
    fresh: Fresh<M::Facts>,
    fresh_bytes: u64,
    // With their places in the ranking.
    kept: Vec<(Rank, Chosen)>,
    kept_bytes: u64,
    done: bool,
}

impl<M: Measure> Fcbf<M> {
    fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        let dropped = |reason| Ok(Outcome::dropped(reason));
        let redundant = Reason::Redundant { by: None };
        match self.fates.get(feature.id) {
            Fate::Kept => return Ok(Outcome::new(Verdict::Held)),
            Fate::Redundant => return dropped(redundant),
            Fate::Open if !self.done => {}
            _ => return dropped(Reason::Weak),
        }
        let others = self.fates.bytes_with(feature.id) + self.fresh_bytes + self.kept_bytes;
        self.budget.check(others, "a byte a feature")?;
        let named = |error: Error| error.at(format!("feature {:?}", feature.name));
        let data = self.measure.code(feature.column()).map_err(named)?;
        let x = data.as_ref().map_or_else(|| feature.column(), ColumnData::view);
        let (facts, evidence) = self.measure.weigh(x, &feature.stats).map_err(named)?;
        let s = evidence.strength;
        let told = |outcome: Outcome| Ok(Outcome { marginal: Some(s), ..outcome });
        if !feature.pinned && (!evidence.relevant || self.full()) {
            self.fates.set(feature.id, Fate::Weak);
            return told(Outcome::dropped(Reason::Weak));
        }
        let rank = Rank::new(s, feature.id);
        if !feature.pinned
            && let Some((by, t)) = self.redundant(Side { x, facts: &facts }, s, rank)
        {
            self.fates.set(feature.id, Fate::Redundant);
            let reason = Reason::Redundant { by: Some(by) };
            return told(Outcome { score: Some(t), ..Outcome::dropped(reason) });
        }
        let room = self.params.hold.room(&self.budget, others);
        let make = || Candidate::new(feature, data, facts, (s, evidence.p_value));
        match self.pool.offer(rank, room, feature.pinned, make)? {
            Offered::Held(evicted) => told(Outcome { evicted, ..Outcome::new(Verdict::Reserved) }),
            // Not decided yet: it comes again in the next scan.
            Offered::Refused => told(Outcome::dropped(Reason::Weak)),
        }
    }

    /// The kept feature of this round that makes one of strength `s` redundant.
    fn redundant(&mut self, q: Side<'_, M::Facts>, s: f64, rank: Rank) -> Option<(FeatureId, f64)> {
        let bound = if self.params.strict { s + TIE } else { s - TIE };
        let reaches = |t: f64| if self.params.strict { t > bound } else { t >= bound };
        let mut loaded = false;
        for (at, (before, p)) in self.fresh.list.iter().enumerate() {
            let most = || self.measure.upper_bound(q.facts, &p.facts);
            if *before > rank || !reaches(most()) {
                continue;
            }
            if !loaded {
                self.measure.load(q);
                self.fresh.index.probe(q.x);
                loaded = true;
            }
            let apart = self.fresh.bits[at].is_some_and(|bit| !self.fresh.index.shares(bit));
            let closed = match apart {
                true => self.measure.strength_disjoint(q.facts, &p.facts),
                false => None,
            };
            let t = closed.unwrap_or_else(|| self.measure.strength(q, p.side()));
            if reaches(t) {
                return Some((p.id(), t));
            }
        }
        None
    }

    /// Whether `k` features are kept.
    fn full(&self) -> bool {
        let free = || self.kept.iter().filter(|(_, kept)| !kept.pinned()).count();
        self.params.k.is_some_and(|k| free() >= k)
    }

    /// Decides on the held candidates, in the order of the ranking.
    fn resolve(&mut self) {
        self.fresh = Fresh::new(self.rows);
        for candidate in self.pool.drain() {
            let (s, id) = (candidate.strength, candidate.id());
            let rank = Rank::new(s, id);
            let pinned = candidate.kept.pinned;
            if !pinned && self.full() {
                self.fates.set(id, Fate::Weak);
            } else if !pinned && self.redundant(candidate.side(), s, rank).is_some() {
                self.fates.set(id, Fate::Redundant);
            } else {
                self.fates.set(id, Fate::Kept);
                self.kept.push((rank, Chosen::of(&candidate, s)));
                self.fresh.push(rank, candidate);
            }
        }
        self.kept.sort_by_key(|(rank, _)| *rank);
        self.count();
    }

    fn count(&mut self) {
        self.fresh_bytes = self.fresh.bytes();
        self.kept_bytes = self.kept.iter().map(|(_, kept)| kept.bytes()).sum();
    }
}

impl<M: Measure> ColumnSelector for Fcbf<M> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            out.push(self.offer(feature)?);
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        if !self.done {
            let every = self.pool.floor().is_none();
            self.resolve();
            self.done = every || self.full();
        }
        if self.done {
            self.fresh = Fresh::new(self.rows);
            self.count();
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
            method: "fcbf",
            params: self.settings.clone(),
            score_kind: M::KIND.info().score,
            p_value_kind: rules::p_value_kind::<M>(),
            ..Selection::default()
        };
        for (order, (_, kept)) in self.kept.iter().enumerate() {
            let list = match kept.pinned() {
                true => &mut selection.pinned,
                false => &mut selection.selected,
            };
            list.extend(kept.selected(order));
        }
        selection.sort();
        Ok(selection)
    }

    fn centres(&self) -> bool {
        self.measure.centres()
    }

    fn compacts(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let bytes = self.pool.bytes() + self.fresh_bytes + self.kept_bytes;
        Status { kept: self.kept.len(), bytes, ..Status::default() }
    }

    /// A byte a feature, the held columns with their levels, the target, coded or centred, and what
    /// a pair is computed in.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let rows = self.rows as u64;
        let fates = PerFeature::<Fate>::planned(features.unwrap_or(0));
        let facts = rows / 8 + 20 * rows.min(256);
        self.params.hold.planned(&self.budget, (column, facts), features, fates + 6 * 8 * rows)
    }
}

impl<M: Measure> Snapshot for Fcbf<M> {
    fn save(&self) -> Result<Vec<u8>> {
        let fresh: Vec<_> = self.fresh.list.iter().collect();
        snapshot::encode(&(&self.fates, &self.pool, fresh, &self.kept, self.done))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        type State<F> =
            (PerFeature<Fate>, Pool<F>, Vec<(Rank, Candidate<F>)>, Vec<(Rank, Chosen)>, bool);
        let (fates, pool, list, kept, done): State<M::Facts> = snapshot::decode(state)?;
        let measure = &mut self.measure;
        let mut facts = |x: Column<'_>, stats: &_| measure.weigh(x, stats).map(|(facts, _)| facts);
        let pool = pool.restored(self.rows, &mut facts)?;
        let mut fresh = Fresh::new(self.rows);
        for (rank, candidate) in list {
            sound(&candidate, self.rows, &mut facts)?;
            fresh.push(rank, candidate);
        }
        snapshot::ensure(kept.iter().all(|(_, kept)| kept.sound()), "a score is no number")?;
        (self.fates, self.pool, self.fresh) = (fates, pool, fresh);
        (self.kept, self.done) = (kept, done);
        self.count();
        Ok(())
    }
}

/// All that the method needs but its measure.
struct Making {
    params: Params,
    rows: usize,
    budget: Budget,
    settings: Vec<(&'static str, Value)>,
}

impl WithMeasure for Making {
    type Made = Box<dyn ColumnSelector>;

    fn with<M: Measure + 'static>(self, measure: M) -> Result<Self::Made> {
        let Self { params, rows, budget, settings } = self;
        Ok(Box::new(Fcbf {
            params,
            settings,
            measure,
            rows,
            budget,
            fates: PerFeature::new(Fate::Open),
            pool: Pool::default(),
            fresh: Fresh::new(rows),
            fresh_bytes: 0,
            kept: Vec::new(),
            kept_bytes: 0,
            done: false,
        }))
    }
}

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    rules::no_model(problem, "fcbf")?;
    let kind = rules::measure_kind(spec, &MEASURE, crate::measure::MeasureKind::Su)?;
    let strict = spec.choice(&RULES, &[false, true], rules_name)?;
    let params = Params { k: rules::some_k(spec)?, strict, hold: Hold::of(spec)? };
    let (alpha, delta, bins) = (spec.number(&ALPHA)?, spec.number(&DELTA)?, Bins::of(spec)?);
    let mut settings: Vec<(&'static str, Value)> =
        vec![("measure", kind.name().into()), ("rules", rules_name(strict).into())];
    settings.push(match kind.info().tested {
        true => (ALPHA.name, alpha.into()),
        false => (DELTA.name, delta.into()),
    });
    settings.extend(bins.map(|bins| (BINS.name, bins.into())));
    settings.extend(params.k.map(|k| ("k", k.into())));
    settings.push((HOLD.name, params.hold.shown()));
    let making = Making { params, rows: problem.n(), budget, settings };
    let made = kind.pairwise(problem, Thresholds { alpha, delta, bins }, making);
    made.unwrap_or_else(|| Err(Error::param("measure", kind.name(), "a measure of pairs")))
}

/// The registry's entry.
pub const FCBF: MethodInfo = MethodInfo {
    name: "fcbf",
    stream: Stream::Features,
    summary: "the strongest feature, then each that no kept one makes redundant; exact out of core",
    tasks: "classification; regression with fisher-z",
    cost: "a pass a scan; a pair a live feature and newly kept one",
    memory: "hold columns as stored, a byte a feature",
    paper: "Yu, Liu, JMLR 5 (2004)",
    scans: 0,
    needs_k: false,
    has_loss: false,
    settings: &[MEASURE, RULES, DELTA, ALPHA, BINS, HOLD],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
