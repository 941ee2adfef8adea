//! Parquet, column by column.
//!
//! A read takes a set of columns. For each row group the byte ranges of their chunks that lie
//! close together are fetched with one system call, and each chunk is decoded straight into
//! the column's buffer, so the work does not grow with the number of columns in the file. The
//! columns of a read are divided between the threads.
//!
//! Memory: the file's metadata without its statistics, plus at most [`WINDOW`] bytes of raw
//! chunks a thread (or one chunk where that is larger).

use std::fs::File;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use keepnet::{ColumnBlock, ColumnData, Error, Result};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
};
use parquet::file::reader::{ChunkReader, Length};
use rayon::prelude::*;

use crate::formats::parquet::column::{Output, Scratch, append, append_text};
use crate::formats::parquet::kind::{blank, kind};
use crate::formats::table::{Fingerprint, Schema, Table, numbers};
use crate::guard::{guarded, one_line};
use crate::input::names::check_unique;
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::input::series::SeriesValues;
use crate::memory::{Charge, Meter};
use crate::platform;
use crate::store::Place;

/// Raw bytes fetched at once: they are decoded while they are in the cache.
const WINDOW: u64 = 1 << 20;

/// Chunks that lie closer than this are fetched together.
const GAP: u64 = 64 << 10;

/// Opens a Parquet file: reads its metadata.
pub(crate) fn open(path: &str, place: &Place) -> Result<Arc<dyn Table>> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let meta = file.metadata().map_err(|e| Error::io(path, e))?;
    let mut print = Fingerprint::new();
    print.file(&meta);
    guarded(|| open_file(file, meta.len(), print, place))
}

/// The metadata of a file, without statistics, checked against the file's length.
pub(crate) fn metadata(file: &File, length: u64) -> Result<ParquetMetaData> {
    let skip = ParquetStatisticsPolicy::SkipAll;
    let options = ParquetMetaDataOptions::new()
        .with_column_stats_policy(skip.clone())
        .with_size_stats_policy(skip.clone())
        .with_encoding_stats_policy(skip);
    let metadata = ParquetMetaDataReader::new()
        .with_metadata_options(Some(options))
        .parse_and_finish(file)
        .map_err(|e| damaged(&e))?;
    let mut rows = 0_i64;
    for (g, group) in metadata.row_groups().iter().enumerate() {
        let more = Some(group.num_rows()).filter(|n| *n >= 0);
        rows = more.and_then(|more| rows.checked_add(more)).ok_or_else(|| {
            Error::Data(format!("the file is damaged: row group {g} has {} rows", group.num_rows()))
        })?;
        for chunk in group.columns() {
            let column = chunk.column_path().string();
            let starts = [chunk.data_page_offset(), chunk.dictionary_page_offset().unwrap_or(0)];
            let sizes = [chunk.compressed_size(), chunk.uncompressed_size(), chunk.num_values()];
            let end = match starts.iter().chain(&sizes).all(|n| *n >= 0) {
                true => {
                    let (start, size) = chunk.byte_range();
                    start.checked_add(size)
                }
                false => None,
            };
            if end.is_none_or(|end| end > length) {
                return Err(Error::Data(format!(
                    "the file is truncated or damaged: row group {g} of column {column:?} lies \
                     past its end at {length} bytes"
                )));
            }
        }
    }
    let claimed = metadata.file_metadata().num_rows();
    match claimed == rows {
        true => Ok(metadata),
        false => Err(Error::Data(format!(
            "the file is damaged: it claims {claimed} rows and its row groups have {rows}"
        ))),
    }
}

fn open_file(
    file: File,
    length: u64,
    mut print: Fingerprint,
    place: &Place,
) -> Result<Arc<dyn Table>> {
    let metadata = metadata(&file, length)?;
    let described =
        place.meter.take(metadata.memory_size() as u64, "the description of the columns")?;
    let mut columns = Vec::new();
    for column in metadata.file_metadata().schema_descr().columns() {
        let parts = column.path().parts();
        let (name, kind) = match parts {
            [name] if column.max_rep_level() == 0 => (name.clone(), kind(column)),
            _ => (parts.join("."), ColumnKind::Other("a nested type".into())),
        };
        print.bytes(name.as_bytes());
        columns.push(ColumnInfo { name, kind, file: 0 });
    }
    check_unique(columns.iter().map(|c| c.name.as_str()))?;
    let rows = usize::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
    if rows == 0 || columns.is_empty() {
        return Err(Error::Data("the file has no rows".into()));
    }
    let chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    let bytes = chunks.map(|chunk| chunk.byte_range().1).sum();
    let (fingerprint, meter) = (print.finish(), place.meter.clone());
    Ok(Arc::new(Parquet {
        file,
        length,
        metadata,
        columns,
        rows,
        bytes,
        fingerprint,
        meter,
        place: place.clone(),
        _described: described,
    }))
}

pub(crate) fn damaged(error: &ParquetError) -> Error {
    let error = one_line(error);
    Error::Data(format!("the Parquet file cannot be read ({error}); it may be truncated"))
}

struct Parquet {
    file: File,
    length: u64,
    metadata: ParquetMetaData,
    columns: Vec<ColumnInfo>,
    rows: usize,
    bytes: u64,
    fingerprint: u64,
    meter: Meter,
    place: Place,
    _described: Charge,
}

impl Parquet {
    /// Reads some columns through every row group.
    fn fill(&self, at: &[usize], outputs: &mut [Output]) -> Result<()> {
        let (mut scratch, mut buffer) = (Scratch::default(), BytesMut::new());
        for (g, group) in self.metadata.row_groups().iter().enumerate() {
            let rows = group.num_rows() as usize;
            let mut done = 0;
            while done < at.len() {
                self.place.go_on()?;
                let (count, start, end) = self.together(g, &at[done..]);
                let window = Arc::new(self.window(start, end, std::mem::take(&mut buffer))?);
                for i in done..done + count {
                    let chunk = group.column(at[i]);
                    let (output, scratch) = (&mut outputs[i], &mut scratch);
                    guarded(|| {
                        let done = append(&window, chunk, rows, output, scratch);
                        done.map_err(|e| damaged(&e))
                    })
                    .map_err(|e| e.at(&self.columns[at[i]].name))?;
                }
                done += count;
                // The memory goes from window to window; fresh pages would cost faults.
                buffer = Arc::into_inner(window)
                    .and_then(|window| window.bytes.try_into_mut().ok())
                    .unwrap_or_default();
            }
        }
        Ok(())
    }

    /// How many of the columns `at` to fetch with one call, and from where to where.
    fn together(&self, group: usize, at: &[usize]) -> (usize, u64, u64) {
        let group = self.metadata.row_group(group);
        let range = |c: usize| {
            let (start, size) = group.column(c).byte_range();
            (start, start + size)
        };
        let (start, mut end) = range(at[0]);
        let mut count = 1;
        for c in &at[1..] {
            let (from, to) = range(*c);
            if from < end || from - end > GAP || to - start > WINDOW {
                break;
            }
            end = to;
            count += 1;
        }
        (count, start, end)
    }

    fn window(&self, start: u64, end: u64, mut bytes: BytesMut) -> Result<Window> {
        let held = self.meter.take(end - start, "a column as it stands in the file")?;
        bytes.resize((end - start) as usize, 0);
        platform::read_exact_at(&self.file, &mut bytes, start)
            .map_err(|e| Error::io(format!("reading {} bytes at {start}", bytes.len()), e))?;
        let (length, meter) = (self.length, self.meter.clone());
        Ok(Window { start, bytes: bytes.freeze(), length, meter, _held: held })
    }
}

/// Part of the file in memory, addressed as the file is.
pub(crate) struct Window {
    start: u64,
    bytes: Bytes,
    length: u64,
    pub(crate) meter: Meter,
    _held: Charge,
}

impl Window {
    fn slice(&self, start: u64, length: Option<usize>) -> parquet::errors::Result<Bytes> {
        let all = self.bytes.len();
        let from = start.checked_sub(self.start).map_or(usize::MAX, |from| from as usize);
        let to = length.map_or(all, |length| from.saturating_add(length));
        if from > to || to > all {
            return Err(ParquetError::EOF(format!("offset {start} lies outside its column")));
        }
        Ok(self.bytes.slice(from..to))
    }
}

impl Length for Window {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Window {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(self.slice(start, None)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.slice(start, Some(length))
    }
}

impl Schema for Parquet {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn blank(&self, at: usize) -> bool {
        blank(&self.metadata.file_metadata().schema_descr().column(at))
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl Table for Parquet {
    fn rows(&self) -> usize {
        self.rows
    }

    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        let schema = self.metadata.file_metadata().schema_descr();
        let mut outputs: Vec<Output> =
            at.iter().map(|c| Output::new(&schema.column(*c), spare)).collect();
        let share = at.len().div_ceil(rayon::current_num_threads()).max(1);
        if share >= at.len() {
            self.fill(at, &mut outputs)?;
        } else {
            at.par_chunks(share)
                .zip(outputs.par_chunks_mut(share))
                .try_for_each(|(at, outputs)| self.fill(at, outputs))?;
        }
        for (c, output) in at.iter().zip(outputs) {
            out.push(output.finish(self.rows).map_err(|e| e.at(&self.columns[*c].name))?);
        }
        Ok(())
    }

    fn series(&self, at: usize) -> Result<SeriesValues> {
        if self.columns[at].kind != ColumnKind::Text {
            return numbers(self, at);
        }
        let mut values = Vec::with_capacity(self.rows);
        for group in self.metadata.row_groups() {
            let (start, size) = group.column(at).byte_range();
            let window = Arc::new(self.window(start, start + size, BytesMut::new())?);
            let rows = group.num_rows() as usize;
            guarded(|| {
                let done = append_text(&window, group.column(at), rows, &mut values);
                done.map_err(|e| damaged(&e))
            })
            .map_err(|e| e.at(&self.columns[at].name))?;
        }
        Ok(SeriesValues::Text(values))
    }

    fn column_bytes(&self) -> u64 {
        use parquet::basic::Type;
        let schema = self.metadata.file_metadata().schema_descr();
        let wide = |t: Type| matches!(t, Type::DOUBLE | Type::INT64 | Type::INT32);
        let any = schema.columns().iter().any(|c| wide(c.physical_type()));
        self.rows as u64 * if any { 8 } else { 4 }
    }

    fn scan_bytes(&self) -> u64 {
        self.bytes
    }
}
