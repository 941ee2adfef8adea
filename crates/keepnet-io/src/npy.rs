//! NumPy arrays: Fortran order is mapped and shared, C order is transposed.
//!
//! A column of a Fortran-order array is one run of the file, handed on without a copy. Mapped
//! pages count as resident memory, so each read lets go of the pages of the one before; the
//! kernel is asked for the pages of this read at once and for as many again ahead of it.

use std::fs::File;
use std::sync::{Arc, Mutex};

use keepnet::{ColumnBlock, ColumnData, Error, Numbers, Result, SharedBytes};
use memmap2::{Advice, Mmap, UncheckedAdvice};

use crate::dataset::{ColumnInfo, ColumnKind};
use crate::npy_header::{Dtype, Header};
use crate::store::{DenseBuilder, DenseStore, Place, Tile};
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
    // SAFETY: the map is read only. A file that another process shortens meanwhile ends this
    // one with SIGBUS, which every program that maps files accepts.
    let map = unsafe { Mmap::map(&file) }.map_err(|e| Error::io(path, e))?;
    let kind = header.dtype.kind();
    let name = |c| ColumnInfo { name: format!("f{c}"), kind: kind.clone(), file: 0 };
    let array = Array {
        map: Arc::new(map),
        start: header.start,
        rows,
        dtype: header.dtype,
        columns: (0..columns).map(name).collect(),
        fingerprint: print.finish(),
        last: Mutex::new(Vec::new()),
    };
    if header.fortran || columns == 1 || rows == 1 {
        return Ok(Arc::new(array));
    }
    array.transpose(place).map_err(|e| e.at(path))
}

struct Array {
    map: Arc<Mmap>,
    start: usize,
    rows: usize,
    dtype: Dtype,
    columns: Vec<ColumnInfo>,
    fingerprint: u64,
    // Ranges of bytes that the last read touched.
    last: Mutex<Vec<(usize, usize)>>,
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
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (start, end) in last.drain(..) {
            release(&self.map, start, end);
        }
        // All of this is advice: where the kernel refuses it, pages come one fault at a time.
        if let [(start, end)] = runs[..] {
            let ahead = (end - start).min(self.map.len() - end);
            let _ = self.map.advise_range(Advice::WillNeed, end, ahead);
        }
        for (start, end) in &runs {
            #[cfg(target_os = "linux")]
            let _ = self.map.advise_range(Advice::PopulateRead, *start, end - start);
        }
        *last = runs;
    }

    /// Goes through the rows once and stores them column by column.
    fn transpose(self, place: &Place) -> Result<Arc<dyn Table>> {
        let columns = self.columns.len();
        let row = columns * self.dtype.size;
        let rows = (place.chunk() / row).clamp(1, self.rows);
        let mut builder = DenseBuilder::new(columns, place.clone());
        let mut values = Vec::new();
        let data = &self.map[self.start..self.start + self.rows * row];
        for (i, chunk) in data.chunks(rows * row).enumerate() {
            values.clear();
            self.dtype.widen(chunk, &mut values);
            builder.push(Tile::new(&values, columns))?;
            let start = self.start + i * rows * row;
            release(&self.map, start, start + chunk.len());
        }
        let Self { columns, fingerprint, .. } = self;
        Ok(Arc::new(Transposed { store: builder.finish(), columns, fingerprint }))
    }
}

fn release(map: &Mmap, start: usize, end: usize) {
    // SAFETY: a shared read-only map of a file: pages that are dropped are read again when
    // they are touched again, with the same contents.
    let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, end - start) };
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
                let bytes = Arc::clone(&self.map) as SharedBytes;
                let wide = self.dtype.size == 8;
                out.push(ColumnData::Shared { bytes, start, rows: self.rows, wide });
                continue;
            }
            let bytes = &self.map[start..start + self.width()];
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

/// A C-order array after its transposition.
struct Transposed {
    store: DenseStore,
    columns: Vec<ColumnInfo>,
    fingerprint: u64,
}

impl Table for Transposed {
    fn rows(&self) -> usize {
        self.store.rows()
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        self.store.read(at, spare, out)
    }

    fn column_bytes(&self) -> u64 {
        self.store.column_bytes()
    }

    fn scan_bytes(&self) -> u64 {
        self.store.bytes()
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
