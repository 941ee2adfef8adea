//! `sum a_i b_i` for two columns in any storage, without making one dense.
//!
//! Coded columns may be shifted by a constant. This changes no correlation, and it keeps the
//! digits of levels with a large offset. For whole numbers every storage gives the same digits.

use super::shared_rows::{bit, shared_rows};
use crate::data::column::{Column, NumbersRef, WholeRef, each_integer};
use crate::numeric::kernel::Element;
use crate::numeric::popcount;

/// A column and the constant that is subtracted from its coded levels.
#[derive(Clone, Copy)]
pub struct Shifted<'a> {
    /// The values.
    pub x: Column<'a>,
    /// The constant; 0 for other storages.
    pub shift: f64,
}

/// `sum (a_i - shift_a) (b_i - shift_b)` of bits, codes and sparse columns.
#[must_use]
pub fn dot(a: Shifted<'_>, b: Shifted<'_>) -> f64 {
    match (a.x, b.x) {
        (Column::Bits { words: x, .. }, Column::Bits { words: y, .. }) => {
            popcount::count_and(x, y) as f64
        }
        (Column::Sparse { index: i, value: x, .. }, Column::Sparse { index: j, value: y, .. }) => {
            match (x, y) {
                (NumbersRef::F32(x), NumbersRef::F32(y)) => sparse(i, x, j, y),
                (NumbersRef::F32(x), NumbersRef::F64(y)) => sparse(i, x, j, y),
                (NumbersRef::F64(x), NumbersRef::F32(y)) => sparse(i, x, j, y),
                (NumbersRef::F64(x), NumbersRef::F64(y)) => sparse(i, x, j, y),
            }
        }
        (Column::Codes { codes: x, levels: p }, Column::Codes { codes: y, levels: q }) => {
            let table = |levels: &[f64], shift: f64| {
                let mut out = [0.0; 256];
                levels.iter().zip(&mut out).for_each(|(level, out)| *out = level - shift);
                out
            };
            let (p, q) = (table(p, a.shift), table(q, b.shift));
            let mut lanes = [0.0; 4];
            for (x, y) in x.chunks(4).zip(y.chunks(4)) {
                for (l, (x, y)) in x.iter().zip(y).enumerate() {
                    lanes[l] += p[usize::from(*x)] * q[usize::from(*y)];
                }
            }
            (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
        }
        (Column::Genotypes(x), _) => {
            let mut wide = vec![0.0; x.rows()];
            a.x.fill(&mut wide);
            dot(b, Shifted { x: Column::F64(&wide), shift: 0.0 })
        }
        (_, Column::Genotypes(_)) => dot(b, a),
        (Column::Codes { .. }, _) => dot(b, a),
        (_, Column::Codes { codes, levels }) => {
            let mut sum = 0.0;
            a.x.each(|row, x| sum += x * (levels[usize::from(codes[row])] - b.shift));
            sum
        }
        (Column::Sparse { .. }, Column::Bits { words, .. }) => {
            let mut sum = 0.0;
            a.x.each(|row, x| sum += if bit(words, row) { x } else { 0.0 });
            sum
        }
        (Column::Bits { .. }, Column::Sparse { .. }) => dot(b, a),
        (_, Column::F32(y)) => against_dense(a, y, 0.0),
        (_, Column::F64(y)) => against_dense(a, y, 0.0),
        (_, Column::Whole(y)) => each_integer!(WholeRef, y, y => against_dense(a, y, 0.0)),
        (Column::F32(_) | Column::F64(_) | Column::Whole(_), _) => dot(b, a),
    }
}

/// `sum (a_i - shift_a) (y_i - mean)` with a dense `y`.
#[must_use]
pub fn against_dense<T: Element>(a: Shifted<'_>, y: &[T], mean: f64) -> f64 {
    let mut sum = 0.0;
    a.x.each(|row, x| sum += (x - a.shift) * (y[row].wide() - mean));
    sum
}

fn sparse<T: Element, U: Element>(i: &[u32], x: &[T], j: &[u32], y: &[U]) -> f64 {
    let mut sum = 0.0;
    shared_rows(i, j, |at, bt| sum += x[at].wide() * y[bt].wide());
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::ColumnData;
    use crate::data::column::Numbers;

    #[test]
    fn every_pair_of_storages_gives_the_same_product() {
        let columns = |v: &[f64]| -> Vec<ColumnData> {
            let at: Vec<u32> = (0..v.len() as u32).filter(|i| v[*i as usize] != 0.0).collect();
            let value = Numbers::F64(at.iter().map(|i| v[*i as usize]).collect());
            let mut all = vec![
                ColumnData::Sparse { rows: v.len(), index: at, value },
                crate::data::compact::encode(Column::dense(v)).unwrap(),
                ColumnData::dense(v.to_vec()),
            ];
            all.extend(crate::data::compact::compact(Column::dense(v)));
            all
        };
        let a: Vec<f64> = (0..70).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
        let b: Vec<f64> = (0..70).map(|i| f64::from(i * 7 % 5 - 2)).collect();
        for (x, y) in [(&a, &b), (&a, &a), (&b, &b), (&b, &a)] {
            let want: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
            for p in columns(x) {
                for q in columns(y) {
                    let shifted = |d| Shifted { x: d, shift: 0.0 };
                    assert_eq!(dot(shifted(p.view()), shifted(q.view())), want);
                }
            }
        }
    }
}
