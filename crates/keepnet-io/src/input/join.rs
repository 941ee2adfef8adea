//! Rows matched by position or by key.

use std::collections::HashMap;

use keepnet::{Error, Result};

use crate::formats::table::Table;
use crate::input::names::unknown;
use crate::input::schema::ColumnInfo;
use crate::input::series::SeriesValues;
use crate::memory::{Charge, Meter};

/// From here on neighbouring integers become the same f64: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// How rows are matched, as the result says it: `position`, or `key COL`.
pub(crate) fn matched_by(key: &[String]) -> String {
    match key.is_empty() {
        true => "position".into(),
        false => format!("key {}", key.join(",")),
    }
}

/// The places of the columns that make a row's key.
pub(crate) fn key_places(columns: &[ColumnInfo], key: &[String]) -> Result<Vec<usize>> {
    let find = |name: &String| {
        let at = columns.iter().position(|c| c.name == *name);
        let names = || columns.iter().map(|c| c.name.as_str());
        at.ok_or_else(|| unknown(name, names()).at("--key"))
    };
    key.iter().map(find).collect()
}

/// The key of each row; `None` where a part of it is missing.
pub(crate) fn row_keys(table: &dyn Table, key: &[String]) -> Result<Vec<Option<String>>> {
    let mut keys: Vec<Option<String>> = vec![Some(String::new()); table.rows()];
    let places = key_places(table.columns(), key)?;
    for (part, (name, at)) in key.iter().zip(places).enumerate() {
        let values = table.series(at)?;
        for (row, key) in keys.iter_mut().enumerate() {
            let Some(text) = key else { continue };
            if part > 0 {
                text.push('\u{1f}');
            }
            match &values {
                // 12, 12.0 and a text "12" are one key, whatever the file calls its type.
                SeriesValues::Numbers { values, .. } if !values[row].is_nan() => {
                    text.push_str(&key_of_number(values[row], name, row as u64)?);
                }
                SeriesValues::Text(values) if values[row].is_some() => {
                    text.push_str(values[row].as_deref().expect("it is some"));
                }
                _ => *key = None,
            }
        }
    }
    Ok(keys)
}

/// A number as a part of a key.
pub(super) fn key_of_number(value: f64, name: &str, row: u64) -> Result<String> {
    if value.abs() < EXACT {
        return Ok(value.to_string());
    }
    Err(Error::Data(format!(
        "the key {name:?} is {value} in row {row}: numbers from 2^53 on are not told apart; store \
         this key as text"
    )))
}

/// The row of each key; a key that occurs twice is an error.
pub(crate) fn by_key<'a>(
    keys: &'a [Option<String>],
    names: &[String],
) -> Result<HashMap<&'a str, u32>> {
    let mut rows = HashMap::with_capacity(keys.len());
    for (row, key) in keys.iter().enumerate() {
        if let Some(key) = key
            && let Some(first) = rows.insert(key.as_str(), row as u32)
        {
            return Err(repeated(key, names, u64::from(first), row as u64));
        }
    }
    Ok(rows)
}

/// What is wrong with a key that two rows have.
fn repeated(key: &str, names: &[String], first: u64, row: u64) -> Error {
    Error::Data(format!(
        "the key {} is {:?} in rows {first} and {row}; keys must not repeat",
        names.join(","),
        key.replace('\u{1f}', ","),
    ))
}

/// The keys of a stream so far, each with its row.
pub(crate) struct SeenKeys {
    names: Vec<String>,
    rows: HashMap<Box<str>, u64>,
    held: Charge,
}

/// What a key takes in the map, beside its own bytes.
const ENTRY: u64 = 96;

impl SeenKeys {
    /// `None` where rows have no key.
    pub(crate) fn new(names: &[String], meter: &Meter) -> Result<Option<Self>> {
        let (rows, held) = (HashMap::new(), meter.take(0, "")?);
        Ok((!names.is_empty()).then(|| Self { names: names.to_vec(), rows, held }))
    }

    /// Takes the key of a row; an error where an earlier row has it.
    pub(crate) fn add(&mut self, key: String, row: u64) -> Result<()> {
        if let Some(first) = self.rows.get(key.as_str()) {
            return Err(repeated(&key, &self.names, *first, row));
        }
        self.held.grow(ENTRY + key.len() as u64, "the keys of the rows, which must differ")?;
        self.rows.insert(key.into(), row);
        Ok(())
    }

    /// Before the first row again.
    pub(crate) fn clear(&mut self) {
        self.rows = HashMap::new();
        self.held.shrink(0);
    }
}

/// For each of `left` the row of the same key in `right`, or `u32::MAX`.
pub(crate) fn matches(left: &[Option<String>], right: &HashMap<&str, u32>) -> Vec<u32> {
    let find = |key: &Option<String>| {
        key.as_ref().and_then(|key| right.get(key.as_str()).copied()).unwrap_or(u32::MAX)
    };
    left.iter().map(find).collect()
}

/// Values in the order of `take`; rows without a match are missing.
pub(crate) fn reorder(values: SeriesValues, take: &[u32]) -> SeriesValues {
    let from = |row: &u32| (*row != u32::MAX).then_some(*row as usize);
    match values {
        SeriesValues::Numbers { values, integral, boolean } => SeriesValues::Numbers {
            values: take.iter().map(|row| from(row).map_or(f64::NAN, |r| values[r])).collect(),
            integral,
            boolean,
        },
        SeriesValues::Text(values) => SeriesValues::Text(
            take.iter().map(|row| from(row).and_then(|r| values[r].clone())).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_stream_are_counted_and_must_differ() {
        let meter = Meter::of(250);
        let mut seen = SeenKeys::new(&["a".into(), "b".into()], &meter).unwrap().unwrap();
        seen.add("1\u{1f}x".into(), 0).unwrap();
        seen.add("1\u{1f}y".into(), 1).unwrap();
        let twice = seen.add("1\u{1f}x".into(), 2).unwrap_err().to_string();
        assert_eq!(twice, "the key a,b is \"1,x\" in rows 0 and 2; keys must not repeat");
        let full = seen.add("2\u{1f}x".into(), 2).unwrap_err().to_string();
        assert!(full.starts_with("reading: the keys of the rows"), "{full}");
        seen.clear();
        assert_eq!(meter.room(), 250);
        seen.add("1\u{1f}x".into(), 0).unwrap();
        assert!(SeenKeys::new(&[], &meter).unwrap().is_none());
    }
}
