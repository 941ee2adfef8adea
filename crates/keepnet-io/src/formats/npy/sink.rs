//! NumPy arrays in Fortran order: a column after the other, so nothing is held.

use std::io::Write;

use keepnet::{Error, Result};

use crate::sink::{Cells, Columns, Field, FieldKind, Output, Sink, write_error};

/// A two-dimensional array of f32, or of f64 where a column needs it.
pub(crate) struct Npy {
    out: Output,
    wide: bool,
    buffer: Vec<f64>,
    bytes: Vec<u8>,
}

impl Npy {
    pub(crate) fn new(mut out: Output, rows: usize, fields: &[Field]) -> Result<Self> {
        if let Some(field) = fields.iter().find(|field| field.kind == FieldKind::Text) {
            return Err(Error::Unsupported(format!(
                "npy holds numbers only and {:?} is text; choose another extension",
                field.name
            )));
        }
        let wide = fields.iter().any(|field| field.kind == FieldKind::F64);
        let kind = if wide { "<f8" } else { "<f4" };
        let columns = fields.len();
        let mut header =
            format!("{{'descr': '{kind}', 'fortran_order': True, 'shape': ({rows}, {columns}), }}");
        // Magic, version and length take 10 bytes; the data start at a multiple of 64.
        let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
        while header.len() + 1 < padded {
            header.push(' ');
        }
        header.push('\n');
        out.write_all(b"\x93NUMPY\x01\x00").map_err(write_error)?;
        out.write_all(&(header.len() as u16).to_le_bytes()).map_err(write_error)?;
        out.write_all(header.as_bytes()).map_err(write_error)?;
        Ok(Self { out, wide, buffer: Vec::new(), bytes: Vec::new() })
    }
}

impl Sink for Npy {
    fn slice(&mut self, rows: usize, columns: &mut dyn Columns) -> Result<()> {
        for _ in 0..columns.fields().len() {
            let Cells::Numbers(data) = columns.next()? else {
                return Err(Error::Unsupported("npy holds numbers only".into()));
            };
            self.buffer.resize(rows, 0.0);
            data.view().fill(&mut self.buffer);
            self.bytes.clear();
            if self.wide {
                self.bytes.extend(self.buffer.iter().flat_map(|v| v.to_le_bytes()));
            } else {
                self.bytes.extend(self.buffer.iter().flat_map(|v| (*v as f32).to_le_bytes()));
            }
            self.out.write_all(&self.bytes).map_err(write_error)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.out.flush().map_err(write_error)
    }
}
