//! A npy array in C order, row by row; columns are named `f0`, `f1`, ...

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use keepnet::{Error, Result};

use super::{Chunk, ChunkReader, ChunkValues};
use crate::dataset::ColumnKind;
use crate::npy_header::Header;
use crate::table::Fingerprint;

struct Npy {
    file: BufReader<File>,
    header: Header,
    rows: u64,
    left: u64,
    columns: Vec<(String, ColumnKind)>,
    fingerprint: u64,
}

pub(crate) fn open(path: &str) -> Result<Box<dyn ChunkReader>> {
    if path == "-" {
        return Err(Error::Unsupported("npy is read from files, not from standard input".into()));
    }
    let mut file = File::open(path).map_err(|e| Error::io(path, e))?;
    let meta = file.metadata().map_err(|e| Error::io(path, e))?;
    let mut print = Fingerprint::new();
    print.file(&meta);
    let header = Header::read(&mut file)?;
    let (rows, columns) = header.rows_columns()?;
    if header.fortran && columns > 1 && rows > 1 {
        return Err(Error::Unsupported(
            "the array is in Fortran order, which holds columns and not rows; save it in C order, \
             or use a method on features"
                .into(),
        ));
    }
    let need = header.start as u64 + (rows * columns * header.dtype.size) as u64;
    if meta.len() < need {
        return Err(Error::Data(format!(
            "the file is truncated: {} bytes, its header promises {need}",
            meta.len()
        )));
    }
    file.seek(SeekFrom::Start(header.start as u64)).map_err(|e| Error::io(path, e))?;
    print.bytes(header.text.as_bytes());
    let kind = header.dtype.kind();
    let columns = (0..columns).map(|j| (format!("f{j}"), kind.clone())).collect();
    let (rows, fingerprint) = (rows as u64, print.finish());
    let file = BufReader::new(file);
    Ok(Box::new(Npy { file, header, rows, left: rows, columns, fingerprint }))
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
        let rows = (super::CHUNK / width.max(1)).clamp(1, 4096).min(self.left as usize);
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
}
