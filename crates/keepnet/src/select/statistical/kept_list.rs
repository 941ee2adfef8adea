//! The kept list of a statistical method: columns in insertion order, the facts and score of each,
//! and an index of the rows that sparse ones touch (`row_index.rs`).

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::row_index::RowIndex;
use super::rules::TIE;
use crate::data::block::FeatureId;
use crate::data::check::{ColumnStats, Feature};
use crate::data::column::{Column, ColumnData};
use crate::data::kept::{Kept, KeptSet};
use crate::error::Result;
use crate::measure::{Evidence, Side};
use crate::run::budget::Budget;
use crate::run::snapshot::{encode, ensure};
use crate::select::Holds;
use crate::selection::{Selected, Selection};

/// Facts and score of a kept column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record<F> {
    /// Facts that the measure computed from the column.
    pub facts: F,
    /// Strength against the target.
    pub score: f64,
    /// Marginal p-value.
    pub p_value: Option<f64>,
}

/// Kept columns in insertion order.
#[derive(Clone)]
pub struct KeptList<F> {
    kept: KeptSet,
    records: Vec<Record<F>>,
    // The index bit of each column on the list; sparse columns have one.
    bits: Vec<Option<u32>>,
    index: RowIndex,
}

/// Bytes of a level of a column: its value, rows and weight.
const LEVEL: u64 = 20;

impl<F: Clone + Serialize + DeserializeOwned> KeptList<F> {
    /// An empty list for columns of `rows` rows.
    #[must_use]
    pub fn new(rows: usize, budget: Budget) -> Self {
        let (kept, index) = (KeptSet::new(budget), RowIndex::new(rows));
        Self { kept, records: Vec::new(), bits: Vec::new(), index }
    }

    /// What is held with up to `kept` features and `spare` columns more: a bit of the index per
    /// row and the levels of each, and `vectors` of a number per row.
    pub(crate) fn footprint(&self, kept: Option<usize>, spare: usize, vectors: usize) -> Holds {
        let rows = self.index.rows;
        let facts = rows as u64 / 8 + LEVEL * rows.min(256) as u64;
        Holds { rows, kept, spare, facts, covariates: 0, vectors, matrices: 0 }
    }

    /// Number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// The column at a position.
    #[must_use]
    pub fn kept(&self, at: usize) -> &Kept {
        &self.kept.slots()[at]
    }

    /// Facts and score of the column at a position.
    #[must_use]
    pub fn record(&self, at: usize) -> &Record<F> {
        &self.records[at]
    }

    /// The identity of the column at a position.
    #[must_use]
    pub fn id(&self, at: usize) -> FeatureId {
        self.kept(at).id.unwrap_or_default()
    }

    /// Values and facts of the column at a position.
    #[must_use]
    pub fn side(&self, at: usize) -> Side<'_, F> {
        Side { x: self.kept(at).column(), facts: &self.records[at].facts }
    }

    /// Number of columns that are not pinned and so count in `k`.
    #[must_use]
    pub fn free(&self) -> usize {
        self.kept.slots().iter().filter(|kept| !kept.pinned).count()
    }

    /// Position of the weakest column that is neither pinned nor in `removed`; the latest of
    /// equals.
    #[must_use]
    pub fn weakest(&self, removed: &[usize]) -> Option<usize> {
        let free = |at: &usize| !self.kept(*at).pinned && !removed.contains(at);
        let score = |at: usize| self.records[at].score;
        let least = (0..self.len()).filter(free).map(score).min_by(f64::total_cmp)?;
        (0..self.len()).rev().filter(free).find(|at| score(*at) <= least + TIE)
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let records = size_of::<Record<F>>() * self.records.len();
        self.kept.bytes() + self.index.bytes() + records as u64
    }

    /// Whether the feature is on the list.
    #[must_use]
    pub fn contains(&self, id: FeatureId) -> bool {
        self.kept.slot(id).is_some()
    }

    /// Looks up which columns share a row with `x`, for [`KeptList::may_share_rows`].
    pub fn probe(&mut self, x: Column<'_>) {
        self.index.probe(x);
    }

    /// Whether the column at a position shares a row with the column probed last; `true` where
    /// one of the two is not sparse.
    #[must_use]
    pub fn may_share_rows(&self, at: usize) -> bool {
        self.bits[at].is_none_or(|bit| self.index.shares(bit))
    }

    /// Removes the columns at positions `removed` (ascending) and appends a feature. Over budget
    /// the list stays as it was.
    pub fn exchange(
        &mut self,
        removed: &[usize],
        feature: &Feature<'_>,
        data: Option<ColumnData>,
        facts: F,
        evidence: Evidence,
    ) -> Result<Vec<FeatureId>> {
        let ids = removed.iter().map(|at| self.id(*at)).collect();
        let mut taken = Vec::with_capacity(removed.len());
        for at in removed.iter().rev() {
            taken.push((*at, self.take(*at)));
        }
        let data = data.unwrap_or_else(|| feature.column().to_data());
        let result = self.kept.push_stored(feature, data).and_then(|at| {
            let fits = self.kept.budget().check(self.bytes(), "the kept set");
            fits.inspect_err(|_| drop(self.kept.remove(at)))
        });
        match result {
            Ok(()) => {
                let Evidence { strength, p_value, .. } = evidence;
                self.records.push(Record { facts, score: strength, p_value });
                let column = self.kept.slots()[self.kept.len() - 1].column();
                self.bits.push(self.index.add(column));
                Ok(ids)
            }
            Err(error) => {
                for (at, (kept, record)) in taken.into_iter().rev() {
                    self.bits.insert(at, self.index.add(kept.column()));
                    self.records.insert(at, record);
                    self.kept.insert(at, kept)?;
                }
                Err(error)
            }
        }
    }

    /// Whether `more` bytes fit beside this list and another under the same limit.
    pub fn check_beside(&self, other: &Self, more: u64) -> Result<()> {
        let need = self.bytes().saturating_add(other.bytes()).saturating_add(more);
        self.kept.budget().check(need, "the kept set")
    }

    /// Moves the column at a position to the end of another list.
    pub fn hand_over(&mut self, at: usize, to: &mut Self) -> Result<()> {
        let (kept, record) = self.take(at);
        to.bits.push(to.index.add(kept.column()));
        to.records.push(record);
        to.kept.insert(to.kept.len(), kept)
    }

    /// Lets the weakest columns beyond `k` go, where there is a limit.
    pub fn trim(&mut self, k: Option<usize>) -> Vec<FeatureId> {
        let mut gone = Vec::new();
        while let Some(weakest) = self.weakest(&[]).filter(|_| k.is_some_and(|k| self.free() > k)) {
            gone.push(self.remove(weakest));
        }
        gone
    }

    /// Removes a column.
    pub fn remove(&mut self, at: usize) -> FeatureId {
        let id = self.id(at);
        self.take(at);
        id
    }

    fn take(&mut self, at: usize) -> (Kept, Record<F>) {
        let (kept, bit) = (self.kept.remove(at), self.bits.remove(at));
        if let Some(bit) = bit {
            self.index.remove(bit, kept.column());
        }
        (kept, self.records.remove(at))
    }

    /// The parts of a snapshot; the row index is made from them.
    #[must_use]
    pub fn parts(&self) -> (&KeptSet, &Vec<Record<F>>) {
        (&self.kept, &self.records)
    }

    /// Restores the parts of a snapshot. `facts` computes the facts of a column again; a saved
    /// record with other facts is refused.
    pub fn restore(
        &mut self,
        (kept, records): (KeptSet, Vec<Record<F>>),
        mut facts: impl FnMut(Column<'_>, &ColumnStats) -> Result<F>,
    ) -> Result<()> {
        let kept = kept.resumed(self.kept.budget().clone(), self.index.rows)?;
        ensure(kept.len() == records.len(), "columns and what is known of them differ in number")?;
        for (kept, record) in kept.slots().iter().zip(&records) {
            let facts = facts(kept.column(), &kept.stats)?;
            let same = encode(&facts)? == encode(&record.facts)?;
            ensure(same, "what is known of a column is not of it")?;
        }
        self.index = RowIndex::new(self.index.rows);
        self.bits = kept.columns().map(|x| self.index.add(x)).collect();
        (self.kept, self.records) = (kept, records);
        Ok(())
    }

    /// Adds every column to a selection and sorts it.
    pub fn add_to(&self, selection: &mut Selection) {
        for (order, (kept, record)) in self.kept.slots().iter().zip(&self.records).enumerate() {
            if let Some(mut selected) = Selected::from_kept(kept, order) {
                (selected.score, selected.p_value) = (record.score, record.p_value);
                let list =
                    if kept.pinned { &mut selection.pinned } else { &mut selection.selected };
                list.push(selected);
            }
        }
        selection.sort();
    }
}
