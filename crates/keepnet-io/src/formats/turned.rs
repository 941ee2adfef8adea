//! The rows of a table of columns, by way of a temporary file.
//!
//! ```text
//! column 0's n values, column 1's n values, ...  as doubles;  rows r..r+R: R values of each
//! ```
//!
//! Columns are read a block at a time and written one after the other; a chunk of rows is then a
//! short read a column. Memory: a block of columns, then a chunk of rows.

use std::collections::HashMap;

use keepnet::{ColumnBlock, Error, Result};

use crate::formats::arrow::rows::step;
use crate::formats::chunk::{Chunk, ChunkReader, ChunkValues};
use crate::formats::table::{Schema, Table};
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::input::series::SeriesValues;
use crate::memory::Charge;
use crate::store::{Place, Spill};

/// Most columns read at once.
const WIDTH: u64 = 64;

pub(super) struct Turned {
    file: Spill,
    columns: Vec<ColumnInfo>,
    // Columns without a value, ascending.
    blank: Vec<usize>,
    // Columns that are there, and the texts that their codes stand for.
    known: Vec<(usize, Vec<String>)>,
    rows: usize,
    step: usize,
    at: usize,
    fingerprint: u64,
    _charges: [Charge; 2],
}

impl Turned {
    /// The columns of `table` that are numbers or text, by their names; those without a value are
    /// named again.
    pub(super) fn new(
        table: &dyn Table,
        (columns, blank): (Vec<ColumnInfo>, Vec<usize>),
        fingerprint: u64,
        described: Charge,
        place: &Place,
    ) -> Result<Self> {
        let names: HashMap<&str, usize> =
            table.columns().iter().enumerate().map(|(at, c)| (c.name.as_str(), at)).collect();
        let rows = table.rows();
        let mut turned = Self {
            file: Spill::new(place)?,
            known: Vec::new(),
            rows,
            step: step(columns.len(), place),
            at: 0,
            fingerprint,
            _charges: [described, place.meter.take(0, "")?],
            columns: Vec::new(),
            blank,
        };
        let mut numbers = Vec::new();
        for (c, ColumnInfo { name, kind, .. }) in columns.iter().enumerate() {
            if matches!(kind, ColumnKind::Other(_)) {
                continue;
            }
            let missing = || Error::Data(format!("column {name:?} cannot be read by itself"));
            let at = *names.get(name.as_str()).ok_or_else(missing)?;
            match kind {
                ColumnKind::Text => turned.text(table, c, at, place)?,
                _ => numbers.push((c, at)),
            }
        }
        let width = (place.memory / (16 * rows.max(1) as u64)).clamp(1, WIDTH) as usize;
        for block in numbers.chunks(width) {
            place.go_on()?;
            turned.numbers(table, block)?;
        }
        turned.columns = columns;
        Ok(turned)
    }

    /// Writes some columns of numbers: their places here and in the table.
    fn numbers(&mut self, table: &dyn Table, block: &[(usize, usize)]) -> Result<()> {
        let at: Vec<usize> = block.iter().map(|(_, at)| *at).collect();
        let (mut spare, mut out) = (ColumnBlock::new(at.len()), Vec::with_capacity(at.len()));
        table.read(&at, &mut spare, &mut out)?;
        let mut values = vec![0.0; self.rows];
        for ((c, _), column) in block.iter().zip(&out) {
            column.view().fill(&mut values);
            self.file.append(bytemuck::cast_slice(&values))?;
            self.known.push((*c, Vec::new()));
        }
        Ok(())
    }

    /// Writes a column of text as codes.
    fn text(&mut self, table: &dyn Table, c: usize, at: usize, place: &Place) -> Result<()> {
        place.go_on()?;
        let SeriesValues::Text(texts) = table.series(at)? else {
            return Err(Error::Data("a column is not text any more".into()));
        };
        let (mut codes, mut levels) = (HashMap::new(), Vec::new());
        let mut values = Vec::with_capacity(self.rows);
        for text in texts {
            let Some(text) = text else {
                values.push(f64::NAN);
                continue;
            };
            let next = levels.len();
            let code = *codes.entry(text).or_insert_with_key(|text: &String| {
                levels.push(text.clone());
                next
            });
            values.push(code as f64);
        }
        let bytes: usize = levels.iter().map(|level| level.len() + 24).sum();
        self._charges[1].grow(bytes as u64, "the different texts of the columns")?;
        self.file.append(bytemuck::cast_slice(&values))?;
        self.known.push((c, levels));
        Ok(())
    }
}

impl Schema for Turned {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn blank(&self, column: usize) -> bool {
        self.blank.binary_search(&column).is_ok()
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl ChunkReader for Turned {
    fn next(&mut self) -> Result<Option<Chunk>> {
        let rows = self.step.min(self.rows - self.at);
        if rows == 0 {
            return Ok(None);
        }
        let p = self.columns.len();
        let (mut values, mut texts) = (vec![f64::NAN; rows * p], vec![Vec::new(); p]);
        let mut column = vec![0.0_f64; rows];
        for (place, (c, levels)) in self.known.iter().enumerate() {
            let start = 8 * (place * self.rows + self.at) as u64;
            self.file.read(start, bytemuck::cast_slice_mut(&mut column))?;
            if !levels.is_empty() {
                texts[*c] = recode(&mut column, levels);
            }
            for (i, v) in column.iter().enumerate() {
                values[i * p + c] = *v;
            }
        }
        self.at += rows;
        Ok(Some(Chunk { rows, values: ChunkValues::F64(values), texts }))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows as u64)
    }

    fn bytes(&self) -> u64 {
        3 * 8 * (self.step * self.columns.len()) as u64
    }

    fn rewind(&mut self) -> bool {
        self.at = 0;
        true
    }
}

/// Gives the codes of a chunk, which are of the whole column, a list of their own.
fn recode(column: &mut [f64], levels: &[String]) -> Vec<Box<str>> {
    let (mut own, mut list) = (HashMap::new(), Vec::new());
    for v in column.iter_mut().filter(|v| !v.is_nan()) {
        let code = *v as usize;
        let next = list.len();
        *v = *own.entry(code).or_insert_with(|| {
            list.push(levels[code].as_str().into());
            next
        }) as f64;
    }
    list
}
