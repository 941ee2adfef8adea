//! Decisions on features, a row an event, as CSV or Parquet, written as they happen.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use keepnet::{Error, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{Output, write_error};

/// Rows of a Parquet row group, and so of the memory that is held.
const GROUP: usize = 1 << 16;

/// One event.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The target, where a run has several: then every event of it has one.
    pub target: Option<&'a str>,
    /// The scan, from 1.
    pub scan: u32,
    /// The feature's place in the input.
    pub index: u64,
    /// Its name.
    pub name: &'a str,
    /// `kept`, `reserved`, `held`, `dropped` or `evicted`.
    pub event: &'a str,
    /// Why it was dropped.
    pub reason: Option<&'a str>,
    /// The feature that made it redundant or drove it out.
    pub by: Option<u64>,
    /// Its strength against the residual or the target.
    pub marginal: Option<f64>,
    /// The number that the decision compared.
    pub score: Option<f64>,
}

/// A file of events under way.
pub struct EventSink(Kind);

enum Kind {
    Csv { out: Output, line: Vec<u8> },
    Parquet(Box<Rows>),
}

struct Rows {
    writer: ArrowWriter<Output>,
    schema: Arc<Schema>,
    held: usize,
    target: Option<StringBuilder>,
    scan: UInt32Builder,
    whole: [UInt64Builder; 2],
    text: [StringBuilder; 3],
    number: [Float64Builder; 2],
}

impl EventSink {
    /// CSV with a header, of a run with `several` targets or one.
    pub fn csv(mut out: Output, several: bool) -> Result<Self> {
        let target = if several { "target," } else { "" };
        out.write_all(target.as_bytes()).map_err(write_error)?;
        out.write_all(b"scan,index,name,event,reason,by,marginal,score\n").map_err(write_error)?;
        Ok(Self(Kind::Csv { out, line: Vec::new() }))
    }

    /// CSV that begins with the header and the events of another such file.
    pub fn csv_after(mut out: Output, earlier: &[u8]) -> Result<Self> {
        out.write_all(earlier).map_err(write_error)?;
        Ok(Self(Kind::Csv { out, line: Vec::new() }))
    }

    /// Parquet, compressed with zstd, of a run with `several` targets or one.
    pub fn parquet(out: Output, several: bool) -> Result<Self> {
        let field = |name, kind| Field::new(name, kind, true);
        let mut fields = vec![
            field("scan", DataType::UInt32),
            field("index", DataType::UInt64),
            field("name", DataType::Utf8),
            field("event", DataType::Utf8),
            field("reason", DataType::Utf8),
            field("by", DataType::UInt64),
            field("marginal", DataType::Float64),
            field("score", DataType::Float64),
        ];
        if several {
            fields.insert(0, field("target", DataType::Utf8));
        }
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties));
        Ok(Self(Kind::Parquet(Box::new(Rows {
            writer: writer.map_err(super::parquet::failed)?,
            schema,
            held: 0,
            target: several.then(StringBuilder::new),
            scan: UInt32Builder::new(),
            whole: Default::default(),
            text: Default::default(),
            number: Default::default(),
        }))))
    }

    /// Adds an event.
    pub fn write(&mut self, event: &Event<'_>) -> Result<()> {
        match &mut self.0 {
            Kind::Csv { out, line } => {
                line.clear();
                csv_line(line, event);
                out.write_all(line).map_err(write_error)
            }
            Kind::Parquet(rows) => rows.add(event),
        }
    }

    /// Writes what is left.
    pub fn finish(self) -> Result<()> {
        match self.0 {
            Kind::Csv { mut out, .. } => out.flush().map_err(write_error),
            Kind::Parquet(mut rows) => {
                rows.flush()?;
                rows.writer.finish().map_err(super::parquet::failed)?;
                rows.writer.inner_mut().flush().map_err(write_error)
            }
        }
    }
}

fn csv_line(line: &mut Vec<u8>, event: &Event<'_>) {
    let Event { target, scan, index, name, event: word, reason, by, marginal, score } = *event;
    if let Some(target) = target {
        super::text::quoted(line, target, b',');
        line.push(b',');
    }
    line.extend(format!("{scan},{index},").bytes());
    super::text::quoted(line, name, b',');
    line.extend(format!(",{word},{},", reason.unwrap_or("")).bytes());
    by.iter().for_each(|by| line.extend(by.to_string().bytes()));
    for number in [marginal, score] {
        line.push(b',');
        number.iter().for_each(|number| super::push_number(line, *number));
    }
    line.push(b'\n');
}

impl Rows {
    fn add(&mut self, event: &Event<'_>) -> Result<()> {
        if let Some(target) = &mut self.target {
            target.append_option(event.target);
        }
        self.scan.append_value(event.scan);
        self.whole[0].append_value(event.index);
        self.whole[1].append_option(event.by);
        self.text[0].append_value(event.name);
        self.text[1].append_value(event.event);
        self.text[2].append_option(event.reason);
        self.number[0].append_option(event.marginal);
        self.number[1].append_option(event.score);
        self.held += 1;
        if self.held == GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.held == 0 {
            return Ok(());
        }
        self.held = 0;
        let [index, by] = &mut self.whole;
        let [name, event, reason] = &mut self.text;
        let [marginal, score] = &mut self.number;
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.scan.finish()),
            Arc::new(index.finish()),
            Arc::new(name.finish()),
            Arc::new(event.finish()),
            Arc::new(reason.finish()),
            Arc::new(by.finish()),
            Arc::new(marginal.finish()),
            Arc::new(score.finish()),
        ];
        if let Some(target) = &mut self.target {
            columns.insert(0, Arc::new(target.finish()));
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| Error::Data(format!("cannot write events: {error}")))?;
        self.writer.write(&batch).map_err(super::parquet::failed)?;
        self.writer.flush().map_err(super::parquet::failed)
    }
}
