//! The keys of JSON lines, and what their values are: the same for columns and for rows.

use std::collections::{HashMap, HashSet};
use std::fmt;

use keepnet::{Error, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::input::schema::ColumnKind;
use crate::memory::Charge;
use crate::store::Place;

/// Bytes that a byte of an object becomes at most: a key and a value out of six.
pub(super) const ENTRY: u64 = 20;

/// What the values of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Bool,
    Text,
}

impl Kind {
    pub(super) fn column(self) -> ColumnKind {
        match self {
            Self::Number => ColumnKind::Float,
            Self::Bool => ColumnKind::Bool,
            Self::Text => ColumnKind::Text,
        }
    }
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

/// One value that is not null.
pub(super) enum Cell {
    Number(f64),
    Text(String),
}

/// The keys in the order of their first appearance, each with the kind of its first value.
pub(super) struct Keys {
    pub(super) list: Vec<(String, Option<Kind>)>,
    places: HashMap<String, usize>,
    /// Whether a key that was not seen before is an error.
    pub(super) closed: bool,
    /// What the keys take.
    pub(super) described: Charge,
}

impl Keys {
    pub(super) fn new(place: &Place) -> Result<Self> {
        let (list, places, described) = (Vec::new(), HashMap::new(), place.columns(0)?);
        Ok(Self { list, places, closed: false, described })
    }

    /// The place of a key, a new one where it is new.
    fn place(&mut self, key: String) -> Result<usize> {
        if let Some(c) = self.places.get(&key) {
            return Ok(*c);
        }
        if self.closed {
            return Err(Error::Data(format!(
                "key {key:?} was not in the first line, which names the columns of standard \
                 input; give the rows as a file"
            )));
        }
        // Twice the key, a column, and the levels that it may have.
        let bytes = 2 * key.len() as u64 + 320;
        self.described.grow(bytes, &format!("{} keys", self.list.len() + 1))?;
        self.list.push((key.clone(), None));
        self.places.insert(key, self.list.len() - 1);
        Ok(self.list.len() - 1)
    }

    /// Goes through the lines of a text, the first of which is line `line + 1`. `value` gives each
    /// value that is not null to `taker`, with the place of its key; `end` ends a row.
    pub(super) fn lines<T>(
        &mut self,
        text: &[u8],
        line: &mut u64,
        taker: &mut T,
        value: impl Fn(&mut T, usize, Cell) -> Result<()>,
        end: impl Fn(&mut T, &Self) -> Result<()>,
    ) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        for row in text.strip_suffix(b"\n").unwrap_or(text).split(|b| *b == b'\n') {
            *line += 1;
            if row.trim_ascii().is_empty() {
                continue;
            }
            self.line(row, |c, cell| value(taker, c, cell)).map_err(|e| match e {
                Error::Data(what) => Error::Data(format!("line {line}: {what}")),
                error => error,
            })?;
            end(taker, self)?;
        }
        Ok(())
    }

    /// One object.
    pub(super) fn line(
        &mut self,
        text: &[u8],
        mut value: impl FnMut(usize, Cell) -> Result<()>,
    ) -> Result<()> {
        let Entries(entries) =
            serde_json::from_slice(text).map_err(|e| Error::Data(e.to_string()))?;
        let mut seen = HashSet::new();
        for (key, found) in entries {
            let c = self.place(key)?;
            let (name, kind) = &mut self.list[c];
            if !seen.insert(c) {
                return Err(Error::Data(format!("key {name:?} occurs twice")));
            }
            let (found, cell) = match found {
                Value::Null => continue,
                Value::Bool(b) => (Kind::Bool, Cell::Number(f64::from(u8::from(b)))),
                Value::Number(n) => (Kind::Number, Cell::Number(n.as_f64().unwrap_or(f64::NAN))),
                Value::String(text) => (Kind::Text, Cell::Text(text)),
                Value::Array(_) | Value::Object(_) => {
                    return Err(Error::Data(format!(
                        "key {name:?} holds a list or an object; values must be numbers, \
                         booleans, text or null"
                    )));
                }
            };
            let kind = *kind.get_or_insert(found);
            if found != kind {
                let wrong = format!("key {name:?} holds {found} where {kind} was expected");
                return Err(Error::Data(wrong));
            }
            value(c, cell)?;
        }
        Ok(())
    }
}

/// The entries of an object in the order of the text.
struct Entries(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;

        impl<'de> Visitor<'de> for Map {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Map)
    }
}
