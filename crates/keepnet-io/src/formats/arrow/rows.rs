//! Arrow IPC, some rows of a record batch at a time, from a file or a pipe.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::read_dictionary;
use arrow_schema::{Field, SchemaRef};
use keepnet::{ColumnBlock, Error, Result};

use crate::formats::arrow::column::{as_text, blank, kind, widened};
use crate::formats::arrow::file::{Batches, Dictionaries, decode, dictionary, no_values, rows_of};
use crate::formats::arrow::message::{damaged, lead, message};
use crate::formats::chunk::{Chunk, ChunkReader, ChunkValues};
use crate::formats::table::{Fingerprint, Schema};
use crate::guard::guarded;
use crate::input::names::check_unique;
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::mapped::Contents;
use crate::memory::Charge;
use crate::store::Place;

/// Most rows of a chunk.
const BATCH: usize = 1024;
/// Values of a chunk of wide rows.
const WIDE: usize = 2 << 20;

/// Rows of a chunk of `columns` columns, so that a few of them stay within the limit.
pub(crate) fn step(columns: usize, place: &Place) -> usize {
    let values = WIDE.min((place.memory / 32) as usize);
    (values / columns.max(1)).clamp(1, BATCH)
}

/// Batches of rows, some of whose columns are decoded.
pub(crate) struct Ipc {
    source: Source,
    schema: SchemaRef,
    columns: Vec<ColumnInfo>,
    // Columns that are decoded.
    known: Vec<usize>,
    dictionaries: Dictionaries,
    // A batch, the rows of it that were handed on, and what it takes.
    current: Option<(RecordBatch, usize, Charge)>,
    place: Place,
    fingerprint: u64,
    _described: Charge,
}

enum Source {
    File { batches: Batches, at: usize },
    Pipe(std::io::Stdin),
}

pub(crate) fn open(path: &str, place: &Place) -> Result<Box<dyn ChunkReader>> {
    let decoded = |field: &Field| Ok(!matches!(kind(field.data_type()), ColumnKind::Other(_)));
    let ipc = Ipc::open(path, place, decoded)?;
    if ipc.schema.fields().iter().all(|f| blank(f.data_type())) {
        // Such a file can claim any number of rows at no cost.
        return Err(Error::Data("no column of the file has a value".into()));
    }
    Ok(Box::new(ipc))
}

impl Ipc {
    /// Opens a file or a pipe; the columns that `decoded` names are decoded.
    pub(crate) fn open(
        path: &str,
        place: &Place,
        decoded: impl Fn(&Field) -> Result<bool>,
    ) -> Result<Self> {
        let mut print = Fingerprint::new();
        let (source, schema) = if path == "-" {
            let mut input = std::io::stdin();
            let schema = pipe_schema(&mut input, place)?;
            (Source::Pipe(input), schema)
        } else {
            let file = File::open(path).map_err(|e| Error::io(path, e))?;
            let meta = file.metadata().map_err(|e| Error::io(path, e))?;
            print.file(&meta);
            if meta.len() == 0 {
                return Err(Error::Data("the file is empty".into()));
            }
            let contents = Contents::new(file, meta.len(), place.reading);
            let contents = contents.map_err(|e| Error::io(path, e))?;
            let batches = Batches::new(contents, place.meter.clone())?;
            let schema = Arc::clone(&batches.schema);
            (Source::File { batches, at: 0 }, schema)
        };
        let _described = place.row_columns(schema.fields().len() as u64)?;
        let columns: Vec<ColumnInfo> = schema
            .fields()
            .iter()
            .map(|f| ColumnInfo::of((f.name().clone(), kind(f.data_type()))))
            .collect();
        check_unique(columns.iter().map(|c| c.name.as_str()))?;
        columns.iter().for_each(|c| print.bytes(c.name.as_bytes()));
        let mut known = Vec::with_capacity(columns.len());
        for (at, field) in schema.fields().iter().enumerate() {
            if decoded(field)? {
                known.push(at);
            }
        }
        let (dictionaries, current) = (no_values(&schema, &known), None);
        let (place, fingerprint) = (place.clone(), print.finish());
        Ok(Self {
            source,
            schema,
            columns,
            known,
            dictionaries,
            current,
            place,
            fingerprint,
            _described,
        })
    }

    /// The columns of the file.
    pub(crate) fn fields(&self) -> &SchemaRef {
        &self.schema
    }

    /// A charge for what is held of a batch beside it.
    pub(crate) fn empty(&self) -> Result<Charge> {
        self.place.meter.take(0, "")
    }
}

/// The flatbuffer of the next message of a pipe; `None` at its end.
fn pipe_head(input: &mut impl Read, place: &Place) -> Result<Option<Vec<u8>>> {
    let mut bytes = [0; 8];
    let mut got = part(input, 4)?;
    if got.is_empty() {
        return Ok(None);
    }
    if got == [0xff; 4] {
        got.extend(part(input, 4)?);
    }
    if !got.len().is_multiple_of(4) || (got.len() == 4 && got == [0xff; 4]) {
        return Err(damaged("the stream ends within a message"));
    }
    bytes[..got.len()].copy_from_slice(&got);
    let Some((length, _)) = lead(bytes)? else { return Ok(None) };
    let _work = place.meter.take(2 * length, "the description of a batch")?;
    whole(input, length).map(Some)
}

/// Up to so many bytes; a length that lies costs nothing.
fn part(input: &mut impl Read, length: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = input.by_ref().take(length).read_to_end(&mut bytes);
    read.map_err(|e| Error::io("standard input", e))?;
    Ok(bytes)
}

fn whole(input: &mut impl Read, length: u64) -> Result<Vec<u8>> {
    let bytes = part(input, length)?;
    match bytes.len() as u64 == length {
        true => Ok(bytes),
        false => Err(damaged("the stream ends within a message")),
    }
}

/// The first bytes of a file. Zeros follow up to where its writer aligns the stream behind them, 64
/// bytes as a rule; the footer comes after the stream's end.
const FILE_MARK: &[u8] = b"ARROW1\0\0";
/// Words of zeros that are passed over at most.
const MOST_ZEROS: usize = 64;

fn pipe_schema(input: &mut impl Read, place: &Place) -> Result<SchemaRef> {
    let mut first = part(input, 8)?;
    if first == FILE_MARK {
        first = part(input, 8)?;
        for _ in 0..MOST_ZEROS {
            if first != [0; 8] {
                break;
            }
            first = part(input, 8)?;
        }
    }
    let head = pipe_head(&mut first.as_slice().chain(input), place)?;
    let head = head.ok_or_else(|| damaged("it is empty"))?;
    guarded(|| {
        let message = message(&head)?;
        let schema = message.header_as_schema().ok_or_else(|| damaged("it has no schema"))?;
        Ok(Arc::new(arrow_ipc::convert::try_fb_to_schema(schema).map_err(damaged)?))
    })
}

impl Ipc {
    /// The next batch of rows and what it takes.
    pub(crate) fn batch(&mut self) -> Result<Option<(RecordBatch, Charge)>> {
        loop {
            self.place.go_on()?;
            let (batch, charge) = match &mut self.source {
                Source::File { batches, at } => {
                    if *at == batches.len() {
                        return Ok(None);
                    }
                    let (batch, bytes) = batches.one(*at, &self.known, &mut self.dictionaries)?;
                    *at += 1;
                    (batch, self.place.meter.take(bytes, "a compressed batch")?)
                }
                Source::Pipe(input) => {
                    let Some(head) = pipe_head(input, &self.place)? else { return Ok(None) };
                    let charge = self.place.meter.take(0, "")?;
                    self.piped(&head, charge)?
                }
            };
            if let Some(batch) = batch {
                return Ok(Some((batch, charge)));
            }
        }
    }

    /// Reads the body of a message of a pipe and decodes it.
    fn piped(&mut self, head: &[u8], mut charge: Charge) -> Result<(Option<RecordBatch>, Charge)> {
        let Source::Pipe(input) = &mut self.source else {
            return Err(damaged("a file is no pipe"));
        };
        let (schema, known, dictionaries) = (&self.schema, &self.known, &mut self.dictionaries);
        guarded(|| {
            let message = message(head)?;
            let length = u64::try_from(message.bodyLength());
            let length = length.map_err(|_| damaged("a body has a negative length"))?;
            let values = message.header_as_dictionary_batch();
            let (columns, layout) = match values {
                Some(batch) => (vec![0], dictionary(batch, schema, &message, length)?.1),
                None => (known.clone(), rows_of(&message, schema, length)?),
            };
            // A buffer that grows as it is read may be twice as long.
            charge.grow(length.saturating_mul(2), "a batch")?;
            let body = whole(input, length)?;
            let unpacked = layout.unpacked(&columns, |at| {
                let bytes = body.get(at as usize..).and_then(|rest| rest.first_chunk());
                bytes.copied().ok_or_else(|| damaged("a buffer lies outside its batch"))
            })?;
            charge.grow(unpacked, "a compressed batch")?;
            let body = Buffer::from_vec(body);
            match values {
                Some(batch) => {
                    let version = message.version();
                    let read = read_dictionary(&body, batch, schema, dictionaries, &version);
                    read.map_err(damaged)?;
                    Ok((None, charge))
                }
                None => {
                    let batch = decode(&message, &body, schema, known, dictionaries)?;
                    Ok((Some(batch), charge))
                }
            }
        })
    }
}

impl Schema for Ipc {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn blank(&self, column: usize) -> bool {
        blank(self.schema.field(column).data_type())
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl ChunkReader for Ipc {
    fn next(&mut self) -> Result<Option<Chunk>> {
        loop {
            if let Some((batch, done, _)) = &mut self.current
                && *done < batch.num_rows()
            {
                let rows = step(self.columns.len(), &self.place).min(batch.num_rows() - *done);
                let part = batch.slice(*done, rows);
                *done += rows;
                return chunk(&part, &self.known, &self.columns, &self.place).map(Some);
            }
            self.current = None;
            if let Source::File { batches, .. } = &self.source
                && let Some(map) = batches.contents.map()
            {
                map.release(0, map.bytes().len());
            }
            match self.batch()? {
                Some((batch, charge)) => self.current = Some((batch, 0, charge)),
                None => return Ok(None),
            }
        }
    }

    fn rows(&self) -> Option<u64> {
        match &self.source {
            Source::File { batches, .. } => Some(batches.rows as u64),
            Source::Pipe(_) => None,
        }
    }

    fn bytes(&self) -> u64 {
        3 * 8 * (step(self.columns.len(), &self.place) * self.columns.len()) as u64
    }
}

/// The rows of a batch, whose columns are those at `at`.
pub(crate) fn chunk(
    batch: &RecordBatch,
    at: &[usize],
    columns: &[ColumnInfo],
    place: &Place,
) -> Result<Chunk> {
    let mut held = place.meter.take(0, "")?;
    let (rows, p) = (batch.num_rows(), columns.len());
    let mut values = vec![f64::NAN; rows * p];
    let mut texts = vec![Vec::new(); p];
    let mut spare = ColumnBlock::new(1);
    for (c, array) in at.iter().copied().zip(batch.columns()) {
        match columns[c].kind {
            ColumnKind::Text => {
                let mut list = Vec::new();
                guarded(|| as_text(array.as_ref(), &mut list, &mut held))?;
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
