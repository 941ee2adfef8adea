//! Finds a column by what the user wrote: a column of the input, a file, or `FILE:COLUMN`.

use std::path::{Path, PathBuf};

use keepnet::{Error, Result};

use crate::input::dataset::{Dataset, open};
use crate::input::keys::{by_key, matches, reorder, row_keys};
use crate::input::names::no_column_or_file;
use crate::{Format, OpenOptions, Series};

/// A column and where it was found.
pub(crate) struct Found {
    /// What it is for, as in "the target".
    pub(crate) what: String,
    pub(crate) series: Series,
    /// Its name in the input, where it is a column of the input.
    pub(crate) column: Option<String>,
}

/// Finds columns and joins them to the rows of the input.
pub(crate) struct Finder<'a> {
    dataset: &'a mut Dataset,
    key: &'a [String],
    options: OpenOptions,
    // Keys of the input's rows, where rows are joined by key.
    left: Vec<Option<String>>,
    /// Input rows without a match.
    pub(crate) unmatched: Vec<bool>,
    pub(crate) notes: Vec<String>,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(
        dataset: &'a mut Dataset,
        key: &'a [String],
        options: &OpenOptions,
    ) -> Result<Self> {
        let mut unmatched = dataset.unmatched.clone();
        unmatched.resize(dataset.rows(), false);
        let at = |e: keepnet::Error| e.at(&dataset.files[0]);
        let left = match key.is_empty() {
            true => Vec::new(),
            false => row_keys(&*dataset.table, key).map_err(at)?,
        };
        if !key.is_empty() {
            by_key(&left, key).map_err(at)?;
        }
        let options = OpenOptions {
            stack: None,
            columns: Vec::new(),
            exclude: Vec::new(),
            ..options.clone()
        };
        Ok(Self { dataset, key, options, left, unmatched, notes: Vec::new() })
    }

    /// The one column that `spec` stands for.
    pub(crate) fn find(&mut self, spec: &str, what: &str) -> Result<Found> {
        if let Some(label) = self.label(spec) {
            let series = self.dataset.series(&label)?;
            return Ok(Found { what: what.into(), series, column: Some(label) });
        }
        if self.dataset.has(spec) {
            let series = self.dataset.series(spec)?;
            return Ok(Found { what: what.into(), series, column: Some(spec.into()) });
        }
        let Some((path, columns)) = split(spec) else {
            let columns = self.dataset.columns().iter().map(|c| c.name.as_str());
            return Err(no_column_or_file(spec, columns).at(what));
        };
        let mut file = self.open(path)?;
        let name = match columns {
            Some(column) => column.to_string(),
            None => self.only_column(&file, path)?,
        };
        let series = file.series(&name).map_err(|e| e.at(path))?;
        let series = self.join(series, &file, path, what)?;
        Ok(Found { what: what.into(), series, column: None })
    }

    /// Every column of `FILE`, or those of `FILE:COL,COL`.
    pub(crate) fn covariates(&mut self, spec: &str) -> Result<Vec<Found>> {
        let Some((path, columns)) = split(spec) else {
            return Err(Error::io(
                format!("covariates {spec}"),
                std::io::Error::from(std::io::ErrorKind::NotFound),
            ));
        };
        let mut file = self.open(path)?;
        let names: Vec<String> = match columns {
            Some(columns) => columns.split(',').map(|c| c.trim().to_string()).collect(),
            None => {
                let all = file.columns().iter().map(|c| c.name.clone());
                all.filter(|name| !self.key.contains(name)).collect()
            }
        };
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let series = file.series(&name).map_err(|e| e.at(path))?;
            let series = self.join(series, &file, path, "the covariate file")?;
            found.push(Found { what: "covariate".into(), series, column: None });
        }
        Ok(found)
    }

    /// Opens a file by its extension; the input's `--format` is for files without a known one.
    fn open(&self, path: &str) -> Result<Dataset> {
        let format = Format::from_path(path).ok().or(self.options.format);
        open(&[path.to_string()], &OpenOptions { format, ..self.options.clone() })
    }

    /// The label of a svm input, where that is what is asked for.
    fn label(&self, spec: &str) -> Option<String> {
        let at = *self.dataset.table.labels().first()?;
        let name = &self.dataset.columns()[at].name;
        (spec.is_empty() || spec == name).then(|| name.clone())
    }

    fn only_column(&self, file: &Dataset, path: &str) -> Result<String> {
        if let Some(label) = file.table.labels().first() {
            return Ok(file.columns()[*label].name.clone());
        }
        let columns = file.columns().iter().map(|c| c.name.as_str());
        let names: Vec<&str> = columns.filter(|name| !self.key.iter().any(|k| k == name)).collect();
        match names[..] {
            [name] => Ok(name.into()),
            _ => {
                let some: Vec<_> = names.iter().take(5).copied().collect();
                let more = if names.len() > 5 { ", ..." } else { "" };
                Err(Error::Data(format!(
                    "the file has {} columns ({}{more}); say which with {path}:COLUMN",
                    names.len(),
                    some.join(", "),
                ))
                .at(path))
            }
        }
    }

    /// Puts a file's column in the order of the input's rows.
    fn join(&mut self, series: Series, file: &Dataset, path: &str, what: &str) -> Result<Series> {
        if self.key.is_empty() {
            let (got, want) = (series.rows(), self.dataset.rows());
            return match got == want {
                true => Ok(series),
                false => Err(Error::Rows { what: format!("{what} ({path})"), got, want }),
            };
        }
        let right = row_keys(&*file.table, self.key).map_err(|e| e.at(path))?;
        let rows = by_key(&right, self.key).map_err(|e| e.at(path))?;
        let take = matches(&self.left, &rows);
        self.unmatched.iter_mut().zip(&take).for_each(|(u, row)| *u |= *row == u32::MAX);
        let used = take.iter().filter(|row| **row != u32::MAX).count();
        if used < right.len() {
            let note = format!("{} rows of {path} match no row of the input", right.len() - used);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        Ok(Series { name: series.name, values: reorder(series.values, &take) })
    }
}

/// A path that exists and, after the first `:` that follows such a path, columns.
pub(crate) fn split(spec: &str) -> Option<(&str, Option<&str>)> {
    if spec.is_empty() {
        return None;
    }
    if Path::new(spec).is_file() {
        return Some((spec, None));
    }
    let colons = spec.match_indices(':').map(|(at, _)| at);
    let mut found = colons.filter(|at| Path::new(&spec[..*at]).is_file());
    found.next().map(|at| (&spec[..at], Some(&spec[at + 1..])))
}

/// Every file that a text may stand for where it is an input or a column: itself, what it matches
/// as a glob, or what comes before a `:`. For those who must not touch a file that is read.
pub fn named_files(spec: &str) -> impl Iterator<Item = PathBuf> {
    let colons = spec.match_indices(':').map(|(at, _)| &spec[..at]);
    let itself = colons.chain([spec]).map(PathBuf::from).filter(|path| path.is_file());
    let matched = glob::glob(spec).into_iter().flatten().filter_map(Result::ok);
    itself.chain(matched).collect::<Vec<_>>().into_iter()
}
