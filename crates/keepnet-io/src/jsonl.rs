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

use crate::dataset::{ColumnInfo, ColumnKind};
use crate::row_table::{Levels, RowTable};
use crate::store::{DenseBuilder, Place, Tile};
use crate::table::Table;
use crate::text::TextInput;

/// Reads and transposes a file of JSON lines.
pub(crate) fn open(path: &str, place: &Place) -> Result<Arc<dyn Table>> {
    let input = TextInput::open(path, place.chunk(), false)?;
    read(input, place).map_err(|e| e.at(path))
}

fn read(mut input: TextInput, place: &Place) -> Result<Arc<dyn Table>> {
    let mut reader = Reader::default();
    let mut builder = DenseBuilder::new(place.clone());
    let mut line = 0_u64;
    while let Some(text) = input.next()? {
        for row in text.strip_suffix(b"\n").unwrap_or(&text).split(|b| *b == b'\n') {
            line += 1;
            if !row.trim_ascii().is_empty() {
                reader.row(row).map_err(|what| Error::Data(format!("line {line}: {what}")))?;
            }
        }
        builder.push(reader.tile())?;
    }
    let store = builder.finish();
    if store.rows() == 0 || reader.columns.is_empty() {
        return Err(Error::Data("the file has no rows".into()));
    }
    let mut print = input.fingerprint();
    let mut columns = Vec::with_capacity(reader.columns.len());
    for (c, (name, kind)) in reader.columns.into_iter().enumerate() {
        print.bytes(name.as_bytes());
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
    Ok(Arc::new(RowTable { store, columns, levels, fingerprint, unnamed: false }))
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

#[derive(Default)]
struct Reader {
    columns: Vec<(String, Option<Kind>)>,
    places: HashMap<String, usize>,
    levels: Vec<Levels>,
    // Rows of the current chunk; each has the columns that were known at its end.
    rows: Vec<Vec<f64>>,
}

impl Reader {
    fn row(&mut self, text: &[u8]) -> Result<(), String> {
        let Row(entries) = serde_json::from_slice(text).map_err(|e| e.to_string())?;
        let mut row = vec![f64::NAN; self.columns.len()];
        let mut seen = std::collections::HashSet::new();
        for (key, value) in entries {
            let c = *self.places.entry(key).or_insert_with_key(|key| {
                self.columns.push((key.clone(), None));
                self.levels.push(Levels::default());
                self.columns.len() - 1
            });
            row.resize(self.columns.len(), f64::NAN);
            let (name, kind) = &mut self.columns[c];
            if !seen.insert(c) {
                return Err(format!("key {name:?} occurs twice"));
            }
            let (found, number) = match value {
                Value::Null => continue,
                Value::Bool(b) => (Kind::Bool, f64::from(u8::from(b))),
                Value::Number(n) => (Kind::Number, n.as_f64().unwrap_or(f64::NAN)),
                Value::String(s) => (Kind::Text, f64::from(self.levels[c].code(s.into()))),
                Value::Array(_) | Value::Object(_) => {
                    return Err(format!(
                        "key {name:?} holds a list or an object; values must be numbers, \
                         booleans, text or null"
                    ));
                }
            };
            let kind = *kind.get_or_insert(found);
            if found != kind {
                return Err(format!("key {name:?} holds {found} where {kind} was expected"));
            }
            row[c] = number;
        }
        self.rows.push(row);
        Ok(())
    }

    fn tile(&mut self) -> Tile {
        let columns = self.columns.len();
        let mut values = Vec::with_capacity(self.rows.len() * columns);
        for mut row in self.rows.drain(..) {
            row.resize(columns, f64::NAN);
            values.extend(row);
        }
        Tile::new(&values, columns)
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
