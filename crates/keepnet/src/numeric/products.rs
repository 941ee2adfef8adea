//! Products of many columns with a few vectors: the one heavy kernel of the engine.
//!
//! ```text
//! out[j][g] = sum_i x_j,i v_g,i
//! ```
//!
//! Dense columns are read in row tiles. The vectors stay in the caches near the processor, and each
//! column is read once for all of them: `2 n` flops a product and `width n` bytes a column. Threads
//! split columns, never rows, and a product has the same digits whatever is computed beside it. So
//! no result depends on blocks or threads.

use std::ops::Range;

use rayon::prelude::*;

use super::genotypes;
use super::kernel::{self, Element, Lanes};
use crate::data::column::{Column, Genotypes, WholeRef};

/// Number of multiply-adds from which threads are worth their cost.
const PARALLEL: usize = 1 << 18;
/// Columns whose part of a row tile stays in the second-level cache beside that of the vectors.
const TOGETHER: usize = 24;
/// Rows that one thread adds at a time in a sum of columns.
const ROWS: usize = 2048;

/// `out[j * v.len() + g] = sum_i columns[j]_i v[g]_i`.
pub fn cross(columns: &[Column<'_>], v: &[&[f64]], out: &mut [f64]) {
    if v.is_empty() || columns.is_empty() {
        return;
    }
    let threads = rayon::current_num_threads();
    if threads == 1 || columns.len() * v.len() * v[0].len() < PARALLEL {
        return cross_here(columns, v, out);
    }
    let share = columns.len().div_ceil(threads).next_multiple_of(3);
    let work: Vec<_> = columns.chunks(share).zip(out.chunks_mut(share * v.len())).collect();
    work.into_par_iter().for_each(|(columns, out)| cross_here(columns, v, out));
}

/// [`cross`] on this thread.
fn cross_here(columns: &[Column<'_>], v: &[&[f64]], out: &mut [f64]) {
    let mut lanes = vec![Lanes::default(); columns.len() * v.len()];
    Dense::new(columns).add_products(0..v[0].len(), v, &mut lanes);
    let sums = lanes.chunks(v.len()).zip(out.chunks_mut(v.len()));
    for (column, (lanes, out)) in columns.iter().zip(sums) {
        for ((lanes, v), out) in lanes.iter().zip(v).zip(out) {
            *out = if column.in_tiles() { lanes.sum() } else { column.dot(v) };
        }
    }
}

/// `out_i += sum_j w_j x_j,i`, several dense columns a pass.
pub fn combine(columns: &[Column<'_>], w: &[f64], out: &mut [f64]) {
    if !columns.iter().all(Column::in_tiles) {
        columns.iter().zip(w).for_each(|(x, w)| x.axpy(*w, out));
        return;
    }
    let dense = Dense::new(columns);
    // Rows may be split here: a row's sum runs over the columns in the same order anyway.
    if rayon::current_num_threads() > 1 && columns.len() * out.len() > PARALLEL {
        out.par_chunks_mut(ROWS).enumerate().for_each(|(at, out)| {
            dense.combine(at * ROWS..at * ROWS + out.len(), w, out);
        });
    } else {
        dense.combine(0..out.len(), w, out);
    }
}

/// The columns that are taken in tiles among some columns, in runs of one storage type.
pub(crate) struct Dense<'a>(Vec<(usize, Run<'a>)>);

enum Run<'a> {
    F32(Vec<&'a [f32]>),
    F64(Vec<&'a [f64]>),
    U8(Vec<&'a [u8]>),
    I8(Vec<&'a [i8]>),
    U16(Vec<&'a [u16]>),
    I16(Vec<&'a [i16]>),
    I32(Vec<&'a [i32]>),
    Genotypes(Vec<Genotypes<'a>>),
}

/// Runs one expression for the number type of a run.
macro_rules! each_run {
    ($run:expr, $x:ident => $body:expr, $g:ident => $packed:expr) => {
        match $run {
            Run::F32($x) => $body,
            Run::F64($x) => $body,
            Run::U8($x) => $body,
            Run::I8($x) => $body,
            Run::U16($x) => $body,
            Run::I16($x) => $body,
            Run::I32($x) => $body,
            Run::Genotypes($g) => $packed,
        }
    };
}

impl<'a> Run<'a> {
    /// A run of one column, where it is taken in tiles.
    fn of(column: Column<'a>) -> Option<Self> {
        Some(match column {
            Column::F32(x) => Self::F32(vec![x]),
            Column::F64(x) => Self::F64(vec![x]),
            Column::Whole(WholeRef::U8(x)) => Self::U8(vec![x]),
            Column::Whole(WholeRef::I8(x)) => Self::I8(vec![x]),
            Column::Whole(WholeRef::U16(x)) => Self::U16(vec![x]),
            Column::Whole(WholeRef::I16(x)) => Self::I16(vec![x]),
            Column::Whole(WholeRef::I32(x)) => Self::I32(vec![x]),
            Column::Genotypes(x) => Self::Genotypes(vec![x]),
            _ => return None,
        })
    }

    /// Adds a column of the run's type; `false` for one of another.
    fn takes(&mut self, column: Column<'a>) -> bool {
        match (self, column) {
            (Self::F32(run), Column::F32(x)) => run.push(x),
            (Self::F64(run), Column::F64(x)) => run.push(x),
            (Self::U8(run), Column::Whole(WholeRef::U8(x))) => run.push(x),
            (Self::I8(run), Column::Whole(WholeRef::I8(x))) => run.push(x),
            (Self::U16(run), Column::Whole(WholeRef::U16(x))) => run.push(x),
            (Self::I16(run), Column::Whole(WholeRef::I16(x))) => run.push(x),
            (Self::I32(run), Column::Whole(WholeRef::I32(x))) => run.push(x),
            (Self::Genotypes(run), Column::Genotypes(x)) => run.push(x),
            _ => return false,
        }
        true
    }
}

impl<'a> Dense<'a> {
    pub(crate) fn new(columns: &[Column<'a>]) -> Self {
        let mut runs: Vec<(usize, Run<'a>)> = Vec::new();
        let mut next = 0;
        for (j, column) in columns.iter().enumerate() {
            let last = runs.last_mut().filter(|_| next == j).map(|(_, run)| run);
            if last.is_none_or(|run| !run.takes(*column)) {
                let Some(run) = Run::of(*column) else { continue };
                runs.push((j, run));
            }
            next = j + 1;
        }
        Self(runs)
    }

    /// Adds to `lanes[j * v.len() + g]` the products of `rows` of column `j` with `v[g]`, which
    /// holds those rows only.
    pub(crate) fn add_products(&self, rows: Range<usize>, v: &[&[f64]], lanes: &mut [Lanes]) {
        for (first, run) in &self.0 {
            let lanes = &mut lanes[first * v.len()..];
            each_run!(run, x => tiled_products(x, rows.clone(), v, lanes),
                x => decoded_products(x, rows.clone(), v, lanes));
        }
    }

    /// `out_i += sum_j w_j x_j,i` over `rows`, which `out` holds.
    pub(crate) fn combine(&self, rows: Range<usize>, w: &[f64], out: &mut [f64]) {
        for tile in kernel::tiles(rows.len(), 2) {
            let out = &mut out[tile.clone()];
            let rows = rows.start + tile.start..rows.start + tile.end;
            for (first, run) in &self.0 {
                each_run!(run, x => add_run(&w[*first..*first + x.len()], x, &rows, out),
                    x => genotypes::combine(x, &w[*first..*first + x.len()], rows.start, out));
            }
        }
    }
}

fn add_run<T: Element>(w: &[f64], x: &[&[T]], rows: &Range<usize>, out: &mut [f64]) {
    kernel::add_combination(w, &part(x, rows), out);
}

fn part<'a, T>(x: &[&'a [T]], rows: &Range<usize>) -> Vec<&'a [T]> {
    x.iter().map(|x| &x[rows.clone()]).collect()
}

/// Genotypes that are decoded at a time.
const DECODED: usize = 4;

/// [`tiled_products`] of genotypes, a tile of which is decoded for all vectors. `rows` start at a
/// multiple of eight.
fn decoded_products(x: &[Genotypes<'_>], rows: Range<usize>, v: &[&[f64]], lanes: &mut [Lanes]) {
    let mut values = vec![0.0; DECODED * genotypes::TILE];
    for start in rows.clone().step_by(genotypes::TILE) {
        let length = genotypes::TILE.min(rows.end - start);
        let v = part(v, &(start - rows.start..start - rows.start + length));
        for (x, lanes) in x.chunks(DECODED).zip(lanes.chunks_mut(DECODED * v.len())) {
            let mut tiles = values.chunks_exact_mut(genotypes::TILE);
            let decoded: Vec<&[f64]> = x
                .iter()
                .zip(&mut tiles)
                .map(|(x, tile)| {
                    genotypes::decode(*x, start, 0.0, &mut tile[..length]);
                    &tile[..length]
                })
                .collect();
            kernel::add_products(&decoded, &v, lanes);
        }
    }
}

fn tiled_products<T: Element>(x: &[&[T]], rows: Range<usize>, v: &[&[f64]], lanes: &mut [Lanes]) {
    for tile in kernel::tiles(rows.len(), v.len()) {
        let here = rows.start + tile.start..rows.start + tile.end;
        let v = part(v, &tile);
        // Few columns at a time, as the vectors pass over them in several strips.
        for (x, lanes) in x.chunks(TOGETHER).zip(lanes.chunks_mut(TOGETHER * v.len())) {
            kernel::add_products(&part(x, &here), &v, lanes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::{ColumnData, GenotypeData, Numbers};

    fn columns(n: usize, count: usize) -> Vec<ColumnData> {
        let value = |j: usize, i: usize| ((i * 7 + j * 13) % 23) as f32 - 11.0 + 0.1 * j as f32;
        (0..count)
            .map(|j| match j % 3 {
                0 => ColumnData::f32((0..n).map(|i| value(j, i)).collect()),
                1 => ColumnData::Dense(Numbers::F64((0..n).map(|i| value(j, i).into()).collect())),
                _ if j % 2 == 0 => {
                    ColumnData::Bits { rows: n, words: vec![0x5555_5555; n.div_ceil(64)] }
                }
                _ => {
                    let copies = (0..n).map(|i| Some(((i * 5 + j) % 13 % 3) as u8));
                    ColumnData::Genotypes(GenotypeData::of(copies).unwrap())
                }
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

    /// Every order of widths in a set of up to eight, against sums worked a value at a time.
    #[test]
    fn a_combination_of_mixed_widths_gives_each_column_its_own_coefficient() {
        let n = 70;
        let value = |j: usize, i: usize| ((i * 7 + j * 13) % 23) as f64 - 11.0;
        for (count, pattern) in
            (1..=8).flat_map(|count| (0..1_u32 << count).map(move |p| (count, p)))
        {
            let data: Vec<_> = (0..count)
                .map(|j| match pattern >> j & 1 {
                    0 => ColumnData::f32((0..n).map(|i| value(j, i) as f32).collect()),
                    _ => ColumnData::Dense(Numbers::F64((0..n).map(|i| value(j, i)).collect())),
                })
                .collect();
            let views: Vec<_> = data.iter().map(ColumnData::view).collect();
            let w: Vec<f64> = (0..count).map(|j| 1.5 - j as f64).collect();
            let mut out = vec![1.0; n];
            combine(&views, &w, &mut out);
            for (i, out) in out.iter().enumerate() {
                let plain: f64 = 1.0 + (0..count).map(|j| w[j] * value(j, i)).sum::<f64>();
                assert!((out - plain).abs() < 1e-12, "{count} columns, {pattern:b}, row {i}");
            }
        }
    }
}
