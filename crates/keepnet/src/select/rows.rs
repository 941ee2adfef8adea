//! Products of newcomers with the kept columns, computed for several newcomers at once.
//!
//! A row may be computed before its feature's turn; by then some slots may hold other columns,
//! and only the products with those are taken anew. A product has the same digits either way.

use crate::check::Feature;
use crate::column::Column;
use crate::cross::cross;
use crate::frame::Frame;
use crate::kept::{Kept, KeptSet};

struct Row {
    products: Vec<f64>,
    at: u64,
}

/// The rows of one block.
pub(super) struct Rows(Vec<Option<Row>>);

impl Rows {
    pub(super) fn new(features: usize) -> Self {
        Self((0..features).map(|_| None).collect())
    }

    pub(super) fn has(&self, t: usize) -> bool {
        self.0[t].is_some()
    }

    /// Computes the rows of the features in `group` under each of `scales`, at time `clock`.
    pub(super) fn fill(
        &mut self,
        frame: &Frame,
        kept: &KeptSet,
        scales: &[Option<&[f64]>],
        clock: u64,
        features: &[Feature<'_>],
        group: &[usize],
    ) {
        let columns: Vec<Column<'_>> = kept.columns().collect();
        let spread = spread(frame, group.iter().map(|t| &features[*t]), scales);
        let vectors: Vec<&[f64]> = spread.iter().map(Vec::as_slice).collect();
        let mut all = vec![0.0; columns.len() * vectors.len()];
        cross(&columns, &vectors, &mut all);
        for (g, t) in group.iter().enumerate() {
            let own = g * scales.len()..(g + 1) * scales.len();
            let slots = all.chunks(vectors.len().max(1));
            let products = slots.flat_map(|slot| slot[own.clone()].iter().copied()).collect();
            self.0[*t] = Some(Row { products, at: clock });
        }
    }

    /// Takes the row of feature `t`, up to date with the slots `born` after it was computed:
    /// the product with a slot under scale `s` is at `slot * scales.len() + s`.
    pub(super) fn take(
        &mut self,
        frame: &Frame,
        kept: &KeptSet,
        scales: &[Option<&[f64]>],
        born: impl Fn(usize) -> u64,
        t: usize,
        feature: &Feature<'_>,
    ) -> Vec<f64> {
        let Row { mut products, at } =
            self.0[t].take().unwrap_or(Row { products: Vec::new(), at: 0 });
        let had = products.len() / scales.len().max(1);
        products.resize(kept.len() * scales.len(), 0.0);
        let stale: Vec<usize> =
            (0..kept.len()).filter(|slot| *slot >= had || born(*slot) > at).collect();
        if stale.is_empty() {
            return products;
        }
        let spread = spread(frame, std::iter::once(feature), scales);
        let vectors: Vec<&[f64]> = spread.iter().map(Vec::as_slice).collect();
        let slots: &[Kept] = kept.slots();
        let columns: Vec<_> = stale.iter().map(|slot| slots[*slot].column()).collect();
        let mut fresh = vec![0.0; columns.len() * vectors.len()];
        cross(&columns, &vectors, &mut fresh);
        for (slot, fresh) in stale.iter().zip(fresh.chunks(scales.len())) {
            products[slot * scales.len()..(slot + 1) * scales.len()].copy_from_slice(fresh);
        }
        products
    }
}

fn spread<'a, 'f: 'a>(
    frame: &Frame,
    features: impl Iterator<Item = &'a Feature<'f>>,
    scales: &[Option<&[f64]>],
) -> Vec<Vec<f64>> {
    let mut out = Vec::new();
    for feature in features {
        for scale in scales {
            let mut vector = vec![0.0; frame.n()];
            frame.spread(feature, *scale, &mut vector);
            out.push(vector);
        }
    }
    out
}
