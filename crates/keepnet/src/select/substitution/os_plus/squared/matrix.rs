//! The swept Gram matrix of the squared form: newcomers, swaps, gains and losses.
//!
//! It decides by products alone and holds no columns, so that a copy of it can try what the next
//! newcomers would change; see `foresee.rs`.

use serde::{Deserialize, Serialize};

use crate::data::block::FeatureId;
use crate::numeric::linalg::Square;
use crate::select::substitution::os_plus::Exchange;

/// A column whose Schur complement is a smaller share of its square is collinear.
const COLLINEAR: f64 = 1e-8;
const SWAPS: usize = 20;
/// Changes after which the matrix is computed anew, at least.
const REBUILD: u64 = 200;

/// The model and its reserve.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Model {
    pub(super) k: usize,
    pub(super) reserve: usize,
    pub(super) outputs: usize,
    pub(super) slots: Vec<Slot>,
    pub(super) gram: Square,
    pub(super) swept: Square,
    pub(super) changes: u64,
    pub(super) substitutions: u64,
    /// The least gain that can lead to a substitution.
    pub(super) threshold: f64,
}

/// What the model knows of a held column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Slot {
    /// Covariates have none.
    pub(super) id: Option<FeatureId>,
    pub(super) pinned: bool,
    /// In the model, not in the reserve.
    pub(super) inside: bool,
}

/// A column that is not held yet, by its inner products.
pub(super) struct Newcomer {
    pub(super) id: Option<FeatureId>,
    pub(super) pinned: bool,
    pub(super) square: f64,
    /// With the held columns.
    pub(super) row: Vec<f64>,
    /// With the outputs.
    pub(super) xy: Vec<f64>,
}

/// The decision on a newcomer.
pub(super) struct Judged {
    pub(super) swept: Swept,
    pub(super) gain: f64,
    /// It is not worth holding.
    pub(super) weak: bool,
}

/// What an admitted newcomer changed.
pub(super) struct Admitted {
    /// Whether the model is another one.
    pub(super) changed: bool,
    /// The slot that was emptied; the last one took its place.
    pub(super) removed: Option<usize>,
}

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

impl Model {
    /// No columns yet, and the outputs' products with each other.
    pub(super) fn new(k: usize, reserve: usize, products: &Square, outputs: usize) -> Self {
        let (gram, swept) = (products.clone(), products.clone());
        let slots = Vec::new();
        let (changes, substitutions, threshold) = (0, 0, 0.0);
        Self { k, reserve, outputs, slots, gram, swept, changes, substitutions, threshold }
    }

    /// Whether a model from a checkpoint has these columns, and is for the run of `new`.
    pub(super) fn fits<'a>(
        &self,
        new: &Self,
        held: impl ExactSizeIterator<Item = (Option<FeatureId>, bool)> + 'a,
    ) -> bool {
        let sizes = |model: &Self| (model.k, model.reserve, model.outputs);
        let size = self.outputs + held.len();
        held.len() == self.slots.len()
            && self.slots.iter().zip(held).all(|(slot, held)| (slot.id, slot.pinned) == held)
            && sizes(self) == sizes(new)
            && self.gram.sound(size)
            && self.swept.sound(size)
    }

    /// Matrix index of a slot.
    pub(super) fn at(&self, slot: usize) -> usize {
        self.outputs + slot
    }

    pub(super) fn size(&self) -> usize {
        self.outputs + self.slots.len()
    }

    /// Features in the model that count towards `k`.
    pub(super) fn counted(&self) -> usize {
        self.slots.iter().filter(|slot| slot.inside && !slot.pinned).count()
    }

    /// Whether a newcomer must replace a held feature.
    pub(super) fn full(&self) -> bool {
        self.slots.iter().filter(|slot| !slot.pinned).count() >= self.k + self.reserve
    }

    /// The slots of the model.
    pub(super) fn inside(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.slots.len()).filter(|slot| self.slots[*slot].inside)
    }

    fn outside(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.slots.len()).filter(|slot| !self.slots[*slot].inside)
    }

    /// Decides on a newcomer; it changes nothing.
    pub(super) fn judge(&self, newcomer: &Newcomer) -> Judged {
        let swept = self.swept_column(newcomer);
        let column = |i: usize| swept.column[i];
        let gain = self.gain(column, swept.own, swept.square);
        let enters = gain > 0.0
            && (self.counted() < self.k || self.weakest(column, swept.own, gain).is_some());
        let weak = self.full() && !enters && gain <= self.threshold || swept.collinear();
        Judged { swept, gain, weak }
    }

    /// Takes a newcomer in, and drops the least column if it was full.
    pub(super) fn admit(&mut self, newcomer: &Newcomer, swept: &Swept) -> Admitted {
        let full = self.full();
        self.extend(newcomer, swept);
        let changed = self.improve();
        let removed = if full { self.drop_least() } else { None };
        if changed {
            self.renew();
        }
        self.renew_threshold();
        Admitted { changed, removed }
    }

    /// Swaps columns between model and reserve until no swap lowers the loss; `true` if any did.
    pub(super) fn improve(&mut self) -> bool {
        let mut changed = false;
        for _ in 0..SWAPS {
            let best = self.outside().map(|slot| (self.slot_gain(slot), slot)).fold(
                None::<(f64, usize)>,
                |best, next| match best {
                    Some(best) if best.0 >= next.0 => Some(best),
                    _ => Some(next),
                },
            );
            let Some((gain, slot)) = best.filter(|(gain, _)| *gain > 0.0) else { break };
            if self.counted() < self.k {
                self.enter(slot);
                changed = true;
                continue;
            }
            let at = self.at(slot);
            let own = self.swept.at(at, at);
            let Some(out) = self.weakest(|i| self.swept.at(at, i), own, gain) else { break };
            self.enter(slot);
            self.leave(out);
            self.substitutions += 1;
            changed = true;
        }
        changed
    }

    /// Drops the column outside the model with the least gain, the latest among equals.
    fn drop_least(&mut self) -> Option<usize> {
        let key = |slot: usize| (self.slot_gain(slot), self.slots[slot].id);
        let least = self
            .outside()
            .map(|slot| (key(slot), slot))
            .min_by(|((a, x), _), ((b, y), _)| a.total_cmp(b).then(y.cmp(x)))?;
        self.remove(least.1);
        Some(least.1)
    }

    /// After changes of the model: the matrix is computed anew if there were many.
    pub(super) fn renew(&mut self) {
        if self.changes >= REBUILD.max(self.size() as u64) {
            self.rebuild();
        }
    }

    pub(super) fn renew_threshold(&mut self) {
        if !self.full() {
            return;
        }
        let least = self.outside().map(|slot| self.slot_gain(slot)).fold(f64::INFINITY, f64::min);
        self.threshold = if least.is_finite() {
            least
        } else {
            let inside = (0..self.slots.len()).filter(|slot| !self.slots[*slot].pinned);
            inside.map(|slot| self.removal_loss(slot)).fold(f64::INFINITY, f64::min)
        };
    }

    /// The swept column of a newcomer.
    pub(super) fn swept_column(&self, newcomer: &Newcomer) -> Swept {
        let Newcomer { row, xy, square, .. } = newcomer;
        let size = self.outputs + row.len();
        let plain = |i: usize| if i < xy.len() { xy[i] } else { row[i - xy.len()] };
        let mut masked = vec![0.0; size];
        self.inside().for_each(|slot| masked[self.at(slot)] = row[slot]);
        let inside = |i: usize| i >= xy.len() && self.slots[i - xy.len()].inside;
        let mut column = self.swept.times(&masked);
        for (i, value) in column.iter_mut().enumerate() {
            *value = (if inside(i) { 0.0 } else { plain(i) }) - *value;
        }
        let own = square - crate::numeric::kernel::dot(&column, &masked);
        Swept { column, own, square: *square }
    }

    /// Adds a newcomer in a slot outside the model.
    pub(super) fn extend(&mut self, newcomer: &Newcomer, swept: &Swept) -> usize {
        let slot = self.slots.len();
        let (at, count) = (self.at(slot), self.outputs);
        self.gram.reserve(at + 1);
        self.swept.reserve(at + 1);
        for i in 0..at {
            let plain = if i < count { newcomer.xy[i] } else { newcomer.row[i - count] };
            self.gram.set(at, i, plain);
            self.swept.set(at, i, swept.column[i]);
        }
        self.gram.set(at, at, swept.square);
        self.swept.set(at, at, swept.own);
        self.slots.push(Slot { id: newcomer.id, pinned: newcomer.pinned, inside: false });
        slot
    }

    pub(super) fn enter(&mut self, slot: usize) {
        let (at, size) = (self.at(slot), self.size());
        self.swept.sweep(at, 1.0, size, &mut Vec::new());
        self.slots[slot].inside = true;
        self.changes += 1;
    }

    fn leave(&mut self, slot: usize) {
        let (at, size) = (self.at(slot), self.size());
        self.swept.sweep(at, -1.0, size, &mut Vec::new());
        self.slots[slot].inside = false;
        self.changes += 1;
    }

    /// `sum over outputs of t^2 / schur` for a column with these swept entries.
    fn gain(&self, column: impl Fn(usize) -> f64, own: f64, square: f64) -> f64 {
        if own < COLLINEAR * square {
            return 0.0;
        }
        (0..self.outputs).map(|c| column(c) * (column(c) / own)).sum()
    }

    fn slot_gain(&self, slot: usize) -> f64 {
        let at = self.at(slot);
        self.gain(|c| self.swept.at(c, at), self.swept.at(at, at), self.gram.at(at, at))
    }

    /// The model slot whose removal costs least after the newcomer joined, where that is below
    /// `gain`.
    fn weakest(&self, column: impl Fn(usize) -> f64, own: f64, gain: f64) -> Option<usize> {
        let (loss, slot) = self.cheapest(column, own)?;
        (loss < gain).then_some(slot)
    }

    /// The model slot whose removal costs least after the newcomer joined, with that cost.
    fn cheapest(&self, column: impl Fn(usize) -> f64, own: f64) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for slot in self.inside().filter(|slot| !self.slots[*slot].pinned) {
            let at = self.at(slot);
            let d = column(at);
            let left = d * d / own - self.swept.at(at, at);
            let loss: f64 = (0..self.outputs)
                .map(|c| {
                    let w = self.swept.at(c, at) - d * column(c) / own;
                    w * (w / left)
                })
                .sum();
            if best.is_none_or(|(least, _)| loss < least) {
                best = Some((loss, slot));
            }
        }
        best
    }

    /// The best exchange of a newcomer for a column of the model.
    pub(super) fn exchange(&self, newcomer: &Newcomer) -> Option<Exchange> {
        let swept = self.swept_column(newcomer);
        let column = |i: usize| swept.column[i];
        let gain = self.gain(column, swept.own, swept.square);
        if gain <= 0.0 || self.counted() < self.k {
            return (gain > 0.0).then_some(Exchange { fall: 0.5 * gain, leaves: None });
        }
        let (loss, slot) = self.cheapest(column, swept.own)?;
        Some(Exchange { fall: 0.5 * (gain - loss), leaves: Some(slot) })
    }

    /// Computes the matrix anew, so that it is a function of the products alone, and symmetric.
    pub(super) fn settle(&mut self) {
        self.rebuild();
        self.swept.mirror(self.size());
        self.renew_threshold();
    }

    /// Empties a slot outside the model; the last one takes its place.
    pub(super) fn remove(&mut self, slot: usize) {
        let (at, last, size) = (self.at(slot), self.size() - 1, self.size());
        self.gram.relocate(last, at, size);
        self.swept.relocate(last, at, size);
        self.slots.swap_remove(slot);
    }

    fn rebuild(&mut self) {
        let size = self.size();
        let mut scratch = Vec::new();
        for i in 0..size {
            let row = self.gram.row(i)[..size].to_vec();
            self.swept.row_mut(i)[..size].copy_from_slice(&row);
        }
        for slot in self.inside().collect::<Vec<_>>() {
            let at = self.at(slot);
            self.swept.sweep(at, 1.0, size, &mut scratch);
        }
        self.changes = 0;
    }

    /// `sum over outputs of w^2 / A_ii`: twice the rise of the loss if the slot left.
    fn removal_loss(&self, slot: usize) -> f64 {
        let at = self.at(slot);
        let own = -self.swept.at(at, at);
        let rise = |w: f64| w * (w / own);
        (0..self.outputs).map(|c| rise(self.swept.at(c, at))).sum()
    }

    /// Removes an unpinned column so that a pinned one which the model spans can enter.
    pub(super) fn free_collinear(&mut self, column: &[f64]) -> Option<usize> {
        let share = |slot: usize| {
            let at = self.at(slot);
            column[at] * column[at] / -self.swept.at(at, at)
        };
        let inside = self.inside().filter(|slot| !self.slots[*slot].pinned);
        let most = inside.max_by(|a, b| share(*a).total_cmp(&share(*b)))?;
        self.leave(most);
        self.remove(most);
        Some(most)
    }
}
