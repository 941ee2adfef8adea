//! The columns a method holds, within its byte budget.
//!
//! Lanes that share the check of a column hold one copy of it (`pool.rs`); each counts it.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::block::FeatureId;
use super::check::{ColumnStats, Feature};
use super::column::{Column, ColumnData};
use crate::error::Result;
use crate::run::budget::Budget;
use crate::run::snapshot::ensure;

/// One held column with all that a result says about it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// Its identity; covariates have none.
    pub id: Option<FeatureId>,
    /// Its name.
    pub name: String,
    /// Place of its file in the source's list.
    pub source: u32,
    /// Place in the scan at which it was taken.
    pub arrival: u64,
    /// Never evicted, not counted in `k`.
    pub pinned: bool,
    /// Its group, where groups were given.
    pub group: Option<u32>,
    /// Mean, variance, missing count.
    pub stats: ColumnStats,
    #[serde(with = "super::pool::one")]
    data: Arc<ColumnData>,
}

impl Kept {
    /// A copy of a feature.
    #[must_use]
    pub fn of(feature: &Feature<'_>) -> Self {
        Self::stored(feature, feature.to_held())
    }

    /// A feature with these values, its own in another storage.
    pub(crate) fn stored(feature: &Feature<'_>, data: impl Into<Arc<ColumnData>>) -> Self {
        Self {
            id: Some(feature.id),
            name: feature.name.to_string(),
            source: feature.source,
            arrival: feature.arrival,
            pinned: feature.pinned,
            group: feature.group,
            stats: feature.stats,
            data: data.into(),
        }
    }

    /// The values.
    #[must_use]
    pub fn column(&self) -> Column<'_> {
        self.data.view()
    }

    /// The values as they are held.
    #[must_use]
    pub fn data(&self) -> &ColumnData {
        &self.data
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.data.bytes() + self.name.len() + size_of::<Self>()) as u64
    }

    /// Lets the values go and leaves what a result says of the feature.
    pub(crate) fn release(&mut self) {
        self.data = Arc::new(ColumnData::dense(Vec::new()));
    }

    /// Refuses what was read back where it is no column of `rows` rows.
    pub(crate) fn ensure(&self, rows: usize) -> Result<()> {
        let whole = self.data.sound() && self.data.finite();
        let fits = whole && self.column().rows() == rows && self.stats.sound();
        ensure(fits, "a kept column has other rows or no numbers")
    }
}

/// Held columns in slots; the slot is what weights and Gram rows are indexed by.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct KeptSet {
    slots: Vec<Kept>,
    #[serde(skip)]
    by_id: FxHashMap<FeatureId, usize>,
    #[serde(skip)]
    budget: Budget,
}

impl KeptSet {
    /// An empty set within `budget`.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { slots: Vec::new(), by_id: FxHashMap::default(), budget }
    }

    /// These columns, of `rows` rows each; refused where they do not fit.
    pub(crate) fn of(slots: Vec<Kept>, budget: Budget, rows: usize) -> Result<Self> {
        Self { slots, ..Self::default() }.resumed(budget, rows)
    }

    /// Completes a set that was read back: its index, and the budget of the run that goes on.
    /// Refused where its columns are not of `rows` rows, or no columns at all.
    pub fn resumed(mut self, mut budget: Budget, rows: usize) -> Result<Self> {
        for kept in &self.slots {
            kept.ensure(rows)?;
        }
        budget.check(self.bytes(), "the kept set")?;
        budget.reset(self.bytes());
        self.budget = budget;
        let ids = self.slots.iter().enumerate();
        self.by_id = ids.filter_map(|(slot, kept)| Some((kept.id?, slot))).collect();
        let named = self.slots.iter().filter(|kept| kept.id.is_some()).count();
        ensure(self.by_id.len() == named, "a feature is kept twice")?;
        Ok(self)
    }

    /// The budget as it was given.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Number of covariates among the columns.
    #[must_use]
    pub fn covariates(&self) -> usize {
        self.slots.iter().filter(|kept| kept.id.is_none()).count()
    }

    /// Number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The columns by slot.
    #[must_use]
    pub fn slots(&self) -> &[Kept] {
        &self.slots
    }

    /// The values of every slot.
    pub fn columns(&self) -> impl Iterator<Item = Column<'_>> {
        self.slots.iter().map(Kept::column)
    }

    /// The slot of a feature.
    #[must_use]
    pub fn slot(&self, id: FeatureId) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.slots.iter().map(Kept::bytes).sum()
    }

    /// Takes room in the budget for columns that are held beside the set, and gives room back; over
    /// budget is an error that changes nothing.
    pub(crate) fn trade_room(&mut self, take: u64, give: u64) -> Result<()> {
        self.budget.give(give);
        let taken = self.budget.take(take, "the reserve");
        if taken.is_err() {
            self.budget.take(give, "the reserve")?;
        }
        taken
    }

    /// Whether a copy of a feature fits into the budget: for methods whose state changes before
    /// they copy it.
    pub(crate) fn check_room(&self, feature: &Feature<'_>) -> Result<()> {
        let bytes = feature.column().bytes() + feature.name.len() + size_of::<Kept>();
        self.budget.clone().take(bytes as u64, "the kept set")
    }

    /// Copies a feature into a new slot at the end; over budget is an error that changes nothing.
    pub fn push(&mut self, feature: &Feature<'_>) -> Result<usize> {
        self.push_held(feature, feature.to_held())
    }

    /// Puts a feature into a new slot at the end with these values, its own in another storage.
    pub fn push_stored(&mut self, feature: &Feature<'_>, data: ColumnData) -> Result<usize> {
        self.add(Kept::stored(feature, data))
    }

    fn push_held(&mut self, feature: &Feature<'_>, data: Arc<ColumnData>) -> Result<usize> {
        self.add(Kept::stored(feature, data))
    }

    /// Adds an unpenalised covariate, pinned, with its values as `Frame::column`
    /// gives them.
    pub fn push_covariate(
        &mut self,
        name: &str,
        data: ColumnData,
        stats: ColumnStats,
    ) -> Result<usize> {
        self.add(Kept {
            id: None,
            name: name.to_string(),
            source: 0,
            arrival: 0,
            pinned: true,
            group: None,
            stats,
            data: Arc::new(data),
        })
    }

    /// Puts a column into a new slot at the end; over budget is an error that changes nothing.
    pub(crate) fn add(&mut self, kept: Kept) -> Result<usize> {
        self.budget.take(kept.bytes(), "the kept set")?;
        let slot = self.slots.len();
        if let Some(id) = kept.id {
            self.by_id.insert(id, slot);
        }
        self.slots.push(kept);
        Ok(slot)
    }

    /// Puts a feature into an occupied slot and returns what was there.
    pub fn replace(&mut self, slot: usize, feature: &Feature<'_>) -> Result<Kept> {
        self.budget.give(self.slots[slot].bytes());
        match self.push(feature) {
            Ok(_) => Ok(self.take(slot)),
            Err(error) => {
                self.budget.take(self.slots[slot].bytes(), "the kept set")?;
                Err(error)
            }
        }
    }

    /// Empties a slot; later slots move down.
    pub fn remove(&mut self, slot: usize) -> Kept {
        let gone = self.slots.remove(slot);
        if let Some(id) = gone.id {
            self.by_id.remove(&id);
        }
        self.index_from(slot);
        self.budget.give(gone.bytes());
        gone
    }

    /// Puts back what [`KeptSet::remove`] took out.
    pub fn insert(&mut self, slot: usize, kept: Kept) -> Result<()> {
        self.budget.take(kept.bytes(), "the kept set")?;
        self.slots.insert(slot, kept);
        self.index_from(slot);
        Ok(())
    }

    fn index_from(&mut self, slot: usize) {
        for (slot, kept) in self.slots.iter().enumerate().skip(slot) {
            if let Some(id) = kept.id {
                self.by_id.insert(id, slot);
            }
        }
    }

    /// Puts a column back that [`KeptSet::replace`] returned.
    pub fn put_back(&mut self, slot: usize, kept: Kept) -> Result<()> {
        self.swap_remove(slot);
        let last = self.add(kept)?;
        self.slots.swap(slot, last);
        for slot in [slot, last] {
            if let Some(id) = self.slots[slot].id {
                self.by_id.insert(id, slot);
            }
        }
        Ok(())
    }

    /// Empties a slot; the last slot takes its place.
    pub fn swap_remove(&mut self, slot: usize) -> Kept {
        let gone = self.take(slot);
        self.budget.give(gone.bytes());
        gone
    }

    fn take(&mut self, slot: usize) -> Kept {
        let gone = self.slots.swap_remove(slot);
        if let Some(id) = gone.id {
            self.by_id.remove(&id);
        }
        if let Some(id) = self.slots.get(slot).and_then(|kept| kept.id) {
            self.by_id.insert(id, slot);
        }
        gone
    }
}
