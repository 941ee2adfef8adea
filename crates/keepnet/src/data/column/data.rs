//! Columns that are held: owned numbers, bits, codes, or memory shared with a source.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Column;

/// Memory that a source shares with the engine instead of copying it.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The numbers of a dense or sparse column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Numbers {
    /// Four bytes a value.
    F32(Vec<f32>),
    /// Eight bytes a value.
    F64(Vec<f64>),
}

impl Numbers {
    /// The narrowest storage that holds every value without loss.
    #[must_use]
    pub fn narrow(values: Vec<f64>) -> Self {
        let fits = |v: &f64| v.is_nan() || f64::from(*v as f32) == *v;
        if values.iter().all(fits) {
            Self::F32(values.into_iter().map(|v| v as f32).collect())
        } else {
            Self::F64(values)
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::F64(v) => v.len(),
        }
    }

    /// Some of them.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> NumbersRef<'_> {
        match self {
            Self::F32(v) => NumbersRef::F32(&v[range]),
            Self::F64(v) => NumbersRef::F64(&v[range]),
        }
    }
}

/// Borrowed [`Numbers`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumbersRef<'a> {
    /// Four bytes a value.
    F32(&'a [f32]),
    /// Eight bytes a value.
    F64(&'a [f64]),
}

impl NumbersRef<'_> {
    /// The number at one place.
    #[must_use]
    pub fn get(&self, i: usize) -> f64 {
        match self {
            Self::F32(v) => f64::from(v[i]),
            Self::F64(v) => v[i],
        }
    }

    /// A copy of the numbers at some places.
    pub(super) fn take(&self, at: impl Iterator<Item = usize>) -> Numbers {
        match self {
            Self::F32(v) => Numbers::F32(at.map(|i| v[i]).collect()),
            Self::F64(v) => Numbers::F64(at.map(|i| v[i]).collect()),
        }
    }

    /// A copy.
    #[must_use]
    pub fn to_numbers(&self) -> Numbers {
        match self {
            Self::F32(v) => Numbers::F32(v.to_vec()),
            Self::F64(v) => Numbers::F64(v.to_vec()),
        }
    }
}

/// The entries of many sparse columns one after the other, that a source shares with the engine.
#[derive(Debug)]
pub struct SparseEntries {
    /// Rows.
    pub index: Vec<u32>,
    /// Values.
    pub value: Numbers,
}

/// A column that owns its values, or shares them with the source they came from.
#[derive(Clone)]
pub enum ColumnData {
    /// A value a row.
    Dense(Numbers),
    /// A value a row, in memory that the source keeps alive.
    Shared {
        /// The memory; `start` is aligned for the element type.
        bytes: SharedBytes,
        /// Offset of the first value in bytes.
        start: usize,
        /// Number of values.
        rows: usize,
        /// Whether values are f64 and not f32.
        wide: bool,
    },
    /// Rows that are not zero, ascending, and their values.
    Sparse {
        /// Number of rows.
        rows: usize,
        /// Rows that are not zero, ascending.
        index: Vec<u32>,
        /// Their values.
        value: Numbers,
    },
    /// Rows that are not zero, ascending, and their values, in memory that the source keeps alive.
    SharedSparse {
        /// Number of rows.
        rows: usize,
        /// The memory.
        entries: Arc<SparseEntries>,
        /// Which of its entries are this column's.
        range: Range<usize>,
    },
    /// A bit a row, least significant first; the last word is padded with zeros.
    Bits {
        /// Number of rows.
        rows: usize,
        /// `rows / 64` words, rounded up.
        words: Vec<u64>,
    },
    /// A byte a row into a table of at most 256 distinct levels, ascending.
    Codes {
        /// A code a row.
        codes: Vec<u8>,
        /// The value of each code.
        levels: Vec<f64>,
    },
}

impl ColumnData {
    /// A dense column in the narrowest width that loses nothing.
    #[must_use]
    pub fn dense(values: Vec<f64>) -> Self {
        Self::Dense(Numbers::narrow(values))
    }

    /// A dense f32 column.
    #[must_use]
    pub fn f32(values: Vec<f32>) -> Self {
        Self::Dense(Numbers::F32(values))
    }

    /// The borrowed view that operations work on.
    #[must_use]
    pub fn view(&self) -> Column<'_> {
        match self {
            Self::Dense(Numbers::F32(v)) => Column::F32(v),
            Self::Dense(Numbers::F64(v)) => Column::F64(v),
            Self::Shared { bytes, start, rows, wide } => {
                let width = if *wide { 8 } else { 4 };
                let bytes = &(**bytes).as_ref()[*start..start + rows * width];
                if *wide {
                    Column::F64(bytemuck::cast_slice(bytes))
                } else {
                    Column::F32(bytemuck::cast_slice(bytes))
                }
            }
            Self::Sparse { rows, index, value } => {
                Column::Sparse { rows: *rows, index, value: value.slice(0..index.len()) }
            }
            Self::SharedSparse { rows, entries, range } => Column::Sparse {
                rows: *rows,
                index: &entries.index[range.clone()],
                value: entries.value.slice(range.clone()),
            },
            Self::Bits { rows, words } => Column::Bits { rows: *rows, words },
            Self::Codes { codes, levels } => Column::Codes { codes, levels },
        }
    }

    /// Whether the parts of a column that was read back fit together: rows that are there and
    /// ascend, as many bits as rows, codes that have a level.
    pub(crate) fn sound(&self) -> bool {
        match self {
            Self::Sparse { rows, index, value } => {
                index.len() == value.len()
                    && index.windows(2).all(|pair| pair[0] < pair[1])
                    && index.last().is_none_or(|last| (*last as usize) < *rows)
            }
            Self::Bits { rows, words } => {
                let last = words.last().filter(|_| rows % 64 > 0);
                words.len() == rows.div_ceil(64) && last.is_none_or(|last| last >> (rows % 64) == 0)
            }
            Self::Codes { codes, levels } => {
                codes.iter().all(|code| usize::from(*code) < levels.len())
            }
            Self::Dense(_) | Self::Shared { .. } | Self::SharedSparse { .. } => true,
        }
    }

    /// Whether no value is missing or infinite.
    pub(crate) fn finite(&self) -> bool {
        match self.view() {
            Column::F32(v) | Column::Sparse { value: NumbersRef::F32(v), .. } => {
                v.iter().all(|v| v.is_finite())
            }
            Column::F64(v)
            | Column::Sparse { value: NumbersRef::F64(v), .. }
            | Column::Codes { levels: v, .. } => v.iter().all(|v| v.is_finite()),
            Column::Bits { .. } => true,
        }
    }

    /// Bytes that the values take, without the fixed size of the enum.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.view().bytes()
    }
}

impl std::fmt::Debug for ColumnData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.view().fmt(f)
    }
}

/// What [`Serialize`] writes: shared columns become owned ones.
#[derive(Serialize, Deserialize)]
enum Stored {
    Dense(Numbers),
    Sparse { rows: usize, index: Vec<u32>, value: Numbers },
    Bits { rows: usize, words: Vec<u64> },
    Codes { codes: Vec<u8>, levels: Vec<f64> },
}

impl Serialize for ColumnData {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.view().to_data() {
            Self::Dense(v) => Stored::Dense(v),
            Self::Sparse { rows, index, value } => Stored::Sparse { rows, index, value },
            Self::Bits { rows, words } => Stored::Bits { rows, words },
            Self::Codes { codes, levels } => Stored::Codes { codes, levels },
            Self::Shared { .. } | Self::SharedSparse { .. } => {
                unreachable!("to_data copies shared values")
            }
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ColumnData {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Dense(v) => Self::Dense(v),
            Stored::Sparse { rows, index, value } => {
                if index.len() != value.len() {
                    return Err(serde::de::Error::custom("sparse column with uneven halves"));
                }
                Self::Sparse { rows, index, value }
            }
            Stored::Bits { rows, words } => Self::Bits { rows, words },
            Stored::Codes { codes, levels } => Self::Codes { codes, levels },
        })
    }
}
