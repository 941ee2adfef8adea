//! Columns whose mean is large against their deviation.
//!
//! Methods centre by formula, `x'v - mean sum(v)`. With `R = |mean| / sd` the digits of `R` are
//! lost in that, and those of `R^2` where a square is centred, `x'Dx - 2 mean x'd + mean^2 sum(d)`:
//!
//! ```text
//! relative error about R^2 2^-53        R = 256: 7e-12        R = 1e8: nothing is left
//! ```
//!
//! So a column of `R > 256` is held as `x - shift` where the method centres its columns, with
//! `shift` that one of its values which is nearest to the mean. Differences of numbers within a
//! factor of 2 are exact, whole numbers stay whole, numbers that f32 holds stay such, and what is
//! left has a mean within a deviation of zero. [`ColumnStats::shift`] remembers it. A sparse
//! column of such a mean is all but full and becomes dense; codes stay codes with other levels.
//! Bits are left alone: their sums are exact, and `R^2` is below the number of rows.

use super::ColumnStats;
use crate::data::column::{Column, ColumnData, Whole};

/// The square of the largest `|mean| / sd` of a column that is taken as it is.
const FAR: f64 = 65_536.0;

/// Whether the mean is too large against the deviation for sums of plain squares.
///
/// A deviation that came out as nothing counts as too small.
pub(crate) fn is_far(stats: &ColumnStats) -> bool {
    let near = stats.mean * stats.mean <= FAR * stats.variance;
    !near
}

/// The column less one of its values, with statistics that lost nothing; `None` where all values
/// are equal.
///
/// `missing` of the statistics is for the caller to fill in.
pub(crate) fn shifted(
    x: Column<'_>,
    weight: Option<&[f64]>,
    total: f64,
) -> Option<(ColumnData, ColumnStats)> {
    let (data, shift) = match x {
        Column::Codes { codes, levels } => {
            let mut rows = vec![0.0; codes.len()];
            x.fill(&mut rows);
            let shift = nearest_to_mean(&rows, weight, total)?;
            let levels = levels.iter().map(|level| level - shift).collect();
            (ColumnData::Codes { codes: codes.to_vec(), levels }, shift)
        }
        _ => {
            let mut values = vec![0.0; x.rows()];
            x.fill(&mut values);
            let shift = nearest_to_mean(&values, weight, total)?;
            values.iter_mut().for_each(|x| *x -= shift);
            // Integers less an integer are integers.
            let whole = matches!(x, Column::Whole(_)).then(|| Whole::of(&values)).flatten();
            (whole.map_or_else(|| ColumnData::dense(values), ColumnData::Whole), shift)
        }
    };
    let stats = ColumnStats { shift, ..two_passes(data.view(), weight, total) };
    Some((data, stats))
}

/// A vector as a column, shifted where that is needed and `centre` allows it.
pub(crate) fn column(
    values: &[f64],
    weight: Option<&[f64]>,
    total: f64,
    centre: bool,
) -> (ColumnData, ColumnStats) {
    let (stats, _) = super::statistics(Column::F64(values), weight, total);
    match centre && is_far(&stats) {
        true => shifted(Column::F64(values), weight, total),
        false => None,
    }
    .unwrap_or_else(|| (ColumnData::dense(values.to_vec()), stats))
}

/// The value nearest to the mean, the smaller of two; `None` where there is one value only.
fn nearest_to_mean(values: &[f64], weight: Option<&[f64]>, total: f64) -> Option<f64> {
    let first = *values.first()?;
    if values.iter().all(|x| *x == first) {
        return None;
    }
    let (sum, _) = Column::F64(values).moments(weight, first);
    let mean = first + sum / total;
    let nearer = |a: f64, b: f64| match (a - mean).abs().total_cmp(&(b - mean).abs()) {
        std::cmp::Ordering::Less => a,
        std::cmp::Ordering::Equal => a.min(b),
        std::cmp::Ordering::Greater => b,
    };
    Some(values.iter().copied().fold(first, nearer))
}

/// Mean and variance about the mean itself.
fn two_passes(x: Column<'_>, weight: Option<&[f64]>, total: f64) -> ColumnStats {
    let about = x.moments(weight, 0.0).0 / total;
    let (first, second) = x.moments(weight, about);
    let rest = first / total;
    let variance = ((second - first * rest) / total).max(0.0);
    ColumnStats { mean: about + rest, variance, ..ColumnStats::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::Numbers;

    /// `{1, 2, 4, 9}` far from zero, weighed `1, 2, 1, 4`: mean 45/8, variance 349/8 - (45/8)^2.
    #[test]
    fn every_storage_gives_the_statistics_of_the_definition() {
        let v = [1.0, 2.0, 1.0, 4.0];
        for offset in [1e5, 1e9, -1e12, 3e15] {
            let x: Vec<f64> = [1.0, 2.0, 4.0, 9.0].iter().map(|x| x + offset).collect();
            for data in [
                ColumnData::Dense(Numbers::F64(x.clone())),
                ColumnData::Sparse {
                    rows: 4,
                    index: (0..4).collect(),
                    value: Numbers::F64(x.clone()),
                },
                ColumnData::Codes { codes: vec![0, 1, 2, 3], levels: x.clone() },
            ] {
                let (data, stats) = shifted(data.view(), Some(&v), 8.0).unwrap();
                // 4 is nearest to the mean of 5.625.
                assert_eq!(stats.shift, offset + 4.0);
                assert_eq!((stats.mean, stats.variance), (1.625, 11.984_375));
                let mut left = [0.0; 4];
                data.view().fill(&mut left);
                assert_eq!(left, [-3.0, -2.0, 0.0, 5.0]);
            }
        }
    }

    #[test]
    fn one_value_is_constant_whatever_rounding_says() {
        for value in [0.1, 0.3, 1e9 + 0.1] {
            for n in [3, 7, 100] {
                let index = (0..n as u32).collect();
                let value = Numbers::F64(vec![value; n]);
                let data = ColumnData::Sparse { rows: n, index, value };
                assert!(shifted(data.view(), None, n as f64).is_none());
            }
        }
    }

    #[test]
    fn what_f32_holds_stays_in_f32() {
        let x: Vec<f32> = (0..50).map(|i| 1e6 + (i % 7) as f32 / 16.0).collect();
        let (data, _) = shifted(Column::F32(&x), None, 50.0).unwrap();
        assert!(matches!(data.view(), Column::F32(_)));
    }
}
