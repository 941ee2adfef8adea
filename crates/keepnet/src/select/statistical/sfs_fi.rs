//! SFS-FI: a newcomer is judged by what it adds to the features kept.
//!
//! `s` is the strength of a feature with the target, `c` the strength between two features.
//!
//! ```text
//! t irrelevant                              -> drop
//! gain_f = I(f; y | t) - s_f for kept f;  gain = their mean
//! gain <= 0                                 -> drop
//! gain >= gamma                             -> keep
//! between: for kept f in order whose own gain is not above 0:
//!     s_f > s_t and c >= s_t                -> drop t
//!     s_t > s_f and c >= s_f                -> remove f
//!     then keep t
//! ```
//!
//! The first relevant feature is kept. For numbers partial correlations take the place of
//! conditional information, and a pair that a test finds independent has no gain and removes
//! nothing. The mean is what the authors' program takes; the paper writes a sum. Numbers within
//! 1e-12 are equal. `rules=authors` has the strength of codes in symmetrical uncertainty, as their
//! program, which mixes it with bits. Zhou, Li, Zhao, Wu, IEEE TNNLS 32 (2021), Algorithm 1.
//!
//! Cost: one pass a weak feature, two pairs at most a kept feature for the others. Memory: the
//! kept columns.

use super::interactions::{ALPHA, InteractionSettings, MEASURE, RULES, WithInteraction};
use super::kept_list::KeptList;
use super::rules::{self, TIE};
use crate::data::check::{CheckedBlock, Feature};
use crate::data::column::ColumnData;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::interaction::Interaction;
use crate::measure::{BINS, Side};
use crate::registry::setting::Bounds;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::{ColumnSelector, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::{Selection, Value};

const GAMMA: Setting = Setting::number(
    "gamma",
    Bounds::from_below(0.0, 1e9),
    0.01,
    "mean gain from which a feature is kept without a look for redundant ones",
);

/// SFS-FI with one measure.
struct SfsFi<M: Interaction> {
    k: Option<usize>,
    gamma: f64,
    settings: Vec<(&'static str, Value)>,
    measure: M,
    list: KeptList<M::Facts>,
    evictions: u64,
    ended: bool,
}

/// The newcomer compared with the kept list.
enum Judged {
    /// It adds nothing to the features kept; the mean gain.
    Adds(Option<f64>),
    /// A kept feature at this position makes it redundant, with this strength.
    Redundant(usize, f64, Vec<usize>),
    /// It is kept in place of these positions.
    Keep(Vec<usize>),
}

impl<M: Interaction> SfsFi<M> {
    fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        if self.ended {
            let held = self.list.contains(feature.id);
            let weak = Verdict::Dropped(Reason::Weak);
            return Ok(Outcome::new(if held { Verdict::Held } else { weak }));
        }
        let named = |error: Error| error.at(format!("feature {:?}", feature.name));
        let data = self.measure.code(feature.column()).map_err(named)?;
        let x = data.as_ref().map_or_else(|| feature.column(), ColumnData::view);
        let (facts, evidence) = self.measure.weigh(x, &feature.stats).map_err(named)?;
        let marginal = Some(evidence.strength);
        if !feature.pinned && (!evidence.relevant || evidence.strength <= TIE) {
            return Ok(Outcome { marginal, ..Outcome::dropped(Reason::Weak) });
        }
        let judged = match feature.pinned {
            true => Judged::Keep(Vec::new()),
            false => self.judge(Side { x, facts: &facts }, evidence.strength),
        };
        let removed = match judged {
            Judged::Adds(score) => {
                return Ok(Outcome { marginal, score, ..Outcome::dropped(Reason::Weak) });
            }
            Judged::Redundant(at, score, removed) => {
                let by = Some(self.list.id(at));
                let evicted: Vec<_> =
                    removed.iter().rev().map(|at| self.list.remove(*at)).collect();
                self.evictions += evicted.len() as u64;
                let outcome = Outcome::dropped(Reason::Redundant { by });
                return Ok(Outcome { evicted, marginal, score: Some(score), ..outcome });
            }
            Judged::Keep(removed) => removed,
        };
        let mut evicted = self.list.exchange(&removed, feature, data, facts, evidence)?;
        evicted.extend(self.list.trim(self.k));
        let all = evicted.len();
        evicted.retain(|gone| *gone != feature.id);
        self.evictions += evicted.len() as u64;
        let kept = evicted.len() == all;
        let verdict = if kept { Verdict::Kept } else { Verdict::Dropped(Reason::Weak) };
        Ok(Outcome { evicted, marginal, score: marginal, ..Outcome::new(verdict) })
    }

    /// Compares a relevant newcomer of strength `s` with the kept list.
    fn judge(&mut self, t: Side<'_, M::Facts>, s: f64) -> Judged {
        let mut gains = vec![None; self.list.len()];
        for (at, gain) in gains.iter_mut().enumerate() {
            let given = self.measure.given(self.list.side(at), t);
            *gain = given.map(|given| given - self.list.record(at).score);
        }
        if gains.is_empty() {
            return Judged::Keep(Vec::new());
        }
        let known: Vec<f64> = gains.iter().copied().flatten().collect();
        let mean = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
        let Some(gain) = mean.filter(|gain| *gain > TIE) else { return Judged::Adds(mean) };
        let mut removed = Vec::new();
        if gain >= self.gamma - TIE {
            return Judged::Keep(removed);
        }
        for (at, gain) in gains.iter().enumerate() {
            if gain.is_some_and(|gain| gain > TIE) {
                continue;
            }
            let other = self.list.record(at).score;
            let Some(c) = self.measure.between(t, self.list.side(at)) else { continue };
            if other > s + TIE && c >= s - TIE {
                return Judged::Redundant(at, c, removed);
            }
            if s > other + TIE && c >= other - TIE && !self.list.kept(at).pinned {
                removed.push(at);
            }
        }
        Judged::Keep(removed)
    }
}

impl<M: Interaction> ColumnSelector for SfsFi<M> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            out.push(self.offer(feature)?);
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
        let mut selection = Selection {
            method: "sfs-fi",
            params: self.settings.clone(),
            score_kind: M::KIND.info().score,
            p_value_kind: Some("marginal"),
            substitutions: self.evictions,
            ..Selection::default()
        };
        self.list.add_to(&mut selection);
        Ok(selection)
    }

    fn centres(&self) -> bool {
        self.measure.centres()
    }

    fn compacts(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let (kept, bytes) = (self.list.len(), self.list.bytes());
        Status { kept, loss: None, substitutions: self.evictions, bytes }
    }

    /// The kept columns and one under test, with the levels of each; the target, coded or centred,
    /// and what a pair is computed in.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        self.list.footprint(self.k, 1, 8).bytes(column, features)
    }
}

impl<M: Interaction> Snapshot for SfsFi<M> {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&(self.list.parts(), self.evictions, self.ended))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (parts, evictions, ended) = snapshot::decode(state)?;
        let measure = &mut self.measure;
        self.list.restore(parts, |x, stats| measure.weigh(x, stats).map(|(facts, _)| facts))?;
        (self.evictions, self.ended) = (evictions, ended);
        Ok(())
    }
}

/// All that the method needs but its measure.
struct Making {
    k: Option<usize>,
    gamma: f64,
    rows: usize,
    budget: Budget,
    settings: Vec<(&'static str, Value)>,
}

impl WithInteraction for Making {
    fn with<M: Interaction + 'static>(self, measure: M) -> Result<Box<dyn ColumnSelector>> {
        let Self { k, gamma, rows, budget, settings } = self;
        let list = KeptList::new(rows, budget);
        Ok(Box::new(SfsFi { k, gamma, settings, measure, list, evictions: 0, ended: false }))
    }
}

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    rules::no_model(problem, "sfs-fi")?;
    let (k, settings) = (rules::some_k(spec)?, InteractionSettings::parse(spec)?);
    let gamma = spec.number(&GAMMA)?;
    let mut own: Vec<(&'static str, Value)> = vec![("gamma", gamma.into())];
    own.extend(k.map(|k| ("k", k.into())));
    let shown = settings.shown(own);
    settings.build(problem, Making { k, gamma, rows: problem.n(), budget, settings: shown })
}

/// The registry's entry.
pub const SFS_FI: MethodInfo = MethodInfo {
    name: "sfs-fi",
    stream: Stream::Features,
    summary: "a feature is kept by what it adds to the features kept, its interactions included",
    tasks: "classification; regression with fisher-z",
    cost: "one pass a weak feature; two pairs a kept feature for the others",
    memory: "the kept columns as stored; n/8 bytes more of each sparse one",
    paper: "Zhou, Li, Zhao, Wu, IEEE TNNLS 32 (2021), Algorithm 1",
    scans: 1,
    needs_k: false,
    has_loss: false,
    settings: &[MEASURE, RULES, GAMMA, ALPHA, BINS],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
