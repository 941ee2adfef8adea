//! The exact cost of removing a column under a curved loss.

use super::{Curved, Model, TIE};
use crate::numeric::inner_product::HasColumn;
use crate::select::substitution::os_plus::loss_line::{LossLine, OutputState};

impl Curved {
    /// The loss of output `c` along one column.
    pub(super) fn loss_line(&self, c: usize, x: &impl HasColumn) -> LossLine<'_> {
        self.loss_line_of(&self.state.models[c], c, x)
    }

    /// The same of another model of that output.
    pub(super) fn loss_line_of<'a>(
        &'a self,
        model: &'a Model,
        c: usize,
        x: &impl HasColumn,
    ) -> LossLine<'a> {
        let Model { u, g, d, sum_g, sum_d, .. } = model;
        let state = OutputState {
            loss: &*self.outputs.loss,
            u,
            y: &self.outputs.y[c],
            weight: self.frame.weight(),
            total: self.frame.weight_sum(),
            g,
            d,
            sum_g: *sum_g,
            sum_d: *sum_d,
            centred: self.frame.centred(),
        };
        LossLine::new(&state, x.values(), self.frame.mean(x.stats()))
    }

    /// Exact cost of removing a slot over the cost in the quadratic model, at least 1.
    pub(super) fn removal_factor(&self, slot: usize) -> f64 {
        let kept = &self.state.kept.slots()[slot];
        let (mean, at) = (self.frame.mean(&kept.stats), self.base() + slot);
        let ridge = self.ridge_of(&kept.stats, false);
        let (mut truth, mut model) = (0.0, 0.0);
        for (c, output) in self.state.models.iter().enumerate() {
            let w = output.w[at];
            let (_, xd, xxd) = kept.column().slope_curve(&output.g, &output.d);
            let square = xxd - 2.0 * mean * xd + mean * mean * output.sum_d;
            model += 0.5 * w * (w * (square.max(0.0) / self.frame.weight_sum() + ridge));
            truth += self.loss_line(c, kept).removal(w, ridge);
        }
        if truth > model && model > 0.0 { truth / model } else { 1.0 }
    }

    /// The unpinned slot that costs least to remove. The costs of the `quadratic` model are
    /// corrected only for slots that seem the cheapest.
    pub(super) fn cheapest(
        &mut self,
        quadratic: impl Fn(&Self, usize) -> f64,
    ) -> Option<(f64, usize)> {
        let slots = self.state.kept.slots().iter().enumerate().filter(|(_, kept)| !kept.pinned);
        let mut losses: Vec<(f64, usize)> =
            slots.map(|(slot, _)| (quadratic(self, slot), slot)).collect();
        losses.iter_mut().for_each(|(loss, slot)| {
            *loss *= self.factors[*slot].unwrap_or(1.0);
        });
        loop {
            let least = losses.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))?;
            // Copies cost the same to remove, within rounding. Of those that tie the latest goes.
            let id = |slot: usize| self.state.kept.slots()[slot].id;
            let near = least.0 + TIE * least.0.abs();
            let ties = (0..losses.len()).filter(|at| losses[*at].0.total_cmp(&near).is_le());
            let at =
                ties.max_by_key(|at| (self.factors[losses[*at].1].is_none(), id(losses[*at].1)))?;
            let slot = losses[at].1;
            if self.factors[slot].is_some() {
                return Some(losses[at]);
            }
            let factor = self.removal_factor(slot);
            losses[at].0 *= factor;
            self.factors[slot] = Some(factor);
        }
    }
}
