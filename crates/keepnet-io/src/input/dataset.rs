//! Input files, opened and joined into one table.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use keepnet::{Error, Result, RowIds};

use crate::formats::table::Table;
use crate::input::combine::{Beside, Reordered, Stacked};
use crate::input::keys::{by_key, matches, row_keys};
use crate::input::names::{check_unique, unknown};
use crate::store::Place;
use crate::{Format, OpenOptions, Series, Stack, TableSource};

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Booleans.
    Bool,
    /// Integers.
    Int,
    /// Numbers.
    Float,
    /// Text.
    Text,
    /// Something that is no feature, by the name of its type.
    Other(String),
}

/// One column of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// Place of its file in [`Dataset::files`].
    pub file: u32,
}

/// Input files, opened and joined into one table.
pub struct Dataset {
    pub(crate) table: Arc<dyn Table>,
    pub(crate) files: Vec<String>,
    pub(crate) options: OpenOptions,
    // Rows of the first file whose key is missing or not in every other file.
    pub(crate) unmatched: Vec<bool>,
}

/// Opens paths, globs, or `-` for standard input, and joins them into one table.
///
/// Files with the same columns stack as rows and files with disjoint columns join side by
/// side, by position or by [`OpenOptions::key`]; anything else is an error that names both.
pub fn open(inputs: &[String], options: &OpenOptions) -> Result<Dataset> {
    let files = resolve(inputs)?;
    let place = Place::new(options);
    let mut tables = Vec::with_capacity(files.len());
    for file in &files {
        place.go_on()?;
        let table = open_file(file, options, &place)?;
        rows_fit(table.rows(), &place, !options.key.is_empty()).map_err(|e| e.at(file))?;
        tables.push(table);
    }
    let (table, unmatched) = join(tables, &files, options)?;
    Ok(Dataset { table, files, options: options.clone(), unmatched })
}

/// Bytes of a row beside the features: its target, weight and place.
const ROW: u64 = 32;
/// Bytes of its key, and of that in the map that rows are found by.
const KEY: u64 = 128;

/// Refuses a table whose rows alone, as many as it claims, do not fit.
fn rows_fit(rows: usize, place: &Place, keys: bool) -> Result<()> {
    let bytes = if keys { ROW + KEY } else { ROW };
    if rows >= u32::MAX as usize {
        return Err(Error::Unsupported(format!("{rows} rows; at most {} are read", u32::MAX - 1)));
    }
    place.meter.take(rows as u64 * bytes, &format!("the target of {rows} rows")).map(drop)
}

fn open_file(path: &str, options: &OpenOptions, place: &Place) -> Result<Arc<dyn Table>> {
    let format = match options.format {
        Some(format) => format,
        None if path == "-" => {
            return Err(Error::param("format", "not given", "set for standard input"));
        }
        None => {
            // A missing file is a better message than an unknown extension.
            std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
            Format::from_path(path)?
        }
    };
    if path == "-" && !format.info().piped {
        let name = format.name();
        return Err(Error::Unsupported(format!(
            "{name} is read in no fixed order and cannot come from standard input; give a file"
        )));
    }
    format.open_table(path, place)
}

/// Paths as they are, globs as the sorted files that they match.
pub(crate) fn resolve(inputs: &[String]) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for input in inputs {
        let is_glob = input.contains(['*', '?', '[']) && !Path::new(input).exists();
        if !is_glob {
            files.push(input.clone());
            continue;
        }
        let found = glob::glob(input).map_err(|e| {
            Error::param("input", format!("{input:?} ({})", e.msg), "a path or glob")
        })?;
        let before = files.len();
        for path in found {
            let path = path.map_err(|e| Error::io(e.path().display().to_string(), e.into()))?;
            files.push(path.to_string_lossy().into_owned());
        }
        if files.len() == before {
            return Err(Error::Data(format!("no file matches {input:?}")));
        }
    }
    if files.is_empty() {
        return Err(Error::param("input", "empty", "at least one file"));
    }
    Ok(files)
}

type Tables = Vec<Arc<dyn Table>>;

fn join(
    mut tables: Tables,
    files: &[String],
    options: &OpenOptions,
) -> Result<(Arc<dyn Table>, Vec<bool>)> {
    if tables.len() == 1 {
        return Ok((tables.remove(0), Vec::new()));
    }
    let stack = match options.stack {
        Some(stack) => stack,
        None => how(&tables, files, &options.key)?,
    };
    if stack == Stack::Rows {
        for (table, file) in tables.iter().zip(files).skip(1) {
            if !same_columns(&*tables[0], &**table) {
                return Err(mismatch(&files[0], file, "do not have the same columns"));
            }
        }
        return Ok((Arc::new(Stacked::new(tables, files)?), Vec::new()));
    }
    let unmatched = if options.key.is_empty() {
        for (table, file) in tables.iter().zip(files).skip(1) {
            let (got, want) = (table.rows(), tables[0].rows());
            if got != want {
                let what = format!("rows of {file} and {} match by position: {file}", files[0]);
                return Err(Error::Rows { what, got, want });
            }
        }
        Vec::new()
    } else {
        align(&mut tables, files, &options.key)?
    };
    let beside = Beside::new(tables, &options.key);
    if let Err(error) = check_unique(beside.columns().iter().map(|c| c.name.as_str())) {
        let Error::Duplicate { name } = &error else { return Err(error) };
        let mut places = beside.columns().iter().filter(|c| c.name == *name);
        let file = places.nth(1).map_or("", |c| files[c.file as usize].as_str());
        return Err(error.at(file));
    }
    Ok((Arc::new(beside), unmatched))
}

/// Puts the rows of the other tables in the order of the first one's keys.
fn align(tables: &mut Tables, files: &[String], key: &[String]) -> Result<Vec<bool>> {
    let left = row_keys(&*tables[0], key).map_err(|e| e.at(&files[0]))?;
    by_key(&left, key).map_err(|e| e.at(&files[0]))?;
    let mut unmatched: Vec<bool> = left.iter().map(Option::is_none).collect();
    for (table, file) in tables.iter_mut().zip(files).skip(1) {
        let right = row_keys(&**table, key).map_err(|e| e.at(file))?;
        let take = matches(&left, &by_key(&right, key).map_err(|e| e.at(file))?);
        unmatched.iter_mut().zip(&take).for_each(|(u, row)| *u |= *row == u32::MAX);
        *table = Arc::new(Reordered::new(Arc::clone(table), take));
    }
    Ok(unmatched)
}

fn mismatch(a: &str, b: &str, how: &str) -> Error {
    Error::Data(format!(
        "{a} and {b} {how}; files with the same columns stack as rows and files with disjoint \
         columns join side by side (--stack rows or columns decides)"
    ))
}

fn names(table: &dyn Table) -> HashSet<&str> {
    table.columns().iter().map(|c| c.name.as_str()).collect()
}

fn same_columns(a: &dyn Table, b: &dyn Table) -> bool {
    (a.open_ended() && b.open_ended()) || names(a) == names(b)
}

/// By the columns: the same everywhere, or nowhere twice.
fn how(tables: &[Arc<dyn Table>], files: &[String], key: &[String]) -> Result<Stack> {
    let same = |t: &Arc<dyn Table>| same_columns(&*tables[0], &**t);
    if tables[1..].iter().all(same) {
        return Ok(Stack::Rows);
    }
    let mut seen: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    for (t, table) in tables.iter().enumerate().filter(|(_, table)| !table.unnamed()) {
        for column in table.columns().iter().filter(|c| !key.contains(&c.name)) {
            if let Some(first) = seen.insert(&column.name, t)
                && first != t
            {
                let some = format!("share some columns ({:?}) but not all", column.name);
                return Err(mismatch(&files[first], &files[t], &some));
            }
        }
    }
    Ok(Stack::Columns)
}

impl Dataset {
    /// Rows of the input.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.table.rows()
    }

    /// The files, as the user named them; a glob is the files that it matched.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Every column of every file, in order.
    #[must_use]
    pub fn columns(&self) -> &[ColumnInfo] {
        self.table.columns()
    }

    /// Bytes that one scan reads.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.table.scan_bytes()
    }

    /// One whole column.
    pub fn series(&mut self, name: &str) -> Result<Series> {
        let columns = self.table.columns();
        let at = columns.iter().position(|c| c.name == name);
        let at = at.ok_or_else(|| unknown(name, columns.iter().map(|c| c.name.as_str())))?;
        let file = &self.files[columns[at].file as usize];
        let values = self.table.series(at).map_err(|e| e.at(file))?;
        Ok(Series { name: name.into(), values })
    }

    /// Whether there is a column of that name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.table.columns().iter().any(|c| c.name == name)
    }

    /// Every name of `--always` is a feature; a level of a category goes by its column's name.
    pub fn knows(&self, always: &HashSet<String>, not_features: &[String]) -> Result<()> {
        let known: HashSet<&str> = match always.is_empty() {
            true => return Ok(()),
            false => names(&*self.table),
        };
        let found =
            |name: &str| known.contains(name) && !not_features.iter().any(|not| not == name);
        let parts = |name: &str| {
            let level = name.split_once('=').is_some_and(|(column, _)| found(column));
            level || name.strip_suffix(":missing").is_some_and(found)
        };
        let mut lost: Vec<_> = always.iter().filter(|name| !found(name) && !parts(name)).collect();
        lost.sort_unstable();
        match lost.first() {
            None => Ok(()),
            Some(name) => Err(Error::Data(format!("there is no feature {name:?}")).at("--always")),
        }
    }

    /// The features: every column but those named, as the options of [`open`] say.
    ///
    /// A feature's index counts the columns that are features, in the order of the input.
    pub fn source(self, not_features: &[String]) -> Result<TableSource> {
        let ids = match self.options.key.is_empty() {
            true => None,
            false => {
                let keys = row_keys(&*self.table, &self.options.key);
                let keys = keys.map_err(|e| e.at(&self.files[0]))?;
                Some(RowIds(keys.into_iter().map(Option::unwrap_or_default).collect()))
            }
        };
        TableSource::new(self, not_features, ids)
    }
}
