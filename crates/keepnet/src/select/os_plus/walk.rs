//! Goes through a block feature by feature, with the heavy products computed ahead.
//!
//! Marginals of the next features are computed on all threads against the current residual and
//! thrown away when it changes; products with the kept set are computed for several promising
//! features at once. Both are only ever brought forward: at a feature's turn the numbers are
//! those that computing them then would give, digit for digit.

use rayon::prelude::*;

use super::{Core, Marginal};
use crate::check::Feature;
use crate::column::Column;
use crate::cross::cross;
use crate::error::Result;
use crate::frame::Frame;
use crate::kept::Kept;
use crate::kernel::GROUP;
use crate::select::{Outcome, Reason, Verdict};

/// Marginals computed ahead just after the residual changed, and at most.
const AHEAD: (usize, usize) = (8, 64);

/// Products of one feature with the kept columns.
struct Row {
    products: Vec<f64>,
    at: u64,
}

pub(super) fn walk(
    core: &mut dyn Core,
    frame: &Frame,
    features: &[Feature<'_>],
    out: &mut Vec<Outcome>,
) -> Result<()> {
    let mut ahead =
        Ahead { version: core.version(), end: 0, width: AHEAD.0, marginals: Vec::new() };
    ahead.marginals.resize_with(features.len(), || None);
    let mut rows: Vec<Option<Row>> = Vec::new();
    rows.resize_with(features.len(), || None);
    for t in 0..features.len() {
        if core.kept().slot(features[t].id).is_some() {
            out.push(Outcome::new(Verdict::Held));
            continue;
        }
        ahead.reach(core, features, t);
        let marginal = ahead.marginals[t].take().expect("reach computed it");
        if !features[t].pinned && core.rejects(&marginal) {
            let mut outcome = Outcome::dropped(Reason::Weak);
            outcome.marginal = Some(0.5 * marginal.gain());
            out.push(outcome);
            continue;
        }
        if rows[t].is_none() {
            let group = promising(core, features, &ahead, &rows, t);
            products(core, frame, features, &group, &mut rows);
        }
        let row = rows[t].take().expect("products filled it");
        let row = completed(core, frame, &features[t], row);
        let mut outcome = core.full_test(&features[t], &marginal, &row)?;
        outcome.marginal = Some(0.5 * marginal.gain());
        out.push(outcome);
    }
    Ok(())
}

/// Marginals of the features to come, valid for one version of the residual.
struct Ahead {
    version: u64,
    end: usize,
    width: usize,
    marginals: Vec<Option<Marginal>>,
}

impl Ahead {
    fn reach(&mut self, core: &dyn Core, features: &[Feature<'_>], t: usize) {
        if core.version() != self.version {
            self.version = core.version();
            self.end = t;
            self.width = AHEAD.0;
        }
        if t < self.end && self.marginals[t].is_some() {
            return;
        }
        self.end = features.len().min(t + self.width);
        self.width = AHEAD.1.min(2 * self.width);
        let one = |(feature, out): (&Feature<'_>, &mut Option<Marginal>)| {
            *out = Some(core.marginal(feature));
        };
        let (features, out) = (&features[t..self.end], &mut self.marginals[t..self.end]);
        if rayon::current_num_threads() > 1 {
            features.par_iter().zip(out).for_each(one);
        } else {
            features.iter().zip(out).for_each(one);
        }
    }
}

/// The feature at `t` and the next ones that would be tested too if nothing changed.
fn promising(
    core: &dyn Core,
    features: &[Feature<'_>],
    ahead: &Ahead,
    rows: &[Option<Row>],
    t: usize,
) -> Vec<usize> {
    let later = (t + 1..ahead.end).filter(|i| {
        rows[*i].is_none()
            && ahead.marginals[*i].as_ref().is_some_and(|m| !core.rejects(m))
            && core.kept().slot(features[*i].id).is_none()
    });
    std::iter::once(t).chain(later.take(GROUP - 1)).collect()
}

fn products(
    core: &dyn Core,
    frame: &Frame,
    features: &[Feature<'_>],
    group: &[usize],
    rows: &mut [Option<Row>],
) {
    let scales = core.scales();
    let columns: Vec<Column<'_>> = core.kept().columns().collect();
    let spread = spread(frame, group.iter().map(|t| &features[*t]), &scales);
    let vectors: Vec<&[f64]> = spread.iter().map(Vec::as_slice).collect();
    let mut all = vec![0.0; columns.len() * vectors.len()];
    cross(&columns, &vectors, &mut all);
    for (g, t) in group.iter().enumerate() {
        let own = g * scales.len()..(g + 1) * scales.len();
        let of_slot = |row: &[f64]| row[own.clone()].to_vec();
        let products = all.chunks(vectors.len().max(1)).flat_map(of_slot).collect();
        rows[*t] = Some(Row { products, at: core.clock() });
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

/// Brings a row computed earlier up to date with the slots that changed since.
fn completed(core: &dyn Core, frame: &Frame, feature: &Feature<'_>, row: Row) -> Vec<f64> {
    let mut products = row.products;
    let slots = core.kept().len();
    let stale: Vec<usize> = (0..slots).filter(|slot| core.born(*slot) > row.at).collect();
    let scales = core.scales();
    products.resize(slots * scales.len(), 0.0);
    if stale.is_empty() {
        return products;
    }
    let spread = spread(frame, std::iter::once(feature), &scales);
    let vectors: Vec<&[f64]> = spread.iter().map(Vec::as_slice).collect();
    let kept: &[Kept] = core.kept().slots();
    let columns: Vec<_> = stale.iter().map(|slot| kept[*slot].column()).collect();
    let mut fresh = vec![0.0; columns.len() * vectors.len()];
    cross(&columns, &vectors, &mut fresh);
    for (slot, fresh) in stale.iter().zip(fresh.chunks(scales.len())) {
        products[slot * scales.len()..(slot + 1) * scales.len()].copy_from_slice(fresh);
    }
    products
}
