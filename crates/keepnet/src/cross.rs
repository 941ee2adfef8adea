//! Products of many columns with a few vectors: the one heavy kernel of the engine.
//!
//! ```text
//! out[j][g] = sum_i x_j,i v_g,i
//! ```
//!
//! Dense columns are taken in row tiles, so that the vectors stay in the caches near the
//! processor while the columns stream past once for all of them: `2 n` flops a product and
//! `width n` bytes a column. Threads split columns, never rows, and a product has the same digits
//! whatever is computed beside it, so neither blocks nor threads show in a result.

use rayon::prelude::*;

use crate::column::Column;
use crate::kernel::{self, Element, Lanes};

/// Columns that one thread takes at a time.
const COLUMNS: usize = 18;
/// Columns and vectors whose products are summed in registers, all at once.
const BLOCK: (usize, usize) = (3, 2);

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
    let pairs = v.len().div_ceil(BLOCK.1);
    let mut lanes = vec![[Lanes::default(); BLOCK.1]; columns.len() * pairs];
    if columns.iter().any(Column::is_dense) {
        for tile in kernel::tiles(v[0].len(), v.len()) {
            let part: Vec<&[f64]> = v.iter().map(|v| &v[tile.clone()]).collect();
            let here =
                columns.iter().map(|x| if x.is_dense() { x.slice(tile.clone()) } else { *x });
            let here: Vec<Column<'_>> = here.collect();
            for (part, lanes) in part.chunks(BLOCK.1).zip(lanes.chunks_mut(columns.len())) {
                for (columns, lanes) in here.chunks(BLOCK.0).zip(lanes.chunks_mut(BLOCK.0)) {
                    add(columns, part, lanes);
                }
            }
        }
    }
    for (j, (column, out)) in columns.iter().zip(out.chunks_mut(v.len())).enumerate() {
        for (g, (out, v)) in out.iter_mut().zip(v).enumerate() {
            let lanes = &lanes[g / BLOCK.1 * columns.len() + j][g % BLOCK.1];
            *out = if column.is_dense() { lanes.sum() } else { column.dot(v) };
        }
    }
}

/// Adds one tile of some columns times up to two vectors. Columns that are not dense are left
/// out.
fn add(columns: &[Column<'_>], v: &[&[f64]], lanes: &mut [[Lanes; BLOCK.1]]) {
    match *columns {
        [Column::F32(a), Column::F32(b), Column::F32(c)] => block([a, b, c], v, lanes),
        [Column::F64(a), Column::F64(b), Column::F64(c)] => block([a, b, c], v, lanes),
        [Column::F32(a), Column::F32(b)] => block([a, b], v, lanes),
        [Column::F64(a), Column::F64(b)] => block([a, b], v, lanes),
        [Column::F32(a)] => block([a], v, lanes),
        [Column::F64(a)] => block([a], v, lanes),
        _ if columns.len() > 1 => {
            let each = columns.iter().zip(lanes);
            each.for_each(|(x, lanes)| add(&[*x], v, std::slice::from_mut(lanes)));
        }
        _ => {}
    }
}

fn block<T: Element, const J: usize>(x: [&[T]; J], v: &[&[f64]], lanes: &mut [[Lanes; BLOCK.1]]) {
    let lanes: &mut [_; J] = lanes.try_into().expect("a set of sums for each column");
    match *v {
        [a, b] => kernel::add_products(x, [a, b], lanes),
        [a] => {
            let mut one = lanes.map(|lanes| [lanes[0]]);
            kernel::add_products(x, [a], &mut one);
            one.iter().zip(lanes).for_each(|(sums, lanes)| lanes[0] = sums[0]);
        }
        _ => {}
    }
}

/// `out_i += sum_j w_j x_j,i` over dense columns in row tiles, several columns a pass.
pub fn combine(columns: &[Column<'_>], w: &[f64], out: &mut [f64]) {
    let dense = columns.iter().all(Column::is_dense);
    if !dense {
        columns.iter().zip(w).for_each(|(x, w)| x.axpy(*w, out));
        return;
    }
    let tile_rows = kernel::tiles(out.len(), 1).next().map_or(1, |tile| tile.len().max(1));
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
