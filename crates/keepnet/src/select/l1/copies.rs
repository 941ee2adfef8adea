//! Copies of a column, up to sign, unit and origin.
//!
//! In the L1 problem copies can share one coefficient in any proportion, so rounding would decide
//! which of them have one. The first feature gets all of it. The others are left out of the
//! problem, whose minimum is the same without them.
//!
//! ```text
//! key_j = |<x_j, r>| / |x_j|,  r random        copies have one key
//! copies:  1 - |<x_i, x_j>| / |x_i| |x_j| <= 1e-12, tried where keys agree
//! ```
//!
//! Cost: one pass over the columns, and one over each pair of equal keys.

use rand::RngExt;
use rand_distr::StandardNormal;

use super::Columns;
use crate::data::order::generator;

/// How far below 1 the correlation of a copy may be.
const SAME: f64 = 1e-12;
/// Share of the largest key within which two keys agree.
const NEAR: f64 = 1e-9;

/// The slots without unpinned copies of earlier ones. `slots` are in the order of their features;
/// a pinned column counts as earlier than any other.
pub(super) fn without_copies(columns: &Columns, slots: &[usize]) -> Vec<usize> {
    let copies = copies(columns, slots);
    slots.iter().copied().filter(|slot| copies[*slot].first == *slot).collect()
}

/// The column that a slot is a copy of.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyOf {
    /// The first slot with these values, up to sign, unit and origin; itself where there is none.
    pub(super) first: usize,
    /// 1, or -1 where the values are turned round.
    pub(super) sign: f64,
}

/// What each slot is a copy of. `slots` are in the order of their features; a pinned column counts
/// as earlier than any other, and is no copy.
pub(super) fn copies(columns: &Columns, slots: &[usize]) -> Vec<CopyOf> {
    let length = |slot: usize| columns.length(&columns.kept.slots()[slot]);
    let mut random = generator(0xc0b1e5, columns.frame.n() as u64);
    let r = (0..columns.frame.n()).map(|_| random.sample(StandardNormal)).collect();
    let products = columns.products(slots, r);
    let mut keys: Vec<(f64, usize)> = products
        .iter()
        .zip(slots)
        .filter(|(_, slot)| length(**slot) > 0.0)
        .map(|(product, slot)| (product.abs() / length(*slot), *slot))
        .collect();
    keys.sort_by(|a, b| a.0.total_cmp(&b.0));
    let near = NEAR * keys.last().map_or(0.0, |(key, _)| *key);
    let mut copy: Vec<CopyOf> =
        (0..columns.kept.len()).map(|first| CopyOf { first, sign: 1.0 }).collect();
    let place: Vec<usize> = {
        let mut place = vec![0; columns.kept.len()];
        slots.iter().enumerate().for_each(|(at, slot)| place[*slot] = at);
        place
    };
    for group in keys.chunk_by(|a, b| b.0 - a.0 <= near) {
        let mut group: Vec<usize> = group.iter().map(|(_, slot)| *slot).collect();
        group.sort_by_key(|slot| (!columns.pinned(*slot), place[*slot]));
        for (at, first) in group.iter().enumerate() {
            if copy[*first].first != *first || at + 1 == group.len() {
                continue;
            }
            let mut u = vec![0.0; columns.frame.n()];
            columns.add_one(&columns.kept.slots()[*first], 1.0, &mut u);
            let rest = &group[at + 1..];
            for (slot, product) in rest.iter().zip(columns.products(rest, u)) {
                let correlation = product.abs() / (length(*first) * length(*slot));
                let is_first = copy[*slot].first == *slot && !columns.pinned(*slot);
                if is_first && 1.0 - correlation <= SAME {
                    copy[*slot] = CopyOf { first: *first, sign: product.signum() };
                }
            }
        }
    }
    copy
}
