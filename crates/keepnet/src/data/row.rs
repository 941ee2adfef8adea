//! Rows: a borrowed sample, a reused block of samples, and where they come from.
//!
//! A [`RowBlock`] holds samples row after row, as f32, f64 or sparse, with a target and a weight
//! each. It takes the storage of the first row it is given and widens only where a later row
//! would lose digits, so a source of f32 rows costs four bytes a value all the way.

mod problem;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::numeric::kernel;

pub use problem::RowProblem;
pub(crate) use problem::{margin, outputs};

/// One borrowed sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Row<'a> {
    /// A value a feature, four bytes each.
    F32(&'a [f32]),
    /// A value a feature, eight bytes each.
    F64(&'a [f64]),
    /// Ascending features that are not zero, and their values.
    Sparse {
        /// Features that are not zero, ascending.
        index: &'a [u32],
        /// Their values.
        value: &'a [f64],
    },
}

impl Row<'_> {
    /// `sum x_j v_j`.
    #[must_use]
    pub fn dot(&self, v: &[f64]) -> f64 {
        match self {
            Self::F32(x) => kernel::dot(x, v),
            Self::F64(x) => kernel::dot(x, v),
            Self::Sparse { index, value } => {
                index.iter().zip(*value).map(|(j, x)| x * v[*j as usize]).sum()
            }
        }
    }

    /// `v_j += scale x_j`.
    pub fn axpy(&self, scale: f64, v: &mut [f64]) {
        match self {
            Self::F32(x) => kernel::axpy(scale, x, v),
            Self::F64(x) => kernel::axpy(scale, x, v),
            Self::Sparse { .. } => self.each(|j, x| v[j] += scale * x),
        }
    }

    /// Calls `f` with each feature and value in order; zeros of a sparse row are skipped.
    pub fn each(&self, mut f: impl FnMut(usize, f64)) {
        match self {
            Self::F32(x) => x.iter().enumerate().for_each(|(j, v)| f(j, f64::from(*v))),
            Self::F64(x) => x.iter().enumerate().for_each(|(j, v)| f(j, *v)),
            Self::Sparse { index, value } => {
                index.iter().zip(*value).for_each(|(j, v)| f(*j as usize, *v));
            }
        }
    }

    /// The value of one feature.
    #[must_use]
    pub fn get(&self, j: usize) -> f64 {
        match self {
            Self::F32(x) => f64::from(x[j]),
            Self::F64(x) => x[j],
            Self::Sparse { index, value } => {
                index.binary_search(&(j as u32)).map_or(0.0, |at| value[at])
            }
        }
    }

    /// The first feature whose value is not finite or is larger than `most` in size.
    #[must_use]
    pub fn beyond(&self, most: f64) -> Option<usize> {
        match self {
            Self::F32(x) => x.iter().position(|v| f64::from(v.abs()) > most || v.is_nan()),
            Self::F64(x) => x.iter().position(|v| v.abs() > most || v.is_nan()),
            Self::Sparse { index, value } => {
                value.iter().position(|v| v.abs() > most || v.is_nan()).map(|at| index[at] as usize)
            }
        }
    }

    fn fits(&self, features: usize) -> bool {
        match self {
            Self::F32(x) => x.len() == features,
            Self::F64(x) => x.len() == features,
            Self::Sparse { index, value } => {
                index.len() == value.len()
                    && index.windows(2).all(|pair| pair[0] < pair[1])
                    && index.last().is_none_or(|last| (*last as usize) < features)
            }
        }
    }
}

/// The values of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum RowData {
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// `start` has one entry more than there are rows.
    Sparse {
        start: Vec<usize>,
        index: Vec<u32>,
        value: Vec<f64>,
    },
}

/// A reused buffer of up to [`RowBlock::limit`] samples with their targets and weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowBlock {
    features: usize,
    limit: usize,
    data: RowData,
    y: Vec<f64>,
    weight: Vec<f64>,
}

impl RowBlock {
    /// An empty block for up to `limit` rows (at least 1) of `features` values.
    #[must_use]
    pub fn new(features: usize, limit: usize) -> Self {
        let (data, y, weight) = (RowData::F32(Vec::new()), Vec::new(), Vec::new());
        Self { features, limit: limit.max(1), data, y, weight }
    }

    /// Values in a row.
    #[must_use]
    pub fn features(&self) -> usize {
        self.features
    }

    /// Most rows that the source may add.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Rows that there is still room for.
    #[must_use]
    pub fn room(&self) -> usize {
        self.limit - self.len().min(self.limit)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// Whether rows are stored sparse.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        matches!(self.data, RowData::Sparse { .. })
    }

    /// Empties the block and sets how many rows it may take next.
    pub fn reset(&mut self, limit: usize) {
        self.limit = limit.max(1);
        self.y.clear();
        self.weight.clear();
        match &mut self.data {
            RowData::F32(v) => v.clear(),
            RowData::F64(v) => v.clear(),
            RowData::Sparse { start, index, value } => {
                start.truncate(1);
                index.clear();
                value.clear();
            }
        }
    }

    /// Adds a row with its target (a number, or the code of a class) and weight.
    pub fn push(&mut self, row: Row<'_>, y: f64, weight: f64) -> Result<()> {
        if !row.fits(self.features) {
            return Err(Error::Data(format!(
                "a row does not have {} features in ascending order",
                self.features
            )));
        }
        self.adopt(row);
        match (&mut self.data, row) {
            (RowData::F32(v), Row::F32(x)) => v.extend_from_slice(x),
            (RowData::F64(v), Row::F64(x)) => v.extend_from_slice(x),
            (RowData::Sparse { start, index, value }, row) => {
                row.each(|j, x| {
                    if x != 0.0 {
                        index.push(j as u32);
                        value.push(x);
                    }
                });
                start.push(index.len());
            }
            (RowData::F64(v), row) => {
                let first = v.len();
                v.resize(first + self.features, 0.0);
                row.each(|j, x| v[first + j] = x);
            }
            (RowData::F32(_), _) => unreachable!("adopt widened the block"),
        }
        self.y.push(y);
        self.weight.push(weight);
        Ok(())
    }

    /// Takes a storage that holds `row` without loss.
    fn adopt(&mut self, row: Row<'_>) {
        let empty = self.is_empty();
        match (&mut self.data, row) {
            (RowData::Sparse { .. }, Row::Sparse { .. }) | (RowData::F32(_), Row::F32(_)) => {}
            (data, Row::Sparse { .. }) if empty => {
                *data = RowData::Sparse { start: vec![0], index: Vec::new(), value: Vec::new() };
            }
            (data @ RowData::F64(_), Row::F32(_)) if empty => *data = RowData::F32(Vec::new()),
            (data @ RowData::Sparse { .. }, Row::F32(_)) if empty => {
                *data = RowData::F32(Vec::new());
            }
            (data, Row::F64(_)) if empty => *data = RowData::F64(Vec::new()),
            (data, _) => {
                if let RowData::F32(v) = data {
                    *data = RowData::F64(v.iter().map(|v| f64::from(*v)).collect());
                }
            }
        }
    }

    /// Row `i`.
    #[must_use]
    pub fn row(&self, i: usize) -> Row<'_> {
        let range = i * self.features..(i + 1) * self.features;
        match &self.data {
            RowData::F32(v) => Row::F32(&v[range]),
            RowData::F64(v) => Row::F64(&v[range]),
            RowData::Sparse { start, index, value } => {
                let range = start[i]..start[i + 1];
                Row::Sparse { index: &index[range.clone()], value: &value[range] }
            }
        }
    }

    /// The rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.len()).map(|i| self.row(i))
    }

    /// The target of each row.
    #[must_use]
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// The weight of each row.
    #[must_use]
    pub fn weight(&self) -> &[f64] {
        &self.weight
    }

    /// Puts other targets and weights to the same rows.
    pub fn relabel(&mut self, y: &[f64], weight: &[f64]) {
        debug_assert_eq!((y.len(), weight.len()), (self.len(), self.len()));
        self.y.copy_from_slice(y);
        self.weight.copy_from_slice(weight);
    }

    /// Whether the parts fit together and every value is finite, as after a load.
    pub(crate) fn sound(&self) -> bool {
        let n = self.len();
        let finite = |v: &f64| v.is_finite();
        let values = match &self.data {
            RowData::F32(v) => {
                Some(v.len()) == n.checked_mul(self.features) && v.iter().all(|v| v.is_finite())
            }
            RowData::F64(v) => {
                Some(v.len()) == n.checked_mul(self.features) && v.iter().all(finite)
            }
            RowData::Sparse { start, index, value } => {
                start.len() == n + 1
                    && start[0] == 0
                    && start.windows(2).all(|pair| pair[0] <= pair[1])
                    && start[n] == index.len()
                    && index.len() == value.len()
                    && self.rows().all(|row| row.fits(self.features))
                    && value.iter().all(finite)
            }
        };
        let known = self.y.iter().chain(&self.weight).all(finite);
        values && self.weight.len() == n && n <= self.limit && known
    }

    /// Bytes that the values take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let values = match &self.data {
            RowData::F32(v) => 4 * v.len(),
            RowData::F64(v) => 8 * v.len(),
            RowData::Sparse { start, index, .. } => 8 * start.len() + 12 * index.len(),
        };
        (values + 16 * self.len()) as u64
    }
}

/// Yields samples in a fixed order, a block at a time, into a buffer that the caller owns.
pub trait SampleSource: Send {
    /// Names of the features, in order.
    fn names(&self) -> &[String];

    /// How many rows one scan yields; `None` where only the end of the stream tells.
    fn rows(&self) -> Option<u64> {
        None
    }

    /// A number that changes when the data do: size, time and header, never a full read.
    fn fingerprint(&self) -> u64;

    /// Appends rows up to the block's limit; `false` when the stream has ended.
    ///
    /// A missing value is NaN, a missing target too. A source may stop short of the limit; the
    /// caller asks again.
    fn next_block(&mut self, out: &mut RowBlock) -> Result<bool>;

    /// Starts another scan; an error where the stream cannot be read again.
    fn rewind(&mut self) -> Result<()> {
        Err(Error::Unsupported("this stream of rows cannot be read twice".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_widens_only_when_a_row_asks_for_it() {
        let mut block = RowBlock::new(2, 4);
        block.push(Row::F32(&[1.0, 2.0]), 0.0, 1.0).unwrap();
        assert_eq!(block.bytes(), 8 + 16);
        block.push(Row::F64(&[0.1, 3.0]), 1.0, 1.0).unwrap();
        block.push(Row::Sparse { index: &[1], value: &[5.0] }, 1.0, 2.0).unwrap();
        assert_eq!(block.row(0), Row::F64(&[1.0, 2.0]));
        assert_eq!(block.row(2), Row::F64(&[0.0, 5.0]));
        block.reset(4);
        block.push(Row::Sparse { index: &[1], value: &[5.0] }, 1.0, 1.0).unwrap();
        block.push(Row::F32(&[3.0, 0.0]), 1.0, 1.0).unwrap();
        assert_eq!(block.row(1), Row::Sparse { index: &[0], value: &[3.0] });
        assert_eq!(block.row(0).get(1), 5.0);
    }

    #[test]
    fn a_row_of_another_length_or_order_is_refused() {
        let mut block = RowBlock::new(2, 4);
        assert!(block.push(Row::F32(&[1.0]), 0.0, 1.0).is_err());
        assert!(block.push(Row::Sparse { index: &[2], value: &[1.0] }, 0.0, 1.0).is_err());
        assert!(block.push(Row::Sparse { index: &[1, 0], value: &[1.0; 2] }, 0.0, 1.0).is_err());
        assert!(block.is_empty());
    }

    #[test]
    fn every_storage_gives_the_same_dot_and_axpy() {
        let v = [2.0, -1.0, 4.0];
        for row in [
            Row::F32(&[0.0, 3.0, 0.5]),
            Row::F64(&[0.0, 3.0, 0.5]),
            Row::Sparse { index: &[1, 2], value: &[3.0, 0.5] },
        ] {
            assert_eq!(row.dot(&v), -1.0);
            let mut out = [1.0; 3];
            row.axpy(2.0, &mut out);
            assert_eq!(out, [1.0, 7.0, 2.0]);
        }
    }
}
