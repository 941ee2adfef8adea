//! A gradient of the squared loss that lags behind and is updated a few columns at a time.
//!
//! ```text
//! r = X_S a - y  at coefficients a     slope of a newcomer now:  <x, r> + <x, X_S (w - a)>
//! |slope now| <= |<x, r>| + |x| |X_S (w - a)|,   the last length from the Gram
//! ```
//!
//! After a substitution one coefficient has moved a lot and the others a little. Adding the one or
//! two columns that moved most to `r` makes the bound sharp again: `2 n` flops each, where a new
//! gradient takes `2 n k`. Memory: one or two vectors per output.

use super::Model;
use crate::data::column::Column;
use crate::numeric::kernel;
use crate::numeric::linalg::Square;

/// After this many added columns the gradient is computed anew, so that rounding does not add up.
const MOST: usize = 1000;

/// The gradient of one output at older coefficients.
pub(super) struct LaggedGradient {
    /// `X_S a - y`, and the same times the sample weights where there are any.
    residual: Vec<f64>,
    scaled: Option<Vec<f64>>,
    /// `a` by slot, and `G a`.
    a: Vec<f64>,
    ga: Vec<f64>,
    added: usize,
}

impl LaggedGradient {
    /// The gradient at coefficients `w`.
    pub(super) fn new(model: &Model, gram: &Square, y: &[f64], w: Vec<f64>) -> Self {
        let mut residual: Vec<f64> = y.iter().map(|y| -y).collect();
        let kept: Vec<_> = model.kept.slots().iter().collect();
        model.frame.add_prediction(&kept, &w, &mut residual);
        let scaled = model.frame.weight().map(|_| Vec::new());
        let mut new = Self { residual, scaled, ga: gram.times(&w), a: w, added: 0 };
        new.scale(model);
        new
    }

    fn scale(&mut self, model: &Model) {
        if let (Some(scaled), Some(weight)) = (&mut self.scaled, model.frame.weight()) {
            scaled.clone_from(&self.residual);
            kernel::scale_by(scaled, weight);
        }
    }

    /// `<x, r>` of a column.
    pub(super) fn slope(&self, model: &Model, x: Column<'_>) -> f64 {
        let residual = self.scaled.as_ref().unwrap_or(&self.residual);
        x.dot(residual) / model.frame.weight_sum()
    }

    /// `|X_S (w - a)|`, from `G w`.
    pub(super) fn distance(&self, w: &[f64], gw: &[f64]) -> f64 {
        let moved = w.iter().zip(&self.a).zip(gw.iter().zip(&self.ga));
        let square: f64 = moved.map(|((w, a), (gw, ga))| (w - a) * (gw - ga)).sum();
        square.max(0.0).sqrt()
    }

    /// Adds the columns that moved most, until about `room` is left of the distance.
    pub(super) fn catch_up(
        &mut self,
        model: &Model,
        gram: &Square,
        (y, w): (&[f64], &[f64]),
        room: f64,
    ) {
        let mut moves: Vec<(f64, usize)> = (0..w.len())
            .map(|slot| {
                let d = w[slot] - self.a[slot];
                (d * (d * gram.at(slot, slot)), slot)
            })
            .collect();
        moves.sort_unstable_by(|one, other| other.0.total_cmp(&one.0));
        let mut left: f64 = moves.iter().map(|(square, _)| square).sum();
        let mut count = 0;
        while count < moves.len() && left > room * room {
            left -= moves[count].0;
            count += 1;
        }
        self.added += count;
        if 2 * count > w.len() || self.added > MOST {
            *self = Self::new(model, gram, y, w.to_vec());
            return;
        }
        let slots = || moves[..count].iter().map(|(_, slot)| *slot);
        let columns: Vec<_> = slots().map(|slot| &model.kept.slots()[slot]).collect();
        let by: Vec<f64> = slots().map(|slot| w[slot] - self.a[slot]).collect();
        model.frame.add_prediction(&columns, &by, &mut self.residual);
        slots().for_each(|slot| self.a[slot] = w[slot]);
        self.ga = gram.times(&self.a);
        self.scale(model);
    }

    /// Removes the column in `slot` from the residual, before it leaves the kept set.
    pub(super) fn remove(&mut self, model: &Model, slot: usize) {
        let column = &model.kept.slots()[slot];
        model.frame.add_prediction(&[column], &[-self.a[slot]], &mut self.residual);
        self.a[slot] = 0.0;
        self.scale(model);
    }

    /// A column was added, with a coefficient of 0 here.
    pub(super) fn inserted(&mut self, gram: &Square, slots: usize) {
        self.a.resize(slots, 0.0);
        self.ga = gram.times(&self.a);
    }
}
