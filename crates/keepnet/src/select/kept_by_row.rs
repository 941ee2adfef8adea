//! The kept set as lists by row, for products of a very sparse newcomer.
//!
//! With `d` row weights and `z` a kept column,
//!
//! ```text
//! sum_i d_i (x_i - mean) z_i = sum over i with x_i != 0 of d_i x_i z_i  -  mean sum_i d_i z_i
//! ```
//!
//! The first sum needs only the kept values in the rows of `x`; the second is the same for every
//! newcomer. So the products cost the non-zeros of `x` times those of a row of the kept set, and
//! not all values of the kept columns. Memory: 12 bytes per stored value of the kept set. Slots
//! that changed after the lists were made are looked up value by value, in the same order. When
//! there are too many of them the lists are made again.

use super::kept_products::{Against, Products};
use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::data::column::Column;

/// A newcomer is very sparse if at most one in this many rows has a value.
const SPARSE_SHARE: usize = 8;

/// Slots that may have changed before the lists are made again.
const MOST_UNLISTED: usize = 12;

/// Lists by row of the values of sparse columns, and sums of all columns over the rows.
#[derive(Default)]
pub(super) struct KeptByRow {
    clock: Option<u64>,
    /// The feature of each slot when the lists were made.
    listed: Vec<Option<FeatureId>>,
    starts: Vec<u32>,
    slots: Vec<u32>,
    values: Vec<f64>,
    /// Slots that are looked up: dense ones, and those that changed after the lists were made.
    unlisted: Vec<usize>,
    /// `sum_i d_i z_i` of kept columns, then of the extra ones, scale by scale.
    sums: Vec<f64>,
}

impl KeptByRow {
    /// Whether a newcomer is very sparse. It depends on the newcomer alone, so that the digits do
    /// not depend on when it is tested.
    pub(super) fn suits(x: Column<'_>) -> bool {
        let count = match x {
            Column::Sparse { index, .. } => index.len(),
            Column::Bits { words, .. } => crate::numeric::popcount::count_ones(words) as usize,
            _ => return false,
        };
        SPARSE_SHARE * count <= x.rows()
    }

    /// The products of one newcomer. `clock` changes with the kept set or the row weights;
    /// `changed_at` is when a slot last changed.
    pub(super) fn products(
        &mut self,
        against: Against<'_>,
        clock: u64,
        changed_at: impl Fn(usize) -> u64,
        feature: &Feature<'_>,
    ) -> Products {
        if self.clock != Some(clock) {
            self.renew_sums(against, changed_at);
            self.renew_lists(against);
            self.clock = Some(clock);
        }
        let Against { frame, kept, scales, extra } = against;
        let (count, slots) = (scales.len(), kept.len());
        let mut all = vec![0.0; (slots + extra.len()) * count];
        feature.column().each(|i, x| {
            for (s, scale) in scales.iter().enumerate() {
                let x = x * scale.or(frame.weight()).map_or(1.0, |d| d[i]);
                for at in self.starts[i] as usize..self.starts[i + 1] as usize {
                    all[self.slots[at] as usize * count + s] += x * self.values[at];
                }
                for (e, y) in extra.iter().enumerate() {
                    all[(slots + e) * count + s] += x * y[i];
                }
            }
        });
        for slot in &self.unlisted {
            let column = kept.slots()[*slot].column();
            for (s, scale) in scales.iter().enumerate() {
                let mut product = 0.0;
                feature.column().each(|i, x| {
                    let x = x * scale.or(frame.weight()).map_or(1.0, |d| d[i]);
                    product += x * column.get(i);
                });
                all[slot * count + s] = product;
            }
        }
        let mean = frame.mean(&feature.stats);
        all.iter_mut().zip(&self.sums).for_each(|(product, sum)| *product -= mean * sum);
        let extra = all.split_off(slots * count);
        Products::new(all, extra)
    }

    /// Computes the sums of the slots that changed or whose row weights did, and of the extra
    /// columns.
    fn renew_sums(&mut self, against: Against<'_>, changed_at: impl Fn(usize) -> u64) {
        let Against { frame, kept, scales, extra } = against;
        let count = scales.len();
        self.sums.resize(kept.len() * count, 0.0);
        let ones = vec![1.0; if frame.weight().is_none() { frame.n() } else { 0 }];
        let weights = scales.iter().map(|scale| scale.or(frame.weight()).unwrap_or(&ones));
        let weights: Vec<&[f64]> = weights.collect();
        for (slot, column) in kept.columns().enumerate() {
            let new =
                slot >= self.listed.len() || self.clock.is_none_or(|last| changed_at(slot) > last);
            if new {
                let sums = &mut self.sums[slot * count..(slot + 1) * count];
                sums.iter_mut().zip(&weights).for_each(|(sum, d)| *sum = column.dot(d));
            }
        }
        self.sums.extend(extra.iter().flat_map(|y| weights.iter().map(|d| Column::F64(y).dot(d))));
    }

    /// Finds the slots that are not in the lists, and makes the lists again if there are many.
    fn renew_lists(&mut self, against: Against<'_>) {
        let slots = against.kept.slots();
        let changed = |slot: &usize| self.listed.get(*slot) != Some(&slots[*slot].id);
        let unlisted: Vec<usize> = (0..slots.len())
            .filter(|slot| !slots[*slot].column().is_listed() || changed(slot))
            .collect();
        let sparse = unlisted.iter().filter(|slot| slots[**slot].column().is_listed()).count();
        self.unlisted = unlisted;
        // After slots were removed the lists would point past the end.
        if sparse > MOST_UNLISTED || slots.len() < self.listed.len() || self.starts.is_empty() {
            self.make_lists(against);
        }
    }

    fn make_lists(&mut self, against: Against<'_>) {
        let Against { frame, kept, .. } = against;
        self.listed = kept.slots().iter().map(|kept| kept.id).collect();
        self.starts = vec![0; frame.n() + 2];
        let sparse = || kept.columns().enumerate().filter(|(_, column)| column.is_listed());
        sparse().for_each(|(_, column)| column.each(|i, _| self.starts[i + 2] += 1));
        self.unlisted =
            (0..kept.len()).filter(|s| !kept.slots()[*s].column().is_listed()).collect();
        for i in 2..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        let total = self.starts[frame.n() + 1] as usize;
        self.slots.resize(total, 0);
        self.values.resize(total, 0.0);
        // While a row fills, its start moves to its end, which is the next row's start.
        for (slot, column) in sparse() {
            column.each(|i, value| {
                let at = self.starts[i + 1] as usize;
                (self.slots[at], self.values[at]) = (slot as u32, value);
                self.starts[i + 1] += 1;
            });
        }
    }

    /// Bytes of the lists.
    pub(super) fn bytes(&self) -> u64 {
        (4 * (self.starts.len() + self.slots.len()) + 8 * self.values.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::block::{ColumnBlock, FeatureId, RawColumn};
    use crate::data::check::check_block;
    use crate::data::column::{ColumnData, Numbers};
    use crate::data::kept::KeptSet;
    use crate::data::target::Problem;
    use crate::numeric::inner_product::Frame;
    use crate::run::budget::Budget;

    #[test]
    fn products_by_rows_are_those_of_the_plain_sums() {
        let n = 40_i32;
        let mut problem = Problem::regression((0..n).map(f64::from).collect());
        problem.weight = Some((0..n).map(|i| 1.0 + f64::from(i % 3)).collect());
        let sparse = |step: u32| ColumnData::Sparse {
            rows: n as usize,
            index: (0..n as u32).step_by(step as usize).collect(),
            value: Numbers::F64(
                (0..n).step_by(step as usize).map(|i| f64::from(i) - 7.0).collect(),
            ),
        };
        let dense = ColumnData::dense((0..n).map(|i| f64::from(i * i % 11)).collect());
        let bits = ColumnData::Bits { rows: n as usize, words: vec![0b1001_0110_1101] };
        let mut block = ColumnBlock::new(6);
        for (at, data) in
            [sparse(3), dense, bits, sparse(10), sparse(4), sparse(7)].into_iter().enumerate()
        {
            let id = FeatureId::new(at as u64);
            block.push(RawColumn { id, name: format!("x{at}").into(), source: 0, data });
        }
        let checked = check_block(&block, 0, &problem, &Default::default()).unwrap();
        let frame = Frame::new(&problem, true);
        let mut kept = KeptSet::new(Budget::unlimited());
        checked.features[..3].iter().for_each(|feature| {
            kept.push(feature).unwrap();
        });
        let d: Vec<f64> = (0..n).map(|i| 0.5 + f64::from(i % 7)).collect();
        let y: Vec<f64> = (0..n).map(|i| f64::from(i % 5) - 2.0).collect();
        let (scales, extra) = ([None, Some(d.as_slice())], [y.as_slice()]);
        let newcomer = &checked.features[3];
        assert!(
            KeptByRow::suits(newcomer.column()) && !KeptByRow::suits(checked.features[0].column())
        );
        let mean = newcomer.stats.mean;
        let plain = |z: &dyn Fn(usize) -> f64, d: &[f64]| -> f64 {
            (0..n as usize).map(|i| d[i] * (newcomer.column().get(i) - mean) * z(i)).sum()
        };
        let weight = problem.weight.as_deref().unwrap();
        let mut kept_by_row = KeptByRow::default();
        // The second time one slot has changed, the third time one was added.
        for clock in 0..3 {
            let changed_at = match clock {
                0 => vec![0; 3],
                1 => {
                    kept.replace(0, &checked.features[4]).unwrap();
                    vec![1, 0, 0]
                }
                _ => {
                    kept.push(&checked.features[5]).unwrap();
                    vec![1, 0, 0, 2]
                }
            };
            let against = Against { frame: &frame, kept: &kept, scales: &scales, extra: &extra };
            let got = kept_by_row.products(against, clock, |slot| changed_at[slot], newcomer);
            let fresh =
                KeptByRow::default().products(against, clock, |slot| changed_at[slot], newcomer);
            assert_eq!((&got.kept, &got.extra), (&fresh.kept, &fresh.extra));
            for (s, d) in [weight, d.as_slice()].into_iter().enumerate() {
                for slot in 0..kept.len() {
                    let z = |i: usize| kept.slots()[slot].column().get(i);
                    assert!((got.kept[slot * 2 + s] - plain(&z, d)).abs() < 1e-9, "slot {slot}");
                }
                assert!((got.extra[s] - plain(&|i| y[i], d)).abs() < 1e-9);
            }
        }
    }
}
