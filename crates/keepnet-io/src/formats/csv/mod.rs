//! Comma and tab separated values.

pub(crate) mod head;
pub(crate) mod parse;
pub(crate) mod rows;
pub(crate) mod sink;
pub(crate) mod table;

use super::{FormatInfo, Pieced};

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "csv",
    extensions: &["csv"],
    text: true,
    piped: true,
    several: false,
    table: |path, place| table::open(path, b',', place),
    rows: |path, place| rows::open(path, b',', place),
    sink: |out, _, fields| Ok(Box::new(sink::Text::new(out, fields, b',')?)),
    by_column: false,
    pieces: Pieced::Streamed(|out, _, fields| Ok(Box::new(sink::Text::new(out, fields, b',')?))),
};

pub(super) const TABS: FormatInfo = FormatInfo {
    name: "tsv",
    extensions: &["tsv", "tab"],
    text: true,
    piped: true,
    several: false,
    table: |path, place| table::open(path, b'\t', place),
    rows: |path, place| rows::open(path, b'\t', place),
    sink: |out, _, fields| Ok(Box::new(sink::Text::new(out, fields, b'\t')?)),
    by_column: false,
    pieces: Pieced::Streamed(|out, _, fields| Ok(Box::new(sink::Text::new(out, fields, b'\t')?))),
};
