//! Exact tests without a decision, and the model without its columns.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::matrix::{Model, Slot};
use super::{Exchange, Squared, State};
use crate::data::kept::{Kept, KeptSet};
use crate::error::Result;
use crate::numeric::linalg::Square;
use crate::run::snapshot::ensure;
use crate::select::substitution::os_plus::Newcomer;

/// Share of the loss without a model below which a fall is rounding.
const ROUNDING: f64 = 1e-13;

/// A settled model: what a [`State`] has beside the columns and what they give back.
#[derive(Serialize, Deserialize)]
pub(super) struct Outline {
    slots: Vec<Slot>,
    // Lower triangles: both matrices are symmetric.
    gram: Vec<f64>,
    swept: Vec<f64>,
    substitutions: u64,
}

impl Squared {
    pub(super) fn exact_exchanges(&self, newcomers: &[Newcomer<'_, '_>]) -> Vec<Option<Exchange>> {
        let one = |(feature, products): &Newcomer<'_, '_>| {
            self.state.model.exchange(&self.newcomer(feature, &products.kept, &products.extra))
        };
        newcomers.par_iter().map(one).collect()
    }

    pub(super) fn least_real_fall(&self, tolerance: f64) -> f64 {
        let model = &self.state.model;
        let half = |matrix: &Square| {
            0.5 * (0..self.outputs()).map(|c| matrix.at(c, c)).sum::<f64>().max(0.0)
        };
        (tolerance * half(&model.swept)).max(ROUNDING * half(&model.gram))
    }

    pub(super) fn settle_model(&mut self) {
        while self.state.model.improve() {}
        self.state.model.settle();
        self.renew_residual();
        self.state.version += 1;
    }

    pub(super) fn own_outline(&self) -> Outline {
        let Model { slots, gram, swept, substitutions, .. } = &self.state.model;
        let size = self.state.model.size();
        Outline {
            slots: slots.clone(),
            gram: gram.lower(size),
            swept: swept.lower(size),
            substitutions: *substitutions,
        }
    }

    pub(super) fn redraw_from(&mut self, outline: Outline, columns: Vec<Kept>) -> Result<()> {
        let Outline { slots, gram, swept, substitutions } = outline;
        let State { kept, model: own, theta, .. } = &self.state;
        let size = own.outputs + columns.len();
        let fits = Square::of_lower(size, &gram).zip(Square::of_lower(size, &swept));
        ensure(fits.is_some(), "products of other columns")?;
        let (gram, swept) = fits.unwrap_or_default();
        let model = Model { slots, gram, swept, substitutions, ..own.clone() };
        let held = columns.iter().map(|kept| (kept.id, kept.pinned));
        ensure(model.fits(own, held), "products of other columns")?;
        let kept = KeptSet::of(columns, kept.budget().clone(), self.frame.n())?;
        let (changed_at, theta) = (vec![0; kept.len()], theta.clone());
        let (residual, clock, version) = (Vec::new(), 1, self.state.version + 1);
        self.state =
            State { kept, model, residual, changed_at, clock, version, theta, neighbour_tests: 0 };
        self.foreseen = super::Foreseen::default();
        self.state.model.renew_threshold();
        self.renew_residual();
        Ok(())
    }
}
