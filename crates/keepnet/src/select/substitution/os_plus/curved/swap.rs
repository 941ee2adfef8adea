//! A newcomer enters the model, alone or in place of a kept feature.

use super::Curved;
use super::exact::Tested;
use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::data::kept::Kept;
use crate::error::Result;

impl Curved {
    /// Moves coefficients and inverse of the quadratic model: adds a newcomer and removes slot `out`
    /// where there is one.
    fn move_models(&mut self, size: usize, test: &[Tested], out: Option<usize>) {
        let base = self.base();
        let mut scratch = Vec::new();
        for (model, test) in self.state.models.iter_mut().zip(test) {
            model.swept.reserve(size + 1);
            for i in 0..size {
                model.w[i] -= test.d[i] * test.v;
                model.swept.set(size, i, test.d[i]);
            }
            model.w.push(test.v);
            model.swept.set(size, size, test.schur);
            model.swept.sweep(size, 1.0, size + 1, &mut scratch);
            let Some(out) = out else { continue };
            let q = base + out;
            let share = model.w[q] / model.swept.at(q, q);
            for i in 0..=size {
                model.w[i] -= model.swept.at(i, q) * share;
            }
            model.swept.sweep(q, -1.0, size + 1, &mut scratch);
            model.swept.relocate(size, q, size + 1);
            model.w.swap_remove(q);
        }
    }

    /// Adds a newcomer, in place of slot `out` where there is one, and corrects the coefficients.
    pub(super) fn enter(
        &mut self,
        feature: &Feature<'_>,
        test: &[Tested],
        out: Option<usize>,
    ) -> Result<Option<Kept>> {
        let size = self.size();
        let evicted = match out {
            Some(slot) => Some(self.state.kept.replace(slot, feature)?),
            None => {
                self.state.kept.push(feature)?;
                self.state.changed_at.push(0);
                None
            }
        };
        self.move_models(size, test, out);
        self.state.clock += 1;
        let slot = out.unwrap_or(self.state.kept.len() - 1);
        self.state.changed_at[slot] = self.state.clock;
        for c in 0..self.state.models.len() {
            let u = self.predict(&self.state.models[c].w);
            self.renew_slopes(c, u);
            self.newton_step(c);
        }
        Ok(evicted)
    }

    /// Replaces slot `out`, whose removal costs `loss`, by the newcomer if that lowers the loss of
    /// the model; gives what is held no longer if it did.
    pub(super) fn swap(
        &mut self,
        feature: &Feature<'_>,
        test: &[Tested],
        (loss, out): (f64, usize),
    ) -> Result<Option<Vec<FeatureId>>> {
        let room = self.room_to_leave(out, loss)?;
        let (before, models) = (self.total_value(), self.state.models.clone());
        let evicted = match self.enter(feature, test, Some(out)) {
            Ok(evicted) => evicted,
            Err(error) => {
                self.state.kept.trade_room(0, room)?;
                return Err(error);
            }
        };
        let Some(evicted) = evicted else { return Ok(None) };
        if self.total_value() < before {
            self.left_reserve(feature.id)?;
            return Ok(Some(self.reserve_left(evicted, loss, room)?.into_iter().collect()));
        }
        self.state.models = models;
        self.state.kept.put_back(out, evicted)?;
        self.state.kept.trade_room(0, room)?;
        Ok(None)
    }
}
