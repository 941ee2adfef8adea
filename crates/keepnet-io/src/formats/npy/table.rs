//! NumPy arrays: Fortran order is read by columns, C order is transposed.
//!
//! A column of a Fortran-order array is one run of the file, handed on without a copy where the
//! file is mapped. Integers of eight bytes, u32 and other byte orders are converted a column at a
//! time.

use std::fs::File;
use std::sync::Arc;

use keepnet::{ColumnBlock, ColumnData, Error, Numbers, Result};
use rayon::prelude::*;

use crate::formats::npy::header::{Dtype, Header};
use crate::formats::row_table::RowTable;
use crate::formats::table::{Fingerprint, Schema, Table};
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::mapped::{Contents, Mapped};
use crate::memory::Charge;
use crate::store::{DenseBuilder, Place, Tile};

/// Opens an array of one or two dimensions.
pub(crate) fn open(path: &str, place: &Place) -> Result<Arc<dyn Table>> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let meta = file.metadata().map_err(|e| Error::io(path, e))?;
    let header = Header::read(&file)?;
    let (rows, columns) = header.rows_columns(meta.len())?;
    let described = place.columns(columns as u64)?;
    let mut print = Fingerprint::new();
    print.file(&meta);
    print.bytes(header.text.as_bytes());
    let contents =
        Contents::new(file, meta.len(), place.reading).map_err(|e| Error::io(path, e))?;
    let kind = header.dtype.kind();
    let name = |c| ColumnInfo { name: format!("f{c}"), kind: kind.clone(), file: 0 };
    let array = Array {
        contents,
        start: header.start,
        rows,
        dtype: header.dtype,
        columns: (0..columns).map(name).collect(),
        fingerprint: print.finish(),
        described,
    };
    if header.fortran || columns == 1 || rows == 1 {
        return Ok(Arc::new(array));
    }
    array.transpose(place)
}

struct Array {
    contents: Contents,
    start: usize,
    rows: usize,
    dtype: Dtype,
    columns: Vec<ColumnInfo>,
    fingerprint: u64,
    described: Charge,
}

impl Array {
    fn width(&self) -> usize {
        self.rows * self.dtype.size
    }

    /// Lets the last read's pages go and asks for those of the columns `at`.
    fn page(&self, map: &Mapped, at: &[usize]) {
        let width = self.width();
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for c in at {
            let start = self.start + c * width;
            match runs.last_mut() {
                Some((_, end)) if *end == start => *end += width,
                _ => runs.push((start, start + width)),
            }
        }
        map.turn_to(runs);
    }

    /// Goes through the rows once and stores them column by column.
    fn transpose(self, place: &Place) -> Result<Arc<dyn Table>> {
        let columns = self.columns.len();
        let row = columns * self.dtype.size;
        let rows = (place.chunk() / row).clamp(1, self.rows);
        let mut builder = DenseBuilder::new(place.clone());
        let tile = |chunk: &[u8]| {
            let mut values = Vec::with_capacity(chunk.len() / self.dtype.size);
            self.dtype.widen(chunk, &mut values);
            Tile::new(&values, columns)
        };
        let (size, end) = (rows * row, self.start + self.rows * row);
        let (mut start, mut own) = (self.start, Vec::new());
        while start < end {
            place.go_on()?;
            let stop = end.min(start + size * rayon::current_num_threads());
            let batch = match &self.contents {
                Contents::Mapped(map) => {
                    map.turn_to(vec![(start, stop)]);
                    &map.bytes()[start..stop]
                }
                Contents::File(..) => {
                    own.resize(stop - start, 0);
                    self.contents.copy(start as u64, &mut own)?;
                    &own[..]
                }
            };
            let tiles: Vec<Tile> = batch.par_chunks(size).map(tile).collect();
            tiles.into_iter().try_for_each(|tile| builder.push(tile))?;
            start = stop;
        }
        let Self { columns, fingerprint, described, .. } = self;
        let (store, levels, _charges) = (builder.finish(), Vec::new(), vec![described]);
        let (unnamed, meter) = (true, place.meter.clone());
        let table = RowTable {
            store,
            columns,
            levels,
            blank: Vec::new(),
            fingerprint,
            unnamed,
            meter,
            _charges,
        };
        Ok(Arc::new(table))
    }

    /// A column of a file that is not mapped, or of numbers that are not used as they stand.
    fn copy(&self, start: usize, bytes: &mut Vec<u8>, spare: &mut ColumnBlock) -> Result<Numbers> {
        let start64 = start as u64;
        if self.dtype.native_float() && self.dtype.size == 8 {
            let mut wide = spare.buffer64();
            wide.resize(self.rows, 0.0);
            self.contents.copy(start64, bytemuck::cast_slice_mut(&mut wide))?;
            return Ok(Numbers::F64(wide));
        }
        let mut narrow = spare.buffer32();
        if self.dtype.native_float() {
            narrow.resize(self.rows, 0.0);
            self.contents.copy(start64, bytemuck::cast_slice_mut(&mut narrow))?;
            return Ok(Numbers::F32(narrow));
        }
        let bytes = match &self.contents {
            Contents::Mapped(map) => &map.bytes()[start..start + self.width()],
            Contents::File(..) => {
                bytes.resize(self.width(), 0);
                self.contents.copy(start64, bytes)?;
                &bytes[..]
            }
        };
        if self.dtype.narrow(bytes, &mut narrow) {
            return Ok(Numbers::F32(narrow));
        }
        let mut wide = spare.buffer64();
        self.dtype.widen(bytes, &mut wide);
        Ok(Numbers::F64(wide))
    }
}

impl Schema for Array {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn unnamed(&self) -> bool {
        true
    }
}

impl Table for Array {
    fn rows(&self) -> usize {
        self.rows
    }

    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        let aligned = self.start.is_multiple_of(self.dtype.size);
        let shared = self.contents.map().zip(self.dtype.in_place()).filter(|_| aligned);
        if let Some(map) = self.contents.map() {
            self.page(map, at);
        }
        let mut bytes = Vec::new();
        for c in at {
            let start = self.start + c * self.width();
            out.push(match shared {
                Some((map, kind)) => {
                    ColumnData::Shared { bytes: map.share(), start, rows: self.rows, kind }
                }
                None => {
                    let numbers = self.copy(start, &mut bytes, spare)?;
                    if self.dtype.float() {
                        ColumnData::Dense(numbers)
                    } else {
                        ColumnData::integers(numbers)
                    }
                }
            });
        }
        Ok(())
    }

    fn column_bytes(&self) -> u64 {
        let size = match self.dtype.in_place() {
            Some(kind) => kind.size(),
            // Integers that four bytes do not hold come as f64.
            None if self.dtype.size > 2 => 8,
            None => self.dtype.size,
        };
        (self.rows * size) as u64
    }

    fn scan_bytes(&self) -> u64 {
        (self.width() * self.columns.len()) as u64
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
