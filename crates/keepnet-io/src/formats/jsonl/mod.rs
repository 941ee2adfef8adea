//! A JSON object a line.

mod keys;
pub(crate) mod rows;
pub(crate) mod sink;
pub(crate) mod table;

use super::{FormatInfo, Pieced};

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "jsonl",
    extensions: &["jsonl", "ndjson"],
    text: true,
    piped: true,
    several: false,
    table: table::open,
    rows: rows::open,
    sink: |out, _, fields| Ok(Box::new(sink::Jsonl::new(out, fields)?)),
    by_column: false,
    pieces: Pieced::Streamed(|out, _, fields| Ok(Box::new(sink::Jsonl::new(out, fields)?))),
};
