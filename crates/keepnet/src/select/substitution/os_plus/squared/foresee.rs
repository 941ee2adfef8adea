//! Residuals of models that are yet to come.
//!
//! A new residual `y - X w` reads every column of the model, which is more than the caches hold
//! where there are many rows and columns. So it waits for the memory, once a substitution. The
//! products of a group of newcomers are computed together before their turn. With them a copy of
//! the matrix decides on the group without any column, and the residuals of all models that it goes
//! through are computed in one pass over the columns (`numeric/panel.rs`).
//!
//! At its turn a model takes the residual that was computed for the same columns in the same order
//! with the same coefficients, to the last bit. If there is none, because other features were
//! admitted in between, it is computed then. So looking ahead changes no digit.

use super::Squared;
use super::matrix::Model;
use crate::data::block::FeatureId;
use crate::numeric::inner_product::HasColumn;
use crate::select::kept_products::GROUP;
use crate::select::substitution::os_plus::Candidate;

/// Bytes of kept columns from which a residual waits for the memory: twice a second-level cache.
const LARGE: u64 = 2 << 20;

/// Whether looking ahead pays for kept columns of so many bytes.
pub(in super::super) fn looks_ahead(bytes: u64) -> bool {
    bytes > LARGE
}

/// The models to come, in order, with their residuals.
#[derive(Default)]
pub(super) struct Foreseen {
    next: std::collections::VecDeque<Ahead>,
    /// Buffers of residuals that were used.
    spare: Vec<Vec<f64>>,
}

struct Ahead {
    ids: Vec<Option<FeatureId>>,
    w: Vec<f64>,
    residual: Vec<f64>,
}

/// Where the column of a slot is while a group is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Kept(usize),
    Candidate(usize),
}

impl Foreseen {
    pub(super) fn is_empty(&self) -> bool {
        self.next.is_empty()
    }

    /// The residual of `model`, if it was foreseen; the buffers of `last` are used again.
    pub(super) fn take(&mut self, model: &Model, last: &mut Vec<Vec<f64>>) -> Option<Vec<f64>> {
        if self.next.is_empty() {
            return None;
        }
        let w = Squared::coefficients(model, 0);
        let same = |ahead: &Ahead| {
            let bits = ahead.w.iter().zip(&w).all(|(a, b)| a.to_bits() == b.to_bits());
            bits && ahead.ids.iter().copied().eq(ids(model))
        };
        // Another model than the next one: the rest would not come either.
        let found = self.next.pop_front().filter(same);
        if found.is_none() {
            self.spare.extend(self.next.drain(..).map(|ahead| ahead.residual));
        }
        let residual = found?.residual;
        self.spare.append(last);
        self.spare.truncate(GROUP);
        Some(residual)
    }
}

fn ids(model: &Model) -> impl Iterator<Item = Option<FeatureId>> + '_ {
    model.inside().map(|slot| model.slots[slot].id)
}

/// The columns of all models in the order of their slots, and minus the coefficient of each in
/// each model: zero where a model does not have it.
fn union(models: &[(Vec<(usize, Place)>, Ahead)]) -> (Vec<Place>, Vec<f64>) {
    let mut union: Vec<(usize, Place)> =
        models.iter().flat_map(|(places, _)| places.iter().copied()).collect();
    union.sort_unstable();
    union.dedup();
    let mut w = vec![0.0; union.len() * models.len()];
    for (m, (places, ahead)) in models.iter().enumerate() {
        // Both are in the order of slots, and a model has one column in a slot.
        let mut at = 0;
        for (place, coefficient) in places.iter().zip(&ahead.w) {
            at += union[at..].iter().take_while(|other| *other != place).count();
            w[at * models.len() + m] = -coefficient;
        }
    }
    (union.into_iter().map(|(_, place)| place).collect(), w)
}

impl Squared {
    /// Tries the group on a copy of the matrix, and computes the residuals of its models.
    pub(super) fn foresee_residuals(&mut self, group: &[Candidate<'_, '_>]) {
        let mut spare = std::mem::take(&mut self.foreseen.spare);
        let models = self.models_to_come(group);
        let (union, w) = union(&models);
        let kept = self.state.kept.slots();
        let column = |place: &Place| match *place {
            Place::Kept(slot) => &kept[slot] as &dyn HasColumn,
            Place::Candidate(g) => group[g].feature,
        };
        let columns: Vec<&dyn HasColumn> = union.iter().map(column).collect();
        spare.resize_with(models.len().max(spare.len()), Vec::new);
        let residuals = &mut spare[..models.len()];
        residuals.iter_mut().for_each(|r| r.clone_from(&self.y[0]));
        self.frame.add_predictions(&columns, &w, residuals);
        if let Some(v) = self.frame.weight() {
            residuals.iter_mut().for_each(|r| crate::numeric::kernel::scale_by(r, v));
        }
        let mut rest = spare.into_iter();
        let next = models.into_iter().zip(rest.by_ref());
        self.foreseen.next =
            next.map(|((_, ahead), residual)| Ahead { residual, ..ahead }).collect();
        self.foreseen.spare = rest.collect();
    }

    /// The models that the group leads to, with the slots and columns of each.
    fn models_to_come(&self, group: &[Candidate<'_, '_>]) -> Vec<(Vec<(usize, Place)>, Ahead)> {
        let mut model = self.state.model.clone();
        let mut places: Vec<Place> = (0..model.slots.len()).map(Place::Kept).collect();
        let mut out = Vec::new();
        for (g, candidate) in group.iter().enumerate().take_while(|(_, c)| !c.feature.pinned) {
            let row = places.iter().map(|place| match *place {
                Place::Kept(slot) => candidate.products.kept[slot],
                Place::Candidate(earlier) => candidate.earlier[earlier],
            });
            let row: Vec<f64> = row.collect();
            let newcomer = self.newcomer(candidate.feature, &row, &candidate.products.extra);
            let judged = model.judge(&newcomer);
            if judged.weak {
                continue;
            }
            let admitted = model.admit(&newcomer, &judged.swept);
            places.push(Place::Candidate(g));
            if let Some(slot) = admitted.removed {
                places.swap_remove(slot);
            }
            if admitted.changed {
                let inside = model.inside().map(|slot| (slot, places[slot])).collect();
                let (ids, w) = (ids(&model).collect(), Self::coefficients(&model, 0));
                out.push((inside, Ahead { ids, w, residual: Vec::new() }));
            }
        }
        out
    }
}
