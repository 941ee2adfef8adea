//! NumPy arrays.

pub(crate) mod header;
pub(crate) mod rows;
pub(crate) mod sink;
pub(crate) mod table;

use super::{FormatInfo, Pieced};

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "npy",
    extensions: &["npy"],
    text: false,
    piped: false,
    several: false,
    table: table::open,
    rows: rows::open,
    sink: |out, rows, fields| Ok(Box::new(sink::Npy::new(out, rows, fields)?)),
    by_column: true,
    pieces: Pieced::Counted(|out, rows, fields| {
        Ok(Box::new(sink::Npy::by_rows(out, rows, fields)?))
    }),
};
