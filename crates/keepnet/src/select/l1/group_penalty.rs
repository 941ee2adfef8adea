//! The penalty of the sparse group lasso.
//!
//! ```text
//! l1 sum_j |w_j| + l2 sum_g sqrt(p_g) |w_g|
//! w_g = 0:              |S(slope_g)| <= l2 sqrt(p_g)        S(z) = z (1 - l1 / |z|)+, each member
//! w_g != 0, w_j = 0:    |slope_j| <= l1
//! w_j != 0:             slope_j = -l1 w_j / |w_j| - l2 sqrt(p_g) w_j / |w_g|
//! ```
//!
//! `p_g` is the number of members that are not pinned; `|w_j|` is the norm over the outputs.
//!
//! Source: Simon, Friedman, Hastie, Tibshirani, JCGS 22 (2013).

use super::block_descent::{Block, descend};
use super::penalty::Penalty;
use super::quadratic_model::QuadraticModel;
use super::{Columns, Point, norm};

/// The columns that are not pinned, by group.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    /// The group of each slot; `None` for pinned ones.
    of: Vec<Option<usize>>,
    /// Slots of each group, in the order of their features.
    pub(super) members: Vec<Vec<usize>>,
    /// `sqrt(p_g)`.
    root: Vec<f64>,
}

impl Partition {
    /// The groups of the slots, in the order of their first features.
    pub(super) fn new(columns: &Columns, slots: &[usize]) -> Self {
        let mut places = std::collections::HashMap::new();
        let mut partition =
            Self { of: vec![None; columns.kept.len()], members: Vec::new(), root: Vec::new() };
        for slot in slots.iter().filter(|slot| !columns.pinned(**slot)) {
            let next = partition.members.len();
            let group = *places.entry(columns.kept.slots()[*slot].group).or_insert(next);
            if group == next {
                partition.members.push(Vec::new());
            }
            partition.members[group].push(*slot);
            partition.of[*slot] = Some(group);
        }
        partition.root = partition.members.iter().map(|m| (m.len() as f64).sqrt()).collect();
        partition
    }

    /// The slots of a slot's group; none for pinned ones.
    pub(super) fn group(&self, slot: usize) -> &[usize] {
        self.of[slot].map_or(&[], |group| &self.members[group])
    }

    /// The least lambda at which every coefficient is 0, given the size of each slot's slope.
    pub(super) fn lambda_max(&self, sizes: &[f64], mix: f64) -> f64 {
        let one = |(members, root): (&Vec<usize>, &f64)| {
            let sizes: Vec<f64> = members.iter().map(|slot| sizes[*slot]).collect();
            let largest = sizes.iter().copied().fold(0.0, f64::max);
            let above =
                |lambda: f64| norm(&soft(&sizes, mix * lambda)) > (1.0 - mix) * lambda * root;
            // At `low` some coefficient is not 0; at `high` none is.
            let (mut low, mut high) = (0.0, largest / mix.max(1.0 - mix) * root.max(1.0));
            while above(high) {
                high *= 2.0;
            }
            loop {
                let middle = 0.5 * (low + high);
                if middle <= low || middle >= high {
                    return high;
                }
                if above(middle) { low = middle } else { high = middle }
            }
        };
        self.members.iter().zip(&self.root).map(one).fold(f64::MIN_POSITIVE, f64::max)
    }

    /// The least `l2` at which every coefficient is 0 beside `l1`.
    pub(super) fn l2_max(&self, sizes: &[f64], l1: f64) -> f64 {
        let one = |(members, root): (&Vec<usize>, &f64)| {
            let sizes: Vec<f64> = members.iter().map(|slot| sizes[*slot]).collect();
            norm(&soft(&sizes, l1)) / root
        };
        self.members.iter().zip(&self.root).map(one).fold(0.0, f64::max)
    }
}

/// Sizes less `by`, at least 0.
fn soft(sizes: &[f64], by: f64) -> Vec<f64> {
    sizes.iter().map(|size| (size - by).max(0.0)).collect()
}

/// The penalty on groups and on their members.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupPenalty<'a> {
    pub(super) partition: &'a Partition,
    /// On each coefficient.
    pub(super) l1: f64,
    /// On each group, times `sqrt(p_g)`.
    pub(super) l2: f64,
}

impl GroupPenalty<'_> {
    fn size_of(&self, point: &Point, group: usize) -> f64 {
        let members = &self.partition.members[group];
        norm(&members.iter().map(|slot| point.size(*slot)).collect::<Vec<f64>>())
    }

    /// By how much each group whose coefficients are 0 is over its threshold, given the size of
    /// each slot's slope; 0 for the others.
    pub(super) fn excess(&self, point: &Point, sizes: &[f64]) -> Vec<f64> {
        let one = |(group, members): (usize, &Vec<usize>)| {
            if members.iter().any(|slot| point.size(*slot) != 0.0) {
                return 0.0;
            }
            let sizes: Vec<f64> = members.iter().map(|slot| sizes[*slot]).collect();
            norm(&soft(&sizes, self.l1)) - self.l2 * self.partition.root[group]
        };
        self.partition.members.iter().enumerate().map(one).map(|over| over.max(0.0)).collect()
    }
}

impl Penalty for GroupPenalty<'_> {
    fn value(&self, _: &Columns, point: &Point) -> f64 {
        let members = self.partition.members.iter().flatten();
        let single: f64 = members.map(|slot| point.size(*slot)).sum();
        let root = self.partition.root.iter().enumerate();
        let grouped: f64 = root.map(|(group, root)| root * self.size_of(point, group)).sum();
        self.l1 * single + self.l2 * grouped
    }

    fn violation(&self, columns: &Columns, point: &Point, set: &[usize], slopes: &[f64]) -> f64 {
        let (count, groups) = (columns.count(), self.partition.members.len());
        let norms: Vec<f64> = (0..groups).map(|group| self.size_of(point, group)).collect();
        let mut over = vec![0.0; groups];
        let mut most: f64 = 0.0;
        for (slot, slope) in set.iter().zip(slopes.chunks(count)) {
            let Some(group) = self.partition.of[*slot] else {
                most = most.max(norm(slope));
                continue;
            };
            let (w, size) = (&point.w[slot * count..(slot + 1) * count], point.size(*slot));
            let excess = (norm(slope) - self.l1).max(0.0);
            if norms[group] == 0.0 {
                over[group] += excess * excess;
            } else if size == 0.0 {
                most = most.max(excess);
            } else {
                let pull = self.l1 / size + self.l2 * self.partition.root[group] / norms[group];
                let off = |(s, w): (&f64, &f64)| (s + pull * w).abs();
                most = slope.iter().zip(w).map(off).fold(most, f64::max);
            }
        }
        let over = over.iter().zip(&self.partition.root);
        over.map(|(over, root)| over.sqrt() - self.l2 * root).fold(most, f64::max)
    }

    fn descend(
        &self,
        _: &Columns,
        model: &QuadraticModel,
        set: &[usize],
        w: &mut [Vec<f64>],
        tolerance: f64,
    ) {
        descend(model, &self.blocks(model, set), w, tolerance);
    }
}

impl GroupPenalty<'_> {
    /// The blocks of a set, in the order of their first slots.
    fn blocks(&self, model: &QuadraticModel, set: &[usize]) -> Vec<Block> {
        let mut place = vec![usize::MAX; self.partition.members.len()];
        let mut blocks: Vec<Block> = Vec::new();
        let free = |at: usize| Block { at: vec![at], l1: 0.0, l2: 0.0, steepest: 0.0 };
        for (at, slot) in set.iter().enumerate() {
            match self.partition.of[*slot] {
                None => blocks.push(free(at)),
                Some(group) if place[group] == usize::MAX => {
                    place[group] = blocks.len();
                    let l2 = self.l2 * self.partition.root[group];
                    blocks.push(Block { at: vec![at], l1: self.l1, l2, steepest: 0.0 });
                }
                Some(group) => blocks[place[group]].at.push(at),
            }
        }
        blocks.extend((set.len()..model.size).map(free));
        for block in &mut blocks {
            let bound = |c: usize, j: usize| {
                block.at.iter().map(|i| model.row(c, j)[*i].abs()).sum::<f64>()
            };
            let each = (0..model.h.len()).flat_map(|c| block.at.iter().map(move |j| (c, *j)));
            block.steepest = each.map(|(c, j)| bound(c, j)).fold(0.0, f64::max);
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups of two on an identity matrix have the minimum in closed form:
    /// `w_g = S(lin_g) (1 - l2 sqrt(2) / |S(lin_g)|)+`.
    #[test]
    fn on_the_identity_the_minimum_is_the_two_thresholds_in_turn() {
        let h = (0..16).map(|at| f64::from(u8::from(at % 5 == 0))).collect();
        let lin = vec![vec![3.0, -1.5, 0.6, 0.4]];
        let model = QuadraticModel { size: 4, h: vec![h], lin, floor: vec![0.0; 4] };
        let partition = Partition {
            of: vec![Some(0), Some(0), Some(1), Some(1)],
            members: vec![vec![0, 1], vec![2, 3]],
            root: vec![2f64.sqrt(); 2],
        };
        let penalty = GroupPenalty { partition: &partition, l1: 0.5, l2: 0.5 };
        let mut w = vec![vec![0.0; 4]];
        let blocks = penalty.blocks(&model, &[0, 1, 2, 3]);
        descend(&model, &blocks, &mut w, 1e-13);
        let shrink = 1.0 - 0.5 * 2f64.sqrt() / 2.5f64.hypot(1.0);
        let want = [2.5 * shrink, -shrink, 0.0, 0.0];
        assert!(w[0].iter().zip(want).all(|(w, want)| (w - want).abs() < 1e-12), "{w:?}");
    }

    #[test]
    fn the_largest_lambda_is_where_the_first_group_enters() {
        let partition = Partition {
            of: vec![Some(0), Some(0), Some(1)],
            members: vec![vec![0, 1], vec![2]],
            root: vec![2f64.sqrt(), 1.0],
        };
        let sizes = [0.8, 0.6, 0.1];
        // All on groups: |(0.8, 0.6)| = 1 against sqrt(2) lambda. All on members: 0.8.
        assert!((partition.lambda_max(&sizes, 0.0) - 0.5f64.sqrt()).abs() < 1e-15);
        assert!((partition.lambda_max(&sizes, 1.0) - 0.8).abs() < 1e-15);
        let (mix, lambda) = (0.4, partition.lambda_max(&sizes, 0.4));
        let left = norm(&soft(&sizes[..2], mix * lambda));
        assert!((left - (1.0 - mix) * lambda * 2f64.sqrt()).abs() < 1e-14);
        assert!((partition.l2_max(&sizes, 0.2) - 0.6f64.hypot(0.4) / 2f64.sqrt()).abs() < 1e-15);
    }
}
