//! The messages of Arrow IPC, files and streams, checked before anything is decoded.
//!
//! ```text
//! [0xFFFFFFFF] length(i32) | flatbuffer of that length | body
//! ```
//!
//! A batch names its rows, the lengths of its arrays and the buffers in its body. Each of these is
//! a claim: a buffer must lie in the body and be as long as its array needs, and the size that a
//! compressed buffer says it unpacks to must be one that its codec can reach.
//!
//! Source: Apache Arrow, Columnar format, "Serialization and interprocess communication".

use std::ops::Range;

use arrow_ipc::{CompressionType, Message, MetadataVersion, RecordBatch, root_as_message};
use arrow_schema::{DataType, Field, Fields, UnionMode};
use keepnet::{Error, Result};

use crate::guard::one_line;
use crate::mapped::Contents;

/// What is wrong with a file.
pub(crate) fn damaged(error: impl std::fmt::Display) -> Error {
    let error = one_line(error);
    Error::Data(format!("the Arrow file cannot be read ({error}); it may be truncated"))
}

/// Where a message is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Of its length.
    pub(crate) start: u64,
    /// Bytes up to its body.
    pub(crate) head: u64,
    pub(crate) body: u64,
}

impl Place {
    pub(crate) fn body(&self) -> Range<u64> {
        self.start + self.head..self.start + self.head + self.body
    }

    /// The flatbuffer.
    pub(crate) fn read(&self, contents: &Contents) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.head as usize];
        contents.copy(self.start, &mut bytes)?;
        let lead = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
        if bytes.len() < lead {
            return Err(damaged("a message is too short"));
        }
        bytes.drain(..lead);
        Ok(bytes)
    }

    /// Whether it lies before `end`.
    pub(crate) fn inside(&self, end: u64) -> bool {
        let sum = self.start.checked_add(self.head).and_then(|sum| sum.checked_add(self.body));
        sum.is_some_and(|sum| sum <= end)
    }
}

/// The message in a flatbuffer.
pub(crate) fn message(bytes: &[u8]) -> Result<Message<'_>> {
    root_as_message(bytes).map_err(damaged)
}

/// Bytes of the next message's flatbuffer and of its lead; `None` at the end of a stream.
pub(crate) fn lead(bytes: [u8; 8]) -> Result<Option<(u64, u64)>> {
    let word =
        |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let (length, lead) = if bytes[..4] == [0xff; 4] { (word(4), 8) } else { (word(0), 4) };
    match u64::try_from(length) {
        Ok(0) => Ok(None),
        Ok(length) => Ok(Some((length, lead))),
        Err(_) => Err(damaged("a message has a negative length")),
    }
}

/// The places of a stream's messages, the schema's first.
pub(crate) fn each_message(
    contents: &Contents,
    mut each: impl FnMut(Place) -> Result<()>,
) -> Result<()> {
    let (mut at, end) = (0, contents.len());
    while end - at >= 4 {
        let mut bytes = [0; 8];
        let there = (end - at).min(8) as usize;
        contents.copy(at, &mut bytes[..there])?;
        let Some((length, lead)) = lead(bytes)? else { return Ok(()) };
        let mut place = Place { start: at, head: length.saturating_add(lead), body: 0 };
        if !place.inside(end) {
            return Err(damaged("a message lies past the end"));
        }
        let head = place.read(contents)?;
        let body = message(&head)?.bodyLength();
        place.body = u64::try_from(body).map_err(|_| damaged("a body has a negative length"))?;
        if !place.inside(end) {
            return Err(damaged("a batch lies past the end"));
        }
        each(place)?;
        at = place.body().end;
    }
    match at == end {
        true => Ok(()),
        false => Err(damaged("bytes are left after the last message")),
    }
}

/// Where the buffers of a batch's columns are.
pub(crate) struct Layout {
    pub(crate) rows: usize,
    /// Ranges of the body, by buffer.
    pub(crate) buffers: Vec<Range<u64>>,
    /// Ranges of buffers, by column.
    pub(crate) columns: Vec<Range<usize>>,
    pub(crate) compression: Option<CompressionType>,
}

impl Layout {
    /// Checks a batch with a body of `body` bytes.
    pub(crate) fn new(
        batch: RecordBatch<'_>,
        fields: &Fields,
        version: MetadataVersion,
        body: u64,
    ) -> Result<Self> {
        let rows = count(batch.length(), "rows")?;
        let range = |b: &arrow_ipc::Buffer| {
            let start = u64::try_from(b.offset()).ok();
            let end = start.zip(u64::try_from(b.length()).ok()).and_then(|(s, l)| s.checked_add(l));
            let end = end.filter(|end| *end <= body);
            let range = start.zip(end).map(|(start, end)| start..end);
            range.ok_or_else(|| damaged("a buffer lies outside its batch"))
        };
        let buffers: Vec<Range<u64>> =
            batch.buffers().iter().flatten().map(range).collect::<Result<_>>()?;
        let node = |n: &arrow_ipc::FieldNode| {
            let (length, nulls) = (count(n.length(), "values")?, count(n.null_count(), "nulls")?);
            if nulls > length {
                return Err(damaged("an array has more missing values than values"));
            }
            Ok((length, nulls))
        };
        let nodes: Vec<(usize, usize)> =
            batch.nodes().iter().flatten().map(node).collect::<Result<_>>()?;
        let counts: Vec<i64> = batch.variadicBufferCounts().into_iter().flatten().collect();
        let compression = batch.compression().map(|c| c.codec());
        let mut walker = Walker {
            buffers: &buffers,
            nodes: &nodes,
            views: &counts,
            plain: compression.is_none(),
            union_nulls: version < MetadataVersion::V5,
            buffer: 0,
            node: 0,
            view: 0,
        };
        let mut columns = Vec::with_capacity(fields.len());
        for field in fields {
            let first = walker.buffer;
            if walker.field(field)? != rows {
                let name = field.name();
                return Err(damaged(format!("column {name:?} has other rows than its batch")));
            }
            columns.push(first..walker.buffer);
        }
        Ok(Self { rows, buffers, columns, compression })
    }

    /// The ranges of the body that a column needs.
    pub(crate) fn parts(&self, columns: &[usize]) -> Vec<Range<u64>> {
        let parts = columns.iter().flat_map(|c| self.buffers[self.columns[*c].clone()].to_vec());
        parts.filter(|part| !part.is_empty()).collect()
    }

    /// Bytes that the buffers of some columns unpack to; `head` gives eight bytes of the body.
    pub(crate) fn unpacked(
        &self,
        columns: &[usize],
        head: impl Fn(u64) -> Result<[u8; 8]>,
    ) -> Result<u64> {
        let Some(codec) = self.compression else { return Ok(0) };
        let mut sum = 0_u64;
        for part in self.parts(columns) {
            let packed = part.end - part.start;
            if packed < 8 {
                return Err(damaged("a compressed buffer is too short"));
            }
            let length = i64::from_le_bytes(head(part.start)?);
            let length = match length {
                -1 => packed - 8,
                _ => u64::try_from(length).unwrap_or(u64::MAX),
            };
            // What the densest block of a codec unpacks to: 255 bytes out of one for LZ4, 128 KiB
            // out of four for zstd.
            let ratio = if codec == CompressionType::LZ4_FRAME { 256 } else { 1 << 15 };
            if length > packed.saturating_mul(ratio) {
                return Err(damaged(format!(
                    "a buffer of {packed} bytes claims to unpack to {length}"
                )));
            }
            sum = sum.saturating_add(length);
        }
        Ok(sum)
    }
}

fn count(value: i64, what: &str) -> Result<usize> {
    // Sizes in bits must fit, too.
    let fits = usize::try_from(value).ok().filter(|v| *v < 1 << 48);
    fits.ok_or_else(|| damaged(format!("{value} {what} in a batch")))
}

/// Goes through the arrays of a batch in the order of its fields.
struct Walker<'a> {
    buffers: &'a [Range<u64>],
    nodes: &'a [(usize, usize)],
    views: &'a [i64],
    // Buffers are as long as what they hold.
    plain: bool,
    union_nulls: bool,
    buffer: usize,
    node: usize,
    view: usize,
}

impl Walker<'_> {
    /// Checks that the next buffer has `bytes` bytes at least.
    fn buffer(&mut self, bytes: usize) -> Result<()> {
        let buffer = self.buffers.get(self.buffer);
        let buffer = buffer.ok_or_else(|| damaged("a batch has too few buffers"))?;
        self.buffer += 1;
        if self.plain && buffer.end - buffer.start < bytes as u64 {
            return Err(damaged("a buffer is shorter than its array"));
        }
        Ok(())
    }

    /// Checks the arrays of a field; its length.
    fn field(&mut self, field: &Field) -> Result<usize> {
        use DataType::{
            Binary, BinaryView, Boolean, Dictionary, FixedSizeBinary, FixedSizeList, LargeBinary,
            LargeList, LargeListView, LargeUtf8, List, ListView, Map, Null, RunEndEncoded, Struct,
            Union, Utf8, Utf8View,
        };
        let node = self.nodes.get(self.node).copied();
        let (length, nulls) = node.ok_or_else(|| damaged("a batch has too few arrays"))?;
        self.node += 1;
        let valid = if nulls > 0 { length.div_ceil(8) } else { 0 };
        // Writers leave the offsets of an empty array out.
        let offsets = |width: usize| if length == 0 { 0 } else { (length + 1) * width };
        match field.data_type() {
            Null => {}
            Utf8 | Binary | LargeUtf8 | LargeBinary => {
                let wide = matches!(field.data_type(), LargeUtf8 | LargeBinary);
                self.buffer(valid)?;
                self.buffer(offsets(if wide { 8 } else { 4 }))?;
                self.buffer(0)?;
            }
            Utf8View | BinaryView => {
                let more = self.views.get(self.view).and_then(|n| usize::try_from(*n).ok());
                let more = more.filter(|n| *n <= self.buffers.len());
                let more = more.ok_or_else(|| damaged("a column of views has no buffer count"))?;
                self.view += 1;
                self.buffer(valid)?;
                self.buffer(length * 16)?;
                (0..more).try_for_each(|_| self.buffer(0))?;
            }
            List(item) | Map(item, _) => {
                self.buffer(valid)?;
                self.buffer(offsets(4))?;
                self.field(item)?;
            }
            LargeList(item) => {
                self.buffer(valid)?;
                self.buffer(offsets(8))?;
                self.field(item)?;
            }
            ListView(item) | LargeListView(item) => {
                let width = if matches!(field.data_type(), ListView(_)) { 4 } else { 8 };
                self.buffer(valid)?;
                self.buffer(length * width)?;
                self.buffer(length * width)?;
                self.field(item)?;
            }
            FixedSizeList(item, _) => {
                self.buffer(valid)?;
                self.field(item)?;
            }
            Struct(fields) => {
                self.buffer(valid)?;
                for field in fields {
                    self.field(field)?;
                }
            }
            RunEndEncoded(ends, values) => {
                self.field(ends)?;
                self.field(values)?;
            }
            Union(fields, mode) => {
                if self.union_nulls {
                    self.buffer(0)?;
                }
                self.buffer(length)?;
                if *mode == UnionMode::Dense {
                    self.buffer(length * 4)?;
                }
                for (_, field) in fields.iter() {
                    self.field(field)?;
                }
            }
            Boolean => {
                self.buffer(valid)?;
                self.buffer(length.div_ceil(8))?;
            }
            FixedSizeBinary(width) => {
                let width = usize::try_from(*width).map_err(|_| damaged("a negative width"))?;
                self.buffer(valid)?;
                self.buffer(length.saturating_mul(width))?;
            }
            Dictionary(keys, _) => {
                self.buffer(valid)?;
                self.buffer(length * keys.primitive_width().unwrap_or(0))?;
            }
            other => {
                self.buffer(valid)?;
                self.buffer(length * other.primitive_width().unwrap_or(0))?;
            }
        }
        Ok(length)
    }
}
