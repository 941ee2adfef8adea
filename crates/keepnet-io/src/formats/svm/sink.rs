//! libsvm text: the target first, then `index:value` from 1 for what is not zero.
//!
//! The rows of a slice are gathered by counting: one pass over the columns for the entries of
//! each row, one to put them in place, so sparse columns cost their entries and no more.

use std::io::Write;

use keepnet::{Error, Result};

use crate::sink::{Cells, Columns, Output, Sink, push_number, write_error};

/// Sparse text.
pub(crate) struct Svm {
    out: Output,
}

impl Svm {
    pub(crate) fn new(out: Output) -> Self {
        Self { out }
    }
}

impl Sink for Svm {
    fn slice(&mut self, rows: usize, columns: &mut dyn Columns) -> Result<()> {
        let features = columns.fields().len() - 1;
        // Columns come in ascending order, so every row's list is ascending as well.
        let mut entries: Vec<Vec<(u32, f64)>> = vec![Vec::new(); rows];
        for j in 0..features {
            let Cells::Numbers(data) = columns.next()? else {
                return Err(Error::Unsupported("svm text holds numbers only".into()));
            };
            data.view().each(|row, value| {
                if value != 0.0 {
                    entries[row].push((j as u32 + 1, value));
                }
            });
        }
        let mut label = vec![0.0; rows];
        match columns.next()? {
            Cells::Numbers(data) => data.view().fill(&mut label),
            Cells::Text(_) => {
                return Err(Error::Unsupported(
                    "svm text holds numbers only and the target is text; choose another extension"
                        .into(),
                ));
            }
        }
        let mut line = Vec::new();
        for (label, row) in label.iter().zip(&entries) {
            line.clear();
            push_number(&mut line, *label);
            for (index, value) in row {
                write!(line, " {index}:").map_err(write_error)?;
                push_number(&mut line, *value);
            }
            line.push(b'\n');
            self.out.write_all(&line).map_err(write_error)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.out.flush().map_err(write_error)
    }
}
