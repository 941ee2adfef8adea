//! Arrow IPC, file or stream.

pub(crate) mod column;
pub(crate) mod columns;
pub(crate) mod file;
pub(crate) mod message;
pub(crate) mod rows;
pub(crate) mod sink;
pub(crate) mod table;

use super::{FormatInfo, Pieced};

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "arrow",
    extensions: &["arrow", "arrows", "ipc", "feather"],
    text: false,
    piped: true,
    several: false,
    table: table::open,
    rows: rows::open,
    sink: |out, _, fields| Ok(Box::new(sink::Arrow::new(out, fields)?)),
    by_column: false,
    pieces: Pieced::Streamed(|out, _, fields| Ok(Box::new(sink::Arrow::new(out, fields)?))),
};

/// A feature a row; see `columns.rs`.
pub(super) const FEATURES: FormatInfo = FormatInfo {
    name: "arrow-columns",
    extensions: &["arrow-columns"],
    text: false,
    piped: true,
    several: false,
    table: |_, _| Err(columns::no_table()),
    rows: |_, _| Err(columns::no_table()),
    sink: |_, _, _| Err(columns::no_table()),
    by_column: false,
    pieces: Pieced::Not("arrow-columns is not written"),
};
