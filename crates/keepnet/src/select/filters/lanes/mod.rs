//! Max-min searches for the parents and children of several targets, in the same scans.
//!
//! A lane is the search of one target: the problem's, or a held feature. Each scan every lane tests
//! its live features given the sets that are new, and at its end takes the one whose weakest link is
//! the strongest. All lanes share the columns that are held. In the lane of a feature the problem's
//! target is a candidate like any other, and the first.
//!
//! What is kept of a lane is its members and the weakest link of each live feature: whoever is not
//! among them after the first scan is dead. Which set made a feature dead is found again by going
//! through the sets in their order, where it is asked for.

mod lane;
mod seen;
mod state;

use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use self::lane::Who;
use self::lane::{Lane, subsets, weaker};
use self::seen::{Fate, Seen};
use super::hold::{Hold, SLOT};
use super::markov::{Asked, Held};
use super::pool::{Candidate, Offered, Pool};
use super::rank::Rank;
use crate::data::block::FeatureId;
use crate::data::check::CheckedBlock;
use crate::data::column::ColumnData;
use crate::error::{Error, Result};
use crate::measure::newcomer::{Link, Newcomer, Node};
use crate::run::budget::Budget;
use crate::select::{Memory, Outcome, Reason, Verdict};
use crate::selection::{Selection, Value};

/// Bytes of a live feature in a lane.
const LIVE: u64 = 80;

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most members of a set.
    pub(crate) condition: usize,
    /// Most members of a lane.
    pub(crate) members: usize,
    /// Whether a test that cannot be made counts as independence.
    pub(crate) independent: bool,
}

/// The searches, with the columns that they share.
pub(crate) struct Lanes<T: Newcomer> {
    asked: Asked,
    limits: Limits,
    rows: usize,
    budget: Budget,
    pub(crate) held: Held<T>,
    pool: Pool<T::Facts>,
    lanes: Vec<Lane<T::Facts>>,
    pins: bool,
    tests: u64,
    few: u64,
}

impl<T: Newcomer> Lanes<T> {
    /// The search of the problem's target.
    pub(crate) fn new(asked: Asked, limits: Limits, tests: T, rows: usize, budget: Budget) -> Self {
        let (held, pool, lanes) = (Held::new(tests), Pool::default(), vec![Lane::new(None)]);
        Self { asked, limits, rows, budget, held, pool, lanes, pins: false, tests: 0, few: 0 }
    }

    pub(crate) fn few(&self) -> u64 {
        self.few
    }

    pub(crate) fn independent(&self) -> bool {
        self.limits.independent
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        let lane = |lane: &Lane<T::Facts>| {
            let best = lane.best.as_ref().map_or(0, |(_, best)| best.bytes());
            best + LIVE * lane.live.len() as u64
        };
        self.held.bytes() + self.pool.bytes() + self.lanes.iter().map(lane).sum::<u64>()
    }

    /// What a method that keeps at most `most` columns will hold.
    pub(crate) fn memory(
        &self,
        (column, features): (u64, Option<u64>),
        most: Option<usize>,
    ) -> Memory {
        let planned = self.asked.memory(&self.budget, self.rows, (column, features), most);
        let live = LIVE.saturating_mul(features.unwrap_or(0));
        // The best of a scan is held beside the members.
        let best = column.saturating_add(SLOT);
        Memory { bytes: planned.bytes.saturating_add(live).saturating_add(best), ..planned }
    }

    /// The node of a feature or the target; held ones are members or targets of lanes.
    pub(crate) fn node(&self, who: Who) -> Node {
        who.and_then(|id| self.held.place(id)).map_or(Node::Target, Node::Held)
    }

    fn nodes(&self, set: &[Who]) -> Vec<Node> {
        set.iter().map(|who| self.node(*who)).collect()
    }

    /// Tests every feature of a block in every lane, and holds what there is room for; with `dead`
    /// dead features too.
    pub(crate) fn offer_block(
        &mut self,
        block: &CheckedBlock<'_>,
        dead: bool,
        out: &mut Vec<Outcome>,
    ) -> Result<()> {
        let growing = self.lanes.iter().any(|lane| lane.growing);
        let mut seen = Vec::with_capacity(block.features.len());
        for feature in &block.features {
            let named = |error: Error| error.at(format!("feature {:?}", feature.name));
            if !growing {
                continue;
            }
            let data = self.held.tests.code(feature.column()).map_err(named)?;
            let x = data.as_ref().map_or_else(|| feature.column(), ColumnData::view);
            let facts = self.held.tests.facts(x, &feature.stats).map_err(named)?;
            let fresh = Seen::Fresh { feature, data, facts };
            if feature.pinned && self.held.place(feature.id).is_none() {
                let pinned = fresh.candidate(0.0);
                self.budget.check(self.held.bytes() + pinned.bytes(), "the held columns")?;
                self.pins = true;
                self.held.push(pinned);
            }
            seen.push(fresh);
        }
        // Whatever does not fit is refused before anything is counted.
        let others = self.bytes() - self.pool.bytes();
        let room = self.asked.hold.room(&self.budget, others);
        let all = self.asked.hold == Hold::All;
        for one in &seen {
            match all {
                true => {
                    let rank = Rank::new(1.0, one.id());
                    self.pool.offer(rank, room, false, || one.candidate(0.0))?;
                }
                false => room.check(0, one.bytes())?,
            }
        }
        let fates = self.pass(&seen);
        for (at, feature) in block.features.iter().enumerate() {
            let member = self.held.place(feature.id).is_some();
            let Some(fate) = fates.get(at) else {
                let dropped = Verdict::Dropped(Reason::Weak);
                out.push(Outcome::new(if member { Verdict::Held } else { dropped }));
                continue;
            };
            let mut evicted = Vec::new();
            let mut reserved = member
                || self.lanes.iter().any(|lane| {
                    lane.best.as_ref().is_some_and(|(rank, _)| rank.id() == feature.id)
                });
            reserved |= all;
            if !all && (fate.live || dead) {
                let rank = Rank::new(f64::from(u8::from(fate.live)), feature.id);
                let make = || seen[at].candidate(0.0);
                if let Offered::Held(gone) = self.pool.offer(rank, room, false, make)? {
                    reserved = true;
                    evicted = gone;
                }
            }
            let verdict = match (reserved, fate.by) {
                (true, _) if member => Verdict::Held,
                (true, _) => Verdict::Reserved,
                (false, Some(by)) => Verdict::Dropped(Reason::Redundant { by: Some(by) }),
                (false, None) => Verdict::Dropped(Reason::Weak),
            };
            let (marginal, score) = (fate.statistic, fate.statistic);
            out.push(Outcome { evicted, marginal, score, ..Outcome::new(verdict) });
        }
        Ok(())
    }

    /// Tests some features in every lane where they are live.
    fn pass(&mut self, seen: &[Seen<'_, T::Facts>]) -> Vec<Fate> {
        let mut fates = vec![Fate { live: false, statistic: None, by: None }; seen.len()];
        let mut lanes = std::mem::take(&mut self.lanes);
        let met: Vec<_> = seen.iter().map(|one| self.meet(&lanes, one)).collect();
        for lane in lanes.iter_mut().filter(|lane| lane.growing) {
            let mut links: Vec<(usize, Link)> = Vec::new();
            let start = Link { ln_p: f64::NEG_INFINITY, statistic: f64::INFINITY };
            for (at, one) in seen.iter().enumerate() {
                if lane.is_live(one.id()) {
                    links.push((at, lane.live.get(&one.id()).copied().unwrap_or(start)));
                }
            }
            for set in lane.sets(lane.steps.len() - 1, self.limits.condition) {
                if links.is_empty() {
                    break;
                }
                let (target, nodes) = (self.node(lane.target), self.nodes(&set));
                self.held.condition(target, &nodes);
                links.retain_mut(|(at, weakest)| {
                    let Some(met) = &met[*at] else { return false };
                    let link = self.held.tests.test(seen[*at].side(), met);
                    fates[*at].statistic = link.map(|link| link.statistic);
                    let survives = self.judge(link, set.is_empty(), weakest);
                    if !survives {
                        fates[*at].by = set.last().copied().flatten();
                        lane.live.remove(&seen[*at].id());
                    }
                    survives
                });
            }
            for (at, weakest) in links {
                let (id, one) = (seen[at].id(), &seen[at]);
                fates[at].live = true;
                lane.live.insert(id, weakest);
                let rank = self.asked.order.rank(Some(weakest), 1.0, id);
                if lane.best.as_ref().is_none_or(|(best, _)| rank < *best) {
                    lane.best = Some((rank, one.candidate(weakest.statistic)));
                }
            }
        }
        self.lanes = lanes;
        fates
    }

    /// What all tests of a feature share, where it is live in some lane.
    fn meet(&mut self, lanes: &[Lane<T::Facts>], one: &Seen<'_, T::Facts>) -> Option<T::Met> {
        let live = || lanes.iter().filter(|lane| lane.is_live(one.id()));
        live().next()?;
        let mut wanted = vec![false; self.held.len()];
        for lane in live() {
            for who in lane.members.iter().chain([&lane.target]) {
                if let Node::Held(at) = self.node(*who) {
                    wanted[at] = true;
                }
            }
        }
        Some(self.held.meet(one.side(), |at| wanted[at]))
    }

    /// Counts a test, and says whether the feature survives it; its weakest link is brought up to
    /// date. `bare`: given nothing.
    fn judge(&mut self, link: Option<Link>, bare: bool, weakest: &mut Link) -> bool {
        self.tests += 1;
        self.few += u64::from(link.is_none());
        let link = match link {
            Some(link) => link,
            None if bare || self.limits.independent => return false,
            None => return true,
        };
        *weakest = weaker(self.asked.order, *weakest, link);
        link.holds(self.asked.alpha)
    }

    /// Ends a scan, and goes on without one as long as every live feature is held; `true` where
    /// every lane has ended.
    pub(crate) fn advance(&mut self) -> bool {
        loop {
            if std::mem::take(&mut self.pins) {
                self.held.sort_pins();
            }
            (0..self.lanes.len()).for_each(|at| self.step(at));
            if !self.lanes.iter().any(|lane| lane.growing) {
                return true;
            }
            let live = Rank::new(0.5, FeatureId::new(0));
            if self.pool.floor().is_some_and(|floor| floor < live) {
                self.pool = Pool::default();
                return false;
            }
            self.pass_over_held();
        }
    }

    /// Makes the first scan of new lanes without reading, where every feature is held; whether it
    /// was made.
    pub(crate) fn again(&mut self) -> bool {
        let every = self.pool.floor().is_none();
        match every {
            true => self.pass_over_held(),
            false => self.pool = Pool::default(),
        }
        every
    }

    fn pass_over_held(&mut self) {
        let mut seen: Vec<Seen<'_, T::Facts>> = Vec::new();
        seen.extend(self.pool.iter().map(|(_, held)| Seen::Held(held.clone())));
        let pooled: FxHashSet<FeatureId> = seen.iter().map(Seen::id).collect();
        // A member of one lane is a candidate of the others.
        let members = self.held.list().iter().filter(|held| !pooled.contains(&held.id()));
        seen.extend(members.cloned().map(Seen::Held));
        self.pass(&seen);
    }

    /// Ends a scan of one lane: its next member, or its end.
    fn step(&mut self, at: usize) {
        let mut lane = std::mem::replace(&mut self.lanes[at], Lane::new(None));
        if lane.growing {
            self.test_class(&mut lane);
            if !self.grow(&mut lane) {
                lane.growing = false;
                lane.live = FxHashMap::default();
                self.shrink(&mut lane);
            }
            lane.best = None;
        }
        self.lanes[at] = lane;
    }

    /// The problem's target as a candidate.
    fn test_class(&mut self, lane: &mut Lane<T::Facts>) {
        let Some(mut weakest) = lane.class else { return };
        for set in lane.sets(lane.steps.len() - 1, self.limits.condition) {
            let link = self.test_node(None, lane.target, &set);
            if !self.judge(link, set.is_empty(), &mut weakest) {
                lane.class = None;
                return;
            }
        }
        lane.class = Some(weakest);
    }

    /// The link of two nodes given a set.
    pub(crate) fn test_node(&mut self, x: Who, target: Who, set: &[Who]) -> Option<Link> {
        let (x, target, set) = (self.node(x), self.node(target), self.nodes(set));
        self.held.condition(target, &set);
        self.held.test_node(x)
    }

    /// Adds the live candidate whose weakest link is the strongest; `false` where the lane ends.
    fn grow(&mut self, lane: &mut Lane<T::Facts>) -> bool {
        let pins = self.held.list().iter().filter(|held| held.kept.pinned);
        let pins: Vec<Who> =
            pins.map(|held| Some(held.id())).filter(|who| *who != lane.target).collect();
        let count = pins.len();
        if lane.steps.len() == 1 && count > 0 {
            lane.members = pins;
            lane.steps.push(count);
            return true;
        }
        let own = self.asked.k.filter(|_| lane.target.is_none()).unwrap_or(usize::MAX);
        let full = |lane: &Lane<T::Facts>| {
            let free = lane.members.iter().filter(|who| !pins.contains(who)).count();
            free >= own.min(self.limits.members)
        };
        if full(lane) {
            return false;
        }
        let rank = |link| self.asked.order.rank(Some(link), 1.0, FeatureId::new(0));
        let class = lane.class.map(rank);
        let best = lane.best.take();
        let first = match (&class, &best) {
            // The target comes before every feature.
            (Some(class), Some((best, _))) => class <= best,
            (class, _) => class.is_some(),
        };
        match best {
            _ if first => {
                lane.class = None;
                lane.members.push(None);
            }
            Some((_, best)) => {
                let id = best.id();
                lane.live.remove(&id);
                lane.members.push(Some(id));
                if self.held.place(id).is_none() {
                    self.held.push(best);
                }
            }
            None => return false,
        }
        if full(lane) {
            return false;
        }
        lane.steps.push(lane.members.len());
        true
    }

    /// Removes each member that some set of the others makes independent of the lane's target.
    fn shrink(&mut self, lane: &mut Lane<T::Facts>) {
        let mut left = lane.members.clone();
        for x in &lane.members {
            let place = x.and_then(|id| self.held.place(id));
            if place.is_some_and(|place| self.held.list()[place].kept.pinned) {
                continue;
            }
            let others: Vec<Who> = left.iter().copied().filter(|other| other != x).collect();
            let apart = subsets(others.len(), self.limits.condition)
                .map(|set| set.into_iter().map(|at| others[at]).collect::<Vec<Who>>())
                .find(|set| {
                    let link = self.test_node(*x, lane.target, set);
                    !self.judge(link, set.is_empty(), &mut Link::NONE.clone())
                });
            if let Some(set) = apart {
                lane.removed.push((*x, set));
                left = others;
            }
        }
    }

    /// The parents and children that a lane has found, in order of entry.
    pub(crate) fn found(&self, at: usize) -> Vec<Who> {
        let Some(lane) = self.lanes.get(at) else { return Vec::new() };
        let gone = |who: &Who| lane.removed.iter().any(|(removed, _)| removed == who);
        lane.members.iter().copied().filter(|who| !gone(who)).collect()
    }

    /// The columns of [`Lanes::found`].
    pub(crate) fn members(&self, at: usize) -> Vec<&Candidate<T::Facts>> {
        let found = self.found(at).into_iter().flatten();
        found.filter_map(|id| Some(&self.held.list()[self.held.place(id)?])).collect()
    }

    /// Begins a lane for each of these features; they are held.
    pub(crate) fn begin(&mut self, targets: &[Who]) {
        self.lanes.extend(targets.iter().map(|who| Lane::new(*who)));
    }

    /// How many lanes there are.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// The set that made a held feature independent of the target of a lane: the first in the order
    /// of the search. `None` where none did.
    pub(crate) fn separator(&mut self, at: usize, id: FeatureId) -> Option<Vec<Who>> {
        let lane = &self.lanes[at];
        if let Some((_, set)) = lane.removed.iter().find(|(who, _)| *who == Some(id)) {
            return Some(set.clone());
        }
        if lane.members.contains(&Some(id)) {
            return None;
        }
        let (target, condition) = (lane.target, self.limits.condition);
        let scans = 0..lane.steps.len();
        let sets: Vec<Vec<Who>> = scans.flat_map(|scan| lane.sets(scan, condition)).collect();
        sets.into_iter().find(|set| {
            let link = self.test_node(Some(id), target, set);
            !self.judge(link, set.is_empty(), &mut Link::NONE.clone())
        })
    }

    /// A result without its features.
    pub(crate) fn selection(
        &self,
        method: &'static str,
        settings: &[(&'static str, Value)],
    ) -> Selection {
        Selection {
            method,
            params: settings.to_vec(),
            score_kind: self.held.tests.score(),
            p_value_kind: Some("marginal"),
            metrics: vec![("tests", self.tests.into())],
            ..Selection::default()
        }
    }
}
