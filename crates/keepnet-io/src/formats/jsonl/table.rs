//! JSON lines as columns: transposed as they are parsed.
//!
//! Columns come in the order in which their keys first appear; a key that a line lacks is
//! missing there. Values are numbers, booleans, text or null; the first one that is not null
//! says what its column holds.

use std::sync::Arc;

use keepnet::{Error, Result};

use super::keys::{Cell, ENTRY, Keys, Kind};
use crate::formats::row_table::{Levels, RowTable};
use crate::formats::table::Table;
use crate::formats::text::TextInput;
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::memory::Charge;
use crate::store::{DenseBuilder, Place, Tile};

/// Reads and transposes a file of JSON lines.
pub(crate) fn open(path: &str, place: &Place) -> Result<Arc<dyn Table>> {
    let mut input = TextInput::open(path, place, place.chunk(), false)?;
    let mut keys = Keys::new(place)?;
    let mut rows = Rows {
        levels: Vec::new(),
        current: Vec::new(),
        rows: Vec::new(),
        texts: place.meter.take(0, "")?,
        builder: DenseBuilder::new(place.clone()),
        place,
    };
    let mut line = 0_u64;
    while let Some(text) = input.next()? {
        let bytes = || ENTRY * text.len() as u64;
        let _work = place.long(&text, bytes, "the entries of a long line")?;
        keys.lines(&text, &mut line, &mut rows, Rows::value, |rows, keys| {
            rows.end_row(keys.list.len())
        })?;
        rows.store(keys.list.len())?;
    }
    let store = rows.builder.finish();
    if store.rows() == 0 || keys.list.is_empty() {
        return Err(Error::Data("the file has no rows".into()));
    }
    let mut print = input.fingerprint();
    let (mut columns, mut blank) = (Vec::with_capacity(keys.list.len()), Vec::new());
    rows.levels.resize_with(keys.list.len(), Levels::default);
    for (c, (name, kind)) in keys.list.into_iter().enumerate() {
        print.bytes(name.as_bytes());
        if kind.is_none() {
            blank.push(c);
        }
        let kind = match kind {
            Some(Kind::Number) if store.integral(c) => ColumnKind::Int,
            kind => kind.map_or(ColumnKind::Float, Kind::column),
        };
        columns.push(ColumnInfo { name, kind, file: 0 });
    }
    let levels = rows.levels.into_iter().map(Levels::list).collect();
    let fingerprint = print.finish();
    let _charges = vec![keys.described, rows.texts];
    let (unnamed, meter) = (false, place.meter.clone());
    Ok(Arc::new(RowTable { store, columns, levels, blank, fingerprint, unnamed, meter, _charges }))
}

/// The rows of the current chunk; each has the columns that were known at its end.
struct Rows<'a> {
    levels: Vec<Levels>,
    current: Vec<f64>,
    rows: Vec<Vec<f64>>,
    // What the texts take.
    texts: Charge,
    builder: DenseBuilder,
    place: &'a Place,
}

impl Rows<'_> {
    fn value(&mut self, c: usize, cell: Cell) -> Result<()> {
        if self.current.len() <= c {
            self.current.resize(c + 1, f64::NAN);
        }
        self.current[c] = match cell {
            Cell::Number(number) => number,
            Cell::Text(text) => {
                if self.levels.len() <= c {
                    self.levels.resize_with(c + 1, Levels::default);
                }
                f64::from(self.levels[c].code(text.into(), &mut self.texts)?)
            }
        };
        Ok(())
    }

    fn end_row(&mut self, columns: usize) -> Result<()> {
        self.rows.push(std::mem::take(&mut self.current));
        // Where each line has keys of its own, rows grow as the file goes on.
        if self.bytes(columns) > 4 * self.place.chunk() {
            self.place.go_on()?;
            self.store(columns)?;
        }
        Ok(())
    }

    /// Bytes of the rows so far as a tile.
    fn bytes(&self, columns: usize) -> usize {
        8 * self.rows.len() * columns
    }

    fn store(&mut self, columns: usize) -> Result<()> {
        let bytes = self.bytes(columns);
        // The numbers, their transposed copy, and that in half the width.
        let work = if bytes > 8 * self.place.chunk() { 3 * bytes as u64 } else { 0 };
        let _work = self.place.meter.take(work, "the numbers of some lines")?;
        let mut values = Vec::with_capacity(self.rows.len() * columns);
        for mut row in self.rows.drain(..) {
            row.resize(columns, f64::NAN);
            values.extend(row);
        }
        self.builder.push(Tile::new(&values, columns))
    }
}
