//! Products of newcomers with the kept columns, computed for several newcomers at once.
//!
//! Products may be computed before a feature's turn. By then some slots may have other columns, and
//! only the products with those are computed again. A product has the same digits either way.
//! Products of very sparse newcomers are computed at their turn; see `kept_by_row.rs`. Those of
//! genotypes are counted; see `counted_products.rs`.

use rayon::prelude::*;

use super::counted_products::{self, Counted};
use super::kept_by_row::KeptByRow;
use crate::data::check::Feature;
use crate::data::column::Column;
use crate::data::kept::{Kept, KeptSet};
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
        let count = against.scales.len();
        let slots = against.kept.len();
        let counts = |t: &usize| counted_products::suits(against, &features[*t]);
        let (counted, group): (Vec<usize>, Vec<usize>) = group.iter().partition(|t| counts(t));
        let all: Vec<&Kept> = against.kept.slots().iter().collect();
        let one = |t: usize| Some(counted_of(against, &Counted::new(against, &features[t])?, &all));
        let counted: Vec<_> = counted.into_par_iter().map(|t| (t, one(t))).collect();
        for (t, own) in counted {
            self.products[t] = own.map(|own| Products { computed_at: clock, ..own });
        }
        let kept: Vec<Column<'_>> = against.kept.columns().collect();
        self.make_room(against, group.len());
        let each = group.par_iter().zip(self.spread.par_chunks_mut(count.max(1)));
        each.for_each(|(t, out)| spread(against, &features[*t], out));
        self.group.clone_from(&group);
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

    /// The products of feature `t`, where they were computed.
    pub(super) fn get(&self, t: usize) -> Option<&Products> {
        self.products[t].as_ref()
    }

    /// Products of the features of the last group with each other's columns: that of `g` with the
    /// column of `e` is at `g * group.len() + e`. Only for one scale.
    pub(super) fn among(
        &self,
        against: Against<'_>,
        features: &[Feature<'_>],
        group: &[usize],
    ) -> Vec<f64> {
        let all: Vec<&Feature<'_>> = group.iter().map(|t| &features[*t]).collect();
        let columns: Vec<Column<'_>> = all.iter().map(|feature| feature.column()).collect();
        let of = |t: &usize| match Counted::new(against, &features[*t]) {
            Some(counted) => counted.with(&all),
            None => {
                let at = self.group.iter().position(|other| other == t).unwrap_or(0);
                self.cross_products(at..at + 1, &columns)
            }
        };
        group.iter().flat_map(of).collect()
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
        let slots: Vec<&Kept> = stale.iter().map(|slot| &against.kept.slots()[*slot]).collect();
        if let Some(counted) = Counted::new(against, feature) {
            let extra = if changed { against.extra } else { &[] };
            let fresh = counted_of(Against { extra, ..against }, &counted, &slots);
            place(&mut products.kept, &stale, &fresh.kept, count);
            if changed {
                products.extra = fresh.extra;
            }
            return products;
        }
        let mut columns: Vec<Column<'_>> = slots.iter().map(|kept| kept.column()).collect();
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
        place(&mut products.kept, &stale, fresh, count);
        if changed {
            products.extra = extra.to_vec();
        }
        products
    }

    /// Brings the products of feature `t` up to date and keeps them, where [`BlockProducts::take`]
    /// gives them away.
    pub(super) fn renew(
        &mut self,
        against: Against<'_>,
        clock: u64,
        changed_at: impl Fn(usize) -> u64,
        t: usize,
        feature: &Feature<'_>,
    ) {
        let products = self.take(against, clock, changed_at, t, feature);
        self.products[t] = Some(Products { computed_at: clock, ..products });
    }

    /// How many products of feature `t` with `slots` slots are missing or of before a change.
    pub(super) fn stale(&self, t: usize, slots: usize, changed_at: impl Fn(usize) -> u64) -> usize {
        let Some(own) = &self.products[t] else { return slots };
        (0..slots).filter(|slot| changed_at(*slot) > own.computed_at).count()
    }

    /// Whether the products of a feature are computed at its turn; see `kept_by_row.rs`.
    pub(super) fn at_its_turn(feature: &Feature<'_>) -> bool {
        KeptByRow::suits(feature.column())
    }

    /// Makes room for the products of further features.
    pub(super) fn extend(&mut self, features: usize) {
        self.products.resize_with(features, || None);
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

/// Products of a newcomer with few columns, under the sample weights.
pub(super) fn few_products(
    against: Against<'_>,
    feature: &Feature<'_>,
    columns: &[&Kept],
) -> Vec<f64> {
    if columns.is_empty() {
        return Vec::new();
    }
    if let Some(counted) = Counted::new(against, feature) {
        return counted.with(columns);
    }
    let mut spread = vec![0.0; against.frame.n()];
    against.frame.spread(feature, None, &mut spread);
    let views: Vec<Column<'_>> = columns.iter().map(|kept| kept.column()).collect();
    let mut out = vec![0.0; columns.len()];
    cross(&views, &[&spread], &mut out);
    out
}

/// The products of a counted newcomer with these kept columns and the extra ones, the same under
/// every scale.
fn counted_of(against: Against<'_>, counted: &Counted<'_>, kept: &[&Kept]) -> Products {
    let count = against.scales.len();
    let each = |products: Vec<f64>| -> Vec<f64> {
        products.iter().flat_map(|product| std::iter::repeat_n(*product, count)).collect()
    };
    let extra = against.extra.iter().map(|y| counted.with_vector(y)).collect();
    Products::new(each(counted.with(kept)), each(extra))
}

/// Puts fresh products of some slots in their places.
fn place(kept: &mut [f64], slots: &[usize], fresh: &[f64], count: usize) {
    for (slot, fresh) in slots.iter().zip(fresh.chunks(count)) {
        kept[slot * count..(slot + 1) * count].copy_from_slice(fresh);
    }
}

/// Writes a feature as a dense vector under every scale.
fn spread(against: Against<'_>, feature: &Feature<'_>, out: &mut [Vec<f64>]) {
    for (scale, out) in against.scales.iter().zip(out) {
        against.frame.spread(feature, *scale, out);
    }
}
