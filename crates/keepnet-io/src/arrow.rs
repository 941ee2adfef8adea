//! Arrow IPC, files and streams, mapped.
//!
//! Where the buffers are not compressed the arrays point into the map: they are made once,
//! and a column of one batch without missing values is handed on without a copy. Compressed
//! files are decoded anew for the columns of each read; compressed streams, which have no
//! index, and standard input are decoded whole, within the memory limit.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileDecoder, StreamDecoder, read_footer_length};
use arrow_ipc::{Block, root_as_footer};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use keepnet::{Bytes, ColumnBlock, ColumnData, Error, Result};

use crate::arrow_column::{as_text, kind, shared, widened};
use crate::dataset::{ColumnInfo, ColumnKind};
use crate::mapped::Mapped;
use crate::names::check_unique;
use crate::series::SeriesValues;
use crate::store::Place;
use crate::table::{Fingerprint, Table, numbers};

/// Arrays kept ready at most; a file with more is decoded for each read.
const READY: usize = 4 << 20;

/// Opens an Arrow file or stream.
pub(crate) fn open(path: &str, place: &Place) -> Result<Arc<dyn Table>> {
    let mut print = Fingerprint::new();
    if path == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
        print.bytes(&bytes);
        let buffer = Buffer::from_vec(bytes);
        return open_buffer(buffer, None, print, place).map_err(|e| e.at(path));
    }
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let meta = file.metadata().map_err(|e| Error::io(path, e))?;
    if meta.len() == 0 {
        return Err(Error::Data("the file is empty".into()).at(path));
    }
    print.file(&meta);
    let map = Mapped::new(&file).map_err(|e| Error::io(path, e))?;
    let buffer = Buffer::from(bytes::Bytes::from_owner(map.owner()));
    open_buffer(buffer, Some(map), print, place).map_err(|e| e.at(path))
}

fn damaged(error: impl std::fmt::Display) -> Error {
    Error::Data(format!("the Arrow file cannot be read ({error}); it may be truncated"))
}

fn open_buffer(
    buffer: Buffer,
    map: Option<Mapped>,
    mut print: Fingerprint,
    place: &Place,
) -> Result<Arc<dyn Table>> {
    let (schema, batches) = if buffer.starts_with(b"ARROW1") {
        let file = Blocks::new(buffer.clone())?;
        (Arc::clone(&file.schema), file.ready(place)?)
    } else {
        let (schema, batches) = stream(buffer.clone(), place)?;
        (schema, Batches::Ready(batches))
    };
    let columns: Vec<ColumnInfo> = schema
        .fields()
        .iter()
        .map(|f| ColumnInfo { name: f.name().clone(), kind: kind(f.data_type()), file: 0 })
        .collect();
    check_unique(columns.iter().map(|c| c.name.as_str()))?;
    columns.iter().for_each(|c| print.bytes(c.name.as_bytes()));
    let rows = match &batches {
        Batches::Ready(batches) => batches.iter().map(RecordBatch::num_rows).sum(),
        Batches::Decoded(blocks) => {
            blocks.decode(&[0])?.iter().map(RecordBatch::num_rows).sum::<usize>()
        }
    };
    if rows == 0 || columns.is_empty() {
        return Err(Error::Data("the file has no rows".into()));
    }
    let (bytes, fingerprint) = (buffer.len() as u64, print.finish());
    Ok(Arc::new(Arrow { map, schema, columns, batches, rows, bytes, fingerprint }))
}

/// The batches of a file, by its footer.
struct Blocks {
    buffer: Buffer,
    schema: SchemaRef,
    version: arrow_ipc::MetadataVersion,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

impl Blocks {
    fn new(buffer: Buffer) -> Result<Self> {
        let short = || damaged("it ends before its footer");
        let end = buffer.len().checked_sub(10).ok_or_else(short)?;
        let trailer: [u8; 10] = buffer[end..].try_into().map_err(|_| short())?;
        let length = read_footer_length(trailer).map_err(damaged)?;
        let start = end.checked_sub(length).ok_or_else(short)?;
        let footer = root_as_footer(&buffer[start..end]).map_err(damaged)?;
        let schema = footer.schema().ok_or_else(|| damaged("it has no schema"))?;
        let schema = Arc::new(arrow_ipc::convert::try_fb_to_schema(schema).map_err(damaged)?);
        let dictionaries: Vec<Block> = footer.dictionaries().iter().flatten().copied().collect();
        let batches: Vec<Block> = footer.recordBatches().iter().flatten().copied().collect();
        if !dictionaries.iter().chain(&batches).all(|block| inside(block, start)) {
            return Err(damaged("a batch lies past the end"));
        }
        let version = footer.version();
        Ok(Self { buffer, schema, version, dictionaries, batches })
    }

    /// The bytes of one block.
    fn slice(&self, block: &Block) -> Buffer {
        let length = block.bodyLength() as usize + block.metaDataLength() as usize;
        self.buffer.slice_with_length(block.offset() as usize, length)
    }

    /// Decodes some columns of every batch.
    fn decode(&self, columns: &[usize]) -> Result<Vec<RecordBatch>> {
        let coded =
            |c: &usize| matches!(self.schema.field(*c).data_type(), DataType::Dictionary(..));
        let mut decoder = FileDecoder::new(Arc::clone(&self.schema), self.version);
        if columns.len() < self.schema.fields().len() {
            decoder = decoder.with_projection(columns.to_vec());
        }
        if columns.iter().any(coded) {
            for block in &self.dictionaries {
                decoder.read_dictionary(block, &self.slice(block)).map_err(damaged)?;
            }
        }
        let one = |block: &Block| -> Result<RecordBatch, ArrowError> {
            let none = || ArrowError::IpcError("a batch is empty".into());
            decoder.read_record_batch(block, &self.slice(block))?.ok_or_else(none)
        };
        self.batches.iter().map(|block| one(block).map_err(damaged)).collect()
    }

    /// All arrays, where they point into the file; otherwise the way to decode them.
    fn ready(self, _: &Place) -> Result<Batches> {
        let columns = self.schema.fields().len();
        let few = columns.saturating_mul(self.batches.len()) <= READY;
        let plain = |t: &DataType| matches!(t, DataType::Float32 | DataType::Float64);
        let first = self.schema.fields().iter().position(|f| plain(f.data_type()));
        let in_place = match first {
            Some(first) => self.decode(&[first])?.iter().all(|batch| {
                shared(batch.column(0), &self.buffer).is_some() || batch.num_rows() == 0
            }),
            None => false,
        };
        if few && in_place {
            let all: Vec<usize> = (0..columns).collect();
            return Ok(Batches::Ready(self.decode(&all)?));
        }
        Ok(Batches::Decoded(self))
    }
}

fn inside(block: &Block, end: usize) -> bool {
    let sizes = [block.offset(), block.bodyLength(), i64::from(block.metaDataLength())];
    let sum = sizes.iter().try_fold(0_i64, |sum, size| sum.checked_add(*size));
    sizes.iter().all(|size| *size >= 0) && sum.is_some_and(|sum| sum as u64 <= end as u64)
}

/// All batches of a stream.
fn stream(mut buffer: Buffer, place: &Place) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let whole = buffer.clone();
    let (mut decoder, mut batches, mut used) = (StreamDecoder::new(), Vec::new(), 0);
    while let Some(batch) = decoder.decode(&mut buffer).map_err(damaged)? {
        // Arrays that point into the file cost nothing.
        let copied = batch.columns().iter().filter(|c| shared(c, &whole).is_none());
        used += copied.map(|c| c.get_array_memory_size() as u64).sum::<u64>();
        if used > place.memory {
            return Err(Error::Budget {
                what: "a compressed Arrow stream".into(),
                need: Bytes(used),
                have: Bytes(place.memory),
                advice: "raise --memory, or write the file format or without compression",
            });
        }
        batches.push(batch);
    }
    decoder.finish().map_err(damaged)?;
    let schema = decoder.schema().ok_or_else(|| damaged("it has no schema"))?;
    Ok((schema, batches))
}

enum Batches {
    Ready(Vec<RecordBatch>),
    Decoded(Blocks),
}

struct Arrow {
    map: Option<Mapped>,
    schema: SchemaRef,
    columns: Vec<ColumnInfo>,
    batches: Batches,
    rows: usize,
    bytes: u64,
    fingerprint: u64,
}

impl Arrow {
    /// Calls `f` with each of the columns `at`, as its arrays in every batch.
    fn each(
        &self,
        at: &[usize],
        mut f: impl FnMut(usize, &[&dyn arrow_array::Array]) -> Result<()>,
    ) -> Result<()> {
        let mut order: Vec<usize> = at.to_vec();
        let decoded;
        let batches = match &self.batches {
            Batches::Ready(batches) => batches,
            Batches::Decoded(blocks) => {
                order.sort_unstable();
                order.dedup();
                decoded = blocks.decode(&order)?;
                &decoded
            }
        };
        for c in at {
            let place = match &self.batches {
                Batches::Ready(_) => *c,
                Batches::Decoded(_) => order.binary_search(c).expect("it was asked for"),
            };
            let parts: Vec<_> = batches.iter().map(|b| b.column(place).as_ref()).collect();
            f(*c, &parts)?;
        }
        Ok(())
    }
}

impl Table for Arrow {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        if let Some(map) = &self.map {
            map.release(0, map.bytes().len());
        }
        self.each(at, |c, parts| {
            if let (Some(map), [part]) = (&self.map, parts)
                && let Some((start, wide)) = crate::arrow_column::place(*part, map.bytes())
            {
                let (bytes, rows) = (map.share(), self.rows);
                out.push(ColumnData::Shared { bytes, start, rows, wide });
                return Ok(());
            }
            let name = &self.columns[c].name;
            out.push(widened(parts, self.rows, spare).map_err(|e| e.at(name))?);
            Ok(())
        })
    }

    fn series(&self, at: usize) -> Result<SeriesValues> {
        if self.columns[at].kind != ColumnKind::Text {
            return numbers(self, at);
        }
        let mut values = Vec::with_capacity(self.rows);
        self.each(&[at], |_, parts| parts.iter().try_for_each(|part| as_text(*part, &mut values)))?;
        Ok(SeriesValues::Text(values))
    }

    fn column_bytes(&self) -> u64 {
        let narrow = |t: &DataType| {
            use DataType::{Boolean, Float32, Int8, Int16, UInt8, UInt16};
            matches!(t, Boolean | Float32 | Int8 | Int16 | UInt8 | UInt16)
        };
        let all = self.schema.fields().iter().all(|f| narrow(f.data_type()));
        self.rows as u64 * if all { 4 } else { 8 }
    }

    fn scan_bytes(&self) -> u64 {
        self.bytes
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}
