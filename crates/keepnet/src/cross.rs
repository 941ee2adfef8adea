//! Products of many columns with a few vectors: the one heavy kernel of the engine.
//!
//! ```text
//! out[j][g] = sum_i x_j,i v_g,i
//! ```
//!
//! Dense columns are taken in row tiles, so that the vectors stay in the first cache while the
//! columns stream past once for every [`kernel::GROUP`] vectors: `2 n` flops a product and
//! `width n / 4` bytes. Threads split columns, never rows, and a product has the same digits
//! whatever is computed beside it, so neither blocks nor threads show in a result.

use rayon::prelude::*;

use crate::column::Column;
use crate::kernel::{self, Element, GROUP, Lanes};

/// Columns that one thread takes at a time.
const COLUMNS: usize = 16;

/// `out[j * v.len() + g] = sum_i columns[j]_i v[g]_i`.
pub fn cross(columns: &[Column<'_>], v: &[&[f64]], out: &mut [f64]) {
    if v.is_empty() || columns.is_empty() {
        return;
    }
    let work = columns.chunks(COLUMNS).zip(out.chunks_mut(COLUMNS * v.len()));
    let parallel =
        rayon::current_num_threads() > 1 && columns.len() * v.len() * v[0].len() > 1 << 16;
    if parallel {
        let work: Vec<_> = work.collect();
        work.into_par_iter().for_each(|(columns, out)| some(columns, v, out));
    } else {
        work.for_each(|(columns, out)| some(columns, v, out));
    }
}

fn some(columns: &[Column<'_>], v: &[&[f64]], out: &mut [f64]) {
    let mut lanes = vec![[Lanes::default(); GROUP]; columns.len()];
    for (g, group) in v.chunks(GROUP).enumerate() {
        lanes.fill([Lanes::default(); GROUP]);
        for tile in kernel::tiles(v[0].len()) {
            let part: Vec<&[f64]> = group.iter().map(|v| &v[tile.clone()]).collect();
            for (columns, lanes) in columns.chunks(4).zip(lanes.chunks_mut(4)) {
                add(columns, tile.clone(), &part, lanes);
            }
        }
        for (j, (column, lanes)) in columns.iter().zip(&lanes).enumerate() {
            let out = &mut out[j * v.len() + g * GROUP..][..group.len()];
            for ((out, lanes), v) in out.iter_mut().zip(lanes).zip(group) {
                *out = if column.is_dense() { lanes.sum() } else { column.dot(v) };
            }
        }
    }
}

/// Adds one tile of up to four columns times up to four vectors, whichever side is whole
/// keeping the vector unit busy. Columns that are not dense are left out.
fn add(
    columns: &[Column<'_>],
    tile: std::ops::Range<usize>,
    v: &[&[f64]],
    lanes: &mut [[Lanes; GROUP]],
) {
    match (columns, v) {
        (_, [a, b, c, d]) => {
            for (column, lanes) in columns.iter().zip(lanes) {
                match *column {
                    Column::F32(x) => kernel::add_products(&x[tile.clone()], [a, b, c, d], lanes),
                    Column::F64(x) => kernel::add_products(&x[tile.clone()], [a, b, c, d], lanes),
                    _ => {}
                }
            }
        }
        ([Column::F32(a), Column::F32(b), Column::F32(c), Column::F32(d)], _) => {
            add_four([a, b, c, d].map(|x| &x[tile.clone()]), v, lanes);
        }
        ([Column::F64(a), Column::F64(b), Column::F64(c), Column::F64(d)], _) => {
            add_four([a, b, c, d].map(|x| &x[tile.clone()]), v, lanes);
        }
        _ => {
            for (column, lanes) in columns.iter().zip(lanes) {
                for (v, lanes) in v.iter().zip(lanes) {
                    let lanes = std::slice::from_mut(lanes);
                    match *column {
                        Column::F32(x) => kernel::add_products(&x[tile.clone()], [v], lanes),
                        Column::F64(x) => kernel::add_products(&x[tile.clone()], [v], lanes),
                        _ => {}
                    }
                }
            }
        }
    }
}

fn add_four<T: Element>(x: [&[T]; 4], v: &[&[f64]], lanes: &mut [[Lanes; GROUP]]) {
    for (g, v) in v.iter().enumerate() {
        let mut four = std::array::from_fn(|j| lanes[j][g]);
        kernel::add_columns(x, v, &mut four);
        four.into_iter().enumerate().for_each(|(j, sums)| lanes[j][g] = sums);
    }
}

/// `out_i += sum_j w_j x_j,i` over dense columns in row tiles, several columns a pass.
pub fn combine(columns: &[Column<'_>], w: &[f64], out: &mut [f64]) {
    let dense = columns.iter().all(Column::is_dense);
    if !dense {
        columns.iter().zip(w).for_each(|(x, w)| x.axpy(*w, out));
        return;
    }
    let tile_rows = kernel::tiles(out.len()).next().map_or(1, |tile| tile.len().max(1));
    let work = |(at, out): (usize, &mut [f64])| {
        let rows = at * tile_rows..at * tile_rows + out.len();
        for (x, w) in columns.chunks(4).zip(w.chunks(4)) {
            combine_tile(x, w, rows.clone(), out);
        }
    };
    // Rows may be split here: a row's sum runs over the columns in the same order anyway.
    if rayon::current_num_threads() > 1 && columns.len() * out.len() > 1 << 16 {
        out.par_chunks_mut(tile_rows).enumerate().for_each(work);
    } else {
        out.chunks_mut(tile_rows).enumerate().for_each(work);
    }
}

fn combine_tile(x: &[Column<'_>], w: &[f64], rows: std::ops::Range<usize>, out: &mut [f64]) {
    match (x, w) {
        ([Column::F32(a), Column::F32(b), Column::F32(c), Column::F32(d)], [p, q, r, s]) => {
            let x = [a, b, c, d].map(|x| &x[rows.clone()]);
            kernel::axpy4([*p, *q, *r, *s], x, out);
        }
        _ => {
            for (x, w) in x.iter().zip(w) {
                match *x {
                    Column::F32(x) => kernel::axpy(*w, &x[rows.clone()], out),
                    Column::F64(x) => kernel::axpy(*w, &x[rows.clone()], out),
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{ColumnData, Numbers};

    fn columns(n: usize, count: usize) -> Vec<ColumnData> {
        let value = |j: usize, i: usize| ((i * 7 + j * 13) % 23) as f32 - 11.0 + 0.1 * j as f32;
        (0..count)
            .map(|j| match j % 3 {
                0 => ColumnData::f32((0..n).map(|i| value(j, i)).collect()),
                1 => ColumnData::Dense(Numbers::F64((0..n).map(|i| value(j, i).into()).collect())),
                _ => ColumnData::Bits { rows: n, words: vec![0x5555_5555; n.div_ceil(64)] },
            })
            .collect()
    }

    #[test]
    fn products_equal_single_dots_whatever_the_company() {
        let n = 2496;
        let data = columns(n, 40);
        let views: Vec<_> = data.iter().map(ColumnData::view).collect();
        let v: Vec<Vec<f64>> =
            (0..6).map(|g| (0..n).map(|i| ((i * (g + 3)) % 17) as f64 - 8.3).collect()).collect();
        let v: Vec<&[f64]> = v.iter().map(Vec::as_slice).collect();
        let mut all = vec![0.0; 40 * 6];
        cross(&views, &v, &mut all);
        for j in 0..40 {
            for g in 0..6 {
                let mut one = [0.0];
                cross(&views[j..=j], &v[g..=g], &mut one);
                assert_eq!(one[0].to_bits(), all[j * 6 + g].to_bits());
                let plain: f64 = (0..n).map(|i| views[j].get(i) * v[g][i]).sum();
                assert!((one[0] - plain).abs() < 1e-8, "{} {plain}", one[0]);
            }
        }
    }

    #[test]
    fn a_combination_equals_the_sum_of_its_parts() {
        let n = 2100;
        let data: Vec<_> = (0..7)
            .map(|j| ColumnData::f32((0..n).map(|i| (i % (j + 2)) as f32).collect()))
            .collect();
        let views: Vec<_> = data.iter().map(ColumnData::view).collect();
        let w = [0.5, -1.0, 2.0, 0.25, 3.0, -0.125, 1.0];
        let mut out = vec![1.0; n];
        combine(&views, &w, &mut out);
        for (i, out) in out.iter().enumerate() {
            let plain: f64 = 1.0 + (0..7).map(|j| w[j] * (i % (j + 2)) as f64).sum::<f64>();
            assert!((out - plain).abs() < 1e-12);
        }
    }
}
