//! The batches of an Arrow file or stream, decoded for the columns that are asked for.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, new_empty_array};
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary, read_footer_length};
use arrow_ipc::{Block, Message, MetadataVersion, root_as_footer};
use arrow_schema::{DataType, Field, Fields, SchemaRef};
use keepnet::Result;

use crate::formats::arrow::column::kind;
use crate::formats::arrow::message::{Layout, Place, damaged, each_message, message};
use crate::guard::guarded;
use crate::input::schema::ColumnKind;
use crate::mapped::Contents;
use crate::memory::Meter;

/// Values of the dictionaries that came so far.
pub(crate) type Dictionaries = HashMap<i64, ArrayRef>;

/// The dictionaries of some columns before any values came. A writer may leave a dictionary out,
/// or send it later, while every value of its column is missing.
pub(crate) fn no_values(schema: &SchemaRef, columns: &[usize]) -> Dictionaries {
    let empty = |c: &usize| {
        let field = schema.field(*c);
        #[expect(deprecated, reason = "the only way from a field to the dictionary that it uses")]
        let id = field.dict_id()?;
        match field.data_type() {
            DataType::Dictionary(_, values) => Some((id, new_empty_array(values))),
            _ => None,
        }
    };
    columns.iter().filter_map(empty).collect()
}

/// The batches of a file or a stream, in order.
pub(crate) struct Batches {
    pub(crate) contents: Contents,
    pub(crate) schema: SchemaRef,
    /// Batches of rows and of dictionary values, in the order in which they are decoded.
    places: Vec<Place>,
    pub(crate) rows: usize,
    /// Whether arrays can point into the file as it is mapped.
    pub(crate) in_place: bool,
    pub(crate) meter: Meter,
}

impl Batches {
    /// Finds the batches and checks each of them.
    pub(crate) fn new(contents: Contents, meter: Meter) -> Result<Self> {
        let mut lead = [0; 6];
        let length = contents.len().min(6) as usize;
        contents.copy(0, &mut lead[..length])?;
        let (schema, places) = guarded(|| match lead == *b"ARROW1" {
            true => of_file(&contents),
            false => of_stream(&contents),
        })?;
        let in_place = contents.map().is_some();
        let mut all = Self { contents, schema, places, rows: 0, in_place, meter };
        guarded(|| all.check())?;
        Ok(all)
    }

    /// Columns that can be decoded: all but those of types that are no features.
    pub(crate) fn known(&self) -> Vec<usize> {
        let known =
            |c: &usize| !matches!(kind(self.schema.field(*c).data_type()), ColumnKind::Other(_));
        (0..self.schema.fields().len()).filter(known).collect()
    }

    /// Checks every batch and counts the rows.
    fn check(&mut self) -> Result<()> {
        let known = self.known();
        let (mut rows, mut in_place) = (0_usize, self.in_place);
        for place in &self.places {
            let head = place.read(&self.contents)?;
            let message = message(&head)?;
            if let Some(batch) = message.header_as_dictionary_batch() {
                let (_, layout) = dictionary(batch, &self.schema, &message, place.body)?;
                in_place &= layout.compression.is_none();
                continue;
            }
            let layout = rows_of(&message, &self.schema, place.body)?;
            rows = rows.checked_add(layout.rows).ok_or_else(|| damaged("too many rows"))?;
            in_place &= layout.compression.is_none() && self.aligned(place, &layout, &known);
        }
        (self.rows, self.in_place) = (rows, in_place);
        Ok(())
    }

    /// Whether the buffers of the columns lie where their values can be used as they stand.
    fn aligned(&self, place: &Place, layout: &Layout, columns: &[usize]) -> bool {
        let base = place.body().start;
        columns.iter().all(|c| {
            let view = matches!(self.schema.field(*c).data_type(), DataType::Utf8View);
            let align = if view { 16 } else { 8 };
            let mut parts = layout.buffers[layout.columns[*c].clone()].iter();
            parts.all(|part| (base + part.start).is_multiple_of(align))
        })
    }

    /// How many batches there are, dictionaries among them.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Decodes some columns, in ascending order, of every batch of rows.
    pub(crate) fn decode(&self, columns: &[usize]) -> Result<Vec<RecordBatch>> {
        let (mut all, mut dictionaries) = (Vec::new(), no_values(&self.schema, columns));
        let mut unpacked = self.meter.take(0, "")?;
        for at in 0..self.places.len() {
            let (batch, bytes) = self.one(at, columns, &mut dictionaries)?;
            unpacked.grow(bytes, "the compressed columns of a block")?;
            all.extend(batch);
        }
        Ok(all)
    }

    /// Decodes some columns of one batch, or takes its dictionary values; and the bytes that
    /// these take beside the file.
    pub(crate) fn one(
        &self,
        at: usize,
        columns: &[usize],
        dictionaries: &mut Dictionaries,
    ) -> Result<(Option<RecordBatch>, u64)> {
        let place = &self.places[at];
        let head = place.read(&self.contents)?;
        let body = |parts: &[Range<u64>]| self.contents.buffer(place.body(), parts);
        let start = place.body().start;
        let eight = |at: u64| {
            let mut bytes = [0; 8];
            self.contents.copy(start + at, &mut bytes)?;
            Ok(bytes)
        };
        guarded(|| {
            let message = message(&head)?;
            let coded =
                |c: &usize| matches!(self.schema.field(*c).data_type(), DataType::Dictionary(..));
            if let Some(batch) = message.header_as_dictionary_batch() {
                if !columns.iter().any(coded) {
                    return Ok((None, 0));
                }
                let (_, layout) = dictionary(batch, &self.schema, &message, place.body)?;
                let unpacked = layout.unpacked(&[0], eight)?;
                let _work = self.meter.take(unpacked, "a compressed dictionary")?;
                let buffer = body(&layout.parts(&[0]))?;
                read_dictionary(&buffer, batch, &self.schema, dictionaries, &message.version())
                    .map_err(damaged)?;
                return Ok((None, unpacked));
            }
            let layout = rows_of(&message, &self.schema, place.body)?;
            let unpacked = layout.unpacked(columns, eight)?;
            let _work = self.meter.take(unpacked, "a compressed batch")?;
            let buffer = body(&layout.parts(columns))?;
            let batch = decode(&message, &buffer, &self.schema, columns, dictionaries)?;
            Ok((Some(batch), unpacked))
        })
    }
}

/// Decodes some columns of a batch of rows that was checked.
pub(crate) fn decode(
    message: &Message<'_>,
    body: &arrow_buffer::Buffer,
    schema: &SchemaRef,
    columns: &[usize],
    dictionaries: &Dictionaries,
) -> Result<RecordBatch> {
    let batch = message.header_as_record_batch().ok_or_else(|| damaged("no batch of rows"))?;
    let version = message.version();
    RecordBatchDecoder::try_new(body, batch, Arc::clone(schema), dictionaries, &version)
        .and_then(|decoder| decoder.with_projection(Some(columns)).read_record_batch())
        .map_err(damaged)
}

/// The layout of a batch of rows.
pub(crate) fn rows_of(message: &Message<'_>, schema: &SchemaRef, body: u64) -> Result<Layout> {
    let batch = message.header_as_record_batch();
    let batch = batch.ok_or_else(|| damaged("a message is no batch of rows"))?;
    Layout::new(batch, schema.fields(), message.version(), body)
}

/// The type of a dictionary's values and the layout of its batch.
pub(crate) fn dictionary(
    batch: arrow_ipc::DictionaryBatch<'_>,
    schema: &SchemaRef,
    message: &Message<'_>,
    body: u64,
) -> Result<(DataType, Layout)> {
    #[expect(deprecated, reason = "the only way to a field by the dictionary that it uses")]
    let fields = schema.fields_with_dict_id(batch.id());
    let values = fields.first().and_then(|field| match field.data_type() {
        DataType::Dictionary(_, values) => Some(values.as_ref().clone()),
        _ => None,
    });
    let values = values.ok_or_else(|| damaged("a dictionary belongs to no column"))?;
    let data = batch.data().ok_or_else(|| damaged("a dictionary has no values"))?;
    let fields = Fields::from(vec![Field::new("values", values.clone(), true)]);
    Ok((values, Layout::new(data, &fields, message.version(), body)?))
}

/// Schema and batches of a file, by its footer.
fn of_file(contents: &Contents) -> Result<(SchemaRef, Vec<Place>)> {
    let short = || damaged("it ends before its footer");
    let end = contents.len().checked_sub(10).ok_or_else(short)?;
    let mut trailer = [0; 10];
    contents.copy(end, &mut trailer)?;
    let length = read_footer_length(trailer).map_err(damaged)? as u64;
    let start = end.checked_sub(length).ok_or_else(short)?;
    let mut bytes = vec![0; length as usize];
    contents.copy(start, &mut bytes)?;
    let footer = root_as_footer(&bytes).map_err(damaged)?;
    let schema = footer.schema().ok_or_else(|| damaged("it has no schema"))?;
    let schema = Arc::new(arrow_ipc::convert::try_fb_to_schema(schema).map_err(damaged)?);
    let place = |block: &Block| {
        let sizes = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let sizes = sizes.map(u64::try_from);
        let [Ok(at), Ok(head), Ok(body)] = sizes else {
            return Err(damaged("a batch has a negative length"));
        };
        let place = Place { start: at, head, body };
        match place.inside(start) {
            true => Ok(place),
            false => Err(damaged("a batch lies past the end")),
        }
    };
    let (dictionaries, batches) = (footer.dictionaries(), footer.recordBatches());
    let blocks = dictionaries.iter().flatten().chain(batches.iter().flatten());
    let places = blocks.map(place).collect::<Result<_>>()?;
    check_version(footer.version())?;
    Ok((schema, places))
}

fn check_version(version: MetadataVersion) -> Result<()> {
    match version.variant_name() {
        Some(_) => Ok(()),
        None => Err(damaged(format!("version {} is not known", version.0))),
    }
}

/// Schema and batches of a stream.
fn of_stream(contents: &Contents) -> Result<(SchemaRef, Vec<Place>)> {
    let (mut schema, mut places) = (None, Vec::new());
    each_message(contents, |place| {
        let head = place.read(contents)?;
        let message = message(&head)?;
        match (message.header_as_schema(), &schema) {
            (Some(found), None) => {
                let found = arrow_ipc::convert::try_fb_to_schema(found).map_err(damaged)?;
                schema = Some(Arc::new(found));
            }
            (Some(_), Some(_)) => return Err(damaged("it has two schemas")),
            (None, None) => return Err(damaged("it has no schema")),
            (None, Some(_)) => places.push(place),
        }
        Ok(())
    })?;
    Ok((schema.ok_or_else(|| damaged("it has no schema"))?, places))
}
