//! OSSFS-DD: thresholds that follow the stream, and a pool of features that wait for a partner.
//!
//! `s` is the strength of a feature with the target; `mu` and `sd` are mean and deviation of all
//! strengths so far. `I({f,t}; y) = s_f + I(f; y | t)`, with partial correlations for numbers.
//!
//! ```text
//! lo = mu + low sd,  hi = mu + high sd
//! s <= lo       -> drop
//! lo < s < hi   -> wait; at `pool` waiting keep pairs i < j with I({i,j}; y) >= 2 hi (the first j
//!                  of each i), drop the others
//! s >= hi       -> against each kept f in order: I({f,t}; y) < 2 hi drops the weaker of the two;
//!                  the newcomer stops there and then nothing is removed
//! the end       -> what waits is judged as when the pool is full
//! ```
//!
//! The first two features wait, since a deviation needs two. Strengths within 1e-12 are equal, and
//! the earlier feature stays. A pair that a test finds independent is passed over.
//! `rules=authors` is what the authors' program does: of the first two features none is taken
//! (codes) or both are (numbers), a pair in the pool must exceed `2 hi`, and an equal newcomer
//! replaces. Zhou, Zhao, Yan, Wu, ACM TKDD 16 (2022), Algorithm 1.
//!
//! Cost: one pass a feature, a pair a kept feature for a strong one, `pool^2 / 2` pairs a full
//! pool. Memory: the kept columns and the pool.

use serde::{Deserialize, Serialize};

use super::interactions::{ALPHA, InteractionSettings, MEASURE, RULES, WithInteraction};
use super::kept_list::KeptList;
use super::rules::{self, TIE};
use crate::data::block::FeatureId;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::column::ColumnData;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::interaction::Interaction;
use crate::measure::{BINS, Evidence, Side};
use crate::registry::setting::Bounds;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::{ColumnSelector, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::{Selection, Value};

const LOW: Setting = Setting::number(
    "low",
    Bounds::from_below(0.0, 1e9),
    1.0,
    "deviations above the mean strength from which a feature may wait",
);
const HIGH: Setting = Setting::number(
    "high",
    Bounds::from_below(0.0, 1e9),
    2.0,
    "deviations above the mean strength from which a feature is compared at once",
);
const POOL: Setting =
    Setting::whole("pool", (2, 1_000_000), 100, "features that wait before pairs are looked for");

/// Settings of [`OssfsDd`].
#[derive(Clone, Copy, Debug)]
struct Params {
    k: Option<usize>,
    low: f64,
    high: f64,
    pool: usize,
    authors: bool,
}

/// Mean and variance of the strengths so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Strengths {
    count: u64,
    mean: f64,
    variance: f64,
}

impl Strengths {
    fn with(self, s: f64) -> Self {
        let count = self.count + 1;
        let n = count as f64;
        let away = s - self.mean;
        let variance = match count {
            1 => 0.0,
            _ => ((n - 2.0) * self.variance + (n - 1.0) / n * away * away) / (n - 1.0),
        };
        Self { count, mean: self.mean + away / n, variance }
    }

    fn above(&self, deviations: f64) -> f64 {
        self.mean + deviations * self.variance.sqrt()
    }
}

/// OSSFS-DD with one measure.
struct OssfsDd<M: Interaction> {
    params: Params,
    settings: Vec<(&'static str, Value)>,
    measure: M,
    strengths: Strengths,
    kept: KeptList<M::Facts>,
    waiting: KeptList<M::Facts>,
    evictions: u64,
    ended: bool,
}

/// A newcomer with its facts.
struct Newcomer<'a, 'b, F> {
    feature: &'a Feature<'b>,
    data: Option<ColumnData>,
    facts: F,
    evidence: Evidence,
}

impl<M: Interaction> OssfsDd<M> {
    fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        if self.ended {
            let held = self.kept.contains(feature.id);
            let weak = Verdict::Dropped(Reason::Weak);
            return Ok(Outcome::new(if held { Verdict::Held } else { weak }));
        }
        let named = |error: Error| error.at(format!("feature {:?}", feature.name));
        let data = self.measure.code(feature.column()).map_err(named)?;
        let x = data.as_ref().map_or_else(|| feature.column(), ColumnData::view);
        let (facts, evidence) = self.measure.weigh(x, &feature.stats).map_err(named)?;
        let s = evidence.strength;
        let strengths = self.strengths.with(s);
        let (lo, hi) = (strengths.above(self.params.low), strengths.above(self.params.high));
        let newcomer = Newcomer { feature, data, facts, evidence };
        let authors = self.params.authors;
        let numbers = M::KIND.info().numbers;
        let outcome = if feature.pinned {
            self.keep(newcomer, &[])?
        } else if strengths.count <= 2 {
            match (authors, numbers) {
                (false, _) => self.wait(newcomer, hi)?,
                (true, true) => self.keep(newcomer, &[])?,
                (true, false) => Outcome::dropped(Reason::Weak),
            }
        } else if s <= lo + TIE && !(authors && numbers && s >= hi - TIE) {
            Outcome::dropped(Reason::Weak)
        } else if s >= hi - TIE {
            self.compare(newcomer, hi)?
        } else {
            self.wait(newcomer, hi)?
        };
        self.strengths = strengths;
        Ok(Outcome { marginal: Some(s), ..outcome })
    }

    /// Compares a strong newcomer with the kept features.
    fn compare(&mut self, newcomer: Newcomer<'_, '_, M::Facts>, hi: f64) -> Result<Outcome> {
        let s = newcomer.evidence.strength;
        let mut removed = Vec::new();
        for at in 0..self.kept.len() {
            let other = self.kept.record(at).score;
            let x = newcomer.data.as_ref().map_or_else(|| newcomer.feature.column(), |d| d.view());
            let t = Side { x, facts: &newcomer.facts };
            let Some(given) = self.measure.given(self.kept.side(at), t) else { continue };
            if given + other >= 2.0 * hi - TIE {
                continue;
            }
            let loses = if self.params.authors { other > s } else { other >= s - TIE };
            if loses || self.kept.kept(at).pinned {
                let by = Some(self.kept.id(at));
                let outcome = Outcome::dropped(Reason::Redundant { by });
                return Ok(Outcome { score: Some(given + other), ..outcome });
            }
            removed.push(at);
        }
        self.keep(newcomer, &removed)
    }

    /// Appends a newcomer to the kept list in place of `removed`.
    fn keep(&mut self, newcomer: Newcomer<'_, '_, M::Facts>, removed: &[usize]) -> Result<Outcome> {
        let Newcomer { feature, data, facts, evidence } = newcomer;
        let freed: usize = removed.iter().map(|at| self.kept.kept(*at).column().bytes()).sum();
        let bytes = data.as_ref().map_or_else(|| feature.column().bytes(), ColumnData::bytes);
        self.kept.check_beside(&self.waiting, bytes.saturating_sub(freed) as u64)?;
        let mut evicted = self.kept.exchange(removed, feature, data, facts, evidence)?;
        evicted.extend(self.kept.trim(self.params.k));
        Ok(self.outcome(feature.id, evicted))
    }

    /// Puts a newcomer into the pool, and looks for pairs when the pool is full.
    fn wait(&mut self, newcomer: Newcomer<'_, '_, M::Facts>, hi: f64) -> Result<Outcome> {
        let Newcomer { feature, data, facts, evidence } = newcomer;
        let bytes = data.as_ref().map_or_else(|| feature.column().bytes(), ColumnData::bytes);
        self.kept.check_beside(&self.waiting, bytes as u64)?;
        self.waiting.exchange(&[], feature, data, facts, evidence)?;
        if self.waiting.len() < self.params.pool {
            return Ok(Outcome::new(Verdict::Reserved));
        }
        let evicted = self.pair_up(hi)?;
        Ok(self.outcome(feature.id, evicted))
    }

    /// The outcome of a newcomer, of whom `evicted` may speak.
    fn outcome(&mut self, id: FeatureId, mut evicted: Vec<FeatureId>) -> Outcome {
        let all = evicted.len();
        evicted.retain(|gone| *gone != id);
        self.evictions += evicted.len() as u64;
        let kept = evicted.len() == all;
        let verdict = if kept { Verdict::Kept } else { Verdict::Dropped(Reason::Weak) };
        Outcome { evicted, ..Outcome::new(verdict) }
    }

    /// Moves the pairs of the pool that tell enough together to the kept list, and empties it.
    /// Gives those that are let go.
    fn pair_up(&mut self, hi: f64) -> Result<Vec<FeatureId>> {
        let mut paired = vec![false; self.waiting.len()];
        for i in 0..self.waiting.len() {
            let s = self.waiting.record(i).score;
            let partner = (i + 1..self.waiting.len()).find(|j| {
                let pair = (self.waiting.side(i), self.waiting.side(*j));
                self.measure.given(pair.0, pair.1).is_some_and(|given| {
                    let least = if self.params.authors { TIE } else { -TIE };
                    s + given >= 2.0 * hi + least
                })
            });
            if let Some(j) = partner {
                (paired[i], paired[j]) = (true, true);
            }
        }
        let mut gone = Vec::new();
        for paired in paired {
            match paired {
                true => self.waiting.hand_over(0, &mut self.kept)?,
                false => gone.push(self.waiting.remove(0)),
            }
        }
        gone.extend(self.kept.trim(self.params.k));
        Ok(gone)
    }
}

impl<M: Interaction> ColumnSelector for OssfsDd<M> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            out.push(self.offer(feature)?);
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        self.finish()?;
        Ok(true)
    }

    fn finish(&mut self) -> Result<()> {
        if !self.ended {
            let hi = self.strengths.above(self.params.high);
            self.evictions += self.pair_up(hi)?.len() as u64;
            // The published method sees each feature once.
            self.ended = true;
        }
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let info = M::KIND.info();
        let mut selection = Selection {
            method: "ossfs-dd",
            params: self.settings.clone(),
            score_kind: info.score,
            p_value_kind: Some("marginal"),
            substitutions: self.evictions,
            metrics: vec![
                ("strength_mean", self.strengths.mean.into()),
                ("strength_deviation", self.strengths.variance.sqrt().into()),
            ],
            ..Selection::default()
        };
        self.kept.add_to(&mut selection);
        Ok(selection)
    }

    fn centres(&self) -> bool {
        self.measure.centres()
    }

    fn compacts(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let bytes = self.kept.bytes() + self.waiting.bytes();
        Status { kept: self.kept.len(), loss: None, substitutions: self.evictions, bytes }
    }

    /// The kept columns, the pool and one under test, with the levels of each; the target, coded or
    /// centred, and what a pair is computed in.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let pool = self.params.pool.saturating_add(1);
        self.kept.footprint(self.params.k, pool, 8).bytes(column, features)
    }
}

impl<M: Interaction> Snapshot for OssfsDd<M> {
    fn save(&self) -> Result<Vec<u8>> {
        let lists = (self.kept.parts(), self.waiting.parts());
        snapshot::encode(&(lists, self.strengths, self.evictions, self.ended))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let ((kept, waiting), strengths, evictions, ended) = snapshot::decode(state)?;
        let Strengths { mean, variance, .. } = strengths;
        let sound = mean.is_finite() && variance.is_finite() && variance >= 0.0;
        snapshot::ensure(sound, "its mean strength is no number")?;
        let measure = &mut self.measure;
        let mut facts = |x: crate::data::column::Column<'_>, stats: &_| {
            measure.weigh(x, stats).map(|(facts, _)| facts)
        };
        self.kept.restore(kept, &mut facts)?;
        self.waiting.restore(waiting, &mut facts)?;
        snapshot::ensure(self.waiting.len() <= self.params.pool, "too many features wait")?;
        (self.strengths, self.evictions, self.ended) = (strengths, evictions, ended);
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

impl WithInteraction for Making {
    fn with<M: Interaction + 'static>(self, measure: M) -> Result<Box<dyn ColumnSelector>> {
        let Self { params, rows, budget, settings } = self;
        let (kept, waiting) = (KeptList::new(rows, budget.clone()), KeptList::new(rows, budget));
        let strengths = Strengths::default();
        let (evictions, ended) = (0, false);
        Ok(Box::new(OssfsDd {
            params,
            settings,
            measure,
            strengths,
            kept,
            waiting,
            evictions,
            ended,
        }))
    }
}

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    rules::no_model(problem, "ossfs-dd")?;
    let (k, settings) = (rules::some_k(spec)?, InteractionSettings::parse(spec)?);
    let (low, high) = (spec.number(&LOW)?, spec.number(&HIGH)?);
    if high < low {
        return Err(Error::param("high", high, "at least `low`"));
    }
    let pool = spec.whole(&POOL)?;
    let mut own: Vec<(&'static str, Value)> =
        vec![("low", low.into()), ("high", high.into()), ("pool", pool.into())];
    own.extend(k.map(|k| ("k", k.into())));
    let params = Params { k, low, high, pool, authors: settings.authors };
    let shown = settings.shown(own);
    settings.build(problem, Making { params, rows: problem.n(), budget, settings: shown })
}

/// The registry's entry.
pub const OSSFS_DD: MethodInfo = MethodInfo {
    name: "ossfs-dd",
    stream: Stream::Features,
    summary: "thresholds that follow the stream, and a pool where weak features wait for a partner",
    tasks: "classification; regression with fisher-z",
    cost: "one pass a weak feature; a pair a kept feature for a strong one; pairs of a full pool",
    memory: "the kept columns and the pool as stored; n/8 bytes more of each sparse one",
    paper: "Zhou, Zhao, Yan, Wu, ACM TKDD 16 (2022), Algorithm 1",
    scans: 1,
    needs_k: false,
    has_loss: false,
    settings: &[MEASURE, RULES, LOW, HIGH, POOL, ALPHA, BINS],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
