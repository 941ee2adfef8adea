//! CSV and TSV: a header line, then a line a row; a missing number is an empty cell.

use std::io::Write;

use keepnet::Result;

use crate::sink::{Columns, Field, Held, Output, Sink, hold, push_number, write_error};

/// Separated values.
pub(crate) struct Text {
    out: Output,
    separator: u8,
    line: Vec<u8>,
}

impl Text {
    pub(crate) fn new(out: Output, fields: &[Field], separator: u8) -> Result<Self> {
        let mut text = Self { out, separator, line: Vec::new() };
        for (at, field) in fields.iter().enumerate() {
            text.separate(at);
            text.quote(&field.name);
        }
        text.end_line()?;
        Ok(text)
    }

    fn separate(&mut self, at: usize) {
        if at > 0 {
            self.line.push(self.separator);
        }
    }

    fn quote(&mut self, cell: &str) {
        quoted(&mut self.line, cell, self.separator);
    }

    fn end_line(&mut self) -> Result<()> {
        self.line.push(b'\n');
        self.out.write_all(&self.line).map_err(write_error)?;
        self.line.clear();
        Ok(())
    }
}

/// Appends a cell, in quotes where it needs them.
pub(crate) fn quoted(line: &mut Vec<u8>, cell: &str, separator: u8) {
    let special = |byte: u8| byte == separator || matches!(byte, b'"' | b'\n' | b'\r');
    if cell.is_empty() || cell.bytes().any(special) {
        line.push(b'"');
        line.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
        line.push(b'"');
    } else {
        line.extend_from_slice(cell.as_bytes());
    }
}

impl Sink for Text {
    fn slice(&mut self, rows: usize, columns: &mut dyn Columns) -> Result<()> {
        let held = hold(rows, columns)?;
        for row in 0..rows {
            for (at, column) in held.iter().enumerate() {
                self.separate(at);
                match column {
                    Held::Numbers(values) if values[row].is_nan() => {}
                    Held::Numbers(values) => push_number(&mut self.line, values[row]),
                    Held::Text(text) => self.quote(&text[row]),
                }
            }
            self.end_line()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.out.flush().map_err(write_error)
    }
}
