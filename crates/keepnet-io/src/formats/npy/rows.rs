//! A npy array, row by row; columns are named `f0`, `f1`, ...
//!
//! An array in Fortran order holds columns: some rows of it are a short read of each column.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use keepnet::{Error, Result};

use crate::formats::chunk::{CHUNK, Chunk, ChunkReader, ChunkValues};
use crate::formats::npy::header::Header;
use crate::formats::table::{Fingerprint, Schema};
use crate::input::schema::ColumnInfo;
use crate::memory::Charge;
use crate::platform;
use crate::store::Place;

struct Npy {
    file: BufReader<File>,
    // Whether rows are put together from strips of columns.
    strips: bool,
    header: Header,
    rows: u64,
    left: u64,
    columns: Vec<ColumnInfo>,
    fingerprint: u64,
    place: Place,
    // Bytes of some rows.
    chunk: usize,
    _described: Charge,
}

pub(crate) fn open(path: &str, place: &Place) -> Result<Box<dyn ChunkReader>> {
    let mut file = File::open(path).map_err(|e| Error::io(path, e))?;
    let meta = file.metadata().map_err(|e| Error::io(path, e))?;
    let mut print = Fingerprint::new();
    print.file(&meta);
    let header = Header::read(&mut file)?;
    let (rows, columns) = header.rows_columns(meta.len())?;
    let strips = header.fortran && columns > 1 && rows > 1;
    let _described = place.row_columns(columns as u64)?;
    let row = columns as u64 * (8 + header.dtype.size as u64);
    // Strips of columns are longer in a larger chunk, and reads fewer.
    let chunk = if strips { place.chunk() } else { place.chunk().min(CHUNK) };
    let _row = place.meter.take(2 * row, "a row")?;
    file.seek(SeekFrom::Start(header.start as u64)).map_err(|e| Error::io(path, e))?;
    print.bytes(header.text.as_bytes());
    let kind = header.dtype.kind();
    let columns: Vec<_> =
        (0..columns).map(|j| ColumnInfo::of((format!("f{j}"), kind.clone()))).collect();
    let (rows, fingerprint) = (rows as u64, print.finish());
    let file = BufReader::new(file);
    let (left, place) = (rows, place.clone());
    Ok(Box::new(Npy {
        file,
        strips,
        header,
        rows,
        left,
        columns,
        fingerprint,
        place,
        chunk,
        _described,
    }))
}

impl Npy {
    /// Reads the next rows of an array that holds columns.
    fn strips(&self, bytes: &mut [u8], rows: usize) -> std::io::Result<()> {
        let (size, columns) = (self.header.dtype.size, self.columns.len());
        let mut strip = vec![0; rows * size];
        for c in 0..columns {
            let value = c as u64 * self.rows + (self.rows - self.left);
            let start = self.header.start as u64 + value * size as u64;
            platform::read_exact_at(self.file.get_ref(), &mut strip, start)?;
            for (row, value) in strip.chunks_exact(size).enumerate() {
                bytes[(row * columns + c) * size..][..size].copy_from_slice(value);
            }
        }
        Ok(())
    }
}

impl Schema for Npy {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn unnamed(&self) -> bool {
        true
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl ChunkReader for Npy {
    fn next(&mut self) -> Result<Option<Chunk>> {
        if self.left == 0 {
            return Ok(None);
        }
        let width = self.columns.len() * self.header.dtype.size;
        self.place.go_on()?;
        let rows = (self.chunk / width.max(1)).clamp(1, 4096).min(self.left as usize);
        let mut bytes = vec![0; rows * width];
        match self.strips {
            true => self.strips(&mut bytes, rows),
            false => self.file.read_exact(&mut bytes),
        }
        .map_err(|e| Error::io("the array", e))?;
        self.left -= rows as u64;
        let dtype = self.header.dtype;
        let mut narrow = Vec::new();
        let values = if dtype.fits_f32() && dtype.narrow(&bytes, &mut narrow) {
            ChunkValues::F32(narrow)
        } else {
            let mut wide = Vec::new();
            dtype.widen(&bytes, &mut wide);
            ChunkValues::F64(wide)
        };
        Ok(Some(Chunk { rows, values, texts: Vec::new() }))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn bytes(&self) -> u64 {
        // The bytes, and the numbers: eight out of one at most.
        let row = self.columns.len() * self.header.dtype.size;
        9 * self.chunk.max(row) as u64
    }
}
