//! A table whose rows come in pieces: nothing is held but the piece at hand.

use std::ops::Range;

use keepnet::{Error, Result};

use super::{Cells, Columns, Field, Output, Sink};
use crate::Format;
use crate::formats::Pieced as Way;

/// A file under way that takes its rows in pieces.
pub struct Pieced {
    sink: Box<dyn Sink>,
    fields: Vec<Field>,
}

impl Pieced {
    /// Refuses a format that cannot be written so; whether the number of rows must be known
    /// beforehand.
    pub fn counted(format: Format) -> Result<bool> {
        match format.info().pieces {
            Way::Streamed(_) => Ok(false),
            Way::Counted(_) => Ok(true),
            Way::Not(why) => Err(Error::Unsupported(format!("{why}; choose another extension"))),
        }
    }

    /// Starts a file of these columns; `rows` counts only where [`Pieced::counted`] says so.
    pub fn new(format: Format, out: Output, rows: usize, fields: Vec<Field>) -> Result<Self> {
        let sink = match format.info().pieces {
            Way::Streamed(new) | Way::Counted(new) => new(out, rows, &fields)?,
            Way::Not(why) => return Err(Error::Unsupported(why.into())),
        };
        Ok(Self { sink, fields })
    }

    /// Writes the next `rows` rows, a column for each field.
    pub fn push(&mut self, rows: usize, columns: Vec<Cells>) -> Result<()> {
        let mut piece = Piece { rows, fields: &self.fields, columns: columns.into_iter() };
        self.sink.slice(rows, &mut piece)
    }

    /// Writes what comes after the last row.
    pub fn finish(self) -> Result<()> {
        self.sink.finish()
    }
}

struct Piece<'a> {
    rows: usize,
    fields: &'a [Field],
    columns: std::vec::IntoIter<Cells>,
}

impl Columns for Piece<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn fields(&self) -> &[Field] {
        self.fields
    }

    fn start(&mut self, _: Range<usize>) -> Result<()> {
        Err(Error::Unsupported("the rows of a piece come once".into()))
    }

    fn next(&mut self) -> Result<Cells> {
        self.columns.next().ok_or_else(|| Error::Data("a piece has too few columns".into()))
    }
}
