//! The reserve of the curved losses: the columns outside the model that gain most.
//!
//! ```text
//! gain of a column that was let go     a^2 / h at its arrival, or a^2 / schur of its full test
//! gain of one that left the model      what its removal cost
//! ```
//!
//! Gains fall as the model gets better, so they are computed anew at the end of a scan and every
//! [`RENEW`] substitutions. The reserve changes no decision on the stream; `last_pass.rs` takes
//! from it at the end.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Curved, State};
use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::data::kept::{Kept, KeptSet};
use crate::error::Result;
use crate::run::budget::Budget;
use crate::run::snapshot::ensure;
use crate::select::substitution::os_plus::Core;
use crate::select::{Marginal, Outcome, Reason, Verdict};

/// Substitutions after which the gains are computed anew.
const RENEW: u64 = 16;

/// Columns that wait, each with twice the fall of the loss that it promises.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Reserve {
    most: usize,
    columns: KeptSet,
    gains: Vec<f64>,
    /// The slot of the least gain, where it is full.
    #[serde(skip)]
    least: Option<usize>,
}

impl Reserve {
    pub(super) fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    pub(super) fn columns(&self) -> &[Kept] {
        self.columns.slots()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.columns.bytes()
    }

    /// Completes one that was read back: refused where it is not for the run of `new`, or its
    /// columns are not of `rows` rows.
    pub(super) fn resumed(mut self, new: &Self, rows: usize) -> Result<Self> {
        self.columns = std::mem::take(&mut self.columns).resumed(Budget::unlimited(), rows)?;
        let columns = self.columns.slots();
        let fits = self.most == new.most && columns.len() <= self.most;
        let free = columns.iter().all(|kept| kept.id.is_some() && !kept.pinned);
        let known = self.gains.len() == columns.len() && self.gains.iter().all(|g| g.is_finite());
        ensure(fits && free && known, "another reserve")?;
        self.find_least();
        Ok(self)
    }

    /// Whether a column of this gain is among those that wait, or would be.
    fn wants(&self, id: FeatureId, gain: f64) -> bool {
        let better = |slot: usize| {
            let (least, other) = (self.gains[slot], self.columns.slots()[slot].id);
            // Among equals the earlier feature waits.
            gain > least || gain == least && Some(id) < other
        };
        self.most > 0 && gain > 0.0 && gain.is_finite() && self.least.is_none_or(better)
    }

    fn find_least(&mut self) {
        let key = |slot: &usize| (self.gains[*slot], self.columns.slots()[*slot].id);
        let worse = |a: &usize, b: &usize| {
            let ((a, x), (b, y)) = (key(a), key(b));
            a.total_cmp(&b).then(y.cmp(&x))
        };
        let full = self.gains.len() >= self.most;
        self.least = (0..self.gains.len()).filter(|_| full).min_by(worse);
    }

    fn remove(&mut self, slot: usize) -> Kept {
        self.gains.swap_remove(slot);
        let gone = self.columns.swap_remove(slot);
        self.find_least();
        gone
    }

    fn add(&mut self, column: Kept, gain: f64) -> Result<()> {
        self.columns.add(column)?;
        self.gains.push(gain);
        self.find_least();
        Ok(())
    }
}

impl Curved {
    /// What becomes of a feature that does not enter the model, by its gain against it. An `Err`
    /// leaves the state as it was.
    pub(super) fn outside(&mut self, feature: &Feature<'_>, gain: f64) -> Result<Outcome> {
        let weak = Outcome::dropped(Reason::Weak);
        let reserve = &mut self.state.reserve;
        if reserve.most == 0 || feature.pinned {
            return Ok(weak);
        }
        if let Some(slot) = reserve.columns.slot(feature.id) {
            reserve.gains[slot] = if gain.is_finite() { gain } else { 0.0 };
            reserve.find_least();
            return Ok(Outcome::new(Verdict::Reserved));
        }
        if !reserve.wants(feature.id, gain) {
            return Ok(weak);
        }
        let mut outcome = Outcome::new(Verdict::Reserved);
        outcome.evicted.extend(self.reserve_column(Kept::of(feature), gain)?);
        Ok(outcome)
    }

    /// What becomes of a feature that did not pass the first tests. Its gain is followed along the
    /// true loss before it is believed.
    pub(super) fn rejected_feature(
        &mut self,
        feature: &Feature<'_>,
        marginal: &Marginal,
    ) -> Result<Outcome> {
        let reserve = &self.state.reserve;
        if reserve.most == 0 {
            return Ok(Outcome::dropped(Reason::Weak));
        }
        let waits = reserve.columns.slot(feature.id).is_some();
        if !waits && !reserve.wants(feature.id, marginal.gain()) {
            return Ok(Outcome::dropped(Reason::Weak));
        }
        let mut marginal = marginal.clone();
        self.confirms(feature, &mut marginal);
        self.outside(feature, marginal.gain())
    }

    /// Takes the room that the column of a slot will need in the reserve, before it leaves the
    /// model; gives how much that is.
    pub(super) fn room_to_leave(&mut self, slot: usize, gain: f64) -> Result<u64> {
        let State { kept, reserve, .. } = &mut self.state;
        let column = &kept.slots()[slot];
        if !column.id.is_some_and(|id| reserve.wants(id, gain)) {
            return Ok(0);
        }
        let gone = reserve.least.map_or(0, |slot| reserve.columns.slots()[slot].bytes());
        let room = column.bytes().saturating_sub(gone);
        kept.trade_room(room, 0)?;
        Ok(room)
    }

    /// Takes a column that left the model, given the room that was taken for it. What it drove out,
    /// which may be the column itself.
    pub(super) fn reserve_left(
        &mut self,
        column: Kept,
        gain: f64,
        room: u64,
    ) -> Result<Option<FeatureId>> {
        self.state.kept.trade_room(0, room)?;
        let wanted = column.id.is_some_and(|id| self.state.reserve.wants(id, gain));
        if wanted {
            return self.reserve_column(column, gain);
        }
        Ok(column.id)
    }

    /// Takes a column in, and lets the least go where it is full.
    fn reserve_column(&mut self, column: Kept, gain: f64) -> Result<Option<FeatureId>> {
        let State { kept, reserve, .. } = &mut self.state;
        let out = reserve.least;
        let gone = out.map_or(0, |slot| reserve.columns.slots()[slot].bytes());
        kept.trade_room(column.bytes(), gone)?;
        let gone = out.map(|slot| reserve.remove(slot));
        reserve.add(column, gain)?;
        Ok(gone.and_then(|gone| gone.id))
    }

    /// The column entered the model, so it waits no longer.
    pub(super) fn left_reserve(&mut self, id: FeatureId) -> Result<()> {
        let State { kept, reserve, .. } = &mut self.state;
        let Some(slot) = reserve.columns.slot(id) else { return Ok(()) };
        kept.trade_room(0, reserve.remove(slot).bytes())
    }

    /// Renews the gains after every few substitutions.
    pub(super) fn renew_reserve_in_turn(&mut self) {
        if self.state.substitutions.is_multiple_of(RENEW) {
            self.renew_reserve();
        }
    }

    /// The gains against the present model.
    pub(super) fn renew_reserve(&mut self) {
        let gain = |kept: &Kept| {
            let Some(feature) = Feature::of_kept(kept) else { return 0.0 };
            let mut marginal = self.marginal(&feature, None);
            self.confirms(&feature, &mut marginal);
            Some(marginal.gain()).filter(|gain| gain.is_finite()).unwrap_or(0.0)
        };
        let gains = self.state.reserve.columns().par_iter().map(gain).collect();
        self.state.reserve.gains = gains;
        self.state.reserve.find_least();
    }

    /// Lets the reserve go for good.
    pub(super) fn close_own_reserve(&mut self) -> Result<()> {
        let State { kept, reserve, .. } = &mut self.state;
        kept.trade_room(0, reserve.bytes())?;
        *reserve = Reserve::default();
        Ok(())
    }
}
