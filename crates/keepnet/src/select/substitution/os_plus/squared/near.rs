//! The neighbour test: whether a newcomer can enter, by the kept features near it in the input.
//!
//! The formulas are those of the module above. Kept features further away are taken to be
//! uncorrelated with the newcomer, so a feature that would have passed the full test may be dropped.

use super::matrix::Model;
use super::{Squared, State};
use crate::data::check::Feature;
use crate::data::kept::Kept;
use crate::numeric::linalg::solve;
use crate::select::Marginal;
use crate::select::kept_products::{Against, few_products};

/// The share of what is needed that lets a newcomer pass.
const ENOUGH: f64 = 0.9;
/// A newcomer with a smaller share of its own beside its neighbours repeats them.
const OWN: f64 = 1e-8;
/// Added to the diagonal, as a share of it, so that two neighbours may be all but equal.
const RIDGE: f64 = 1e-9;

impl Squared {
    /// Whether the newcomer goes on to the full test.
    pub(super) fn near_test(&mut self, feature: &Feature<'_>, marginal: &Marginal) -> bool {
        self.state.neighbour_tests += 1;
        let State { model, kept, .. } = &self.state;
        let near = |slot: &usize| {
            let id = model.slots[*slot].id;
            id.is_some_and(|id| id.index.abs_diff(feature.id.index) <= self.neighbours as u64)
        };
        let slots: Vec<usize> = model.inside().filter(near).collect();
        let columns: Vec<&Kept> = slots.iter().map(|slot| &kept.slots()[*slot]).collect();
        let (frame, scales, extra) = (&self.frame, &[None][..], &[][..]);
        let mut products = few_products(Against { frame, kept, scales, extra }, feature, &columns);
        products.iter_mut().for_each(|product| *product /= frame.weight_sum());
        let slopes: Vec<f64> = marginal.0.iter().map(|along| along.slope).collect();
        model.passes_near(&slots, &products, &slopes, frame.square(&feature.stats))
    }
}

impl Model {
    /// The neighbour test, given the newcomer's products with the slots, its slopes and its square.
    fn passes_near(&self, slots: &[usize], products: &[f64], slopes: &[f64], square: f64) -> bool {
        let mut d = products.to_vec();
        let gram = |i: usize, j: usize| {
            let value = self.gram.at(self.at(slots[i]), self.at(slots[j]));
            if i == j { value * (1.0 + RIDGE) } else { value }
        };
        if !slots.is_empty() && solve(slots.len(), gram, &mut d).is_none() {
            // Neighbours that depend on each other say nothing: the full test decides.
            return true;
        }
        let own = square - products.iter().zip(&d).map(|(x, d)| x * d).sum::<f64>();
        if own < OWN * square {
            return false;
        }
        let mut need = self.threshold;
        for (slot, d) in slots.iter().zip(&d).filter(|(slot, _)| !self.slots[**slot].pinned) {
            let at = self.at(*slot);
            let left = d * d / own - self.swept.at(at, at);
            let rise = |(c, slope): (usize, &f64)| {
                let w = self.swept.at(c, at) - d * slope / own;
                w * (w / left)
            };
            need = need.min(slopes.iter().enumerate().map(rise).sum());
        }
        let gain: f64 = slopes.iter().map(|slope| slope * (slope / own)).sum();
        gain >= ENOUGH * need
    }
}
