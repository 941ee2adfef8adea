//! The kept list of a statistical method: columns, what was computed of them, and an exact
//! index of the rows that sparse ones touch.
//!
//! The list is in insertion order. [`RowIndex`] holds, for each row, a bit for every sparse
//! column on the list; the union of the words at a newcomer's rows is exactly the set of kept
//! columns that share a row with it. It takes `n / 8` bytes a sparse column on the list, and a
//! probe costs a newcomer's non-zeros times the list's length / 64.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

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

/// What is held beside a kept column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Note<F> {
    /// What the measure computed of the column.
    pub facts: F,
    /// Strength against the target.
    pub score: f64,
    /// Marginal p-value.
    pub p_value: Option<f64>,
}

/// Kept columns in insertion order.
#[derive(Clone)]
pub struct Shelf<F> {
    kept: KeptSet,
    notes: Vec<Note<F>>,
    // The index bit of each column on the list; sparse columns have one.
    bits: Vec<Option<u32>>,
    index: RowIndex,
}

/// Bytes of a level of a column: its value, rows and weight.
const LEVEL: u64 = 20;

impl<F: Clone + Serialize + DeserializeOwned> Shelf<F> {
    /// An empty list for columns of `rows` rows.
    #[must_use]
    pub fn new(rows: usize, budget: Budget) -> Self {
        let (kept, index) = (KeptSet::new(budget), RowIndex::new(rows));
        Self { kept, notes: Vec::new(), bits: Vec::new(), index }
    }

    /// What is held with up to `kept` features beside `spare` columns: a bit of the index a row for
    /// each of them, the levels of each, and `vectors` of a number a row.
    pub(crate) fn footprint(&self, kept: Option<usize>, spare: usize, vectors: usize) -> Holds {
        let rows = self.index.rows;
        let facts = rows as u64 / 8 + LEVEL * rows.min(256) as u64;
        Holds { rows, kept, spare, facts, covariates: 0, vectors, matrices: 0 }
    }

    /// Number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.notes.len()
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    /// The column at a place, with all that a result says about it.
    #[must_use]
    pub fn kept(&self, at: usize) -> &Kept {
        &self.kept.slots()[at]
    }

    /// What was computed of the column at a place.
    #[must_use]
    pub fn note(&self, at: usize) -> &Note<F> {
        &self.notes[at]
    }

    /// The identity of the column at a place.
    #[must_use]
    pub fn id(&self, at: usize) -> FeatureId {
        self.kept(at).id.unwrap_or_default()
    }

    /// Values and facts of the column at a place.
    #[must_use]
    pub fn side(&self, at: usize) -> Side<'_, F> {
        Side { x: self.kept(at).column(), facts: &self.notes[at].facts }
    }

    /// Columns that may be removed and count in `k`.
    #[must_use]
    pub fn free(&self) -> usize {
        self.kept.slots().iter().filter(|kept| !kept.pinned).count()
    }

    /// The place of the weakest removable column outside `gone`, among equals the latest.
    #[must_use]
    pub fn weakest(&self, gone: &[usize]) -> Option<usize> {
        let free = |at: &usize| !self.kept(*at).pinned && !gone.contains(at);
        let score = |at: usize| self.notes[at].score;
        let least = (0..self.len()).filter(free).map(score).min_by(f64::total_cmp)?;
        (0..self.len()).rev().filter(free).find(|at| score(*at) <= least + TIE)
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let notes = size_of::<Note<F>>() * self.notes.len();
        self.kept.bytes() + self.index.bytes() + notes as u64
    }

    /// Whether the feature is on the list.
    #[must_use]
    pub fn holds(&self, id: FeatureId) -> bool {
        self.kept.slot(id).is_some()
    }

    /// Looks up which columns share a row with `x`, for [`Shelf::may_share`].
    pub fn probe(&mut self, x: Column<'_>) {
        self.index.probe(x);
    }

    /// Whether the column at a place shares a row with the column probed last; `true` where
    /// one of the two is not sparse.
    #[must_use]
    pub fn may_share(&self, at: usize) -> bool {
        self.bits[at].is_none_or(|bit| self.index.shares(bit))
    }

    /// Takes the columns at `gone` (ascending) off the list and appends a feature, or, over
    /// budget, leaves the list as it was.
    pub fn exchange(
        &mut self,
        gone: &[usize],
        feature: &Feature<'_>,
        data: Option<ColumnData>,
        facts: F,
        evidence: Evidence,
    ) -> Result<Vec<FeatureId>> {
        let ids = gone.iter().map(|at| self.id(*at)).collect();
        let mut aside = Vec::with_capacity(gone.len());
        for at in gone.iter().rev() {
            aside.push((*at, self.take(*at)));
        }
        let data = data.unwrap_or_else(|| feature.column().to_data());
        let result = self.kept.push_stored(feature, data).and_then(|at| {
            let fits = self.kept.budget().check(self.bytes(), "the kept set");
            fits.inspect_err(|_| drop(self.kept.remove(at)))
        });
        match result {
            Ok(()) => {
                let Evidence { strength, p_value, .. } = evidence;
                self.notes.push(Note { facts, score: strength, p_value });
                let column = self.kept.slots()[self.kept.len() - 1].column();
                self.bits.push(self.index.add(column));
                Ok(ids)
            }
            Err(error) => {
                for (at, (kept, note)) in aside.into_iter().rev() {
                    self.bits.insert(at, self.index.add(kept.column()));
                    self.notes.insert(at, note);
                    self.kept.insert(at, kept)?;
                }
                Err(error)
            }
        }
    }

    /// Takes a column off the list.
    pub fn remove(&mut self, at: usize) -> FeatureId {
        let id = self.id(at);
        self.take(at);
        id
    }

    fn take(&mut self, at: usize) -> (Kept, Note<F>) {
        let (kept, bit) = (self.kept.remove(at), self.bits.remove(at));
        if let Some(bit) = bit {
            self.index.remove(bit, kept.column());
        }
        (kept, self.notes.remove(at))
    }

    /// The parts of a snapshot; the index follows from them.
    #[must_use]
    pub fn parts(&self) -> (&KeptSet, &Vec<Note<F>>) {
        (&self.kept, &self.notes)
    }

    /// Takes up the parts of a snapshot. `facts` computes what the saved notes must say: a note
    /// that says something else of its column is refused.
    pub fn restore(
        &mut self,
        (kept, notes): (KeptSet, Vec<Note<F>>),
        mut facts: impl FnMut(Column<'_>, &ColumnStats) -> Result<F>,
    ) -> Result<()> {
        let kept = kept.resumed(self.kept.budget().clone(), self.index.rows)?;
        ensure(kept.len() == notes.len(), "columns and what is known of them differ in number")?;
        for (kept, note) in kept.slots().iter().zip(&notes) {
            let facts = facts(kept.column(), &kept.stats)?;
            let same = encode(&facts)? == encode(&note.facts)?;
            ensure(same, "what is known of a column is not of it")?;
        }
        self.index = RowIndex::new(self.index.rows);
        self.bits = kept.columns().map(|x| self.index.add(x)).collect();
        (self.kept, self.notes) = (kept, notes);
        Ok(())
    }

    /// Adds every column to a selection, in list order, and sorts it for show.
    pub fn fill(&self, selection: &mut Selection) {
        for (order, (kept, note)) in self.kept.slots().iter().zip(&self.notes).enumerate() {
            if let Some(mut selected) = Selected::from_kept(kept, order) {
                (selected.score, selected.p_value) = (note.score, note.p_value);
                let list =
                    if kept.pinned { &mut selection.always } else { &mut selection.selected };
                list.push(selected);
            }
        }
        selection.sort();
    }
}

/// For each row, the sparse columns that are not zero there.
#[derive(Clone, Debug)]
pub struct RowIndex {
    rows: usize,
    // Words a row; a column's bit is at the same place in every row.
    width: usize,
    words: Vec<u64>,
    free: Vec<u32>,
    next: u32,
    found: Vec<u64>,
    everything: bool,
}

impl RowIndex {
    /// An empty index.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        let (width, words, free, next) = (0, Vec::new(), Vec::new(), 0);
        Self { rows, width, words, free, next, found: Vec::new(), everything: true }
    }

    fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    /// Enters a sparse column and returns its bit; `None` for another storage.
    fn add(&mut self, x: Column<'_>) -> Option<u32> {
        let Column::Sparse { index, .. } = x else { return None };
        let bit = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        if bit as usize >= 64 * self.width {
            self.widen();
        }
        let (word, mask) = (bit as usize / 64, 1u64 << (bit % 64));
        index.iter().for_each(|row| self.words[*row as usize * self.width + word] |= mask);
        Some(bit)
    }

    fn widen(&mut self) {
        let width = (2 * self.width).max(1);
        let mut words = vec![0; self.rows * width];
        if self.width > 0 {
            for (to, from) in words.chunks_mut(width).zip(self.words.chunks(self.width)) {
                to[..from.len()].copy_from_slice(from);
            }
        }
        (self.width, self.words) = (width, words);
    }

    fn remove(&mut self, bit: u32, x: Column<'_>) {
        if let Column::Sparse { index, .. } = x {
            let (word, mask) = (bit as usize / 64, 1u64 << (bit % 64));
            index.iter().for_each(|row| self.words[*row as usize * self.width + word] &= !mask);
            self.free.push(bit);
        }
    }

    fn probe(&mut self, x: Column<'_>) {
        self.found.clear();
        self.found.resize(self.width, 0);
        let Column::Sparse { index, .. } = x else {
            self.everything = true;
            return;
        };
        self.everything = false;
        for row in index {
            let words = &self.words[*row as usize * self.width..][..self.width];
            self.found.iter_mut().zip(words).for_each(|(found, word)| *found |= word);
        }
    }

    fn shares(&self, bit: u32) -> bool {
        self.everything || self.found[bit as usize / 64] >> (bit % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::Numbers;
    use crate::data::order::generator;
    use rand::RngExt;

    #[test]
    fn the_row_index_is_exact_while_columns_come_and_go() {
        let mut random = generator(9, 0);
        let mut index = RowIndex::new(50);
        let mut held: Vec<(u32, Vec<u32>)> = Vec::new();
        let sparse = |rows: &[u32]| ColumnData::Sparse {
            rows: 50,
            index: rows.to_vec(),
            value: Numbers::F32(vec![1.0; rows.len()]),
        };
        for _ in 0..2000 {
            let rows: Vec<u32> = (0..50).filter(|_| random.random_range(0..20) == 0).collect();
            let x = sparse(&rows);
            index.probe(x.view());
            for (bit, others) in &held {
                assert_eq!(index.shares(*bit), rows.iter().any(|r| others.contains(r)));
            }
            if random.random_range(0..3) == 0 && !held.is_empty() {
                let (bit, rows) = held.swap_remove(random.random_range(0..held.len()));
                index.remove(bit, sparse(&rows).view());
            } else {
                held.push((index.add(x.view()).unwrap(), rows));
            }
        }
        assert!(held.len() > 100 && index.width > 1);
    }
}
