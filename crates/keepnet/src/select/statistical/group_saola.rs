//! Group-SAOLA: pairwise redundancy within and between groups of features.
//!
//! ```text
//! no member relevant                                   -> drop the group
//! each member j in order, against every other member Y still there:
//!     some Y: s_Y > s_j and t >= s_j                   -> remove j, next j
//!     otherwise remove every Y with s_j > s_Y and t >= s_Y
//! each kept group m in order, each f in it, each i still in the newcomer:
//!     s_i > s_f and t >= s_f                           -> remove f
//!     s_f > s_i and t >= s_i                           -> remove i
//!     an emptied kept group disappears; an emptied newcomer stops
//! ```
//!
//! Yu, Wu, Ding, Pei, ACM TKDD 11 (2016), Algorithm 2; `t >` under Fisher's Z. A removed feature
//! removes no others. Irrelevant members of a relevant group are dropped first.
//! `rules=lofs` treats the group as a stream of its own. It gives ties of scores inside a group to
//! the older member and between groups to the newer. It compares with copies of the lists, so that
//! a removed feature still removes others.
//!
//! Cost: one pass per member, the square of a group's relevant members, and a pair for each
//! surviving member with each kept feature. Memory: the kept columns and one group.

use super::kept_list::KeptList;
use super::rules::{self, PairSettings, Pairwise, Rules};
use crate::FeatureId;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::column::{Column, ColumnData};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::lofs::sums_to_zero;
use crate::measure::{ALPHA, BINS, DELTA, Evidence, Measure, Side, WithMeasure};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::{
    ColumnSelector, GroupSelector, Memory, Outcome, Reason, Status, Verdict, offer_groups,
};
use crate::selection::{Selection, Value};

/// Group-SAOLA with one measure.
pub struct GroupSaola<M: Measure> {
    rules: Rules,
    settings: Vec<(&'static str, Value)>,
    measure: M,
    rule: Pairwise,
    list: KeptList<M::Facts>,
    groups_seen: u64,
    evictions: u64,
    ended: bool,
}

/// A relevant member of the group that has arrived.
struct Member<'a, F> {
    place: usize,
    feature: &'a Feature<'a>,
    data: Option<ColumnData>,
    facts: F,
    evidence: Evidence,
    removed_by: Option<FeatureId>,
}

impl<F> Member<'_, F> {
    fn side(&self) -> Side<'_, F> {
        Side { x: self.column(), facts: &self.facts }
    }

    fn column(&self) -> Column<'_> {
        self.data.as_ref().map_or_else(|| self.feature.column(), ColumnData::view)
    }

    fn score(&self) -> f64 {
        self.evidence.strength
    }

    fn stays(&self) -> bool {
        self.removed_by.is_none()
    }

    /// Marks as removed by `by`, unless it is pinned.
    fn remove(&mut self, by: FeatureId) {
        if !self.feature.pinned {
            self.removed_by.get_or_insert(by);
        }
    }
}

impl<M: Measure> GroupSaola<M> {
    /// An empty selection for `rows` rows; the measure holds the target.
    #[must_use]
    pub fn new(rules: Rules, measure: M, rows: usize, budget: Budget) -> Self {
        let list = KeptList::new(rows, budget);
        let (settings, rule) = (Vec::new(), Pairwise::new(rules, false, &measure));
        Self { rules, settings, measure, rule, list, groups_seen: 0, evictions: 0, ended: false }
    }

    /// The relevant members.
    fn relevant<'a>(
        &mut self,
        members: &'a [Feature<'a>],
        out: &mut [Outcome],
    ) -> Result<Vec<Member<'a, M::Facts>>> {
        let mut relevant = Vec::new();
        for (place, feature) in members.iter().enumerate() {
            if self.rules == Rules::Lofs && sums_to_zero(feature.column()) && !feature.pinned {
                continue;
            }
            let named = |error: Error| error.at(format!("feature {:?}", feature.name));
            let data = self.measure.code(feature.column()).map_err(named)?;
            let x = data.as_ref().map_or_else(|| feature.column(), ColumnData::view);
            let (facts, evidence) = self.measure.weigh(x, &feature.stats).map_err(named)?;
            out[place].marginal = Some(evidence.strength);
            if evidence.relevant || feature.pinned {
                relevant.push(Member { place, feature, data, facts, evidence, removed_by: None });
            }
        }
        Ok(relevant)
    }

    /// Whether the strength between the column loaded last and another reaches the weaker score.
    fn redundant(&mut self, a: Side<'_, M::Facts>, b: Side<'_, M::Facts>, bound: f64) -> bool {
        if !self.rule.reaches(self.measure.upper_bound(a.facts, b.facts), bound) {
            return false;
        }
        let t = self.measure.strength(a, b);
        self.rule.reaches(t, bound)
    }

    fn within(&mut self, members: &mut [Member<'_, M::Facts>]) {
        for j in 0..members.len() {
            if !members[j].stays() {
                continue;
            }
            let score = members[j].score();
            let mut weaker = Vec::new();
            let mut by = None;
            self.measure.load(members[j].side());
            for y in 0..members.len() {
                let other = members[y].score();
                if y == j || !members[y].stays() || !self.rule.open(score, other) {
                    continue;
                }
                if self.redundant(members[j].side(), members[y].side(), score.min(other)) {
                    if self.rule.above(other, score) && !members[j].feature.pinned {
                        by = Some(members[y].feature.id);
                        break;
                    }
                    if self.rule.above(score, other) {
                        weaker.push(y);
                    }
                }
            }
            match by {
                Some(by) => members[j].remove(by),
                None => {
                    let by = members[j].feature.id;
                    weaker.into_iter().for_each(|y| members[y].remove(by));
                }
            }
        }
    }

    /// The library's rule within a group: compares each member with the earlier ones.
    fn within_lofs(&mut self, members: &mut [Member<'_, M::Facts>]) {
        for i in 0..members.len() {
            self.measure.load(members[i].side());
            for f in 0..i {
                if !members[f].stays() {
                    continue;
                }
                let (si, sf) = (members[i].score(), members[f].score());
                if !self.redundant(members[i].side(), members[f].side(), si.min(sf)) {
                    continue;
                }
                if sf >= si {
                    let by = members[f].feature.id;
                    members[i].remove(by);
                    break;
                }
                let by = members[i].feature.id;
                members[f].remove(by);
            }
        }
    }

    /// Compares with the kept groups. Gives, for each kept feature, the member that removed it.
    fn between(&mut self, members: &mut [Member<'_, M::Facts>]) -> Vec<Option<usize>> {
        let mut removed_by: Vec<Option<usize>> = vec![None; self.list.len()];
        for (f, removed_by) in removed_by.iter_mut().enumerate() {
            if members.iter().all(|m| !m.stays()) {
                break;
            }
            let sf = self.list.record(f).score;
            self.measure.load(self.list.side(f));
            for (i, member) in members.iter_mut().enumerate().filter(|(_, m)| m.stays()) {
                let si = member.score();
                if !self.rule.open(si, sf) || !self.redundant_with_kept(member, f, si.min(sf)) {
                    continue;
                }
                if self.rule.above(si, sf) && !self.list.kept(f).pinned {
                    *removed_by = Some(i);
                    break;
                }
                if self.rule.above(sf, si) {
                    member.remove(self.list.id(f));
                }
            }
        }
        removed_by
    }

    /// The library's comparison, on copies of the lists: a removed feature is still compared.
    fn between_lofs(&mut self, members: &mut [Member<'_, M::Facts>]) -> Vec<Option<usize>> {
        let mut removed_by: Vec<Option<usize>> = vec![None; self.list.len()];
        let first: Vec<usize> = (0..members.len()).filter(|i| members[*i].stays()).collect();
        let groups: Vec<Option<u32>> =
            (0..self.list.len()).map(|f| self.list.kept(f).group).collect();
        let mut start = 0;
        for group in groups.chunk_by(|a, b| a == b) {
            for i in &first {
                for (f, removed_by) in
                    removed_by.iter_mut().enumerate().skip(start).take(group.len())
                {
                    self.measure.load(self.list.side(f));
                    let (si, sf) = (members[*i].score(), self.list.record(f).score);
                    if !self.redundant_with_kept(&members[*i], f, si.min(sf)) {
                        continue;
                    }
                    if sf > si {
                        members[*i].remove(self.list.id(f));
                        break;
                    }
                    if !self.list.kept(f).pinned {
                        removed_by.get_or_insert(*i);
                    }
                }
            }
            start += group.len();
        }
        removed_by
    }

    /// Whether a member and a kept feature are redundant. The kept feature was loaded.
    fn redundant_with_kept(&mut self, member: &Member<'_, M::Facts>, f: usize, bound: f64) -> bool {
        let Self { list, measure, rule, .. } = self;
        let kept = list.side(f);
        if !rule.reaches(measure.upper_bound(kept.facts, &member.facts), bound) {
            return false;
        }
        rule.reaches(measure.strength(kept, member.side()), bound)
    }

    /// Adds the surviving members to the list and removes the redundant kept features.
    fn commit(
        &mut self,
        members: Vec<Member<'_, M::Facts>>,
        removed_by: &[Option<usize>],
        out: &mut [Outcome],
    ) -> Result<()> {
        let places: Vec<usize> = members.iter().map(|m| m.place).collect();
        let before = self.list.clone();
        let removed: Vec<usize> =
            (0..removed_by.len()).filter(|f| removed_by[*f].is_some()).collect();
        for f in removed.iter().rev() {
            let id = self.list.remove(*f);
            let by = removed_by[*f].expect("filtered");
            out[places[by]].evicted.push(id);
            self.evictions += 1;
        }
        for member in members {
            let Member { place, feature, data, facts, evidence, removed_by } = member;
            out[place].score = Some(evidence.strength);
            out[place].verdict = match removed_by {
                Some(by) => Verdict::Dropped(Reason::Redundant { by: Some(by) }),
                None => {
                    let added = self.list.exchange(&[], feature, data, facts, evidence);
                    if let Err(error) = added {
                        self.list = before;
                        self.evictions -= removed.len() as u64;
                        return Err(error);
                    }
                    Verdict::Kept
                }
            };
        }
        Ok(())
    }
}

impl<M: Measure> GroupSelector for GroupSaola<M> {
    fn offer_group(&mut self, members: &[Feature<'_>], out: &mut Vec<Outcome>) -> Result<()> {
        let start = out.len();
        out.extend(members.iter().map(|_| Outcome::dropped(Reason::Weak)));
        let out = &mut out[start..];
        if self.ended {
            let held = members.iter().zip(out).filter(|(m, _)| self.list.contains(m.id));
            held.for_each(|(_, outcome)| outcome.verdict = Verdict::Held);
            return Ok(());
        }
        let mut relevant = self.relevant(members, out)?;
        let removed_by = if relevant.is_empty() {
            Vec::new()
        } else if self.rules == Rules::Lofs {
            self.within_lofs(&mut relevant);
            self.between_lofs(&mut relevant)
        } else {
            self.within(&mut relevant);
            self.between(&mut relevant)
        };
        self.commit(relevant, &removed_by, out)?;
        self.groups_seen += 1;
        Ok(())
    }
}

impl<M: Measure> ColumnSelector for GroupSaola<M> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        offer_groups(self, block, out)
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
            method: "group-saola",
            params: self.settings.clone(),
            score_kind: M::KIND.info().score,
            p_value_kind: rules::p_value_kind::<M>(),
            substitutions: self.evictions,
            metrics: group_metrics(&self.list, self.groups_seen),
            ..Selection::default()
        };
        self.list.add_to(&mut selection);
        Ok(selection)
    }

    fn whole_groups(&self) -> bool {
        true
    }

    fn centres(&self) -> bool {
        self.measure.centres()
    }

    fn compacts(&self) -> bool {
        self.rules == Rules::Paper
    }

    fn status(&self) -> Status {
        let (kept, bytes) = (self.list.len(), self.list.bytes());
        Status { kept, loss: None, substitutions: self.evictions, bytes }
    }

    /// The kept columns, and as many again while a group is decided on, with the levels of each;
    /// the target, coded or centred, and what a pair is computed in.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let memory = self.list.footprint(None, 1, 6).bytes(column, features);
        Memory { each: memory.each.saturating_add(column), ..memory }
    }
}

/// How many groups arrived, and how many are kept.
pub(crate) fn group_metrics<F>(list: &KeptList<F>, seen: u64) -> Vec<(&'static str, Value)>
where
    F: Clone + serde::Serialize + serde::de::DeserializeOwned,
{
    let groups: std::collections::HashSet<_> =
        (0..list.len()).map(|at| list.kept(at).group).collect();
    vec![("groups_seen", seen.into()), ("groups_kept", groups.len().into())]
}

impl<M: Measure> Snapshot for GroupSaola<M> {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&(self.list.parts(), self.groups_seen, self.evictions, self.ended))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (parts, seen, evictions, ended) = snapshot::decode(state)?;
        let measure = &mut self.measure;
        self.list.restore(parts, |x, stats| measure.weigh(x, stats).map(|(facts, _)| facts))?;
        (self.groups_seen, self.evictions, self.ended) = (seen, evictions, ended);
        Ok(())
    }
}

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    rules::no_model(problem, "group-saola")?;
    if let Some(k) = spec.k {
        return Err(Error::param("k", k, "no `k`: group-saola decides how many groups stay"));
    }
    let pairs = PairSettings::parse(spec)?;
    let settings = pairs.shown(Vec::new());
    pairs.build(problem, Making { rules: pairs.rules, rows: problem.n(), budget, settings })
}

/// What `group-saola` is made from, except its measure.
struct Making {
    rules: Rules,
    rows: usize,
    budget: Budget,
    settings: Vec<(&'static str, Value)>,
}

impl WithMeasure for Making {
    type Made = Box<dyn ColumnSelector>;

    fn with<M: Measure + 'static>(self, measure: M) -> Result<Self::Made> {
        let method = GroupSaola::new(self.rules, measure, self.rows, self.budget);
        Ok(Box::new(GroupSaola { settings: self.settings, ..method }))
    }
}

/// The registry's entry.
pub const GROUP_SAOLA: MethodInfo = MethodInfo {
    name: "group-saola",
    stream: Stream::Groups,
    summary: "saola within and between groups of features",
    tasks: "classification; regression with fisher-z",
    cost: "one pass a feature, a pair a relevant member and kept feature",
    memory: "the kept columns as stored, and one group",
    paper: "Yu, Wu, Ding, Pei, ACM TKDD 11 (2016), Algorithm 2",
    scans: 1,
    needs_k: false,
    has_loss: false,
    settings: &[rules::MEASURE, rules::RULES, DELTA, ALPHA, BINS],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
