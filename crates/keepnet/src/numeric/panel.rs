//! Sums of columns for several sets of coefficients in one pass over the columns.
//!
//! ```text
//! out[m]_i += sum_j w[j][m] x_j,i
//! ```
//!
//! Rows are taken in tiles. A tile of all columns stays in the second-level cache while the sets
//! pass over it, a few at a time with their sums in registers. So the columns come from the memory
//! once. A row's sum runs over the columns in their order, so it has the digits of [`combine`],
//! whatever the tiles, sets and threads are.

use rayon::prelude::*;

use super::products::combine;
use super::simd::{Element, LANES, Vector, on_best};
use crate::data::column::Column;

/// Bytes of the tile of all columns.
const TILE: usize = 1 << 19;
/// Columns and sets of a pass.
const COLUMNS: usize = 8;
const SETS: usize = 6;

/// Adds to each of `out` the sum of all columns with its own coefficients; that of column `j` in
/// set `m` is at `j * out.len() + m`.
pub(crate) fn combine_several(columns: &[Column<'_>], w: &[f64], out: &mut [Vec<f64>]) {
    let sets = out.len();
    // Only floats are taken in tiles.
    let float = |x: &Column<'_>| matches!(x, Column::F32(_) | Column::F64(_));
    if sets < 2 || !columns.iter().all(float) {
        for (m, out) in out.iter_mut().enumerate() {
            combine(columns, &set(w, sets, m), out);
        }
        return;
    }
    let width = |x: &Column<'_>| if matches!(x, Column::F64(_)) { 8 } else { 4 };
    let bytes: usize = columns.iter().map(width).sum();
    let rows = (TILE / bytes.max(1)).clamp(64, 4096) / 8 * 8;
    let n = out[0].len();
    let mut parts: Vec<_> = out.iter_mut().map(|out| out.chunks_mut(rows)).collect();
    let mut next = || parts.iter_mut().filter_map(Iterator::next).collect();
    let tiles: Vec<(usize, Vec<&mut [f64]>)> =
        (0..n).step_by(rows).map(|at| (at, next())).collect();
    let one = |(at, mut out): (usize, Vec<&mut [f64]>)| add_tile(columns, w, at, &mut out);
    if rayon::current_num_threads() > 1 {
        tiles.into_par_iter().for_each(one);
    } else {
        tiles.into_iter().for_each(one);
    }
}

/// The coefficients of one set among `sets`.
pub(crate) fn set(w: &[f64], sets: usize, m: usize) -> Vec<f64> {
    w.iter().skip(m).step_by(sets).copied().collect()
}

/// The rows from `first` on that the parts of `out` have.
fn add_tile(columns: &[Column<'_>], w: &[f64], first: usize, out: &mut [&mut [f64]]) {
    let (sets, rows) = (out.len(), first..first + out[0].len());
    for (at, out) in out.chunks_mut(SETS).enumerate() {
        let w = &w[at * SETS..];
        // Runs of one storage type.
        let mut j = 0;
        for run in
            columns.chunk_by(|a, b| matches!(a, Column::F32(_)) == matches!(b, Column::F32(_)))
        {
            let w = &w[j * sets..];
            j += run.len();
            let narrow: Vec<&[f32]> = run.iter().filter_map(|x| narrow(x, &rows)).collect();
            let wide: Vec<&[f64]> = run.iter().filter_map(|x| self::wide(x, &rows)).collect();
            add_run(&narrow, w, sets, out);
            add_run(&wide, w, sets, out);
        }
    }
}

fn narrow<'a>(x: &Column<'a>, rows: &std::ops::Range<usize>) -> Option<&'a [f32]> {
    if let Column::F32(x) = *x { Some(&x[rows.clone()]) } else { None }
}

fn wide<'a>(x: &Column<'a>, rows: &std::ops::Range<usize>) -> Option<&'a [f64]> {
    if let Column::F64(x) = *x { Some(&x[rows.clone()]) } else { None }
}

/// Adds the columns of one storage type to at most [`SETS`] sums.
fn add_run<T: Element>(x: &[&[T]], w: &[f64], sets: usize, out: &mut [&mut [f64]]) {
    match out {
        [a] => add_columns(x, w, sets, [a]),
        [a, b] => add_columns(x, w, sets, [a, b]),
        [a, b, c] => add_columns(x, w, sets, [a, b, c]),
        [a, b, c, d] => add_columns(x, w, sets, [a, b, c, d]),
        [a, b, c, d, e] => add_columns(x, w, sets, [a, b, c, d, e]),
        [a, b, c, d, e, f] => add_columns(x, w, sets, [a, b, c, d, e, f]),
        _ => {}
    }
}

fn add_columns<T: Element, const M: usize>(
    x: &[&[T]],
    w: &[f64],
    sets: usize,
    mut out: [&mut [f64]; M],
) {
    let (whole, rest) = x.as_chunks::<COLUMNS>();
    for (at, x) in whole.iter().enumerate() {
        add_block(*x, &w[at * COLUMNS * sets..], sets, &mut out);
    }
    for (at, x) in rest.iter().enumerate() {
        add_block([*x], &w[(whole.len() * COLUMNS + at) * sets..], sets, &mut out);
    }
}

/// `J` columns for `M` sets.
fn add_block<T: Element, const J: usize, const M: usize>(
    x: [&[T]; J],
    w: &[f64],
    sets: usize,
    out: &mut [&mut [f64]; M],
) {
    let mut ws = [[0.0; M]; J];
    for j in 0..J {
        ws[j].copy_from_slice(&w[j * sets..j * sets + M]);
    }
    on_best!(s => {
        let (rows, count) = (x[0].len(), x[0].len() / LANES);
        let mut xs: [&[[T; LANES]]; J] = [&[]; J];
        for j in 0..J {
            xs[j] = &x[j].as_chunks::<LANES>().0[..count];
        }
        for i in 0..count {
            let mut sums = [s.splat(0.0); M];
            for m in 0..M {
                sums[m] = s.load64(&out[m].as_chunks::<LANES>().0[i]);
            }
            for j in 0..J {
                let x = T::load(s, &xs[j][i]);
                for m in 0..M {
                    sums[m] = s.fma(s.splat(ws[j][m]), x, sums[m]);
                }
            }
            for m in 0..M {
                out[m].as_chunks_mut::<LANES>().0[i] = s.store(sums[m]);
            }
        }
        for i in LANES * count..rows {
            for m in 0..M {
                for j in 0..J {
                    out[m][i] = ws[j][m].mul_add(x[j][i].wide(), out[m][i]);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::{ColumnData, Numbers, WholeRef};

    #[test]
    fn integers_among_the_columns_are_not_left_out() {
        let bytes: Vec<u8> = (0..90_u8).map(|i| i % 5).collect();
        let narrow: Vec<f32> = (0..90_u8).map(|i| f32::from(i) / 3.0).collect();
        let whole = Column::Whole(WholeRef::U8(&bytes));
        let x = [whole, Column::F32(&narrow), whole];
        let w = [0.5, -1.0, 2.0, 0.25, 1.5, 3.0];
        let mut together = vec![vec![0.0; 90]; 2];
        combine_several(&x, &w, &mut together);
        for (m, out) in together.iter().enumerate() {
            let plain = |i: usize| (0..3).map(|j| w[2 * j + m] * x[j].get(i)).sum::<f64>();
            assert!((0..90).all(|i| (plain(i) - out[i]).abs() < 1e-11), "set {m}");
        }
    }

    #[test]
    fn several_sums_have_the_digits_of_one_after_the_other() {
        let cases = [(1, 1, false), (777, 13, false), (5003, 41, false), (90, 7, true)];
        for ((n, count, sparse), sets) in
            cases.into_iter().flat_map(|c| (1..15).map(move |m| (c, m)))
        {
            let value = |j: usize, i: usize| ((i * 7 + j * 13) % 23) as f64 / 3.0 - 2.7;
            let data: Vec<ColumnData> = (0..count)
                .map(|j| match j % 11 {
                    0..9 => ColumnData::f32((0..n).map(|i| value(j, i) as f32).collect()),
                    9 if sparse => ColumnData::Bits { rows: n, words: vec![5; n.div_ceil(64)] },
                    _ => ColumnData::Dense(Numbers::F64((0..n).map(|i| value(j, i)).collect())),
                })
                .collect();
            let x: Vec<Column<'_>> = data.iter().map(ColumnData::view).collect();
            // Each set leaves some columns out.
            let w = |j: usize, m: usize| if j % 5 == m { 0.0 } else { 0.1 * (j + m) as f64 - 0.7 };
            let w: Vec<f64> = (0..count).flat_map(|j| (0..sets).map(move |m| w(j, m))).collect();
            let mut together = vec![vec![0.3; n]; sets];
            combine_several(&x, &w, &mut together);
            for (m, together) in together.iter().enumerate() {
                let (w, mut alone) = (set(&w, sets, m), vec![0.3; n]);
                combine(&x, &w, &mut alone);
                assert_eq!(&alone, together);
                let plain =
                    |i: usize| 0.3 + x.iter().zip(&w).map(|(x, w)| w * x.get(i)).sum::<f64>();
                assert!((0..n).all(|i| (plain(i) - together[i]).abs() < 1e-11), "{n} {sets}");
            }
        }
    }
}
