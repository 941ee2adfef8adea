//! Input files, opened and joined into one table.

use std::collections::HashSet;
use std::sync::Arc;

use keepnet::{Error, Problem, Result, RowIds};

use crate::formats::bed::PEOPLE;
use crate::formats::table::{Schema, Table};
use crate::input::combine::{Reordered, SideBySide, Stacked};
use crate::input::features::check_always;
use crate::input::ids::{self, has_people};
use crate::input::join::{by_key, matches, row_keys};
use crate::input::names::{check_unique, unknown};
use crate::input::resolve::{InputFile, resolve};
use crate::input::schema::{ColumnInfo, Way, how};
use crate::store::Place;
use crate::{OpenOptions, Series, Stack, TableSource};

/// Input files, opened and joined into one table.
pub struct Dataset {
    pub(crate) table: Arc<dyn Table>,
    pub(crate) files: Vec<String>,
    pub(crate) options: OpenOptions,
    // Rows of the first file whose key is missing or not in every other file.
    pub(crate) unmatched: Vec<bool>,
    // What the user should know of the files.
    pub(crate) notes: Vec<String>,
    // Covariates of side files, which no feature may be called like.
    pub(crate) side_covariates: Vec<String>,
    // The weight of each row, 0 of one that is left out, once they are known.
    pub(crate) weight: Option<Vec<f64>>,
}

/// Opens paths, globs, or `-` for standard input, and joins them into one table.
///
/// Files with the same columns stack as rows and files with disjoint columns join side by
/// side, by position or by [`OpenOptions::key`]; anything else is an error that names both.
pub fn open(inputs: &[String], options: &OpenOptions) -> Result<Dataset> {
    let place = Place::new(options);
    let (mut files, mut tables, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for InputFile { path, format } in resolve(inputs, options)? {
        place.go_on()?;
        let table = format.open_table(&path, &place)?;
        rows_fit(table.rows(), &place, !options.key.is_empty()).map_err(|e| e.at(&path))?;
        notes.extend(table.note());
        tables.push(table);
        files.push(path);
    }
    let (table, unmatched) = join(tables, &files, options)?;
    let (options, side_covariates, weight) = (options.clone(), Vec::new(), None);
    Ok(Dataset { table, files, options, unmatched, notes, side_covariates, weight })
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

type Tables = Vec<Arc<dyn Table>>;

fn join(
    mut tables: Tables,
    files: &[String],
    options: &OpenOptions,
) -> Result<(Arc<dyn Table>, Vec<bool>)> {
    if tables.len() == 1 {
        return Ok((tables.remove(0), Vec::new()));
    }
    // Files of genotypes are joined by their people, whose columns all of them have.
    let people = tables.iter().all(|table| has_people(table.columns(), &table.labels()));
    let (key, shared) = match people && options.key.is_empty() {
        true => (ids::key(), PEOPLE.map(String::from).to_vec()),
        false => (options.key.clone(), options.key.clone()),
    };
    let options = &OpenOptions { key: shared, ..options.clone() };
    let heads: Vec<(&str, &dyn Schema)> =
        files.iter().zip(&tables).map(|(file, table)| (file.as_str(), &**table as _)).collect();
    if how(&heads, options, Way::Columns)? == Stack::Rows {
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
        align(&mut tables, files, &key)?
    };
    let joined = SideBySide::new(tables, &options.key);
    if let Err(error) = check_unique(joined.columns().iter().map(|c| c.name.as_str())) {
        let Error::Duplicate { name } = &error else { return Err(error) };
        let mut places = joined.columns().iter().filter(|c| c.name == *name);
        let file = places.nth(1).map_or("", |c| files[c.file as usize].as_str());
        return Err(error.at(file));
    }
    Ok((Arc::new(joined), unmatched))
}

/// Puts the rows of the other tables in the order of the first one's keys.
fn align(tables: &mut Tables, files: &[String], key: &[String]) -> Result<Vec<bool>> {
    let left = row_keys(&*tables[0], key).map_err(|e| e.at(&files[0]))?;
    by_key(&left, key).map_err(|e| e.at(&files[0]))?;
    let mut unmatched: Vec<bool> = left.iter().map(Option::is_none).collect();
    for (table, file) in tables.iter_mut().zip(files).skip(1) {
        let right = row_keys(&**table, key).map_err(|e| e.at(file))?;
        let take = matches(&left, &by_key(&right, key).map_err(|e| e.at(file))?);
        if take.len() == right.len() && take.iter().enumerate().all(|(i, row)| i == *row as usize) {
            continue;
        }
        unmatched.iter_mut().zip(&take).for_each(|(u, row)| *u |= *row == u32::MAX);
        *table = Arc::new(Reordered::new(Arc::clone(table), take));
    }
    Ok(unmatched)
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

    /// Counts rows as a problem does from here on: a row of weight 2 is as two rows, and one that
    /// is left out is none. Which level of a category is the reference goes by that.
    pub fn weigh(&mut self, problem: &Problem) {
        let mut weight = vec![0.0; problem.rows.input()];
        for row in 0..problem.rows.used() {
            weight[problem.rows.source_row(row)] = problem.weight.as_ref().map_or(1.0, |v| v[row]);
        }
        self.weight = Some(weight);
    }

    /// Every name of `--always` is a feature; a level of a category goes by its column's name.
    pub fn knows(&self, always: &HashSet<String>, not_features: &[String]) -> Result<()> {
        let names = self.table.columns().iter().map(|c| &c.name);
        let features = names.filter(|name| !not_features.contains(name));
        check_always(always, features.map(String::as_str))
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
