//! A block of columns as a source delivers them, and the identity of a feature.

use serde::{Deserialize, Serialize};

use super::column::{ColumnData, Numbers};
use super::name::Name;

/// Which feature this is, for the whole run and in every scan.
///
/// `index` is the zero-based place of the column among the input's feature columns. A column
/// that becomes several features numbers them by `part`: the column itself is part 0, the levels
/// of a category are 2, 4, 6, and what says where one of these is missing is the odd number
/// after it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct FeatureId {
    /// Place among the input's feature columns.
    pub index: u64,
    /// Which of the features made from that column.
    pub part: u32,
}

impl FeatureId {
    /// The feature that is the input's column `index` itself.
    #[must_use]
    pub fn new(index: u64) -> Self {
        Self { index, part: 0 }
    }

    /// The level at this place of the input's column `index`.
    #[must_use]
    pub fn level(index: u64, level: u32) -> Self {
        Self { index, part: 2 * level + 2 }
    }

    /// The feature that says where this one is missing.
    #[must_use]
    pub fn indicator(self) -> Self {
        Self { part: self.part | 1, ..self }
    }

    /// The feature as the source yields it: of an indicator the feature that it speaks of.
    #[must_use]
    pub fn base(self) -> Self {
        Self { part: self.part & !1, ..self }
    }
}

/// One column as it came from the source, not yet checked.
#[derive(Clone, Debug)]
pub struct RawColumn {
    /// Its identity.
    pub id: FeatureId,
    /// Its name in the file, or one made of its number.
    pub name: Name,
    /// Place in [`crate::FeatureSource::sources`] of the file it came from.
    pub source: u32,
    /// Its values, one for each row of the source; NaN is missing.
    pub data: ColumnData,
}

/// A reused buffer that a source fills with up to [`ColumnBlock::limit`] columns.
///
/// The caller fixes the limit, so block boundaries depend on the caller alone and no source
/// can change a result through the size of its own pages or row groups.
#[derive(Debug)]
pub struct ColumnBlock {
    limit: usize,
    columns: Vec<RawColumn>,
    // Buffers of the last block: a fresh large allocation a column would cost its page faults.
    spare32: Vec<Vec<f32>>,
    spare64: Vec<Vec<f64>>,
    names: Vec<String>,
}

impl ColumnBlock {
    /// An empty block for up to `limit` columns, at least 1.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let (spare32, spare64, names) = (Vec::new(), Vec::new(), Vec::new());
        Self { limit: limit.max(1), columns: Vec::new(), spare32, spare64, names }
    }

    /// Most columns that the source may add.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Columns that there is still room for.
    #[must_use]
    pub fn room(&self) -> usize {
        self.limit - self.columns.len().min(self.limit)
    }

    /// Number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is no column.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Empties the block and sets how many columns it may take next.
    pub fn reset(&mut self, limit: usize) {
        for column in self.columns.drain(..) {
            if let Name::Text(name) = column.name
                && self.names.len() < self.limit
            {
                self.names.push(name);
            }
            match column.data {
                // A source that never asks for a buffer must not fill the memory with them.
                ColumnData::Dense(Numbers::F32(v)) if self.spare32.len() < self.limit => {
                    self.spare32.push(v);
                }
                ColumnData::Dense(Numbers::F64(v)) if self.spare64.len() < self.limit => {
                    self.spare64.push(v);
                }
                _ => {}
            }
        }
        self.limit = limit.max(1);
    }

    /// An empty buffer for a dense f32 column, reused from an earlier block where there is one.
    pub fn buffer32(&mut self) -> Vec<f32> {
        let mut buffer = self.spare32.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// A copy of a name, in a buffer of an earlier block where there is one.
    pub fn name(&mut self, name: &str) -> Name {
        let mut buffer = self.names.pop().unwrap_or_default();
        buffer.clear();
        buffer.push_str(name);
        Name::Text(buffer)
    }

    /// An empty buffer for a dense f64 column, reused from an earlier block where there is one.
    pub fn buffer64(&mut self) -> Vec<f64> {
        let mut buffer = self.spare64.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Makes room for `more` columns beyond the limit so far.
    pub fn widen(&mut self, more: usize) {
        self.limit += more;
    }

    /// Takes the columns from place `at` on out of the block.
    pub fn split_off(&mut self, at: usize) -> Vec<RawColumn> {
        self.columns.split_off(at)
    }

    /// Adds a column.
    pub fn push(&mut self, column: RawColumn) {
        debug_assert!(self.room() > 0, "a source filled a block past its limit");
        self.columns.push(column);
    }

    /// The columns in arrival order, to be given other names or places.
    pub fn columns_mut(&mut self) -> &mut [RawColumn] {
        &mut self.columns
    }

    /// The columns in arrival order.
    #[must_use]
    pub fn columns(&self) -> &[RawColumn] {
        &self.columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_that_nobody_asks_for_do_not_pile_up() {
        let mut block = ColumnBlock::new(2);
        for index in 0..100 {
            let (id, name) = (FeatureId::new(index), Name::default());
            block.push(RawColumn { id, name, source: 0, data: ColumnData::f32(vec![0.0; 8]) });
            if block.room() == 0 {
                block.reset(2);
            }
        }
        assert_eq!(block.spare32.len(), 2);
    }
}
