//! JSON lines: an object a row; a number that JSON does not have is null.

use std::io::Write;

use keepnet::Result;

use crate::sink::{Columns, Field, Held, Output, Sink, hold, push_number, write_error};

/// One JSON object a row.
pub(crate) struct Jsonl {
    out: Output,
    keys: Vec<Vec<u8>>,
}

impl Jsonl {
    pub(crate) fn new(out: Output, fields: &[Field]) -> Result<Self> {
        let keys = fields.iter().map(|field| {
            let mut key = Vec::new();
            push_string(&mut key, &field.name);
            key.push(b':');
            key
        });
        Ok(Self { out, keys: keys.collect() })
    }
}

fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            c if (c as u32) < 0x20 => out.extend(format!("\\u{:04x}", c as u32).bytes()),
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

impl Sink for Jsonl {
    fn slice(&mut self, rows: usize, columns: &mut dyn Columns) -> Result<()> {
        let held = hold(rows, columns)?;
        let mut line = Vec::new();
        for row in 0..rows {
            line.clear();
            for (at, (column, key)) in held.iter().zip(&self.keys).enumerate() {
                line.push(if at == 0 { b'{' } else { b',' });
                line.extend_from_slice(key);
                match column {
                    Held::Numbers(values) if values[row].is_finite() => {
                        push_number(&mut line, values[row]);
                    }
                    Held::Numbers(_) => line.extend_from_slice(b"null"),
                    Held::Text(text) => push_string(&mut line, &text[row]),
                }
            }
            line.extend_from_slice(b"}\n");
            self.out.write_all(&line).map_err(write_error)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.out.flush().map_err(write_error)
    }
}
