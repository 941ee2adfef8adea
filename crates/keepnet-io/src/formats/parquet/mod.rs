//! Apache Parquet.

pub(crate) mod column;
pub(crate) mod kind;
pub(crate) mod page;
pub(crate) mod rows;
pub(crate) mod sink;
pub(crate) mod table;

use super::{FormatInfo, Pieced};

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "parquet",
    extensions: &["parquet", "pq", "parq"],
    text: false,
    piped: false,
    several: false,
    table: table::open,
    rows: rows::open,
    sink: |out, _, fields| Ok(Box::new(sink::Parquet::new(out, fields)?)),
    by_column: true,
    pieces: Pieced::Streamed(|out, _, fields| Ok(Box::new(sink::Parquet::new(out, fields)?))),
};
