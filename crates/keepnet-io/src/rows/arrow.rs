//! Arrow IPC and Parquet, a record batch at a time.

use std::fs::File;

use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use keepnet::{ColumnBlock, Error, Result};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::{Chunk, ChunkReader, ChunkValues};
use crate::arrow_column::{as_text, kind, widened};
use crate::dataset::ColumnKind;
use crate::names::check_unique;
use crate::table::Fingerprint;

/// Most rows of a Parquet batch.
const BATCH: usize = 1024;
/// Values of a batch of wide rows.
const WIDE: usize = 2 << 20;

struct Batches {
    reader: Box<dyn RecordBatchReader + Send>,
    columns: Vec<(String, ColumnKind)>,
    rows: Option<u64>,
    fingerprint: u64,
}

fn damaged(error: impl std::fmt::Display) -> Error {
    Error::Data(format!("the file cannot be read ({error}); it may be truncated"))
}

pub(crate) fn open_ipc(path: &str) -> Result<Box<dyn ChunkReader>> {
    if path == "-" {
        let reader = StreamReader::try_new(std::io::stdin(), None).map_err(damaged)?;
        return build(Box::new(reader), None, Fingerprint::new());
    }
    let (file, print) = file(path)?;
    let reader: Box<dyn RecordBatchReader + Send> = match FileReader::try_new(file, None) {
        Ok(reader) => Box::new(reader),
        Err(_) => Box::new(StreamReader::try_new(self::file(path)?.0, None).map_err(damaged)?),
    };
    build(reader, None, print)
}

pub(crate) fn open_parquet(path: &str) -> Result<Box<dyn ChunkReader>> {
    if path == "-" {
        return Err(Error::Unsupported(
            "Parquet ends with its index and cannot be read from standard input".into(),
        ));
    }
    let (file, print) = file(path)?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(damaged)?;
    let rows = builder.metadata().file_metadata().num_rows() as u64;
    let columns = builder.schema().fields().len().max(1);
    let batch = (WIDE / columns).clamp(16, BATCH);
    let reader = builder.with_batch_size(batch).build().map_err(damaged)?;
    build(Box::new(reader), Some(rows), print)
}

fn file(path: &str) -> Result<(File, Fingerprint)> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let mut print = Fingerprint::new();
    print.file(&file.metadata().map_err(|e| Error::io(path, e))?);
    Ok((file, print))
}

fn build(
    reader: Box<dyn RecordBatchReader + Send>,
    rows: Option<u64>,
    mut print: Fingerprint,
) -> Result<Box<dyn ChunkReader>> {
    let columns: Vec<(String, ColumnKind)> =
        reader.schema().fields().iter().map(|f| (f.name().clone(), kind(f.data_type()))).collect();
    check_unique(columns.iter().map(|c| c.0.as_str()))?;
    columns.iter().for_each(|(name, _)| print.bytes(name.as_bytes()));
    Ok(Box::new(Batches { reader, columns, rows, fingerprint: print.finish() }))
}

impl Batches {
    fn chunk(&self, batch: &RecordBatch) -> Result<Chunk> {
        let (rows, p) = (batch.num_rows(), self.columns.len());
        let mut values = vec![f64::NAN; rows * p];
        let mut texts = vec![Vec::new(); p];
        let mut spare = ColumnBlock::new(1);
        for (c, array) in batch.columns().iter().enumerate() {
            match self.columns[c].1 {
                ColumnKind::Text => {
                    let mut list = Vec::new();
                    as_text(array.as_ref(), &mut list)?;
                    let mut codes = std::collections::HashMap::new();
                    for (i, text) in list.into_iter().enumerate() {
                        if let Some(text) = text {
                            let next = texts[c].len();
                            let code = *codes.entry(text).or_insert_with_key(|text: &String| {
                                texts[c].push(text.as_str().into());
                                next
                            });
                            values[i * p + c] = code as f64;
                        }
                    }
                }
                ColumnKind::Other(_) => {}
                _ => {
                    let array: &dyn Array = array.as_ref();
                    let column = widened(&[array], rows, &mut spare)?;
                    column.view().each(|i, v| values[i * p + c] = v);
                    if !column.view().is_dense() {
                        for i in 0..rows {
                            values[i * p + c] = column.view().get(i);
                        }
                    }
                }
            }
        }
        Ok(Chunk { rows, values: ChunkValues::F64(values), texts })
    }
}

impl ChunkReader for Batches {
    fn columns(&self) -> &[(String, ColumnKind)] {
        &self.columns
    }

    fn next(&mut self) -> Result<Option<Chunk>> {
        match self.reader.next() {
            None => Ok(None),
            Some(batch) => self.chunk(&batch.map_err(damaged)?).map(Some),
        }
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn rows(&self) -> Option<u64> {
        self.rows
    }
}
