//! The columns that a method may need next: the first of a ranking, as far as there is room.
//!
//! A pool never lets a column in that comes after one that it refused or let go, so what it holds
//! is the beginning of the ranking of all that it was offered, whatever the sizes of the columns.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::hold::Room;
use super::rank::Rank;
use crate::data::block::FeatureId;
use crate::data::check::{ColumnStats, Feature};
use crate::data::column::{Column, ColumnData};
use crate::data::kept::Kept;
use crate::error::Result;
use crate::measure::Side;
use crate::run::snapshot::{encode, ensure};
use crate::selection::Selected;

/// A held column and what is known of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Candidate<F> {
    /// The column.
    pub(crate) kept: Kept,
    /// Facts that the measure computed from it.
    pub(crate) facts: F,
    /// Strength with the target.
    pub(crate) strength: f64,
    /// Marginal p-value.
    pub(crate) p_value: Option<f64>,
    /// A sum over the features selected before.
    pub(crate) total: f64,
}

impl<F> Candidate<F> {
    /// A copy of a feature, in the storage that the measure works on.
    pub(crate) fn new(
        feature: &Feature<'_>,
        data: Option<ColumnData>,
        facts: F,
        (strength, p_value): (f64, Option<f64>),
    ) -> Self {
        let data = data.unwrap_or_else(|| feature.column().to_data());
        Self { kept: Kept::stored(feature, data), facts, strength, p_value, total: 0.0 }
    }

    pub(crate) fn id(&self) -> FeatureId {
        self.kept.id.unwrap_or_default()
    }

    /// Values and facts.
    pub(crate) fn side(&self) -> Side<'_, F> {
        Side { x: self.kept.column(), facts: &self.facts }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.kept.bytes() + size_of::<F>() as u64 + 64
    }
}

/// Whether a candidate that was read back is one: its column, and the facts of it.
pub(crate) fn sound<F: Serialize>(
    candidate: &Candidate<F>,
    rows: usize,
    facts: &mut impl FnMut(Column<'_>, &ColumnStats) -> Result<F>,
) -> Result<()> {
    candidate.kept.ensure(rows)?;
    ensure(candidate.kept.id.is_some(), "a held column is no feature")?;
    let numbers = candidate.strength.is_finite() && candidate.total.is_finite();
    ensure(numbers, "a strength is no number")?;
    let facts = facts(candidate.kept.column(), &candidate.kept.stats)?;
    let same = encode(&facts)? == encode(&candidate.facts)?;
    ensure(same, "what is known of a column is not of it")
}

/// A feature that a method has selected, without its values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Chosen {
    kept: Kept,
    /// What results show as its score.
    pub(crate) score: f64,
    p_value: Option<f64>,
}

impl Chosen {
    /// What a result says of a candidate, with the score that it was selected by.
    pub(crate) fn of<F>(candidate: &Candidate<F>, score: f64) -> Self {
        let mut kept = candidate.kept.clone();
        kept.release();
        Self { kept, score, p_value: candidate.p_value }
    }

    pub(crate) fn id(&self) -> FeatureId {
        self.kept.id.unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        &self.kept.name
    }

    pub(crate) fn pinned(&self) -> bool {
        self.kept.pinned
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.kept.bytes() + 32
    }

    /// Whether what was read back can be a selected feature.
    pub(crate) fn sound(&self) -> bool {
        self.kept.id.is_some() && self.kept.stats.sound() && self.score.is_finite()
    }

    /// As the feature at a place of the method's own list.
    pub(crate) fn selected(&self, order: usize) -> Option<Selected> {
        let selected = Selected::from_kept(&self.kept, order)?;
        Some(Selected { score: self.score, p_value: self.p_value, ..selected })
    }
}

/// The first of a ranking.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pool<F> {
    held: BTreeMap<Rank, Candidate<F>>,
    bytes: u64,
    // The first that was refused or let go; whatever comes after it is refused.
    floor: Option<Rank>,
}

/// What came of an offer.
pub(crate) enum Offered {
    /// It is held; these were let go for it.
    Held(Vec<FeatureId>),
    /// There is no room for one of its rank.
    Refused,
}

impl<F> Default for Pool<F> {
    fn default() -> Self {
        Self { held: BTreeMap::new(), bytes: 0, floor: None }
    }
}

impl<F: Serialize + DeserializeOwned> Pool<F> {
    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The place from which on features are not held; `None` where every one is.
    pub(crate) fn floor(&self) -> Option<Rank> {
        self.floor
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The first of the ranking.
    pub(crate) fn first(&self) -> Option<(&Rank, &Candidate<F>)> {
        self.held.first_key_value()
    }

    pub(crate) fn get(&self, rank: &Rank) -> Option<&Candidate<F>> {
        self.held.get(rank)
    }

    /// Holds a candidate that was held before, so that there is room for it.
    pub(crate) fn put(&mut self, rank: Rank, candidate: Candidate<F>) {
        self.bytes += candidate.bytes();
        self.held.insert(rank, candidate);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Rank, &Candidate<F>)> {
        self.held.iter()
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Candidate<F>> {
        self.held.values_mut()
    }

    pub(crate) fn remove(&mut self, rank: &Rank) -> Option<Candidate<F>> {
        let gone = self.held.remove(rank)?;
        self.bytes -= gone.bytes();
        Some(gone)
    }

    /// What is held, in the order of the ranking; the pool is then as new.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Candidate<F>> + use<F> {
        std::mem::take(self).held.into_values()
    }

    /// Refuses a feature at this place, or holds the candidate that `make` makes of it.
    ///
    /// With `hold=all` one that does not fit is an error, and so is one that does not fit alone; an
    /// error changes nothing. Pinned candidates are held in any case.
    pub(crate) fn offer(
        &mut self,
        rank: Rank,
        room: Room,
        pinned: bool,
        make: impl FnOnce() -> Candidate<F>,
    ) -> Result<Offered> {
        let after_floor = self.floor.is_some_and(|floor| floor < rank);
        let last = |pool: &Self| pool.held.last_key_value().is_some_and(|(last, _)| *last < rank);
        if !pinned && (after_floor || (self.held.len() >= room.columns && last(self))) {
            self.refuse(rank);
            return Ok(Offered::Refused);
        }
        let candidate = make();
        let bytes = candidate.bytes();
        room.check(self.bytes, bytes)?;
        self.held.insert(rank, candidate);
        self.bytes += bytes;
        let mut gone = Vec::new();
        while self.held.len() > room.columns || self.bytes > room.bytes {
            let weakest = self.held.iter().rev().find(|(_, held)| !held.kept.pinned);
            let Some(weakest) = weakest.map(|(rank, _)| *rank) else { break };
            self.remove(&weakest);
            self.refuse(weakest);
            gone.push(weakest.id());
        }
        if gone.last() == Some(&rank.id()) {
            return Ok(Offered::Refused);
        }
        Ok(Offered::Held(gone))
    }

    fn refuse(&mut self, rank: Rank) {
        self.floor = Some(self.floor.map_or(rank, |floor| floor.min(rank)));
    }

    /// Checks what was read back: columns of `rows` rows, each under its own place.
    pub(crate) fn restored(
        mut self,
        rows: usize,
        facts: &mut impl FnMut(Column<'_>, &ColumnStats) -> Result<F>,
    ) -> Result<Self> {
        for (rank, candidate) in &self.held {
            sound(candidate, rows, facts)?;
            ensure(rank.id() == candidate.id(), "a column is held under another's place")?;
        }
        self.bytes = self.held.values().map(Candidate::bytes).sum();
        Ok(self)
    }
}
