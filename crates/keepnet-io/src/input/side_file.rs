//! Columns of another file beside the rows of a stream, by position or by key.
//!
//! The file is held whole: a target, or covariates, and with a key a map from key to row. A row of
//! the stream whose key the file does not have gets missing values.

use std::collections::HashMap;

use keepnet::{Error, Result};

use crate::formats::chunk::Chunk;
use crate::input::dataset::{ColumnKind, Dataset};
use crate::input::find::split;
use crate::input::keys::{by_key, key_of_number, row_keys};
use crate::input::names::{no_column_or_file, unknown};
use crate::input::series::SeriesValues;
use crate::{Format, OpenOptions};

/// Which row of a file belongs to a row of the stream.
pub(crate) struct Matching {
    path: String,
    rows: usize,
    keys: Option<HashMap<String, u32>>,
}

/// Columns of the stream that make its key.
pub(crate) struct KeyColumns {
    columns: Vec<(usize, ColumnKind, String)>,
    width: usize,
}

/// Columns of a file beside the stream.
pub(crate) struct Beside {
    pub(crate) matching: Matching,
    pub(crate) names: Vec<String>,
    pub(crate) columns: Vec<SeriesValues>,
    pub(crate) fingerprint: u64,
}

/// Where covariates are: columns of the stream, or of a file.
pub(crate) enum Covariates {
    None,
    Inside(Vec<usize>),
    Beside(Beside),
}

impl KeyColumns {
    pub(crate) fn new(key: &[String], columns: &[(String, ColumnKind)]) -> Result<Self> {
        let find = |name: &String| {
            let at = columns
                .iter()
                .position(|c| c.0 == *name)
                .ok_or_else(|| unknown(name, columns.iter().map(|c| c.0.as_str())).at("--key"))?;
            Ok((at, columns[at].1.clone(), name.clone()))
        };
        let columns_found = key.iter().map(find).collect::<Result<_>>()?;
        Ok(Self { columns: columns_found, width: columns.len() })
    }

    /// The key of a row; `None` where a part of it is missing.
    pub(crate) fn of(&self, chunk: &Chunk, at: usize, row: u64) -> Result<Option<String>> {
        let mut key = String::new();
        for (part, (c, kind, name)) in self.columns.iter().enumerate() {
            if part > 0 {
                key.push('\u{1f}');
            }
            let v = chunk.number(at, *c, self.width);
            if v.is_nan() {
                return Ok(None);
            }
            match kind {
                ColumnKind::Text => {
                    let text = chunk.text(*c, v, row).map_err(|e| e.at(format!("--key {name}")))?;
                    key.push_str(text);
                }
                _ => key.push_str(&key_of_number(v, name, row)?),
            }
        }
        Ok(Some(key))
    }
}

impl Matching {
    /// The row of the file for a row of the stream; `None` where its key has no match.
    pub(crate) fn place(
        &self,
        key: &KeyColumns,
        (chunk, at): (&Chunk, usize),
        row: u64,
    ) -> Result<Option<usize>> {
        match &self.keys {
            Some(keys) => {
                let key = key.of(chunk, at, row)?;
                Ok(key.and_then(|key| keys.get(&key)).map(|row| *row as usize))
            }
            None if (row as usize) < self.rows => Ok(Some(row as usize)),
            None => Err(Error::Data(format!("{} ends before row {row} of the input", self.path))),
        }
    }

    /// Whether rows are matched by key, so that one may have no match.
    pub(crate) fn keyed(&self) -> bool {
        self.keys.is_some()
    }

    /// Refuses a stream that ended while the file has more rows.
    pub(crate) fn ended(&self, row: u64) -> Result<()> {
        if self.keys.is_some() || self.rows as u64 <= row {
            return Ok(());
        }
        let (got, want) = (self.rows, row as usize);
        Err(Error::Rows { what: self.path.clone(), got, want })
    }
}

impl Beside {
    /// Columns of a file; without names all but the key's.
    pub(crate) fn open(
        path: &str,
        names: Option<Vec<String>>,
        key: &[String],
        options: &OpenOptions,
    ) -> Result<Self> {
        let format = Format::from_path(path).ok().or(options.format);
        let plain = OpenOptions {
            format,
            stack: None,
            columns: Vec::new(),
            exclude: Vec::new(),
            key: Vec::new(),
            ..options.clone()
        };
        let mut file: Dataset = crate::open(&[path.to_string()], &plain)?;
        let all = file.columns().iter().map(|c| c.name.clone());
        let names = names.unwrap_or_else(|| all.filter(|name| !key.contains(name)).collect());
        let at = |e: Error| e.at(path);
        let read = |name: &String| Ok(file.series(name).map_err(at)?.values);
        let columns: Vec<SeriesValues> = names.iter().map(read).collect::<Result<_>>()?;
        let keys = match key.is_empty() {
            true => None,
            false => {
                let keys = row_keys(&*file.table, key).map_err(at)?;
                let rows = by_key(&keys, key).map_err(at)?;
                Some(rows.into_iter().map(|(key, row)| (key.to_string(), row)).collect())
            }
        };
        let matching = Matching { path: path.into(), rows: file.rows(), keys };
        Ok(Self { matching, names, columns, fingerprint: file.table.fingerprint() })
    }

    /// The numbers of a row of the file, missing ones for no row.
    pub(crate) fn numbers(&self, row: Option<usize>) -> impl Iterator<Item = f64> + '_ {
        let value = move |values: &SeriesValues| match (values, row) {
            (SeriesValues::Numbers { values, .. }, Some(row)) => values[row],
            _ => f64::NAN,
        };
        self.columns.iter().map(value)
    }
}

/// What `--covar` stands for: `FILE`, `FILE:COL,COL`, or columns of the input.
pub(crate) fn covariates(
    spec: Option<&str>,
    files: &[(String, Format)],
    columns: &[(String, ColumnKind)],
    key: &[String],
    options: &OpenOptions,
) -> Result<Covariates> {
    let Some(spec) = spec else { return Ok(Covariates::None) };
    let list = |text: &str| text.split(',').map(|c| c.trim().to_string()).collect::<Vec<_>>();
    let inside = |names: Vec<String>| {
        let place = |name: &String| {
            let at = columns.iter().position(|c| c.0 == *name).ok_or_else(|| {
                no_column_or_file(name, columns.iter().map(|c| c.0.as_str())).at("--covar")
            })?;
            match columns[at].1 {
                ColumnKind::Text | ColumnKind::Other(_) => Err(text(name)),
                _ => Ok(at),
            }
        };
        names.iter().map(place).collect::<Result<Vec<_>>>().map(Covariates::Inside)
    };
    let Some((path, names)) = split(spec) else { return inside(list(spec)) };
    if files.iter().any(|(file, _)| file == path) {
        let names = names.ok_or_else(|| {
            Error::param("covar", path, "FILE:COL,COL, where the file is the input itself")
        })?;
        return inside(list(names));
    }
    let beside = Beside::open(path, names.map(list), key, options)?;
    for (name, values) in beside.names.iter().zip(&beside.columns) {
        if matches!(values, SeriesValues::Text(_)) {
            return Err(text(name).at(path));
        }
    }
    Ok(Covariates::Beside(beside))
}

fn text(name: &str) -> Error {
    Error::Data(format!("covariate {name:?} is text, expected numbers"))
}
