//! JSON lines: an object a line, its keys the columns.
//!
//! Columns come in the order in which their keys first appear; a key that a line lacks is
//! missing there. Values are numbers, booleans, text or null; the first one that is not null
//! says what its column holds.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use keepnet::{Error, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::formats::row_table::{Levels, RowTable};
use crate::formats::table::Table;
use crate::formats::text::TextInput;
use crate::input::dataset::{ColumnInfo, ColumnKind};
use crate::memory::Charge;
use crate::store::{DenseBuilder, Place, Tile};

/// Reads and transposes a file of JSON lines.
pub(crate) fn open(path: &str, place: &Place) -> Result<Arc<dyn Table>> {
    let input = TextInput::open(path, place, place.chunk(), false)?;
    read(input, place).map_err(|e| e.at(path))
}

fn read(mut input: TextInput, place: &Place) -> Result<Arc<dyn Table>> {
    let mut reader = Reader::new(place)?;
    let mut builder = DenseBuilder::new(place.clone());
    let mut line = 0_u64;
    while let Some(text) = input.next()? {
        let work = if text.len() > 2 * place.chunk() { ENTRY * text.len() as u64 } else { 0 };
        let _work = place.meter.take(work, "the entries of a long line")?;
        for row in text.strip_suffix(b"\n").unwrap_or(&text).split(|b| *b == b'\n') {
            line += 1;
            if !row.trim_ascii().is_empty() {
                reader.row(row).map_err(|what| match what {
                    Bad::Line(what) => Error::Data(format!("line {line}: {what}")),
                    Bad::Other(error) => error,
                })?;
            }
            // Where each line has keys of its own, rows grow as the file goes on.
            if reader.bytes() > 4 * place.chunk() {
                place.go_on()?;
                builder.push(reader.tile(place)?)?;
            }
        }
        builder.push(reader.tile(place)?)?;
    }
    let store = builder.finish();
    if store.rows() == 0 || reader.columns.is_empty() {
        return Err(Error::Data("the file has no rows".into()));
    }
    let mut print = input.fingerprint();
    let (mut columns, mut blank) = (Vec::with_capacity(reader.columns.len()), Vec::new());
    for (c, (name, kind)) in reader.columns.into_iter().enumerate() {
        print.bytes(name.as_bytes());
        if kind.is_none() {
            blank.push(c);
        }
        let kind = match kind {
            Some(Kind::Text) => ColumnKind::Text,
            Some(Kind::Bool) => ColumnKind::Bool,
            Some(Kind::Number) if store.integral(c) => ColumnKind::Int,
            _ => ColumnKind::Float,
        };
        columns.push(ColumnInfo { name, kind, file: 0 });
    }
    let levels = reader.levels.into_iter().map(Levels::list).collect();
    let fingerprint = print.finish();
    let _charges = vec![reader.described, reader.texts];
    let (unnamed, meter) = (false, place.meter.clone());
    Ok(Arc::new(RowTable { store, columns, levels, blank, fingerprint, unnamed, meter, _charges }))
}

/// Bytes that a byte of an object becomes at most: a key and a value out of six.
pub(crate) const ENTRY: u64 = 20;

/// What is wrong with a line, or with all of it.
enum Bad {
    Line(String),
    Other(Error),
}

impl From<String> for Bad {
    fn from(what: String) -> Self {
        Self::Line(what)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Bool,
    Text,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "a number",
            Self::Bool => "true or false",
            Self::Text => "text",
        })
    }
}

struct Reader {
    columns: Vec<(String, Option<Kind>)>,
    places: HashMap<String, usize>,
    levels: Vec<Levels>,
    // Rows of the current chunk; each has the columns that were known at its end.
    rows: Vec<Vec<f64>>,
    // What the keys, and the texts, take.
    described: Charge,
    texts: Charge,
}

impl Reader {
    fn new(place: &Place) -> Result<Self> {
        Ok(Self {
            columns: Vec::new(),
            places: HashMap::new(),
            levels: Vec::new(),
            rows: Vec::new(),
            described: place.columns(0)?,
            texts: place.meter.take(0, "")?,
        })
    }

    /// The place of a key, a new one where it is new.
    fn place(&mut self, key: String) -> Result<usize> {
        if let Some(c) = self.places.get(&key) {
            return Ok(*c);
        }
        // Twice the key, a column, and the levels that it may have.
        let bytes = 2 * key.len() as u64 + 320;
        self.described.grow(bytes, &format!("{} keys", self.columns.len() + 1))?;
        self.columns.push((key.clone(), None));
        self.levels.push(Levels::default());
        self.places.insert(key, self.columns.len() - 1);
        Ok(self.columns.len() - 1)
    }

    /// Bytes of the rows so far as a tile.
    fn bytes(&self) -> usize {
        8 * self.rows.len() * self.columns.len()
    }

    fn row(&mut self, text: &[u8]) -> Result<(), Bad> {
        let Row(entries) = serde_json::from_slice(text).map_err(|e| e.to_string())?;
        let mut row = vec![f64::NAN; self.columns.len()];
        let mut seen = std::collections::HashSet::new();
        for (key, value) in entries {
            let c = self.place(key).map_err(Bad::Other)?;
            row.resize(self.columns.len(), f64::NAN);
            let (name, kind) = &mut self.columns[c];
            if !seen.insert(c) {
                return Err(format!("key {name:?} occurs twice").into());
            }
            let (found, number) = match value {
                Value::Null => continue,
                Value::Bool(b) => (Kind::Bool, f64::from(u8::from(b))),
                Value::Number(n) => (Kind::Number, n.as_f64().unwrap_or(f64::NAN)),
                Value::String(s) => {
                    let code = self.levels[c].code(s.into(), &mut self.texts);
                    (Kind::Text, f64::from(code.map_err(Bad::Other)?))
                }
                Value::Array(_) | Value::Object(_) => {
                    return Err(format!(
                        "key {name:?} holds a list or an object; values must be numbers, \
                         booleans, text or null"
                    )
                    .into());
                }
            };
            let kind = *kind.get_or_insert(found);
            if found != kind {
                let wrong = format!("key {name:?} holds {found} where {kind} was expected");
                return Err(wrong.into());
            }
            row[c] = number;
        }
        self.rows.push(row);
        Ok(())
    }

    fn tile(&mut self, place: &Place) -> Result<Tile> {
        let columns = self.columns.len();
        // The numbers, their transposed copy, and that in half the width.
        let work = if self.bytes() > 8 * place.chunk() { 3 * self.bytes() as u64 } else { 0 };
        let _work = place.meter.take(work, "the numbers of some lines")?;
        let mut values = Vec::with_capacity(self.rows.len() * columns);
        for mut row in self.rows.drain(..) {
            row.resize(columns, f64::NAN);
            values.extend(row);
        }
        Ok(Tile::new(&values, columns))
    }
}

/// The entries of an object in the order of the text.
pub(crate) struct Row(pub(crate) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Row(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}
