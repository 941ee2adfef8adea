//! Products of newcomers with the kept columns, computed for several newcomers at once.
//!
//! Products may be computed before a feature's turn. By then some slots may have other columns, and
//! only the products with those are computed again. A product has the same digits either way.
//! Products of very sparse newcomers are computed at their turn; see `kept_by_row.rs`.

use rayon::prelude::*;

use super::kept_by_row::KeptByRow;
use crate::data::check::Feature;
use crate::data::column::Column;
use crate::data::kept::KeptSet;
use crate::numeric::inner_product::Frame;
use crate::numeric::products::cross;

/// Newcomers whose products are computed together: the kept set is read once for all of them.
pub(super) const GROUP: usize = 12;

/// Products of one newcomer with the kept columns.
#[derive(Default)]
pub(super) struct Products {
    /// Product with a slot under scale `s`, at `slot * scales + s`.
    pub(super) kept: Vec<f64>,
    /// Products with the extra columns, in the same layout.
    pub(super) extra: Vec<f64>,
    /// On the clock of the kept set.
    computed_at: u64,
}

impl Products {
    /// Products that are used at once.
    pub(super) fn new(kept: Vec<f64>, extra: Vec<f64>) -> Self {
        Self { kept, extra, computed_at: 0 }
    }
}

/// The columns that newcomers are multiplied with, and the row weights.
#[derive(Clone, Copy)]
pub(super) struct Against<'a> {
    pub(super) frame: &'a Frame,
    pub(super) kept: &'a KeptSet,
    /// Row weights, one set per product; `None` stands for the sample weights.
    pub(super) scales: &'a [Option<&'a [f64]>],
    /// Columns that never change, such as the target.
    pub(super) extra: &'a [&'a [f64]],
}

impl<'a> Against<'a> {
    fn targets(&self) -> Vec<Column<'a>> {
        self.extra.iter().map(|y| Column::F64(y)).collect()
    }
}

/// The products of one block's features, and buffers that are reused for the next block.
#[derive(Default)]
pub(super) struct BlockProducts {
    products: Vec<Option<Products>>,
    spread: Vec<Vec<f64>>,
    scales: usize,
    /// The features of the last group, whose vectors are still in `spread`.
    group: Vec<usize>,
    kept_by_row: KeptByRow,
}

impl BlockProducts {
    /// Starts a block of so many features.
    pub(super) fn reset(&mut self, features: usize) {
        self.products.clear();
        self.products.resize_with(features, || None);
        self.group.clear();
    }

    /// Whether the products of feature `t` need not be computed ahead: they were computed, or the
    /// feature is so sparse that they are computed at its turn.
    pub(super) fn has(&self, t: usize, feature: &Feature<'_>) -> bool {
        self.products[t].is_some() || KeptByRow::suits(feature.column())
    }

    /// Bytes that may stay allocated from block to block: room for a whole group and one more. The
    /// vectors in use may be fewer, which depends on the threads.
    pub(super) fn bytes(&self) -> u64 {
        let one: usize = self.spread.first().map_or(0, Vec::len);
        8 * (self.scales * (GROUP + 1) * one) as u64 + self.kept_by_row.bytes()
    }

    /// Computes the products of the features in `group`, at time `clock`.
    pub(super) fn fill(
        &mut self,
        against: Against<'_>,
        clock: u64,
        features: &[Feature<'_>],
        group: &[usize],
    ) {
        let kept: Vec<Column<'_>> = against.kept.columns().collect();
        let count = against.scales.len();
        let slots = kept.len();
        self.make_room(against, group.len());
        let each = group.par_iter().zip(self.spread.par_chunks_mut(count.max(1)));
        each.for_each(|(t, out)| spread(against, &features[*t], out));
        self.group = group.to_vec();
        let all = self.cross_products(0..group.len() * count, &[kept, against.targets()].concat());
        let width = group.len() * count;
        for (g, t) in group.iter().enumerate() {
            let own = g * count..(g + 1) * count;
            let mut each = all.chunks(width.max(1)).map(|column| &column[own.clone()]);
            let kept = each.by_ref().take(slots).flatten().copied().collect();
            let extra = each.flatten().copied().collect();
            self.products[*t] = Some(Products { kept, extra, computed_at: clock });
        }
    }

    /// Takes the products of feature `t`. Those with slots that changed since are computed again.
    pub(super) fn take(
        &mut self,
        against: Against<'_>,
        clock: u64,
        changed_at: impl Fn(usize) -> u64,
        t: usize,
        feature: &Feature<'_>,
    ) -> Products {
        if KeptByRow::suits(feature.column()) {
            return self.kept_by_row.products(against, clock, changed_at, feature);
        }
        let mut products = self.products[t].take().unwrap_or_default();
        let count = against.scales.len();
        let had = products.kept.len() / count.max(1);
        let slots = against.kept.len();
        products.kept.resize(slots * count, 0.0);
        let stale: Vec<usize> = (0..slots)
            .filter(|slot| *slot >= had || changed_at(*slot) > products.computed_at)
            .collect();
        let changed = products.extra.len() != against.extra.len() * count;
        if stale.is_empty() && !changed {
            return products;
        }
        let mut columns =
            stale.iter().map(|slot| against.kept.slots()[*slot].column()).collect::<Vec<_>>();
        if changed {
            columns.extend(against.targets());
        }
        // Sample weights are constant; other scales may have changed since the group was computed.
        let in_group = self.group.iter().position(|other| *other == t);
        let at = match in_group.filter(|_| against.scales.iter().all(Option::is_none)) {
            Some(at) => at,
            None => {
                let at = self.group.len();
                self.make_room(against, at + 1);
                spread(against, feature, &mut self.spread[at * count..]);
                at
            }
        };
        let fresh = self.cross_products(at * count..(at + 1) * count, &columns);
        let (fresh, extra) = fresh.split_at(stale.len() * count);
        for (slot, fresh) in stale.iter().zip(fresh.chunks(count)) {
            products.kept[slot * count..(slot + 1) * count].copy_from_slice(fresh);
        }
        if changed {
            products.extra = extra.to_vec();
        }
        products
    }

    /// Makes room for some features under every scale.
    fn make_room(&mut self, against: Against<'_>, features: usize) {
        self.scales = against.scales.len();
        if self.spread.len() < features * self.scales {
            self.spread.resize_with(features * self.scales, || vec![0.0; against.frame.n()]);
        }
    }

    /// Products of `columns` with a range of the vectors in `spread`.
    fn cross_products(&self, spread: std::ops::Range<usize>, columns: &[Column<'_>]) -> Vec<f64> {
        let vectors: Vec<&[f64]> = self.spread[spread].iter().map(Vec::as_slice).collect();
        let mut out = vec![0.0; columns.len() * vectors.len()];
        cross(columns, &vectors, &mut out);
        out
    }
}

/// Writes a feature as a dense vector under every scale.
fn spread(against: Against<'_>, feature: &Feature<'_>, out: &mut [Vec<f64>]) {
    for (scale, out) in against.scales.iter().zip(out) {
        against.frame.spread(feature, *scale, out);
    }
}
