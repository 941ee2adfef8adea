//! Arrow IPC, file or stream.

pub(crate) mod column;
pub(crate) mod file;
pub(crate) mod message;
pub(crate) mod rows;
pub(crate) mod sink;
pub(crate) mod table;

use super::FormatInfo;

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "arrow",
    extensions: &["arrow", "arrows", "ipc", "feather"],
    text: false,
    piped: true,
    table: table::open,
    rows: rows::open,
    sink: |out, _, fields| Ok(Box::new(sink::Arrow::new(out, fields)?)),
    by_column: false,
};
