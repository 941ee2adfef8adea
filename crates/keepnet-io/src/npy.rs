//! NumPy arrays: Fortran order is mapped and shared, C order is transposed.
//!
//! A column of a Fortran-order array is one run of the file, handed on without a copy. Other
//! types and byte orders are converted a column at a time.

use std::fs::File;
use std::sync::Arc;

use keepnet::{ColumnBlock, ColumnData, Error, Numbers, Result};
use rayon::prelude::*;

use crate::dataset::{ColumnInfo, ColumnKind};
use crate::mapped::Mapped;
use crate::npy_header::{Dtype, Header};
use crate::row_table::RowTable;
use crate::store::{DenseBuilder, Place, Tile};
use crate::table::{Fingerprint, Table};

/// Opens an array of one or two dimensions.
pub(crate) fn open(path: &str, place: &Place) -> Result<Arc<dyn Table>> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let meta = file.metadata().map_err(|e| Error::io(path, e))?;
    let header = Header::read(&file).map_err(|e| e.at(path))?;
    let expected = header.expected().ok_or_else(|| {
        Error::Data(format!("the shape {:?} is too large for a file", header.shape)).at(path)
    })?;
    if meta.len() < expected {
        return Err(Error::Data(format!(
            "the file is truncated: {expected} bytes expected, {} found",
            meta.len()
        ))
        .at(path));
    }
    let (rows, columns) = header.rows_columns().map_err(|e| e.at(path))?;
    if rows == 0 || columns == 0 {
        return Err(Error::Data(format!("the shape {:?} has no values", header.shape)).at(path));
    }
    let mut print = Fingerprint::new();
    print.file(&meta);
    print.bytes(header.text.as_bytes());
    let map = Mapped::new(&file).map_err(|e| Error::io(path, e))?;
    let kind = header.dtype.kind();
    let name = |c| ColumnInfo { name: format!("f{c}"), kind: kind.clone(), file: 0 };
    let array = Array {
        map,
        start: header.start,
        rows,
        dtype: header.dtype,
        columns: (0..columns).map(name).collect(),
        fingerprint: print.finish(),
    };
    if header.fortran || columns == 1 || rows == 1 {
        return Ok(Arc::new(array));
    }
    array.transpose(place).map_err(|e| e.at(path))
}

struct Array {
    map: Mapped,
    start: usize,
    rows: usize,
    dtype: Dtype,
    columns: Vec<ColumnInfo>,
    fingerprint: u64,
}

impl Array {
    fn width(&self) -> usize {
        self.rows * self.dtype.size
    }

    /// Lets the last read's pages go and asks for those of the columns `at`.
    fn page(&self, at: &[usize]) {
        let width = self.width();
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for c in at {
            let start = self.start + c * width;
            match runs.last_mut() {
                Some((_, end)) if *end == start => *end += width,
                _ => runs.push((start, start + width)),
            }
        }
        self.map.turn_to(runs);
    }

    /// Goes through the rows once and stores them column by column.
    fn transpose(self, place: &Place) -> Result<Arc<dyn Table>> {
        let columns = self.columns.len();
        let row = columns * self.dtype.size;
        let rows = (place.chunk() / row).clamp(1, self.rows);
        let mut builder = DenseBuilder::new(place.clone());
        let data = &self.map.bytes()[self.start..self.start + self.rows * row];
        let tile = |chunk: &[u8]| {
            let mut values = Vec::with_capacity(chunk.len() / self.dtype.size);
            self.dtype.widen(chunk, &mut values);
            Tile::new(&values, columns)
        };
        let (size, mut start) = (rows * row, self.start);
        for batch in data.chunks(size * rayon::current_num_threads()) {
            self.map.turn_to(vec![(start, start + batch.len())]);
            let tiles: Vec<Tile> = batch.par_chunks(size).map(tile).collect();
            tiles.into_iter().try_for_each(|tile| builder.push(tile))?;
            start += batch.len();
        }
        let Self { columns, fingerprint, .. } = self;
        let (store, levels) = (builder.finish(), Vec::new());
        Ok(Arc::new(RowTable { store, columns, levels, fingerprint, unnamed: true }))
    }
}

impl Table for Array {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        self.page(at);
        let aligned = self.start.is_multiple_of(self.dtype.size);
        for c in at {
            let start = self.start + c * self.width();
            if self.dtype.native_float() && aligned {
                let bytes = self.map.share();
                let wide = self.dtype.size == 8;
                out.push(ColumnData::Shared { bytes, start, rows: self.rows, wide });
                continue;
            }
            let bytes = &self.map.bytes()[start..start + self.width()];
            let mut narrow = spare.buffer32();
            if self.dtype.narrow(bytes, &mut narrow) {
                out.push(ColumnData::Dense(Numbers::F32(narrow)));
            } else {
                let mut wide = spare.buffer64();
                self.dtype.widen(bytes, &mut wide);
                out.push(ColumnData::Dense(Numbers::F64(wide)));
            }
        }
        Ok(())
    }

    fn column_bytes(&self) -> u64 {
        self.rows as u64 * if self.dtype.fits_f32() { 4 } else { 8 }
    }

    fn scan_bytes(&self) -> u64 {
        (self.width() * self.columns.len()) as u64
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn unnamed(&self) -> bool {
        true
    }
}

/// The kind of column that a NumPy type letter stands for.
pub(crate) fn kind(letter: u8) -> ColumnKind {
    match letter {
        b'b' => ColumnKind::Bool,
        b'i' | b'u' => ColumnKind::Int,
        _ => ColumnKind::Float,
    }
}
