//! The search of one target: its members, and the weakest link of each live feature.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::data::block::FeatureId;
use crate::measure::newcomer::Link;
use crate::select::filters::markov::Order;
use crate::select::filters::pool::Candidate;
use crate::select::filters::rank::{Rank, evidence};

/// A feature, or the problem's target.
pub(crate) type Who = Option<FeatureId>;

/// The search of one target.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "F: Clone + Serialize + serde::de::DeserializeOwned")]
pub(super) struct Lane<F> {
    pub(super) target: Who,
    /// In order of entry, pinned ones first.
    pub(super) members: Vec<Who>,
    /// How many members there were when each scan of the lane began.
    pub(super) steps: Vec<usize>,
    pub(super) live: FxHashMap<FeatureId, Link>,
    /// The weakest link of the problem's target while it is a live candidate.
    pub(super) class: Option<Link>,
    pub(super) best: Option<(Rank, Candidate<F>)>,
    pub(super) growing: bool,
    /// Members that the backward steps removed, with the set that did it.
    pub(super) removed: Vec<(Who, Vec<Who>)>,
}

impl<F> Lane<F> {
    pub(super) fn new(target: Who) -> Self {
        // Every link is stronger than none.
        let class = target.map(|_| Link { ln_p: f64::NEG_INFINITY, statistic: f64::INFINITY });
        Self {
            target,
            members: Vec::new(),
            steps: vec![0],
            live: FxHashMap::default(),
            class,
            best: None,
            growing: true,
            removed: Vec::new(),
        }
    }

    /// The sets of a scan: those with a member that was new then, by size; first the empty one.
    pub(super) fn sets(&self, scan: usize, most: usize) -> Vec<Vec<Who>> {
        let Some(before) = scan.checked_sub(1) else { return vec![Vec::new()] };
        let members = &self.members[..self.steps[scan]];
        subsets(members.len(), most)
            .filter(|set| set.iter().any(|at| *at >= self.steps[before]))
            .map(|set| set.into_iter().map(|at| members[at]).collect())
            .collect()
    }

    /// Whether a feature is still a candidate.
    pub(super) fn is_live(&self, id: FeatureId) -> bool {
        let free = self.target != Some(id) && !self.members.contains(&Some(id));
        self.growing && free && (self.steps.len() == 1 || self.live.contains_key(&id))
    }
}

/// Subsets of `0..n` with at most `most` members, by size and then in lexicographic order.
pub(super) fn subsets(n: usize, most: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..=most.min(n)).flat_map(move |size| {
        let first: Vec<usize> = (0..size).collect();
        std::iter::successors(Some(first), move |at| {
            let raise = (0..size).rev().find(|i| at[*i] < n - size + i)?;
            let mut next = at.clone();
            next[raise] += 1;
            for i in raise + 1..size {
                next[i] = next[i - 1] + 1;
            }
            Some(next)
        })
    })
}

/// The weaker of two links.
pub(super) fn weaker(order: Order, a: Link, b: Link) -> Link {
    if order == Order::Statistic {
        return Link { ln_p: a.ln_p.max(b.ln_p), statistic: a.statistic.min(b.statistic) };
    }
    let key = |link: Link| (evidence(link.ln_p), -evidence(link.statistic));
    let ((pa, sa), (pb, sb)) = (key(a), key(b));
    if pb.total_cmp(&pa).then(sb.total_cmp(&sa)).is_gt() { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_by_size_and_hold_what_is_new() {
        let all: Vec<Vec<usize>> = subsets(3, 2).collect();
        assert_eq!(all, [vec![], vec![0], vec![1], vec![2], vec![0, 1], vec![0, 2], vec![1, 2]]);
        assert_eq!(subsets(2, 5).count(), 4);
        let who = |at: u64| Some(FeatureId::new(at));
        let lane: Lane<u8> =
            Lane { members: vec![who(5), who(2)], steps: vec![0, 1, 2], ..Lane::new(None) };
        assert_eq!(lane.sets(0, 3), [Vec::<Who>::new()]);
        assert_eq!(lane.sets(1, 3), [vec![who(5)]]);
        assert_eq!(lane.sets(2, 3), [vec![who(2)], vec![who(5), who(2)]]);
        assert_eq!(lane.sets(2, 1), [vec![who(2)]]);
    }
}
