//! NumPy arrays in Fortran order, a column after the other, so nothing is held; in C order where
//! rows come in pieces.

use std::io::Write;

use keepnet::{Error, Result};

use crate::sink::{Cells, Columns, Field, FieldKind, Held, Output, Sink, hold, write_error};

/// A two-dimensional array of f32, or of f64 where a column needs it.
pub(crate) struct Npy {
    out: Output,
    wide: bool,
    fortran: bool,
    buffer: Vec<f64>,
    bytes: Vec<u8>,
}

impl Npy {
    /// All rows at once, a column after the other.
    pub(crate) fn new(out: Output, rows: usize, fields: &[Field]) -> Result<Self> {
        Self::start(out, rows, fields, true)
    }

    /// Rows in pieces, `rows` in all.
    pub(crate) fn by_rows(out: Output, rows: usize, fields: &[Field]) -> Result<Self> {
        Self::start(out, rows, fields, false)
    }

    fn start(mut out: Output, rows: usize, fields: &[Field], fortran: bool) -> Result<Self> {
        if let Some(field) = fields.iter().find(|field| field.kind == FieldKind::Text) {
            return Err(Error::Unsupported(format!(
                "npy holds numbers only and {:?} is text; choose another extension",
                field.name
            )));
        }
        let wide = fields.iter().any(|field| field.kind == FieldKind::F64);
        let kind = if wide { "<f8" } else { "<f4" };
        let columns = fields.len();
        let order = if fortran { "True" } else { "False" };
        let mut header = format!(
            "{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({rows}, {columns}), }}"
        );
        // Magic, version and length take 10 bytes; the data start at a multiple of 64.
        let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
        while header.len() + 1 < padded {
            header.push(' ');
        }
        header.push('\n');
        out.write_all(b"\x93NUMPY\x01\x00").map_err(write_error)?;
        out.write_all(&(header.len() as u16).to_le_bytes()).map_err(write_error)?;
        out.write_all(header.as_bytes()).map_err(write_error)?;
        Ok(Self { out, wide, fortran, buffer: Vec::new(), bytes: Vec::new() })
    }

    /// Writes what is in the buffer.
    fn put(&mut self) -> Result<()> {
        self.bytes.clear();
        if self.wide {
            self.bytes.extend(self.buffer.iter().flat_map(|v| v.to_le_bytes()));
        } else {
            self.bytes.extend(self.buffer.iter().flat_map(|v| (*v as f32).to_le_bytes()));
        }
        self.out.write_all(&self.bytes).map_err(write_error)
    }
}

impl Sink for Npy {
    fn slice(&mut self, rows: usize, columns: &mut dyn Columns) -> Result<()> {
        if !self.fortran {
            let held = hold(rows, columns)?;
            self.buffer.clear();
            for row in 0..rows {
                self.buffer.extend(held.iter().map(|column| match column {
                    Held::Numbers(values) => values[row],
                    Held::Text(_) => f64::NAN,
                }));
            }
            return self.put();
        }
        for _ in 0..columns.fields().len() {
            let Cells::Numbers(data) = columns.next()? else {
                return Err(Error::Unsupported("npy holds numbers only".into()));
            };
            self.buffer.resize(rows, 0.0);
            data.view().fill(&mut self.buffer);
            self.put()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.out.flush().map_err(write_error)
    }
}
