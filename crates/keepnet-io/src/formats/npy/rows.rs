//! A npy array in C order, row by row; columns are named `f0`, `f1`, ...

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use keepnet::{Error, Result};

use crate::formats::chunk::{Chunk, ChunkReader, ChunkValues};
use crate::formats::npy::header::Header;
use crate::formats::table::Fingerprint;
use crate::input::dataset::ColumnKind;
use crate::memory::Charge;
use crate::store::Place;

struct Npy {
    file: BufReader<File>,
    header: Header,
    rows: u64,
    left: u64,
    columns: Vec<(String, ColumnKind)>,
    fingerprint: u64,
    place: Place,
    // Bytes of some rows.
    chunk: usize,
    _described: Charge,
}

pub(crate) fn open(path: &str, place: &Place) -> Result<Box<dyn ChunkReader>> {
    if path == "-" {
        return Err(Error::Unsupported("npy is read from files, not from standard input".into()));
    }
    let mut file = File::open(path).map_err(|e| Error::io(path, e))?;
    let meta = file.metadata().map_err(|e| Error::io(path, e))?;
    let mut print = Fingerprint::new();
    print.file(&meta);
    let header = Header::read(&mut file)?;
    let (rows, columns) = header.rows_columns(meta.len())?;
    if header.fortran && columns > 1 && rows > 1 {
        return Err(Error::Unsupported(
            "the array is in Fortran order, which holds columns and not rows; save it in C order, \
             or use a method on features"
                .into(),
        ));
    }
    let _described = place.row_columns(columns as u64)?;
    let row = columns as u64 * (8 + header.dtype.size as u64);
    let chunk = place.chunk().min(crate::formats::chunk::CHUNK);
    let _row = place.meter.take(2 * row, "a row")?;
    file.seek(SeekFrom::Start(header.start as u64)).map_err(|e| Error::io(path, e))?;
    print.bytes(header.text.as_bytes());
    let kind = header.dtype.kind();
    let columns: Vec<_> = (0..columns).map(|j| (format!("f{j}"), kind.clone())).collect();
    let (rows, fingerprint) = (rows as u64, print.finish());
    let file = BufReader::new(file);
    let (left, place) = (rows, place.clone());
    Ok(Box::new(Npy { file, header, rows, left, columns, fingerprint, place, chunk, _described }))
}

impl ChunkReader for Npy {
    fn columns(&self) -> &[(String, ColumnKind)] {
        &self.columns
    }

    fn next(&mut self) -> Result<Option<Chunk>> {
        if self.left == 0 {
            return Ok(None);
        }
        let width = self.columns.len() * self.header.dtype.size;
        self.place.go_on()?;
        let rows = (self.chunk / width.max(1)).clamp(1, 4096).min(self.left as usize);
        let mut bytes = vec![0; rows * width];
        self.file.read_exact(&mut bytes).map_err(|e| Error::io("the array", e))?;
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

    fn fingerprint(&self) -> u64 {
        self.fingerprint
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
