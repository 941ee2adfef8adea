//! The swept Gram matrix of the squared form: newcomers, swaps, gains and losses.

use super::{COLLINEAR, Squared};
use crate::data::block::FeatureId;
use crate::select::substitution::os_plus::Core;

/// The column of a newcomer in the swept matrix.
pub(super) struct Swept {
    pub(super) column: Vec<f64>,
    /// Its Schur complement.
    pub(super) own: f64,
    /// Its square before sweeping.
    pub(super) square: f64,
}

impl Swept {
    pub(super) fn collinear(&self) -> bool {
        self.own < COLLINEAR * self.square
    }
}

impl Squared {
    /// The swept column of a newcomer with inner products `row` and `xy`.
    pub(super) fn swept_column(&self, row: &[f64], xy: &[f64], square: f64) -> Swept {
        let size = self.outputs() + row.len();
        let plain = |i: usize| if i < xy.len() { xy[i] } else { row[i - xy.len()] };
        let mut masked = vec![0.0; size];
        for (slot, inside) in self.state.in_model.iter().enumerate() {
            if *inside {
                masked[self.at(slot)] = row[slot];
            }
        }
        let inside = |i: usize| i >= xy.len() && self.state.in_model[i - xy.len()];
        let mut column = self.state.swept.times(&masked);
        for (i, value) in column.iter_mut().enumerate() {
            *value = (if inside(i) { 0.0 } else { plain(i) }) - *value;
        }
        let own = square - crate::numeric::kernel::dot(&column, &masked);
        Swept { column, own, square }
    }

    /// Adds the rows of the slot that was just pushed; it is outside the model.
    pub(super) fn extend(&mut self, slot: usize, row: &[f64], xy: &[f64], swept: &Swept) {
        let (at, count) = (self.at(slot), self.outputs());
        let state = &mut self.state;
        state.gram.reserve(at + 1);
        state.swept.reserve(at + 1);
        for i in 0..at {
            let plain = if i < count { xy[i] } else { row[i - count] };
            state.gram.set(at, i, plain);
            state.swept.set(at, i, swept.column[i]);
        }
        state.gram.set(at, at, swept.square);
        state.swept.set(at, at, swept.own);
        state.clock += 1;
        state.changed_at.push(state.clock);
        state.in_model.push(false);
    }

    pub(super) fn enter(&mut self, slot: usize) {
        let (at, size) = (self.at(slot), self.size());
        self.state.swept.sweep(at, 1.0, size, &mut Vec::new());
        self.state.in_model[slot] = true;
        self.state.changes += 1;
    }

    pub(super) fn leave(&mut self, slot: usize) {
        let (at, size) = (self.at(slot), self.size());
        self.state.swept.sweep(at, -1.0, size, &mut Vec::new());
        self.state.in_model[slot] = false;
        self.state.changes += 1;
    }

    /// `sum over outputs of t^2 / schur` for a column with these swept entries.
    pub(super) fn gain(&self, column: impl Fn(usize) -> f64, own: f64, square: f64) -> f64 {
        if own < COLLINEAR * square {
            return 0.0;
        }
        (0..self.outputs()).map(|c| column(c) * (column(c) / own)).sum()
    }

    pub(super) fn slot_gain(&self, slot: usize) -> f64 {
        let at = self.at(slot);
        let state = &self.state;
        self.gain(|c| state.swept.at(c, at), state.swept.at(at, at), state.gram.at(at, at))
    }

    /// The model slot whose removal costs least after the newcomer joined, where that is below
    /// `gain`.
    pub(super) fn weakest(
        &self,
        column: impl Fn(usize) -> f64,
        own: f64,
        gain: f64,
    ) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for slot in 0..self.state.kept.len() {
            if !self.state.in_model[slot] || self.state.kept.slots()[slot].pinned {
                continue;
            }
            let at = self.at(slot);
            let d = column(at);
            let left = d * d / own - self.state.swept.at(at, at);
            let loss: f64 = (0..self.outputs())
                .map(|c| {
                    let w = self.state.swept.at(c, at) - d * column(c) / own;
                    w * (w / left)
                })
                .sum();
            if loss < gain && best.is_none_or(|(least, _)| loss < least) {
                best = Some((loss, slot));
            }
        }
        best.map(|(_, slot)| slot)
    }

    pub(super) fn remove(&mut self, slot: usize) -> Option<FeatureId> {
        let (at, last, size) = (self.at(slot), self.size() - 1, self.size());
        let state = &mut self.state;
        state.gram.relocate(last, at, size);
        state.swept.relocate(last, at, size);
        state.in_model.swap_remove(slot);
        state.changed_at.swap_remove(slot);
        // The slot now has another column, so earlier products with it are stale.
        state.clock += 1;
        if slot < state.changed_at.len() {
            state.changed_at[slot] = state.clock;
        }
        state.kept.swap_remove(slot).id
    }

    pub(super) fn rebuild(&mut self) {
        let size = self.size();
        let mut scratch = Vec::new();
        for i in 0..size {
            let row = self.state.gram.row(i)[..size].to_vec();
            self.state.swept.row_mut(i)[..size].copy_from_slice(&row);
        }
        for slot in self.model() {
            let at = self.at(slot);
            self.state.swept.sweep(at, 1.0, size, &mut scratch);
        }
        self.state.changes = 0;
    }

    /// `sum over outputs of w^2 / A_ii`: twice the rise of the loss if the slot left.
    pub(super) fn removal_loss(&self, slot: usize) -> f64 {
        let at = self.at(slot);
        let own = -self.state.swept.at(at, at);
        let rise = |w: f64| w * (w / own);
        (0..self.outputs()).map(|c| rise(self.state.swept.at(c, at))).sum()
    }

    /// Removes an unpinned column so that a pinned one which the model spans can enter.
    pub(super) fn free_collinear(&mut self, column: &[f64]) -> Option<(usize, Option<FeatureId>)> {
        let inside = (0..self.state.kept.len())
            .filter(|slot| self.state.in_model[*slot] && !self.state.kept.slots()[*slot].pinned);
        let share = |slot: usize| {
            let at = self.at(slot);
            column[at] * column[at] / -self.state.swept.at(at, at)
        };
        let most = inside.max_by(|a, b| share(*a).total_cmp(&share(*b)))?;
        self.leave(most);
        Some((most, self.remove(most)))
    }
}
