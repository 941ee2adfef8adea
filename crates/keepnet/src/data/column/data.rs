//! Columns that are held: owned numbers, bits, codes, or memory shared with a source.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Column;
use super::genotypes::GenotypeData;
use super::whole::{NumberKind, Whole, WholeRef};

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
pub enum SparseEntries {
    /// Rows and values of its own.
    Owned {
        /// Rows.
        index: Vec<u32>,
        /// Values.
        value: Numbers,
    },
    /// Memory that someone else keeps alive; made by [`SparseEntries::lent`].
    Lent(LentEntries),
}

/// Rows and values in memory that someone else keeps alive.
pub struct LentEntries {
    index: SharedBytes,
    value: SharedBytes,
    wide: bool,
}

impl SparseEntries {
    /// Rows as `u32` and values as f32, or as f64 where `wide`, in memory that is never copied;
    /// `None` where it is not aligned or the two are not of one length.
    #[must_use]
    pub fn lent(index: SharedBytes, value: SharedBytes, wide: bool) -> Option<Self> {
        let lent = LentEntries { index, value, wide };
        let rows = bytemuck::try_cast_slice::<u8, u32>((*lent.index).as_ref()).ok()?.len();
        let values = match wide {
            true => bytemuck::try_cast_slice::<u8, f64>((*lent.value).as_ref()).ok()?.len(),
            false => bytemuck::try_cast_slice::<u8, f32>((*lent.value).as_ref()).ok()?.len(),
        };
        (rows == values).then_some(Self::Lent(lent))
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Owned { index, .. } => index.len(),
            Self::Lent(lent) => (*lent.index).as_ref().len() / size_of::<u32>(),
        }
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows and values of some entries.
    #[must_use]
    #[inline]
    pub fn get(&self, range: Range<usize>) -> (&[u32], NumbersRef<'_>) {
        match self {
            Self::Owned { index, value } => (&index[range.clone()], value.slice(range)),
            Self::Lent(LentEntries { index, value, wide }) => {
                let index = &bytemuck::cast_slice((**index).as_ref())[range.clone()];
                let value = (**value).as_ref();
                let value = match wide {
                    true => NumbersRef::F64(&bytemuck::cast_slice(value)[range]),
                    false => NumbersRef::F32(&bytemuck::cast_slice(value)[range]),
                };
                (index, value)
            }
        }
    }
}

/// A column that owns its values, or shares them with the source they came from.
#[derive(Clone)]
pub enum ColumnData {
    /// A value a row.
    Dense(Numbers),
    /// An integer a row.
    Whole(Whole),
    /// A value a row, in memory that the source keeps alive.
    Shared {
        /// The memory; `start` is aligned for the element type.
        bytes: SharedBytes,
        /// Offset of the first value in bytes.
        start: usize,
        /// Number of values.
        rows: usize,
        /// The type of the values.
        kind: NumberKind,
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
    /// Two bits a row.
    Genotypes(GenotypeData),
}

impl ColumnData {
    /// A dense column in the narrowest width that loses nothing.
    #[must_use]
    pub fn dense(values: Vec<f64>) -> Self {
        Self::Dense(Numbers::narrow(values))
    }

    /// A dense column of integers in the narrowest type where all the numbers are such, and of the
    /// numbers as they are elsewhere, as where one is missing.
    #[must_use]
    pub fn integers(values: Numbers) -> Self {
        let whole = match &values {
            Numbers::F32(v) => Whole::of(v),
            Numbers::F64(v) => Whole::of(v),
        };
        whole.map_or(Self::Dense(values), Self::Whole)
    }

    /// A dense f32 column.
    #[must_use]
    pub fn f32(values: Vec<f32>) -> Self {
        Self::Dense(Numbers::F32(values))
    }

    /// The borrowed view that operations work on.
    #[must_use]
    #[inline]
    pub fn view(&self) -> Column<'_> {
        match self {
            Self::Dense(Numbers::F32(v)) => Column::F32(v),
            Self::Dense(Numbers::F64(v)) => Column::F64(v),
            Self::Whole(v) => Column::Whole(v.view()),
            Self::Shared { bytes, start, rows, kind } => {
                shared(&(**bytes).as_ref()[*start..start + rows * kind.size()], *kind)
            }
            Self::Sparse { rows, index, value } => {
                Column::Sparse { rows: *rows, index, value: value.slice(0..index.len()) }
            }
            Self::SharedSparse { rows, entries, range } => {
                let (index, value) = entries.get(range.clone());
                Column::Sparse { rows: *rows, index, value }
            }
            Self::Bits { rows, words } => Column::Bits { rows: *rows, words },
            Self::Codes { codes, levels } => Column::Codes { codes, levels },
            Self::Genotypes(x) => Column::Genotypes(x.view()),
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
            Self::Genotypes(x) => x.sound(),
            Self::Dense(_) | Self::Whole(_) | Self::Shared { .. } | Self::SharedSparse { .. } => {
                true
            }
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
            Column::Genotypes(x) => x.missing().is_finite() || x.counts().missing == 0,
            Column::Bits { .. } | Column::Whole(_) => true,
        }
    }

    /// Bytes that the values take, without the fixed size of the enum.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.view().bytes()
    }
}

/// Values in the memory of a source.
fn shared(bytes: &[u8], kind: NumberKind) -> Column<'_> {
    use bytemuck::cast_slice;
    match kind {
        NumberKind::F32 => Column::F32(cast_slice(bytes)),
        NumberKind::F64 => Column::F64(cast_slice(bytes)),
        NumberKind::U8 => Column::Whole(WholeRef::U8(bytes)),
        NumberKind::I8 => Column::Whole(WholeRef::I8(cast_slice(bytes))),
        NumberKind::U16 => Column::Whole(WholeRef::U16(cast_slice(bytes))),
        NumberKind::I16 => Column::Whole(WholeRef::I16(cast_slice(bytes))),
        NumberKind::I32 => Column::Whole(WholeRef::I32(cast_slice(bytes))),
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
    Whole(Whole),
    Genotypes((usize, Vec<u8>, f64)),
}

impl Serialize for ColumnData {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.view().to_data() {
            Self::Dense(v) => Stored::Dense(v),
            Self::Whole(v) => Stored::Whole(v),
            Self::Sparse { rows, index, value } => Stored::Sparse { rows, index, value },
            Self::Bits { rows, words } => Stored::Bits { rows, words },
            Self::Codes { codes, levels } => Stored::Codes { codes, levels },
            Self::Genotypes(x) => Stored::Genotypes(x.into_parts()),
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
            Stored::Whole(v) => Self::Whole(v),
            Stored::Sparse { rows, index, value } => {
                if index.len() != value.len() {
                    return Err(serde::de::Error::custom("sparse column with uneven halves"));
                }
                Self::Sparse { rows, index, value }
            }
            Stored::Bits { rows, words } => Self::Bits { rows, words },
            Stored::Codes { codes, levels } => Self::Codes { codes, levels },
            Stored::Genotypes(parts) => Self::Genotypes(GenotypeData::from_parts(parts)),
        })
    }
}
