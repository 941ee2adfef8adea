//! Arrow IPC files: a record batch a slice of rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Schema};
use keepnet::{Column, Error, Result};

use crate::sink::{Cells, Columns, Field, FieldKind, Output, Sink};

/// An Arrow IPC file.
pub(crate) struct Arrow {
    writer: FileWriter<Output>,
    schema: Arc<Schema>,
}

impl Arrow {
    pub(crate) fn new(out: Output, fields: &[Field]) -> Result<Self> {
        let kind = |kind| match kind {
            FieldKind::F32 => DataType::Float32,
            FieldKind::F64 => DataType::Float64,
            FieldKind::Text => DataType::Utf8,
        };
        let fields: Vec<_> = fields
            .iter()
            .map(|field| arrow_schema::Field::new(&field.name, kind(field.kind), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let writer = FileWriter::try_new(out, &schema).map_err(failed)?;
        Ok(Self { writer, schema })
    }
}

fn failed(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, source) => crate::sink::write_error(source),
        other => Error::Data(format!("cannot write Arrow: {other}")),
    }
}

fn array(kind: FieldKind, rows: usize, cells: Cells) -> ArrayRef {
    let data = match cells {
        Cells::Text(text) => return Arc::new(StringArray::from(text)),
        Cells::Numbers(data) => data,
    };
    if let (FieldKind::F32, Column::F32(values)) = (kind, data.view()) {
        return Arc::new(Float32Array::from(values.to_vec()));
    }
    let mut values = vec![0.0; rows];
    data.view().fill(&mut values);
    match kind {
        FieldKind::F32 => {
            Arc::new(Float32Array::from_iter_values(values.into_iter().map(|v| v as f32)))
        }
        _ => Arc::new(Float64Array::from(values)),
    }
}

impl Sink for Arrow {
    fn slice(&mut self, rows: usize, columns: &mut dyn Columns) -> Result<()> {
        let kinds: Vec<_> = columns.fields().iter().map(|field| field.kind).collect();
        let arrays = kinds
            .into_iter()
            .map(|kind| Ok(array(kind, rows, columns.next()?)))
            .collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(failed)?;
        self.writer.write(&batch).map_err(failed)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        use std::io::Write;
        self.writer.finish().map_err(failed)?;
        self.writer.get_mut().flush().map_err(crate::sink::write_error)
    }
}
