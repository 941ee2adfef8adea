//! Columns in the width they are stored in, and the operations every method is built from.
//!
//! A [`ColumnData`] owns or shares its values; a [`Column`] is a borrowed view of them. Dense
//! columns are f32, f64 or integers of one to four bytes, sparse ones are row indices with values,
//! binary ones are bits, genotypes are two bits a row and categories are byte codes with a table of
//! levels. No operation makes a column dense: centring is done by formula (`x_c'v = x'v - mean(x) sum(v)`), never on the values.
//!
//! Missing values are NaN, in genotypes a code; integers, codes and bits have none. [`super::check`] removes them before any
//! method sees the column.

mod data;
mod genotypes;
mod whole;

pub use data::{ColumnData, Numbers, NumbersRef, SharedBytes, SparseEntries};
pub(crate) use genotypes::padding;
pub use genotypes::{GenotypeCounts, GenotypeData, Genotypes};
pub(crate) use whole::each_integer;
pub use whole::{NumberKind, Whole, WholeRef};

use crate::numeric::kernel::{self, Element};
use crate::numeric::{genotypes as packed, integers, popcount};

/// A borrowed column: what methods compute with.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Dense, four bytes a value.
    F32(&'a [f32]),
    /// Dense, eight bytes a value.
    F64(&'a [f64]),
    /// Dense integers in the width that they came in.
    Whole(WholeRef<'a>),
    /// Ascending rows that are not zero, and their values.
    Sparse {
        /// Number of rows.
        rows: usize,
        /// Rows that are not zero.
        index: &'a [u32],
        /// Their values.
        value: NumbersRef<'a>,
    },
    /// A bit a row.
    Bits {
        /// Number of rows.
        rows: usize,
        /// The bits, least significant first.
        words: &'a [u64],
    },
    /// A code a row and the value of each code.
    Codes {
        /// A code a row.
        codes: &'a [u8],
        /// Values by code.
        levels: &'a [f64],
    },
    /// Two bits a row.
    Genotypes(Genotypes<'a>),
}

/// Runs one expression for the number type of a sparse column.
macro_rules! each_width {
    ($value:expr, $v:ident => $body:expr) => {
        match $value {
            NumbersRef::F32($v) => $body,
            NumbersRef::F64($v) => $body,
        }
    };
}

/// Runs one expression for the number type of a dense column, and another for other storage.
macro_rules! each_dense {
    ($column:expr, $x:ident => $body:expr, $other:pat => $rest:expr) => {{
        use $crate::data::column::{Column, WholeRef};
        match $column {
            Column::F32($x) => $body,
            Column::F64($x) => $body,
            Column::Whole(whole) => {
                $crate::data::column::each_integer!(WholeRef, whole, $x => $body)
            }
            $other => $rest,
        }
    }};
}
pub(crate) use each_dense;

impl<'a> Column<'a> {
    /// A dense f64 column.
    #[must_use]
    pub fn dense(values: &'a [f64]) -> Self {
        Self::F64(values)
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::F64(v) => v.len(),
            Self::Whole(v) => v.len(),
            Self::Sparse { rows, .. } | Self::Bits { rows, .. } => *rows,
            Self::Codes { codes, .. } => codes.len(),
            Self::Genotypes(x) => x.rows(),
        }
    }

    /// Bytes that the values take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::F32(v) => 4 * v.len(),
            Self::F64(v) => 8 * v.len(),
            Self::Whole(v) => v.bytes(),
            Self::Sparse { index, value, .. } => match value {
                NumbersRef::F32(_) => 8 * index.len(),
                NumbersRef::F64(_) => 12 * index.len(),
            },
            Self::Bits { words, .. } => 8 * words.len(),
            Self::Codes { codes, levels } => codes.len() + 8 * levels.len(),
            Self::Genotypes(x) => x.bytes().len(),
        }
    }

    /// Whether the values are one contiguous dense array.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        matches!(self, Self::F32(_) | Self::F64(_) | Self::Whole(_))
    }

    /// Whether products and sums take it tile by tile, as it is or decoded.
    pub(crate) fn in_tiles(&self) -> bool {
        self.is_dense() || matches!(self, Self::Genotypes(_))
    }

    /// Whether [`Column::each`] is faster than looking up rows: sparse columns, bits and codes.
    pub(crate) fn is_listed(&self) -> bool {
        !self.in_tiles()
    }

    /// The rows of a dense column that lie in `rows`; other storage has no such view.
    ///
    /// # Panics
    ///
    /// Where the column is not dense.
    #[must_use]
    pub fn slice(&self, rows: std::ops::Range<usize>) -> Self {
        match *self {
            Self::F32(x) => Self::F32(&x[rows]),
            Self::F64(x) => Self::F64(&x[rows]),
            Self::Whole(x) => Self::Whole(each_integer!(WholeRef, x, x => &x[rows], into WholeRef)),
            _ => panic!("only dense columns have slices"),
        }
    }

    /// [`Column::moments`] without weights, and [`Column::dot`], in one pass where that pays.
    #[must_use]
    pub fn moments_and_dot(&self, shift: f64, v: &[f64]) -> ((f64, f64), f64) {
        let (sum, square, product) = each_dense!(
            *self,
            x => kernel::moments_and_dot(x, shift, v),
            _ => return (self.moments(None, shift), self.dot(v))
        );
        ((sum, square), product)
    }

    /// `sum x_i v_i`.
    #[must_use]
    pub fn dot(&self, v: &[f64]) -> f64 {
        match *self {
            Self::F32(x) => kernel::dot(x, v),
            Self::F64(x) => kernel::dot(x, v),
            Self::Whole(x) => each_integer!(WholeRef, x, x => kernel::dot(x, v)),
            Self::Sparse { index, value, .. } => each_width!(value, x => sparse_dot(index, x, v)),
            Self::Bits { .. } => {
                let mut sum = 0.0;
                self.each(|i, _| sum += v[i]);
                sum
            }
            Self::Codes { codes, levels } => {
                // Sums by level first: one multiplication a level and no table look-up a row.
                let mut sums = vec![0.0; levels.len()];
                codes.iter().zip(v).for_each(|(c, v)| sums[usize::from(*c)] += v);
                sums.iter().zip(levels).map(|(s, l)| s * l).sum()
            }
            Self::Genotypes(x) => packed::dot(x, v),
        }
    }

    /// `sum x_i g_i`, `sum x_i d_i` and `sum x_i^2 d_i` in one pass.
    #[must_use]
    pub fn slope_curve(&self, g: &[f64], d: &[f64]) -> (f64, f64, f64) {
        match *self {
            Self::F32(x) => kernel::slope_curve(x, g, d),
            Self::F64(x) => kernel::slope_curve(x, g, d),
            Self::Whole(x) => each_integer!(WholeRef, x, x => kernel::slope_curve(x, g, d)),
            Self::Genotypes(x) => packed::slope_curve(x, g, d),
            _ => {
                let (mut a, mut b, mut c) = (0.0, 0.0, 0.0);
                self.each(|i, x| {
                    let xd = x * d[i];
                    (a, b, c) = (a + x * g[i], b + xd, c + xd * x);
                });
                (a, b, c)
            }
        }
    }

    /// `v_i += scale x_i`.
    pub fn axpy(&self, scale: f64, v: &mut [f64]) {
        match *self {
            Self::F32(x) => kernel::axpy(scale, x, v),
            Self::F64(x) => kernel::axpy(scale, x, v),
            Self::Whole(x) => each_integer!(WholeRef, x, x => kernel::axpy(scale, x, v)),
            Self::Sparse { index, value, .. } => {
                each_width!(value, x => kernel::sparse_axpy(scale, index, x, v));
            }
            Self::Genotypes(x) => packed::axpy(scale, x, v),
            _ => self.each(|i, x| v[i] = scale.mul_add(x, v[i])),
        }
    }

    /// `out_i = x_i`, zeros included.
    pub fn fill(&self, out: &mut [f64]) {
        match *self {
            Self::F32(x) => kernel::widen(x, 0.0, out),
            Self::F64(x) => kernel::widen(x, 0.0, out),
            Self::Whole(x) => each_integer!(WholeRef, x, x => kernel::widen(x, 0.0, out)),
            Self::Genotypes(x) => packed::decode(x, 0, 0.0, out),
            _ => {
                out.fill(0.0);
                self.each(|i, x| out[i] = x);
            }
        }
    }

    /// Calls `f` with each row and value in row order; zeros of sparse and bit columns are skipped.
    pub fn each(&self, mut f: impl FnMut(usize, f64)) {
        match *self {
            Self::F32(x) => x.iter().enumerate().for_each(|(i, v)| f(i, f64::from(*v))),
            Self::F64(x) => x.iter().enumerate().for_each(|(i, v)| f(i, *v)),
            Self::Whole(x) => each_integer!(WholeRef, x, x => {
                x.iter().enumerate().for_each(|(i, v)| f(i, f64::from(*v)));
            }),
            Self::Sparse { index, value, .. } => each_width!(value, x => {
                index.iter().zip(x).for_each(|(i, v)| f(*i as usize, v.wide()));
            }),
            Self::Bits { words, .. } => {
                for (w, word) in words.iter().enumerate() {
                    let mut rest = *word;
                    while rest != 0 {
                        f(64 * w + rest.trailing_zeros() as usize, 1.0);
                        rest &= rest - 1;
                    }
                }
            }
            Self::Codes { codes, levels } => {
                codes.iter().enumerate().for_each(|(i, c)| f(i, levels[usize::from(*c)]));
            }
            Self::Genotypes(x) => {
                let levels = x.levels();
                (0..x.rows()).for_each(|i| f(i, levels[usize::from(x.code(i))]));
            }
        }
    }

    /// The value at one row. Slow on sparse columns; for messages and small jobs.
    #[must_use]
    pub fn get(&self, row: usize) -> f64 {
        match *self {
            Self::F32(x) => f64::from(x[row]),
            Self::F64(x) => x[row],
            Self::Whole(x) => each_integer!(WholeRef, x, x => f64::from(x[row])),
            Self::Sparse { index, value, .. } => {
                index.binary_search(&(row as u32)).map_or(0.0, |at| value.get(at))
            }
            Self::Bits { words, .. } => (words[row / 64] >> (row % 64) & 1) as f64,
            Self::Codes { codes, levels } => levels[usize::from(codes[row])],
            Self::Genotypes(x) => x.levels()[usize::from(x.code(row))],
        }
    }

    /// `sum v_i (x_i - shift)` and `sum v_i (x_i - shift)^2`, with `v = 1` where none is given.
    ///
    /// For columns that skip zeros `shift` must be 0.
    #[must_use]
    pub fn moments(&self, weight: Option<&[f64]>, shift: f64) -> (f64, f64) {
        match (*self, weight) {
            (Self::F32(x), None) => kernel::moments(x, shift),
            (Self::F64(x), None) => kernel::moments(x, shift),
            (Self::F32(x), Some(v)) => kernel::weighted_moments(x, v, shift),
            (Self::F64(x), Some(v)) => kernel::weighted_moments(x, v, shift),
            (Self::Whole(x), None) => each_integer!(WholeRef, x, x => {
                integers::moments(x, shift).unwrap_or_else(|| kernel::moments(x, shift))
            }),
            (Self::Whole(x), Some(v)) => {
                each_integer!(WholeRef, x, x => kernel::weighted_moments(x, v, shift))
            }
            (Self::Genotypes(x), None) => packed::moments(x, shift),
            (Self::Genotypes(x), Some(v)) => packed::weighted_moments(x, v, shift),
            (Self::Bits { words, .. }, None) if shift == 0.0 => {
                let ones = popcount::count_ones(words) as f64;
                (ones, ones)
            }
            (Self::Sparse { value, .. }, None) => each_width!(value, x => {
                let (mut sum, mut square) = (0.0, 0.0);
                for x in x {
                    let d = x.wide() - shift;
                    (sum, square) = (sum + d, square + d * d);
                }
                (sum, square)
            }),
            _ => {
                let (mut sum, mut square) = (0.0, 0.0);
                self.each(|i, x| {
                    let (d, v) = (x - shift, weight.map_or(1.0, |v| v[i]));
                    sum += v * d;
                    square += v * d * d;
                });
                (sum, square)
            }
        }
    }

    /// A copy that owns its values, in the same storage.
    #[must_use]
    pub fn to_data(&self) -> ColumnData {
        match *self {
            Self::F32(x) => ColumnData::Dense(Numbers::F32(x.to_vec())),
            Self::F64(x) => ColumnData::Dense(Numbers::F64(x.to_vec())),
            Self::Whole(x) => ColumnData::Whole(x.to_whole()),
            Self::Sparse { rows, index, value } => {
                ColumnData::Sparse { rows, index: index.to_vec(), value: value.to_numbers() }
            }
            Self::Bits { rows, words } => ColumnData::Bits { rows, words: words.to_vec() },
            Self::Codes { codes, levels } => {
                ColumnData::Codes { codes: codes.to_vec(), levels: levels.to_vec() }
            }
            Self::Genotypes(x) => ColumnData::Genotypes(x.to_data()),
        }
    }

    /// The rows `take`, in that order; `place` is its inverse, `u32::MAX` for rows left out.
    #[must_use]
    pub fn gather(&self, take: &[u32], place: &[u32]) -> ColumnData {
        let rows = take.len();
        let at = || take.iter().map(|i| *i as usize);
        match *self {
            Self::F32(x) => ColumnData::Dense(Numbers::F32(at().map(|i| x[i]).collect())),
            Self::F64(x) => ColumnData::Dense(Numbers::F64(at().map(|i| x[i]).collect())),
            Self::Whole(x) => ColumnData::Whole(x.take(at())),
            Self::Sparse { index, value, .. } => {
                let mut moved: Vec<(u32, usize)> = index
                    .iter()
                    .enumerate()
                    .map(|(at, row)| (place[*row as usize], at))
                    .filter(|(row, _)| *row != u32::MAX)
                    .collect();
                moved.sort_unstable();
                let value = value.take(moved.iter().map(|(_, at)| *at));
                ColumnData::Sparse {
                    rows,
                    index: moved.iter().map(|(row, _)| *row).collect(),
                    value,
                }
            }
            Self::Bits { words, .. } => {
                let mut out = vec![0u64; rows.div_ceil(64)];
                for (to, from) in at().enumerate() {
                    out[to / 64] |= (words[from / 64] >> (from % 64) & 1) << (to % 64);
                }
                ColumnData::Bits { rows, words: out }
            }
            Self::Codes { codes, levels } => ColumnData::Codes {
                codes: at().map(|i| codes[i]).collect(),
                levels: levels.to_vec(),
            },
            Self::Genotypes(x) => ColumnData::Genotypes(x.take(take)),
        }
    }
}

fn sparse_dot<T: Element>(index: &[u32], x: &[T], v: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let (is, i_tail) = index.as_chunks::<4>();
    let (xs, x_tail) = x.as_chunks::<4>();
    for (i, x) in is.iter().zip(xs) {
        for l in 0..4 {
            lanes[l] += x[l].wide() * v[i[l] as usize];
        }
    }
    for (l, (i, x)) in i_tail.iter().zip(x_tail).enumerate() {
        lanes[l] += x.wide() * v[*i as usize];
    }
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// The same values in every storage.
    fn kinds() -> Vec<ColumnData> {
        let values = vec![0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0];
        vec![
            ColumnData::dense(values.clone()),
            ColumnData::Dense(Numbers::F64(values.clone())),
            ColumnData::Sparse { rows: 7, index: vec![1, 4, 5], value: Numbers::F32(vec![1.0; 3]) },
            ColumnData::Bits { rows: 7, words: vec![0b11_0010] },
            ColumnData::Codes { codes: vec![0, 1, 0, 0, 1, 1, 0], levels: vec![0.0, 1.0] },
            ColumnData::Shared {
                bytes: Arc::new(bytemuck::cast_slice::<f64, u8>(&values).to_vec()),
                start: 0,
                rows: 7,
                kind: NumberKind::F64,
            },
            ColumnData::Genotypes(
                GenotypeData::of([0, 1, 0, 0, 1, 1, 0].into_iter().map(Some)).unwrap(),
            ),
            ColumnData::Whole(Whole::U8(vec![0, 1, 0, 0, 1, 1, 0])),
            ColumnData::Whole(Whole::I8(vec![0, 1, 0, 0, 1, 1, 0])),
            ColumnData::Whole(Whole::U16(vec![0, 1, 0, 0, 1, 1, 0])),
            ColumnData::Whole(Whole::I16(vec![0, 1, 0, 0, 1, 1, 0])),
            ColumnData::Shared {
                bytes: Arc::new(bytemuck::cast_slice::<i32, u8>(&[0, 1, 0, 0, 1, 1, 0]).to_vec()),
                start: 0,
                rows: 7,
                kind: NumberKind::I32,
            },
        ]
    }

    #[test]
    fn every_storage_gives_the_same_answers() {
        let v = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let (take, place) = ([5, 0, 1], [1, 2, u32::MAX, u32::MAX, u32::MAX, 0, u32::MAX]);
        for data in kinds() {
            let x = data.view();
            let mut out = [0.0; 7];
            assert_eq!(x.rows(), 7);
            assert_eq!(x.dot(&v), 50.0);
            assert_eq!(x.slope_curve(&v, &[2.0; 7]), (50.0, 6.0, 6.0));
            assert_eq!(x.moments(None, 0.0), (3.0, 3.0));
            assert_eq!(x.moments(Some(&v), 0.0), (50.0, 50.0));
            x.fill(&mut out);
            assert_eq!(out, [0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
            x.axpy(2.0, &mut out);
            assert_eq!(out, [0.0, 3.0, 0.0, 0.0, 3.0, 3.0, 0.0]);
            assert_eq!((x.get(4), x.get(3)), (1.0, 0.0));
            let mut short = [0.0; 3];
            x.gather(&take, &place).view().fill(&mut short);
            assert_eq!(short, [1.0, 0.0, 1.0]);
        }
    }

    #[test]
    fn saving_keeps_the_storage_and_owns_what_was_shared() {
        for data in kinds() {
            let bytes = postcard::to_stdvec(&data).unwrap();
            let back: ColumnData = postcard::from_bytes(&bytes).unwrap();
            assert_eq!(back.bytes(), data.bytes());
            assert_eq!(back.view().dot(&[1.0; 7]), 3.0);
        }
    }

    #[test]
    fn storage_narrows_only_without_loss() {
        assert!(matches!(Numbers::narrow(vec![0.5, f64::NAN]), Numbers::F32(_)));
        assert!(matches!(Numbers::narrow(vec![0.1]), Numbers::F64(_)));
    }
}
