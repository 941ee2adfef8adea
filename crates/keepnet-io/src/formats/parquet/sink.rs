//! Parquet: one row group, a column chunk after the other, so one column is held at a time.
//!
//! Values are stored plain and uncompressed, without statistics: measured numbers do not
//! compress, and statistics would make the footer of a wide table several times larger.

use std::sync::Arc;

use keepnet::{ColumnData, Error, Result};
use parquet::basic::{ConvertedType, Encoding, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use crate::sink::{Cells, Columns, Field, FieldKind, Output, Sink};

/// A Parquet file.
pub(crate) struct Parquet {
    writer: SerializedFileWriter<Output>,
}

impl Parquet {
    pub(crate) fn new(out: Output, fields: &[Field]) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::PLAIN)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_created_by(format!("keepnet version {}", env!("CARGO_PKG_VERSION")))
            .build();
        let columns = fields
            .iter()
            .map(|field| {
                let (physical, converted) = match field.kind {
                    FieldKind::F32 => (Physical::FLOAT, ConvertedType::NONE),
                    FieldKind::F64 => (Physical::DOUBLE, ConvertedType::NONE),
                    FieldKind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
                };
                Type::primitive_type_builder(&field.name, physical)
                    .with_repetition(Repetition::REQUIRED)
                    .with_converted_type(converted)
                    .build()
                    .map(Arc::new)
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed)?;
        let schema = Type::group_type_builder("table").with_fields(columns).build();
        let schema = Arc::new(schema.map_err(failed)?);
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties));
        Ok(Self { writer: writer.map_err(failed)? })
    }
}

pub(crate) fn failed(error: ParquetError) -> Error {
    let io = |source: Box<dyn std::error::Error + Send + Sync>| match source
        .downcast::<std::io::Error>()
    {
        Ok(source) => crate::sink::write_error(*source),
        Err(other) => Error::Data(format!("cannot write Parquet: {other}")),
    };
    match error {
        ParquetError::External(source) => io(source),
        other => Error::Data(format!("cannot write Parquet: {other}")),
    }
}

impl Sink for Parquet {
    fn slice(&mut self, rows: usize, columns: &mut dyn Columns) -> Result<()> {
        let kinds: Vec<_> = columns.fields().iter().map(|field| field.kind).collect();
        let mut group = self.writer.next_row_group().map_err(failed)?;
        let mut buffer = vec![0.0; rows];
        for kind in kinds {
            let mut column = group
                .next_column()
                .map_err(failed)?
                .ok_or_else(|| Error::Data("more columns than the schema has".into()))?;
            match columns.next()? {
                Cells::Numbers(data) => numbers(&mut column, kind, &data, &mut buffer)?,
                Cells::Text(text) => {
                    let text: Vec<ByteArray> =
                        text.iter().map(|cell| ByteArray::from(cell.as_str())).collect();
                    let writer = column.typed::<ByteArrayType>();
                    writer.write_batch(&text, None, None).map_err(failed)?;
                }
            }
            column.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.writer.finish().map_err(failed)?;
        self.writer.flush().map_err(crate::sink::write_error)
    }
}

fn numbers(
    column: &mut SerializedColumnWriter<'_>,
    kind: FieldKind,
    data: &ColumnData,
    buffer: &mut [f64],
) -> Result<()> {
    data.view().fill(buffer);
    let written = if kind == FieldKind::F32 {
        let narrow: Vec<f32> = buffer.iter().map(|v| *v as f32).collect();
        column.typed::<FloatType>().write_batch(&narrow, None, None)
    } else {
        column.typed::<DoubleType>().write_batch(buffer, None, None)
    };
    written.map(|_| ()).map_err(failed)
}
