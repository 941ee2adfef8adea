//! A dense table, transposed tile by tile.
//!
//! ```text
//! rows r..r+R of the input  ->  tile: column 0's R values, column 1's R values, ...
//! ```
//!
//! A block of W adjacent columns is one run of `W R` values in each tile, so a scan reads the
//! store in `p / W` passes of long runs. A tile is stored as f32 where all its values survive
//! that, else as f64; a column is delivered as f32 where all its values survive that, so what
//! a column looks like does not depend on where tiles end.
//!
//! Memory: the tables of all files up to a limit, then two tiles; the rest is in a temporary file.

use keepnet::{ColumnBlock, ColumnData, Numbers, Result};

use super::{Place, Spill};
use crate::memory::Charge;

/// The side of the square blocks in which a tile is transposed: two fit the first-level cache.
const SQUARE: usize = 32;

/// Some rows, column after column, and what is known of the values.
pub(crate) struct Tile {
    rows: usize,
    data: Numbers,
    /// For each column, whether all values survive f32.
    narrow: Vec<bool>,
    /// For each column, whether all values are integers.
    integral: Vec<bool>,
}

impl Tile {
    /// Transposes `values`, `columns` a row.
    pub(crate) fn new(values: &[f64], columns: usize) -> Self {
        let rows = values.len().checked_div(columns).unwrap_or(0);
        let mut out = vec![0.0; values.len()];
        for top in (0..rows).step_by(SQUARE) {
            for left in (0..columns).step_by(SQUARE) {
                for c in left..columns.min(left + SQUARE) {
                    for r in top..rows.min(top + SQUARE) {
                        out[c * rows + r] = values[r * columns + c];
                    }
                }
            }
        }
        Self::transposed(out, rows, columns)
    }

    fn transposed(out: Vec<f64>, rows: usize, columns: usize) -> Self {
        let (mut narrow, mut integral) = (vec![true; columns], vec![true; columns]);
        for (c, column) in out.chunks_exact(rows.max(1)).enumerate() {
            // No early end: the loop then runs in vector registers.
            let (mut fits, mut whole) = (true, true);
            for v in column {
                fits &= (f64::from(*v as f32) == *v) | v.is_nan();
                whole &= is_integer(*v) | v.is_nan();
            }
            (narrow[c], integral[c]) = (fits, whole);
        }
        let data = if narrow.iter().all(|fits| *fits) {
            Numbers::F32(out.iter().map(|v| *v as f32).collect())
        } else {
            Numbers::F64(out)
        };
        Self { rows, data, narrow, integral }
    }

    /// Changes the values column by column.
    pub(crate) fn recode(self, columns: usize, mut change: impl FnMut(usize, &mut [f64])) -> Self {
        let mut values = match self.data {
            Numbers::F64(values) => values,
            Numbers::F32(values) => values.into_iter().map(f64::from).collect(),
        };
        for (c, column) in values.chunks_exact_mut(self.rows.max(1)).enumerate() {
            change(c, column);
        }
        Self::transposed(values, self.rows, columns)
    }
}

/// Whether a number is an integer, without the branch or call of `trunc`.
fn is_integer(v: f64) -> bool {
    // From 2^52 on a double has no bits for a fraction.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    let size = v.abs();
    ((size + WHOLE) - WHOLE == size) | (size >= WHOLE)
}

/// Where the values of a tile are.
enum Stored {
    Memory(Numbers),
    File { start: u64, wide: bool },
}

/// Takes tiles in the order of the rows.
pub(crate) struct DenseBuilder {
    place: Place,
    // Bytes of all tiles, and of those in memory.
    used: u64,
    held: Option<Charge>,
    spill: Option<Spill>,
    tiles: Vec<(Shape, Stored)>,
    narrow: Vec<bool>,
    integral: Vec<bool>,
}

/// Rows and columns of a tile. Where later rows have more columns, those are missing here.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
}

impl DenseBuilder {
    pub(crate) fn new(place: Place) -> Self {
        let (narrow, integral) = (Vec::new(), Vec::new());
        Self { place, used: 0, held: None, spill: None, tiles: Vec::new(), narrow, integral }
    }

    /// Adds the next rows; they have at least the columns of the rows before.
    pub(crate) fn push(&mut self, tile: Tile) -> Result<()> {
        if tile.rows == 0 {
            return Ok(());
        }
        let columns = tile.narrow.len().max(self.narrow.len());
        self.narrow.resize(columns, true);
        self.integral.resize(columns, true);
        let join = |all: &mut Vec<bool>, one: &[bool]| {
            all.iter_mut().zip(one).for_each(|(all, one)| *all &= one);
        };
        join(&mut self.narrow, &tile.narrow);
        join(&mut self.integral, &tile.integral);
        let more = bytes(&tile.data).len() as u64;
        self.used += more;
        let shape = Shape { rows: tile.rows, columns: tile.narrow.len() };
        self.tiles.push((shape, Stored::Memory(tile.data)));
        let fits = match &mut self.held {
            Some(held) => held.grow(more, "a table").is_ok(),
            None => {
                self.held = self.place.tables.take(more, "a table").ok();
                self.held.is_some()
            }
        };
        if fits { Ok(()) } else { self.write_out() }
    }

    fn write_out(&mut self) -> Result<()> {
        if self.spill.is_none() {
            self.spill = Some(self.place.lasting()?);
        }
        let spill = self.spill.as_mut().expect("it was just made");
        for (_, stored) in &mut self.tiles {
            if let Stored::Memory(data) = stored {
                let wide = matches!(data, Numbers::F64(_));
                let start = spill.append(bytes(data))?;
                *stored = Stored::File { start, wide };
            }
        }
        self.held = None;
        Ok(())
    }

    pub(crate) fn finish(self) -> DenseStore {
        DenseStore {
            rows: self.tiles.iter().map(|(shape, _)| shape.rows).sum(),
            bytes: self.used,
            _held: self.held,
            spill: self.spill,
            tiles: self.tiles,
            narrow: self.narrow,
            integral: self.integral,
        }
    }
}

/// The transposed table.
pub(crate) struct DenseStore {
    rows: usize,
    bytes: u64,
    _held: Option<Charge>,
    spill: Option<Spill>,
    tiles: Vec<(Shape, Stored)>,
    narrow: Vec<bool>,
    integral: Vec<bool>,
}

impl DenseStore {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of the store, which one scan reads.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the widest column as it is delivered.
    pub(crate) fn column_bytes(&self) -> u64 {
        let wide = self.narrow.iter().any(|narrow| !narrow);
        self.rows as u64 * if wide { 8 } else { 4 }
    }

    /// Whether a column holds integers only.
    pub(crate) fn integral(&self, column: usize) -> bool {
        self.integral[column]
    }

    /// Appends the columns `at` to `out`.
    pub(crate) fn read(
        &self,
        at: &[usize],
        spare: &mut ColumnBlock,
        out: &mut Vec<ColumnData>,
    ) -> Result<()> {
        let mut rest = at;
        while let Some(first) = rest.first() {
            let run = rest.iter().enumerate().take_while(|(i, c)| **c == first + i).count();
            self.read_run(*first, run, spare, out)?;
            rest = &rest[run..];
        }
        Ok(())
    }

    fn read_run(
        &self,
        first: usize,
        count: usize,
        spare: &mut ColumnBlock,
        out: &mut Vec<ColumnData>,
    ) -> Result<()> {
        let mut columns: Vec<Numbers> = (first..first + count)
            .map(|c| match self.narrow[c] {
                true => Numbers::F32(spare.buffer32()),
                false => Numbers::F64(spare.buffer64()),
            })
            .collect();
        let (mut scratch32, mut scratch64) = (Vec::new(), Vec::new());
        for (Shape { rows, columns: there }, stored) in &self.tiles {
            let there = (*there).clamp(first, first + count) - first;
            let (present, absent) = columns.split_at_mut(there);
            // A tile may end before the first of the columns.
            let range = if there == 0 { 0..0 } else { first * rows..(first + there) * rows };
            match stored {
                Stored::Memory(Numbers::F32(v)) => append(present, &v[range], *rows),
                Stored::Memory(Numbers::F64(v)) => append(present, &v[range], *rows),
                Stored::File { start, wide: false } => {
                    scratch32.resize(range.len(), 0.0_f32);
                    let start = start + 4 * range.start as u64;
                    self.load(start, bytemuck::cast_slice_mut(&mut scratch32))?;
                    append(present, &scratch32, *rows);
                }
                Stored::File { start, wide: true } => {
                    scratch64.resize(range.len(), 0.0_f64);
                    let start = start + 8 * range.start as u64;
                    self.load(start, bytemuck::cast_slice_mut(&mut scratch64))?;
                    append(present, &scratch64, *rows);
                }
            }
            for column in absent {
                append(std::slice::from_mut(column), &vec![f32::NAN; *rows], *rows);
            }
        }
        out.extend(columns.into_iter().map(ColumnData::Dense));
        Ok(())
    }

    fn load(&self, start: u64, bytes: &mut [u8]) -> Result<()> {
        self.spill.as_ref().expect("a tile in the file has a file").read(start, bytes)
    }
}

fn append<T: Copy + Into<f64>>(columns: &mut [Numbers], values: &[T], rows: usize) {
    for (column, values) in columns.iter_mut().zip(values.chunks_exact(rows)) {
        match column {
            Numbers::F32(v) => v.extend(values.iter().map(|x| (*x).into() as f32)),
            Numbers::F64(v) => v.extend(values.iter().map(|x| (*x).into())),
        }
    }
}

fn bytes(data: &Numbers) -> &[u8] {
    match data {
        Numbers::F32(v) => bytemuck::cast_slice(v),
        Numbers::F64(v) => bytemuck::cast_slice(v),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpenOptions;

    fn store(memory: u64, tile_rows: usize) -> DenseStore {
        // Column c of 9 is c + r / 16 but for column 4, which f32 cannot hold.
        let value = |r: usize, c: usize| {
            if c == 4 { 0.1 + r as f64 } else { c as f64 + r as f64 / 16.0 }
        };
        let place = Place::new(&OpenOptions { memory: Some(memory), ..Default::default() });
        let mut builder = DenseBuilder::new(place);
        for top in (0..70).step_by(tile_rows) {
            let rows = top..70.min(top + tile_rows);
            let values: Vec<f64> = rows.flat_map(|r| (0..9).map(move |c| value(r, c))).collect();
            builder.push(Tile::new(&values, 9)).unwrap();
        }
        builder.finish()
    }

    #[test]
    fn integers_are_told_from_fractions() {
        let half = 2.0_f64.powi(51) + 0.5;
        for v in [0.0, -0.0, 1.0, -7.0, 2.0_f64.powi(52) + 1.0, 1e300, f64::INFINITY] {
            assert!(is_integer(v), "{v}");
        }
        for v in [0.5, -0.1, 1e-300, half, -half, 1.0 + f64::EPSILON, f64::NAN] {
            assert!(!is_integer(v), "{v}");
        }
    }

    #[test]
    fn a_store_in_a_file_equals_one_in_memory() {
        let at = [0, 1, 2, 4, 5, 8, 3];
        let read = |store: DenseStore| {
            let (mut spare, mut out) = (ColumnBlock::new(9), Vec::new());
            store.read(&at, &mut spare, &mut out).unwrap();
            out.into_iter()
                .map(|column| match column {
                    ColumnData::Dense(v) => v,
                    other => panic!("{other:?}"),
                })
                .collect::<Vec<_>>()
        };
        let whole = read(store(1 << 20, 70));
        assert!(matches!(whole[0], Numbers::F32(_)) && matches!(whole[3], Numbers::F64(_)));
        for (memory, rows) in [(1 << 20, 1), (0, 1), (0, 7), (2000, 33), (0, 70)] {
            let store = store(memory, rows);
            assert_eq!(store.spill.is_some(), memory < 1 << 20);
            assert_eq!(read(store), whole, "{memory} {rows}");
        }
    }
}
