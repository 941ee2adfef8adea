//! Parquet, a record batch at a time.
//!
//! Rows of a file of columns need a page of every column at once. The headers of all pages say how
//! much that is; where it does not fit, the columns are read one block after the other and turned
//! into rows in a temporary file (see [`crate::formats::turned`]).

use std::fs::File;
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Fields};
use keepnet::{Bytes, Error, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;

use crate::formats::arrow::column::{blank, kind};
use crate::formats::arrow::rows::{chunk, step};
use crate::formats::chunk::{Chunk, ChunkReader};
use crate::formats::parquet::page::each_page;
use crate::formats::parquet::table::{damaged, metadata};
use crate::formats::table::{Fingerprint, Schema};
use crate::formats::turned::Turned;
use crate::guard::guarded;
use crate::input::names::check_unique;
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::memory::Charge;
use crate::platform;
use crate::store::Place;

struct Pages {
    reader: ParquetRecordBatchReader,
    columns: Vec<ColumnInfo>,
    // Columns that are decoded.
    known: Vec<usize>,
    // Those without a value, ascending.
    blank: Vec<usize>,
    rows: u64,
    fingerprint: u64,
    place: Place,
    bytes: u64,
    _charges: [Charge; 2],
}

pub(crate) fn open(path: &str, place: &Place) -> Result<Box<dyn ChunkReader>> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let meta = file.metadata().map_err(|e| Error::io(path, e))?;
    let mut print = Fingerprint::new();
    print.file(&meta);
    guarded(|| open_file(path, file, meta.len(), print, place))
}

fn open_file(
    path: &str,
    file: File,
    length: u64,
    mut print: Fingerprint,
    place: &Place,
) -> Result<Box<dyn ChunkReader>> {
    let metadata = Arc::new(metadata(&file, length)?);
    let arrow = as_arrow(&metadata).map_err(|e| damaged(&e))?;
    let fields = arrow.schema().fields();
    let described = 320 * fields.len() as u64 + metadata.memory_size() as u64;
    let described = place.meter.take(described, "the description of the columns")?;
    let columns: Vec<ColumnInfo> =
        fields.iter().map(|f| ColumnInfo::of((f.name().clone(), kind(f.data_type())))).collect();
    check_unique(columns.iter().map(|c| c.name.as_str()))?;
    columns.iter().for_each(|c| print.bytes(c.name.as_bytes()));
    let blank = |c: &usize| blank(fields[*c].data_type());
    let blank: Vec<usize> = (0..columns.len()).filter(blank).collect();
    let known = |c: &usize| !matches!(columns[*c].kind, ColumnKind::Other(_));
    let known: Vec<usize> = (0..columns.len()).filter(known).collect();
    let rows = metadata.file_metadata().num_rows() as u64;
    let batch = step(columns.len(), place);
    let need = pages(&file, &metadata, &known, place)? + 4 * 8 * (batch * columns.len()) as u64;
    let room = place.meter.room();
    if need > room / 2 {
        // A column, the bytes of its chunk, and the column as it is written.
        let turned = 24 * rows + largest(&metadata);
        if turned > room / 2 {
            return Err(Error::Budget {
                what: "reading: a page of every column at once".into(),
                need: Bytes(need.min(turned) * 2),
                have: Bytes(room),
                advice: "raise --memory, half of which is for reading",
            });
        }
        let table = crate::formats::parquet::table::open(path, place)?;
        let turned = Turned::new(&*table, (columns, blank), print.finish(), described, place)?;
        return Ok(Box::new(turned));
    }
    let held = place.meter.take(need, "a page of every column at once")?;
    let mask = ProjectionMask::roots(arrow.parquet_schema(), known.iter().copied());
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, arrow)
        .with_projection(mask)
        .with_batch_size(batch)
        .build()
        .map_err(|e| damaged(&e))?;
    let (place, fingerprint) = (place.clone(), print.finish());
    Ok(Box::new(Pages {
        reader,
        columns,
        known,
        blank,
        rows,
        fingerprint,
        place,
        bytes: need,
        _charges: [described, held],
    }))
}

/// The columns as Arrow has them. A writer may have noted that a column was a dictionary, which the
/// decoder can give back for text; others are asked for as what their values are.
fn as_arrow(metadata: &Arc<ParquetMetaData>) -> Result<ArrowReaderMetadata, ParquetError> {
    let new = |options| ArrowReaderMetadata::try_new(Arc::clone(metadata), options);
    let noted = new(ArrowReaderOptions::new())?;
    let plain = |field: &FieldRef| match field.data_type() {
        DataType::Dictionary(_, values) if kind(values) != ColumnKind::Text => {
            Arc::new(field.as_ref().clone().with_data_type(values.as_ref().clone()))
        }
        _ => Arc::clone(field),
    };
    let fields: Fields = noted.schema().fields().iter().map(plain).collect();
    match fields == *noted.schema().fields() {
        true => Ok(noted),
        false => {
            new(ArrowReaderOptions::new().with_schema(Arc::new(arrow_schema::Schema::new(fields))))
        }
    }
}

/// The bytes of the largest column chunk.
fn largest(metadata: &ParquetMetaData) -> u64 {
    let chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    chunks.map(|chunk| chunk.byte_range().1).max().unwrap_or(0)
}

/// Checks the pages of the columns `known`; the bytes of a page and a dictionary of each.
fn pages(file: &File, metadata: &ParquetMetaData, known: &[usize], place: &Place) -> Result<u64> {
    let schema = metadata.file_metadata().schema_descr();
    let mut most = vec![0_u64; schema.num_columns()];
    for group in metadata.row_groups() {
        let rows = group.num_rows() as usize;
        for (c, chunk) in group.columns().iter().enumerate() {
            if known.binary_search(&schema.get_column_root_idx(c)).is_err() {
                continue;
            }
            place.go_on()?;
            let (mut dictionary, mut data) = (0, 0);
            let read = |at: u64, length: usize| {
                let mut bytes = vec![0; length];
                let done = platform::read_exact_at(file, &mut bytes, at);
                done.map_err(|e| ParquetError::External(Box::new(e)))?;
                Ok(bytes)
            };
            each_page(chunk, rows, read, |page| match page.is_dictionary() {
                // As it stands, unpacked, and as values.
                true => dictionary = page.packed + 3 * page.unpacked,
                false => data = data.max(page.packed + 2 * page.unpacked),
            })
            .map_err(|e| damaged(&e).at(chunk.column_path().string()))?;
            most[c] = most[c].max(dictionary + data);
        }
    }
    Ok(most.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes)))
}

impl Schema for Pages {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn blank(&self, column: usize) -> bool {
        self.blank.binary_search(&column).is_ok()
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl ChunkReader for Pages {
    fn next(&mut self) -> Result<Option<Chunk>> {
        self.place.go_on()?;
        let batch = guarded(|| {
            let batch = self.reader.next().transpose();
            batch.map_err(|e| damaged(&ParquetError::ArrowError(e.to_string())))
        })?;
        batch.map(|batch| chunk(&batch, &self.known, &self.columns, &self.place)).transpose()
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
