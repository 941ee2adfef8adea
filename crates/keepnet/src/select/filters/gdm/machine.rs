//! One class against the rest: its rounds, its sets of features, and what they stand for.

use serde::{Deserialize, Serialize};

use super::super::pool::{Candidate, Chosen, Pool, sound};
use super::super::rank::{Rank, level};
use super::model::{self, Rows};
use crate::data::block::FeatureId;
use crate::data::check::ColumnStats;
use crate::data::column::Column;
use crate::error::Result;
use crate::numeric::kernel;
use crate::numeric::products::cross;
use crate::run::snapshot::ensure;
use crate::select::statistical::rules::TIE;

/// A new feature must be this much more violated than those of the sets.
const CLEARLY: f64 = 1e-3;

/// Settings of the method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Params {
    pub(super) k: usize,
    pub(super) per_round: usize,
    pub(super) cost: f64,
    pub(super) rho: f64,
}

/// A feature of a set, as a column of unit length in the rows that count.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Member {
    pub(super) chosen: Chosen,
    unit: Vec<f64>,
}

/// A feature that is correlated with a member beyond the limit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Follower {
    pub(super) of: usize,
    pub(super) chosen: Chosen,
    pub(super) correlation: f64,
}

/// The features of all machines, and the rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    pub(super) list: Vec<Member>,
    pub(super) weight: Option<Vec<f64>>,
    pub(super) total: f64,
}

impl Members {
    /// The place of a feature among the members.
    pub(super) fn at(&self, id: FeatureId) -> Option<usize> {
        self.list.iter().position(|member| member.chosen.id() == id)
    }

    /// The place of a candidate among the members, where it is put if it is not there.
    fn add(&mut self, candidate: &Candidate<()>) -> usize {
        if let Some(at) = self.at(candidate.id()) {
            return at;
        }
        let (column, stats) = (candidate.kept.column(), &candidate.kept.stats);
        let mut unit = vec![0.0; column.rows()];
        column.fill(&mut unit);
        let length = (self.total * stats.variance).sqrt();
        unit.iter_mut().for_each(|x| *x = (*x - stats.mean) / length);
        self.list.push(Member { chosen: Chosen::of(candidate, candidate.strength), unit });
        self.list.len() - 1
    }

    /// The member of a list that a candidate is most correlated with.
    fn nearest(&self, candidate: &Candidate<()>, among: &[usize]) -> Option<(usize, f64)> {
        let weighted = |at: &usize| {
            let mut probe = self.list[*at].unit.clone();
            if let Some(weight) = &self.weight {
                kernel::scale_by(&mut probe, weight);
            }
            probe
        };
        let probes: Vec<Vec<f64>> = match self.weight {
            Some(_) => among.iter().map(weighted).collect(),
            None => Vec::new(),
        };
        let views: Vec<&[f64]> = match self.weight {
            Some(_) => probes.iter().map(Vec::as_slice).collect(),
            None => among.iter().map(|at| self.list[*at].unit.as_slice()).collect(),
        };
        let mut out = vec![0.0; among.len()];
        cross(&[candidate.kept.column()], &views, &mut out);
        let length = (self.total * candidate.kept.stats.variance).sqrt();
        let pairs = among.iter().zip(&out).map(|(at, product)| (*at, (product / length).abs()));
        pairs.reduce(|best, next| if next.1 > best.1 + TIE { next } else { best })
    }

    pub(super) fn bytes(&self) -> u64 {
        let one = |member: &Member| member.chosen.bytes() + 8 * member.unit.len() as u64;
        self.list.iter().map(one).sum()
    }

    /// Checks what was read back.
    pub(super) fn ensure(list: &[Member], rows: usize) -> Result<()> {
        let whole = |member: &Member| {
            let finite = member.unit.iter().all(|x| x.is_finite());
            member.chosen.sound() && member.unit.len() == rows && finite
        };
        ensure(list.iter().all(whole), "a member has other rows or no numbers")
    }
}

/// The feature generating machine of one class against the rest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Machine {
    /// The class of each row as -1 or 1.
    #[serde(skip)]
    sign: Vec<f64>,
    alpha: Vec<f64>,
    // Whether alpha is that of the sets.
    solved: bool,
    sets: Vec<Vec<usize>>,
    /// What this round has taken so far.
    pub(super) round: Vec<usize>,
    pub(super) followers: Vec<Follower>,
    /// The most violated features of this scan.
    pub(super) pool: Pool<()>,
    // Up to here this round has decided in an earlier scan.
    from: Option<Rank>,
    // Every feature that may still be taken, where all are held.
    held: Option<Vec<Candidate<()>>>,
    /// Whether the round has all that it takes.
    pub(super) full: bool,
    /// Whether there is nothing left to take.
    pub(super) ended: bool,
}

impl Machine {
    pub(super) fn new(sign: Vec<f64>, members: &Members) -> Self {
        let one = |i: usize| members.weight.as_ref().map_or(1.0, |weight| weight[i]);
        let alpha = (0..sign.len()).map(|i| one(i) / members.total).collect();
        Self {
            sign,
            alpha,
            solved: false,
            sets: Vec::new(),
            round: Vec::new(),
            followers: Vec::new(),
            pool: Pool::default(),
            from: None,
            held: None,
            full: false,
            ended: false,
        }
    }

    /// Whether it looks at features in this scan.
    pub(super) fn looks(&self) -> bool {
        !self.ended && !self.full && self.held.is_none()
    }

    /// Whether it has every feature that it may still take.
    pub(super) fn whole(&self) -> bool {
        self.held.is_some()
    }

    /// A vector whose product with a column over its length is the violation; it sums to 0.
    pub(super) fn probe(&self, members: &Members) -> Vec<f64> {
        let mut probe: Vec<f64> = self.alpha.iter().zip(&self.sign).map(|(a, y)| a * y).collect();
        let share = kernel::sum(&probe) / members.total;
        match &members.weight {
            Some(weight) => probe.iter_mut().zip(weight).for_each(|(x, v)| *x -= share * v),
            None => probe.iter_mut().for_each(|x| *x -= share),
        }
        probe
    }

    /// Whether a feature at this place may be taken in this scan.
    pub(super) fn open(&self, rank: Rank, members: &Members) -> bool {
        self.from.is_none_or(|from| from <= rank)
            && !self.has(rank.id(), members)
            && self.follows(rank.id()).is_none()
    }

    fn has(&self, id: FeatureId, members: &Members) -> bool {
        let mut own = self.sets.iter().flatten().chain(&self.round);
        own.any(|at| members.list[*at].chosen.id() == id)
    }

    /// The member that a feature is affiliated to.
    pub(super) fn follows(&self, id: FeatureId) -> Option<usize> {
        self.followers.iter().find(|one| one.chosen.id() == id).map(|one| one.of)
    }

    /// Goes down the candidates of this scan and takes what the round still needs.
    pub(super) fn walk(&mut self, members: &mut Members, params: &Params) {
        let (floor, from) = (self.pool.floor(), self.from);
        let candidates: Vec<Candidate<()>> = match self.held.take() {
            Some(held) => held,
            None => self.pool.drain().collect(),
        };
        let (pinned, free): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|candidate| candidate.kept.pinned);
        if !pinned.is_empty() {
            let mut set: Vec<_> = pinned.iter().map(|one| members.add(one)).collect();
            set.sort_by_key(|at| members.list[*at].chosen.id());
            self.sets.push(set);
        }
        let mut rest = Vec::new();
        let new = from.is_none() && self.round.is_empty();
        // Pinned features can leave no room for another: those come in the next scan.
        let nothing = match free.first() {
            Some(first) => first.strength <= self.least(members),
            None => floor.is_none(),
        };
        if new && nothing {
            (self.full, self.ended) = (true, true);
            return;
        }
        for candidate in free {
            if self.round.len() == params.per_round || level(candidate.strength) <= 0.0 {
                rest.push(candidate);
                continue;
            }
            let own: Vec<usize> = self.sets.iter().flatten().chain(&self.round).copied().collect();
            match members.nearest(&candidate, &own) {
                Some((of, correlation)) if correlation > params.rho + TIE => {
                    let chosen = Chosen::of(&candidate, candidate.strength);
                    self.followers.push(Follower { of, chosen, correlation });
                }
                _ => self.round.push(members.add(&candidate)),
            }
        }
        self.full = floor.is_none() || self.round.len() == params.per_round;
        self.from = if self.full { None } else { floor };
        // The pool had every feature that is open, so no scan is needed any more.
        if floor.is_none() && from.is_none() {
            self.held = Some(rest);
        }
    }

    /// What a violation must exceed: by a share, that of every member. Nothing before the first
    /// round, as alpha is then not that of any set.
    fn least(&self, members: &Members) -> f64 {
        if !self.solved {
            return 0.0;
        }
        let signed: Vec<f64> = self.alpha.iter().zip(&self.sign).map(|(a, y)| a * y).collect();
        let violation = |at: &usize| kernel::dot(&members.list[*at].unit, &signed).abs();
        (1.0 + CLEARLY) * self.sets.iter().flatten().map(violation).fold(0.0, f64::max)
    }

    /// Ends a round: a set more, and the alpha of all of them.
    pub(super) fn finish(&mut self, members: &Members, params: &Params) {
        let round = std::mem::take(&mut self.round);
        self.full = false;
        if round.is_empty() {
            self.ended = true;
            return;
        }
        self.sets.push(round);
        let places = self.sets.iter().flatten();
        let columns: Vec<&[f64]> = places.map(|at| members.list[*at].unit.as_slice()).collect();
        let sizes: Vec<usize> = self.sets.iter().map(Vec::len).collect();
        let weight = members.weight.as_deref();
        let rows = Rows { sign: &self.sign, weight, cost: params.cost };
        self.alpha = model::solve(&rows, &columns, &sizes);
        self.solved = true;
        if let Some(mut held) = self.held.take() {
            let probe = self.probe(members);
            let columns: Vec<Column<'_>> = held.iter().map(|one| one.kept.column()).collect();
            let mut out = vec![0.0; columns.len()];
            cross(&columns, &[&probe], &mut out);
            for (candidate, product) in held.iter_mut().zip(out) {
                candidate.strength = violation(product, &candidate.kept.stats, members.total);
            }
            held.sort_by_key(|candidate| Rank::new(candidate.strength, candidate.id()));
            self.held = Some(held);
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let held = self.held.iter().flatten().map(Candidate::bytes).sum::<u64>();
        let followers = self.followers.iter().map(|one| one.chosen.bytes() + 16).sum::<u64>();
        self.pool.bytes() + held + followers + 16 * self.alpha.len() as u64
    }

    /// What was read back, completed by the machine of this run.
    pub(super) fn restored(self, start: &Self, members: usize) -> Result<Self> {
        let rows = start.sign.len();
        let places = self.sets.iter().flatten().chain(&self.round);
        let of = self.followers.iter().map(|one| &one.of);
        let fits = places.chain(of).all(|at| *at < members);
        ensure(fits, "a set has a feature that is no member")?;
        let alpha =
            self.alpha.len() == rows && self.alpha.iter().all(|a| (0.0..=1.0 + 1e-9).contains(a));
        ensure(alpha, "the rows of a machine have no shares")?;
        let sound_one = |one: &Follower| one.chosen.sound() && one.correlation.is_finite();
        ensure(self.followers.iter().all(sound_one), "an affiliated feature has no number")?;
        let mut facts = |_: Column<'_>, _: &_| Ok(());
        self.held.iter().flatten().try_for_each(|one| sound(one, rows, &mut facts))?;
        let pool = self.pool.restored(rows, &mut facts)?;
        Ok(Self { sign: start.sign.clone(), pool, ..self })
    }
}

/// `|sum_i alpha_i y_i x_i|` of a unit column, from its product with the probe.
pub(super) fn violation(product: f64, stats: &ColumnStats, total: f64) -> f64 {
    (product / (total * stats.variance).sqrt()).abs()
}
