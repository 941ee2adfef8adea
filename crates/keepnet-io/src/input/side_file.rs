//! A file beside the input: columns that are joined to its rows by position or by key.
//!
//! The columns that were asked for are held whole, and with a key a map from key to row. A row of
//! the input whose key the file does not have gets missing values.

use std::collections::HashMap;

use keepnet::{Error, Result};

use crate::formats::chunk::Chunk;
use crate::input::dataset::{Dataset, open};
use crate::input::ids::{self, Ids};
use crate::input::join::{by_key, key_of_number, key_places, row_keys};
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::input::series::SeriesValues;
use crate::{Format, OpenOptions};

/// Columns of a file beside the input.
pub(crate) struct SideFile {
    pub(crate) path: String,
    // What it was first asked for, as in "the target".
    what: &'static str,
    // Open while columns are asked for.
    file: Option<Dataset>,
    pub(crate) rows: usize,
    keys: Option<HashMap<String, u32>>,
    // People by their ids, where rows are matched so without a key.
    ids: Option<Ids>,
    columns: Vec<(String, SeriesValues)>,
    pub(crate) fingerprint: u64,
}

impl SideFile {
    /// Opens a file by its extension; the input's `--format` is for files without a known one.
    pub(crate) fn open(
        path: &str,
        what: &'static str,
        key: &[String],
        by_ids: bool,
        options: &OpenOptions,
    ) -> Result<Self> {
        let format = Format::from_path(path).ok().or(options.format);
        let plain = OpenOptions {
            format,
            stack: None,
            columns: Vec::new(),
            exclude: Vec::new(),
            ..options.clone()
        };
        let file = open(&[path.to_string()], &plain)?;
        let keys = match key.is_empty() {
            true => None,
            false => {
                let keys = row_keys(&*file.table, key).map_err(|e| e.at(path))?;
                let rows = by_key(&keys, key).map_err(|e| e.at(path))?;
                Some(rows.into_iter().map(|(key, row)| (key.to_string(), row)).collect())
            }
        };
        let ids = match by_ids && key.is_empty() {
            true => Ids::of(&*file.table).map_err(|e| e.at(path))?,
            false => None,
        };
        let (rows, fingerprint) = (file.rows(), file.table.fingerprint());
        let (path, file, columns) = (path.into(), Some(file), Vec::new());
        Ok(Self { path, what, file, rows, keys, ids, columns, fingerprint })
    }

    /// The names of its columns but the key's.
    pub(crate) fn names(&self, key: &[String]) -> Vec<String> {
        let columns = self.file.iter().flat_map(|file| file.columns());
        let id = |name: &String| self.ids.is_some() && ids::is_id(name);
        let names = columns.map(|c| c.name.clone());
        names.filter(|name| !key.contains(name) && !id(name)).collect()
    }

    /// Whether it has a column of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.file.as_ref().is_some_and(|file| file.has(name))
    }

    /// Its label, or the one column that it has beside the key.
    pub(crate) fn only_column(&self, key: &[String]) -> Result<String> {
        if let Some(file) = &self.file
            && let Some(label) = file.table.labels().first()
        {
            return Ok(file.columns()[*label].name.clone());
        }
        let mut names = self.names(key);
        if names.len() == 1 {
            return Ok(names.remove(0));
        }
        let some = names.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if names.len() > 5 { ", ..." } else { "" };
        let (count, path) = (names.len(), &self.path);
        let what =
            format!("the file has {count} columns ({some}{more}); say which with {path}:COLUMN");
        Err(Error::Data(what).at(path))
    }

    /// Reads a column; its place among those that were read, and its kind.
    pub(crate) fn column(&mut self, name: &str) -> Result<(usize, ColumnKind)> {
        let at = match self.columns.iter().position(|(known, _)| known == name) {
            Some(at) => at,
            None => {
                let file = self.file.as_mut().ok_or_else(|| Error::Data("it was closed".into()))?;
                let series = file.series(name).map_err(|e| e.at(&self.path))?;
                self.columns.push((name.into(), series.values));
                self.columns.len() - 1
            }
        };
        let kind = match &self.columns[at].1 {
            SeriesValues::Text(_) => ColumnKind::Text,
            SeriesValues::Numbers { boolean: true, .. } => ColumnKind::Bool,
            SeriesValues::Numbers { .. } => ColumnKind::Float,
        };
        Ok((at, kind))
    }

    /// Lets go of what was not asked for.
    pub(crate) fn close(&mut self) {
        self.file = None;
    }

    /// A column that was read.
    pub(crate) fn values(&self, at: usize) -> &SeriesValues {
        &self.columns[at].1
    }

    /// Whether rows are matched by key, so that one may have no match.
    pub(crate) fn keyed(&self) -> bool {
        self.keys.is_some() || self.ids.is_some()
    }

    /// Whether rows are matched by the ids of people.
    pub(crate) fn by_ids(&self) -> bool {
        self.ids.is_some()
    }

    /// The file's row for row `row` of the input, whose key is `key`; `None` without a match.
    pub(crate) fn row(&self, key: Option<&str>, row: u64) -> Result<Option<usize>> {
        if let Some(ids) = &self.ids {
            return Ok(key.and_then(|key| ids.row(key)));
        }
        match &self.keys {
            Some(keys) => Ok(key.and_then(|key| keys.get(key)).map(|row| *row as usize)),
            None if (row as usize) < self.rows => Ok(Some(row as usize)),
            None => Err(Error::Data(format!(
                "{} ({}) has {} rows and ends before row {row} of the input",
                self.what, self.path, self.rows
            ))),
        }
    }

    /// Refuses an input of other than the file's rows, where rows are matched by position.
    pub(crate) fn check_rows(&self, want: usize) -> Result<()> {
        if self.keyed() || self.rows == want {
            return Ok(());
        }
        let what = format!("{} ({})", self.what, self.path);
        Err(Error::Rows { what, got: self.rows, want })
    }

    /// What the user should know where rows of the file have no match among the input's.
    pub(crate) fn note(&self, matched: usize) -> Option<String> {
        let left = self.rows - matched.min(self.rows);
        let path = &self.path;
        (self.keyed() && left > 0)
            .then(|| format!("{left} rows of {path} match no row of the input"))
    }
}

/// Columns of a stream that make its key.
pub(crate) struct KeyColumns {
    columns: Vec<(usize, ColumnInfo)>,
    width: usize,
}

impl KeyColumns {
    pub(crate) fn new(key: &[String], columns: &[ColumnInfo]) -> Result<Self> {
        let places = key_places(columns, key)?;
        let found = places.into_iter().map(|at| (at, columns[at].clone())).collect();
        Ok(Self { columns: found, width: columns.len() })
    }

    /// The key of a row; `None` where a part of it is missing, or where rows have no key.
    pub(crate) fn of(&self, chunk: &Chunk, at: usize, row: u64) -> Result<Option<String>> {
        let mut key = String::new();
        for (part, (c, column)) in self.columns.iter().enumerate() {
            if part > 0 {
                key.push('\u{1f}');
            }
            let v = chunk.number(at, *c, self.width);
            if v.is_nan() {
                return Ok(None);
            }
            match column.kind {
                ColumnKind::Text => {
                    let text = chunk.text(*c, v, row);
                    key.push_str(text.map_err(|e| e.at(format!("--key {}", column.name)))?);
                }
                _ => key.push_str(&key_of_number(v, &column.name, row)?),
            }
        }
        Ok((!self.columns.is_empty()).then_some(key))
    }
}
