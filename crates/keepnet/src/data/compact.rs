//! The narrowest storage that holds a column without loss: bits, byte codes or as it is.
//!
//! ```text
//! values in {0, 1}                         -> Bits     n / 8 bytes
//! whole numbers with at most 256 levels    -> Codes    n bytes and the levels
//! anything else, and sparse columns        -> as they are
//! ```
//!
//! A sparse column stays sparse: its length is what its kernels cost. One pass over the values,
//! which stops at the first value that does not fit. Values come back exactly.

use super::column::{Column, ColumnData, Genotypes, WholeRef, each_integer};
use crate::numeric::counts::count;
use crate::numeric::integers::{self, Integer};
use crate::numeric::kernel::Element;

/// Most levels of a coded column.
pub const MOST_LEVELS: usize = 256;
/// Whole numbers in a window of this width are coded through a table instead of a search.
const WINDOW: usize = 1024;

/// The column in narrower storage, or `None` where it stays as it is.
#[must_use]
pub fn compact(x: Column<'_>) -> Option<ColumnData> {
    match x {
        Column::F32(v) => whole(v),
        Column::F64(v) => whole(v),
        Column::Whole(v) => each_integer!(WholeRef, v, v => coded(v)),
        Column::Genotypes(v) => Some(unpacked(v)),
        Column::Codes { codes, levels } if levels == [0.0, 1.0] => {
            Some(ColumnData::Bits { rows: codes.len(), words: integers::bits(codes, 1) })
        }
        _ => None,
    }
}

/// Genotypes as bits or codes: what measures count has a table of levels.
fn unpacked(x: Genotypes<'_>) -> ColumnData {
    let counts = x.counts();
    let mut levels = Vec::with_capacity(4);
    let known = (0..3).filter(|copies| counts.copies[*copies] > 0).map(|copies| copies as f64);
    levels.extend(known.chain((counts.missing > 0).then(|| x.missing())));
    levels.sort_unstable_by(f64::total_cmp);
    levels.dedup();
    let code = x.levels().map(|value| levels.iter().position(|v| *v == value).unwrap_or(0) as u8);
    let codes: Vec<u8> = (0..x.rows()).map(|row| code[usize::from(x.code(row))]).collect();
    match levels == [0.0, 1.0] {
        true => ColumnData::Bits { rows: codes.len(), words: integers::bits(&codes, 1) },
        false => ColumnData::Codes { codes, levels },
    }
}

/// Bits or codes of integers within a small window.
fn coded<T: Integer>(values: &[T]) -> Option<ColumnData> {
    let (low, high) = integers::ends(values)?;
    let one = values.iter().find(|v| (**v).into() == 1);
    if let (0, 1, Some(one)) = (low, high, one) {
        let words = integers::bits(values, *one);
        return Some(ColumnData::Bits { rows: values.len(), words });
    }
    if high - low >= WINDOW as i64 {
        return None;
    }
    let window = (high - low) as usize + 1;
    let place = |v: &T| ((*v).into() - low) as usize;
    if window > MOST_LEVELS {
        let mut there = [0; WINDOW];
        values.iter().for_each(|v| there[place(v)] = 1);
        let (code, levels) = ranks(&there, low as f64)?;
        let codes = values.iter().map(|v| code[place(v)] as u8).collect();
        return Some(ColumnData::Codes { codes, levels });
    }
    let mut codes: Vec<u8> = values.iter().map(|v| place(v) as u8).collect();
    let mut there = [0; MOST_LEVELS];
    count(&codes, &mut there[..window]);
    let (code, levels) = ranks(&there[..window], low as f64)?;
    // Where no level is left out the code is the distance from the first.
    if levels.len() < window {
        codes.iter_mut().for_each(|c| *c = code[usize::from(*c)] as u8);
    }
    Some(ColumnData::Codes { codes, levels })
}

/// The codes of the places that occur, of whole numbers from `low` on, and their values; `None`
/// past [`MOST_LEVELS`].
fn ranks(there: &[u32], low: f64) -> Option<([u16; WINDOW], Vec<f64>)> {
    let mut code = [u16::MAX; WINDOW];
    let mut levels = Vec::new();
    for (at, _) in there.iter().enumerate().filter(|(_, there)| **there > 0) {
        code[at] = levels.len() as u16;
        levels.push(low + at as f64);
    }
    (levels.len() <= MOST_LEVELS).then_some((code, levels))
}

/// Bits or codes for a column of whole numbers within a small window.
fn whole<T: Element + PartialEq>(values: &[T]) -> Option<ColumnData> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for v in values {
        let v = v.wide();
        // Negative zero would come back as zero, so it does not count as whole.
        if v != v.trunc() || !v.is_finite() || (v == 0.0 && v.is_sign_negative()) {
            return None;
        }
        (low, high) = (low.min(v), high.max(v));
        if high - low >= WINDOW as f64 {
            return None;
        }
    }
    if values.is_empty() || low.abs().max(high.abs()) > 1e15 {
        return None;
    }
    if low == 0.0 && high == 1.0 {
        let one = *values.iter().find(|v| v.wide() == 1.0)?;
        return Some(ColumnData::Bits { rows: values.len(), words: integers::bits(values, one) });
    }
    let place = |v: &T| (v.wide() - low) as usize;
    let mut there = [0; WINDOW];
    values.iter().for_each(|v| there[place(v)] = 1);
    let (code, levels) = ranks(&there, low)?;
    let codes = values.iter().map(|v| code[place(v)] as u8).collect();
    Some(ColumnData::Codes { codes, levels })
}

/// Byte codes by value for any finite numbers, or `None` past [`MOST_LEVELS`] levels.
#[must_use]
pub fn encode(x: Column<'_>) -> Option<ColumnData> {
    let mut levels: Vec<f64> = Vec::new();
    let mut codes = Vec::with_capacity(x.rows());
    let mut last = (f64::NAN, 0u8);
    let mut fits = true;
    // Codes in order of appearance first; a second small pass puts the levels in order.
    x.each(|_, v| {
        if v != last.0 && fits {
            let at = levels.iter().position(|l| *l == v).unwrap_or(levels.len());
            if at == levels.len() {
                levels.push(v);
            }
            fits = levels.len() <= MOST_LEVELS;
            last = (v, at as u8);
        }
        codes.push(last.1);
    });
    if !fits || codes.len() != x.rows() {
        return None;
    }
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by(|a, b| levels[*a].total_cmp(&levels[*b]));
    let mut rank = [0u8; MOST_LEVELS];
    order.iter().enumerate().for_each(|(to, from)| rank[*from] = to as u8);
    codes.iter_mut().for_each(|c| *c = rank[usize::from(*c)]);
    Some(ColumnData::Codes { codes, levels: order.iter().map(|at| levels[*at]).collect() })
}

/// Equal-frequency bins as whole numbers 0, 1, ..., at most `bins`; equal values share a bin.
///
/// Edges are the values at the ranks `n b / bins`; a bin holds its upper edge, and an edge at
/// the largest value starts a bin of its own, so that a column with one common value is never
/// made constant. A sparse column stays sparse: its bins are numbered relative to that of zero.
#[must_use]
pub fn bin(x: Column<'_>, bins: usize) -> ColumnData {
    let mut values = Vec::new();
    x.each(|_, v| values.push(v));
    let zeros = x.rows() - values.len();
    values.sort_unstable_by(f64::total_cmp);
    let below = values.partition_point(|v| *v < 0.0);
    let ranked = |rank: usize| match rank {
        rank if rank < below => values[rank],
        rank if rank < below + zeros => 0.0,
        rank => values[rank - zeros],
    };
    let n = x.rows();
    if n == 0 {
        return x.to_data();
    }
    let rank = |b: usize| (n * b / bins).saturating_sub(1);
    let mut edges: Vec<f64> = (1..bins).map(|b| ranked(rank(b))).collect();
    edges.dedup();
    let last = ranked(n.saturating_sub(1));
    let bin = |v: f64| edges.partition_point(|edge| *edge < v || (*edge == last && v == last));
    if let Column::Sparse { rows, .. } = x {
        let home = bin(0.0) as f64;
        let (mut index, mut value) = (Vec::new(), Vec::new());
        x.each(|i, v| {
            let at = bin(v) as f64 - home;
            if at != 0.0 {
                index.push(i as u32);
                value.push(at as f32);
            }
        });
        return ColumnData::Sparse { rows, index, value: super::column::Numbers::F32(value) };
    }
    let mut codes = vec![0u8; n];
    x.each(|i, v| codes[i] = bin(v) as u8);
    let levels = (0..=edges.len()).map(|b| b as f64).collect();
    ColumnData::Codes { codes, levels }
}

/// Where a column is above its mean, as bits; where a column stores few of its rows and all of
/// these are above, as those rows.
pub fn above_mean(x: Column<'_>) -> ColumnData {
    let (mut sum, mut stored) = (0.0, 0);
    x.each(|_, v| (sum, stored) = (sum + v, stored + 1));
    let rows = x.rows();
    let mean = sum / rows.max(1) as f64;
    if let (Column::Sparse { .. }, true) = (x, mean >= 0.0) {
        let mut index = Vec::new();
        x.each(|i, v| {
            if v > mean {
                index.push(i as u32);
            }
        });
        let value = super::column::Numbers::F32(vec![1.0; index.len()]);
        return ColumnData::Sparse { rows, index, value };
    }
    let mut words = vec![0u64; rows.div_ceil(64)];
    let mut set = |i: usize, above: bool| {
        words[i / 64] = words[i / 64] & !(1 << (i % 64)) | u64::from(above) << (i % 64)
    };
    if stored < rows {
        (0..rows).for_each(|i| set(i, 0.0 > mean));
    }
    x.each(|i, v| set(i, v > mean));
    ColumnData::Bits { rows, words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::Numbers;

    fn values(x: Column<'_>) -> Vec<f64> {
        let mut out = vec![0.0; x.rows()];
        x.fill(&mut out);
        out
    }

    #[test]
    fn storage_narrows_and_every_value_comes_back() {
        let cases = [
            (vec![0.0, 1.0, 1.0, 0.0], "bits"),
            (vec![-2.0, 0.0, 2.0, 0.0], "codes"),
            (vec![1e6, 1e6 + 3.0, 1e6], "codes"),
            (vec![0.5, 1.0], "as it is"),
            (vec![-0.0, 1.0], "as it is"),
            (vec![f64::NAN, 1.0], "as it is"),
            ((0..300).map(f64::from).collect(), "as it is"),
            (vec![0.0, 1e300], "as it is"),
        ];
        for (want, kind) in cases {
            let data = ColumnData::Dense(Numbers::F64(want.clone()));
            match compact(data.view()) {
                Some(narrow) => {
                    assert_eq!(values(narrow.view()), want);
                    assert_eq!(matches!(narrow, ColumnData::Bits { .. }), kind == "bits");
                }
                None => assert_eq!(kind, "as it is", "{want:?}"),
            }
        }
    }

    #[test]
    fn codes_are_by_value_never_truncated() {
        let x = [0.7, -1.5, 0.7, 0.2];
        let Some(ColumnData::Codes { codes, levels }) = encode(Column::dense(&x)) else { panic!() };
        assert_eq!((codes, levels), (vec![2, 0, 2, 1], vec![-1.5, 0.2, 0.7]));
        let many: Vec<f64> = (0..257).map(|v| f64::from(v) / 8.0).collect();
        assert!(encode(Column::dense(&many)).is_none());
    }

    #[test]
    fn bins_hold_equal_shares_and_sparse_stays_sparse() {
        let x: Vec<f64> = (0..12).map(|v| f64::from(v) * 1.5).collect();
        assert_eq!(values(bin(Column::dense(&x), 3).view())[3..9], [0.0, 1.0, 1.0, 1.0, 1.0, 2.0]);
        let mut wide = vec![0.0; 8];
        (wide[1], wide[5], wide[6], wide[7]) = (-1.0, 2.0, 3.0, 4.0);
        let value = Numbers::F64(vec![-1.0, 2.0, 3.0, 4.0]);
        let sparse = ColumnData::Sparse { rows: 8, index: vec![1, 5, 6, 7], value };
        let (a, b) = (bin(sparse.view(), 4), bin(Column::dense(&wide), 4));
        assert!(matches!(a, ColumnData::Sparse { .. }));
        // Bins of the dense column, relative to that of zero.
        let home = values(b.view())[0];
        let shifted: Vec<f64> = values(b.view()).iter().map(|v| v - home).collect();
        assert_eq!(values(a.view()), shifted);
    }

    #[test]
    fn a_column_with_one_common_value_keeps_the_others_apart() {
        for common in [0.0, 9.5] {
            let mut x = vec![common; 20];
            (x[3], x[8]) = (4.5, 2.5);
            let mut bins = values(bin(Column::dense(&x), 4).view());
            assert_ne!(bins[3], bins[0]);
            bins.sort_by(f64::total_cmp);
            bins.dedup();
            assert_eq!(bins.len(), 2);
        }
    }
}
