//! The kept set of `os` and its coefficients.

use crate::data::check::Feature;
use crate::data::kept::{Kept, KeptSet};
use crate::error::Result;
use crate::loss::LossKind;
use crate::numeric::inner_product::Frame;
use crate::select::refit::Outputs;
use crate::select::ties;

/// The kept set and its coefficients.
pub(in crate::select::substitution) struct Model {
    pub(in crate::select::substitution) frame: Frame,
    pub(in crate::select::substitution) outputs: Outputs,
    pub(in crate::select::substitution) kept: KeptSet,
    /// Coefficient of a slot in output `c` at `slot * outputs + c`.
    pub(in crate::select::substitution) w: Vec<f64>,
    /// Intercepts on centred columns; 0 for the squared loss, whose target is centred.
    pub(in crate::select::substitution) b: Vec<f64>,
    pub(in crate::select::substitution) pinned: usize,
    /// When a slot's column last changed, on `clock`.
    pub(in crate::select::substitution) changed_at: Vec<u64>,
    pub(in crate::select::substitution) clock: u64,
}

impl Model {
    pub(in crate::select::substitution) fn count(&self) -> usize {
        self.outputs.y.len()
    }

    pub(in crate::select::substitution) fn full(&self, k: usize) -> bool {
        self.kept.len() - self.pinned >= k
    }

    /// Whether the intercept is a variable of its own.
    pub(in crate::select::substitution) fn has_intercept(&self) -> bool {
        self.frame.centred() && self.outputs.kind != LossKind::Squared
    }

    /// Coefficients of output `c` by slot.
    pub(in crate::select::substitution) fn coefficients(&self, w: &[f64], c: usize) -> Vec<f64> {
        w.iter().skip(c).step_by(self.count()).copied().collect()
    }

    /// Puts a newcomer into a new slot or into slot `out`, and gives the column that was there.
    pub(in crate::select::substitution) fn insert(
        &mut self,
        feature: &Feature<'_>,
        out: Option<usize>,
        w: &[f64],
    ) -> Result<Option<Kept>> {
        let count = self.count();
        let (evicted, slot) = match out {
            Some(slot) => (Some(self.kept.replace(slot, feature)?), slot),
            None => (None, self.kept.push(feature)?),
        };
        self.pinned += usize::from(out.is_none() && feature.pinned);
        self.w.resize(self.kept.len() * count, 0.0);
        self.changed_at.resize(self.kept.len(), 0);
        self.w[slot * count..(slot + 1) * count].copy_from_slice(w);
        self.clock += 1;
        self.changed_at[slot] = self.clock;
        Ok(evicted)
    }

    /// The least size of an unpinned slot, and the slot of the latest feature that has it.
    pub(in crate::select::substitution) fn least(
        &self,
        size: impl Fn(usize) -> f64,
    ) -> Option<(f64, usize)> {
        let slots = self.kept.slots();
        let free = (0..slots.len()).filter(|slot| !slots[*slot].pinned);
        ties::least(free.map(|slot| (size(slot), slot)), |slot| slots[slot].id)
    }
}
