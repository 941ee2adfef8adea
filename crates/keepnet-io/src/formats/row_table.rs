//! A row-oriented file after its transposition: numbers, and text as codes.

use std::collections::HashMap;

use keepnet::{ColumnBlock, ColumnData, Result};

use crate::formats::table::{Schema, Table, numbers};
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::input::series::SeriesValues;
use crate::memory::{Charge, Meter};
use crate::store::DenseStore;

/// What a text takes beside its own bytes, twice.
const LEVEL: u64 = 128;

/// The different values of a text column.
#[derive(Default)]
pub(crate) struct Levels {
    codes: HashMap<Box<str>, u32>,
    list: Vec<Box<str>>,
}

impl Levels {
    /// The code of a value, a new one where it is new; what that takes is added to `charge`.
    pub(crate) fn code(&mut self, value: Box<str>, charge: &mut Charge) -> Result<u32> {
        if let Some(code) = self.codes.get(&value) {
            return Ok(*code);
        }
        charge.grow(2 * value.len() as u64 + LEVEL, "the different texts of the columns")?;
        let next = self.list.len() as u32;
        self.list.push(value.clone());
        self.codes.insert(value, next);
        Ok(next)
    }

    /// The values by code.
    pub(crate) fn list(self) -> Vec<Box<str>> {
        self.list
    }
}

/// A row-oriented file after its transposition.
pub(crate) struct RowTable {
    pub(crate) store: DenseStore,
    pub(crate) columns: Vec<ColumnInfo>,
    /// For each column the texts that its codes stand for; may be shorter than the columns.
    pub(crate) levels: Vec<Vec<Box<str>>>,
    /// Columns without a value, ascending.
    pub(crate) blank: Vec<usize>,
    pub(crate) fingerprint: u64,
    pub(crate) unnamed: bool,
    pub(crate) meter: Meter,
    /// What the names and texts take.
    pub(crate) _charges: Vec<Charge>,
}

impl Schema for RowTable {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn blank(&self, at: usize) -> bool {
        self.blank.binary_search(&at).is_ok()
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn unnamed(&self) -> bool {
        self.unnamed
    }
}

impl Table for RowTable {
    fn rows(&self) -> usize {
        self.store.rows()
    }

    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        self.store.read(at, spare, out)
    }

    fn series(&self, at: usize) -> Result<SeriesValues> {
        let values = numbers(self, at)?;
        match values {
            SeriesValues::Numbers { values, .. } if self.columns[at].kind == ColumnKind::Text => {
                let length = |v: &f64| match v.is_nan() {
                    true => 24,
                    false => 48 + self.levels[at][*v as usize].len() as u64,
                };
                let bytes = values.iter().map(length).sum();
                let _held = self.meter.take(bytes, "a column of text")?;
                let text = |v: &f64| self.levels[at][*v as usize].to_string();
                let text = values.iter().map(|v| (!v.is_nan()).then(|| text(v)));
                Ok(SeriesValues::Text(text.collect()))
            }
            values => Ok(values),
        }
    }

    fn column_bytes(&self) -> u64 {
        self.store.column_bytes()
    }

    fn scan_bytes(&self) -> u64 {
        self.store.bytes()
    }
}
