//! Tables written to files, one format a file behind a small trait.
//!
//! A [`Columns`] gives the columns of a slice of rows, one after the other. Formats that hold
//! columns (npy, Parquet) take one slice of all rows and never hold more than a column; those
//! that hold rows (CSV, TSV, svm, JSON lines) or batches (Arrow) take as many slices as fit
//! the memory they are given, and go over the columns once a slice.
//!
//! Numbers are written so that reading them back gives every bit: f32 where the column is f32,
//! the shortest decimal of the f64 in text.

pub mod events;
mod pieced;

use std::io::Write;
use std::ops::Range;

use keepnet::{ColumnData, Result};

pub use pieced::Pieced;

use crate::Format;
use crate::formats::{csv::sink as text, parquet::sink as parquet};

/// How the values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Four-byte numbers.
    F32,
    /// Eight-byte numbers.
    F64,
    /// Text.
    Text,
}

/// One column of a table to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// How its values are stored.
    pub kind: FieldKind,
}

/// The values of one column, or of a slice of its rows.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Numbers; NaN is missing.
    Numbers(ColumnData),
    /// Text.
    Text(Vec<String>),
}

/// A table that is given column by column; the last column is the target.
pub trait Columns {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// The columns, in the order in which they are given.
    fn fields(&self) -> &[Field];

    /// Values that are not zero in all, where that is known to be few: svm text then takes more
    /// rows in a slice.
    fn entries(&self) -> Option<u64> {
        None
    }

    /// Goes back to the first column; from now on columns have these rows only.
    fn start(&mut self, rows: Range<usize>) -> Result<()>;

    /// The next column, of the rows that [`Columns::start`] named.
    fn next(&mut self) -> Result<Cells>;
}

/// A file under way.
pub(crate) trait Sink {
    /// Writes the rows that `columns` was started with.
    fn slice(&mut self, rows: usize, columns: &mut dyn Columns) -> Result<()>;

    /// Writes what comes after the last row.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Where the bytes go.
pub type Output = Box<dyn Write + Send>;

/// Writes a whole table, holding about `memory` bytes at most where the format allows.
pub fn write(format: Format, out: Output, table: &mut dyn Columns, memory: u64) -> Result<()> {
    let rows = table.rows();
    let fields = table.fields();
    let width: u64 = fields
        .iter()
        .map(|field| match field.kind {
            FieldKind::F32 => 4,
            FieldKind::F64 => 8,
            FieldKind::Text => 40,
        })
        .sum();
    // An entry of svm text is held as index and value, with room for growing lists.
    let width = match (format, table.entries()) {
        (Format::Svm, Some(entries)) => 32 * entries / rows.max(1) as u64 + 64,
        _ => width,
    };
    let mut sink = (format.info().sink)(out, rows, fields)?;
    let step = match format.info().by_column {
        true => rows.max(1),
        false => (memory / width.max(1)).clamp(1, rows.max(1) as u64) as usize,
    };
    let mut first = 0;
    while first < rows {
        let slice = first..rows.min(first + step);
        first = slice.end;
        table.start(slice.clone())?;
        sink.slice(slice.len(), table)?;
    }
    sink.finish()
}

/// Appends a number in the shortest form that reads back as the same f64.
pub fn push_number(out: &mut Vec<u8>, value: f64) {
    use std::io::Write as _;
    if value.fract() == 0.0 && value.abs() < 1e15 {
        write!(out, "{value}").expect("memory takes every write");
    } else {
        // The debug form has an exponent where the plain one would have hundreds of zeros.
        write!(out, "{value:?}").expect("memory takes every write");
    }
}

/// A slice of rows in memory, cell by cell, for formats that hold rows.
pub(crate) enum Held {
    Numbers(Vec<f64>),
    Text(Vec<String>),
}

pub(crate) fn hold(rows: usize, columns: &mut dyn Columns) -> Result<Vec<Held>> {
    (0..columns.fields().len())
        .map(|_| {
            Ok(match columns.next()? {
                Cells::Numbers(data) => {
                    let mut values = vec![0.0; rows];
                    data.view().fill(&mut values);
                    Held::Numbers(values)
                }
                Cells::Text(text) => Held::Text(text),
            })
        })
        .collect()
}

pub(crate) fn write_error(error: std::io::Error) -> keepnet::Error {
    keepnet::Error::io("cannot write", error)
}

/// The rows of a column in memory.
#[must_use]
pub fn rows_of(data: &ColumnData, rows: &Range<usize>) -> ColumnData {
    use keepnet::{Column, Numbers, NumbersRef};
    match data.view() {
        Column::F32(x) => ColumnData::f32(x[rows.clone()].to_vec()),
        Column::F64(x) => ColumnData::Dense(Numbers::F64(x[rows.clone()].to_vec())),
        column @ Column::Whole(_) => column.slice(rows.clone()).to_data(),
        Column::Sparse { index, value, .. } => {
            let low = index.partition_point(|row| (*row as usize) < rows.start);
            let high = index.partition_point(|row| (*row as usize) < rows.end);
            let value = match value {
                NumbersRef::F32(v) => Numbers::F32(v[low..high].to_vec()),
                NumbersRef::F64(v) => Numbers::F64(v[low..high].to_vec()),
            };
            let index = index[low..high].iter().map(|row| row - rows.start as u32).collect();
            ColumnData::Sparse { rows: rows.len(), index, value }
        }
        other => {
            let mut values = vec![0.0; other.rows()];
            other.fill(&mut values);
            ColumnData::dense(values[rows.clone()].to_vec())
        }
    }
}

#[cfg(test)]
mod tests;
