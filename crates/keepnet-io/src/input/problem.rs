//! The problem of a table: target, weights, offset and covariates, joined to its rows.

use std::collections::HashMap;

use keepnet::{Covariate, Error, Problem, Result, RowMap, Target, Task};

use crate::input::join::{by_key, reorder, row_keys};
use crate::input::schema::ColumnKind;
use crate::input::series::SeriesValues;
use crate::input::target::{Asked, Found, Location, ProblemSpec};
use crate::input::task::{Distinct, Seen, TaskReason, decide};
use crate::{Dataset, OpenOptions, Series};

/// A problem and how its rows came together.
#[derive(Clone, Debug)]
pub struct Joined {
    /// What is asked of the rows.
    pub problem: Problem,
    /// Columns of the input that are no features: target, weights, offset, covariates and keys.
    pub not_features: Vec<String>,
    /// `position`, or `key COL`.
    pub matched_by: String,
    /// Rows of the input.
    pub input: usize,
    /// Rows that count.
    pub used: usize,
    /// Rows left out because their target is missing.
    pub masked_target: usize,
    /// Rows left out because their key has no match.
    pub unmatched: usize,
    /// Why this is regression or classification.
    pub task_reason: TaskReason,
    /// What else the user should know.
    pub notes: Vec<String>,
}

/// Finds target, weights, offset and covariates and joins them to the rows of the input.
pub fn build_problem(
    dataset: &mut Dataset,
    spec: &ProblemSpec,
    options: &OpenOptions,
) -> Result<Joined> {
    let input = dataset.rows();
    let asked = Asked::find(&*dataset.table, &dataset.files, spec, options)?;
    let keys = input_keys(dataset, &asked.key(&spec.key))?;
    let joining = Joining::new(dataset, &asked, &keys)?;
    let y = joining.series(&asked.target)?;
    let matched = |row: &usize| !joining.unmatched[*row];
    let has_target = |row: &usize| !y.is_missing(*row);
    let take: Vec<u32> =
        (0..input).filter(|r| matched(r) && has_target(r)).map(|row| row as u32).collect();
    let masked_target = (0..input).filter(|r| matched(r) && !has_target(r)).count();
    let unmatched = joining.unmatched.iter().filter(|u| **u).count();
    if take.is_empty() {
        return Err(Error::Data(format!(
            "no row can be used: {unmatched} of {input} rows have no match by key and \
             {masked_target} have no target"
        )));
    }
    let rows = RowMap::new(input, take)?;
    let used = rows.used();
    let (task, task_reason) = decide(spec.task, spec.loss, || Ok(seen(&asked.target, &y, &rows)))?;
    let mut problem = Problem::new(target(&asked.target, &y, &rows, task)?);
    let numbers = |found: &Found| numbers(found, &joining.series(found)?, &rows);
    problem.weight = asked.weight.as_ref().map(numbers).transpose()?;
    problem.offset = asked.offset.as_ref().map(numbers).transpose()?;
    for found in &asked.covariates {
        problem.covariates.push(Covariate { name: found.name.clone(), values: numbers(found)? });
    }
    if spec.balanced {
        if task == Task::Regression {
            return Err(no_classes());
        }
        problem.balance()?;
    }
    problem.rows = rows;
    let mut notes = joining.notes;
    notes.extend(task_reason.warning());
    if masked_target > 0 {
        notes.push(format!("{masked_target} rows have no target and are left out"));
    }
    if unmatched > 0 {
        notes.push(format!("{unmatched} rows have no match by key and are left out"));
    }
    dataset.weigh(&problem);
    dataset.side_covariates = asked.side_covariates().map(String::from).collect();
    let columns = asked.taken().into_iter().map(|c| dataset.table.columns()[c].name.clone());
    Ok(Joined {
        problem,
        not_features: columns.chain(spec.key.iter().cloned()).collect(),
        matched_by: asked.matched_by(&spec.key),
        input,
        used,
        masked_target,
        unmatched,
        task_reason,
        notes,
    })
}

/// The error for balanced classes where there are none.
pub(crate) fn no_classes() -> Error {
    Error::param("class-weight", "balanced", "a target of classes")
}

/// The keys of the input's rows, which must differ; none where rows are matched by position.
fn input_keys(dataset: &Dataset, key: &[String]) -> Result<Vec<Option<String>>> {
    if key.is_empty() {
        return Ok(Vec::new());
    }
    let keys = row_keys(&*dataset.table, key).map_err(|e| e.at(&dataset.files[0]))?;
    by_key(&keys, key).map_err(|e| e.at(&dataset.files[0]))?;
    Ok(keys)
}

/// A table and its side files, row by row.
struct Joining<'a> {
    dataset: &'a Dataset,
    asked: &'a Asked,
    // For each side file its row for each row of the table, where rows are matched by key.
    takes: Vec<Option<Vec<u32>>>,
    /// Rows without a match.
    unmatched: Vec<bool>,
    notes: Vec<String>,
}

impl<'a> Joining<'a> {
    fn new(dataset: &'a Dataset, asked: &'a Asked, keys: &[Option<String>]) -> Result<Self> {
        let mut unmatched = dataset.unmatched.clone();
        unmatched.resize(dataset.rows(), false);
        let (mut takes, mut notes) = (Vec::new(), Vec::new());
        for side in &asked.sides {
            side.check_rows(dataset.rows())?;
            if !side.keyed() {
                takes.push(None);
                continue;
            }
            let take = keys.iter().map(|key| side.row(key.as_deref(), 0));
            let take: Vec<u32> = take
                .map(|row| Ok(row?.map_or(u32::MAX, |row| row as u32)))
                .collect::<Result<_>>()?;
            unmatched.iter_mut().zip(&take).for_each(|(u, row)| *u |= *row == u32::MAX);
            notes.extend(side.note(take.iter().filter(|row| **row != u32::MAX).count()));
            takes.push(Some(take));
        }
        Ok(Self { dataset, asked, takes, unmatched, notes })
    }

    /// A column in the order of the table's rows.
    fn series(&self, found: &Found) -> Result<Series> {
        let values = match found.at {
            Location::Column(at) => {
                let file = self.dataset.table.columns()[at].file as usize;
                let values = self.dataset.table.series(at);
                values.map_err(|e| e.at(&self.dataset.files[file]))?
            }
            Location::SideFile { file, column } => {
                let values = self.asked.sides[file].values(column).clone();
                match &self.takes[file] {
                    Some(take) => reorder(values, take),
                    None => values,
                }
            }
        };
        Ok(Series { name: found.name.clone(), values })
    }
}

/// What the target's values are in the rows that count.
fn seen(found: &Found, y: &Series, rows: &RowMap) -> Seen {
    let SeriesValues::Numbers { values, .. } = &y.values else { return Seen::Text };
    if found.kind == ColumnKind::Bool {
        return Seen::Boolean;
    }
    let mut distinct = Distinct::default();
    let _ = (0..rows.used()).all(|row| distinct.see(values[rows.source_row(row)]));
    Seen::Numbers(distinct)
}

/// The target of the rows that count.
fn target(found: &Found, y: &Series, rows: &RowMap, task: Task) -> Result<Target> {
    let used = || (0..rows.used()).map(|row| rows.source_row(row));
    match (&y.values, task) {
        (SeriesValues::Numbers { values, .. }, Task::Regression) => {
            Ok(Target::Numbers(used().map(|row| values[row]).collect()))
        }
        (SeriesValues::Text(_), Task::Regression) => Err(found.text_target()),
        (SeriesValues::Numbers { values, .. }, Task::Classification) => {
            // Negative zero is the same class as zero.
            let value = |row: usize| values[row] + 0.0;
            let mut levels: Vec<f64> = used().map(value).collect();
            levels.sort_unstable_by(f64::total_cmp);
            levels.dedup();
            let codes: HashMap<u64, u32> =
                levels.iter().enumerate().map(|(code, v)| (v.to_bits(), code as u32)).collect();
            let codes = used().map(|row| codes[&value(row).to_bits()]).collect();
            let names = levels.iter().map(f64::to_string).collect();
            Ok(Target::Classes { names, codes })
        }
        (SeriesValues::Text(values), Task::Classification) => {
            let value = |row: usize| values[row].as_deref().unwrap_or("");
            let mut names: Vec<&str> = used().map(value).collect();
            names.sort_unstable();
            names.dedup();
            let codes: HashMap<&str, u32> =
                names.iter().enumerate().map(|(code, name)| (*name, code as u32)).collect();
            let codes = used().map(|row| codes[value(row)]).collect();
            Ok(Target::Classes { names: names.into_iter().map(String::from).collect(), codes })
        }
    }
}

/// The numbers of the rows that count; an error where one is missing.
fn numbers(found: &Found, series: &Series, rows: &RowMap) -> Result<Vec<f64>> {
    let SeriesValues::Numbers { values, .. } = &series.values else {
        return Err(Error::Data(format!("{} {:?} is text", found.what, found.name)));
    };
    let value = |row: usize| {
        let row = rows.source_row(row);
        if values[row].is_finite() { Ok(values[row]) } else { Err(found.missing(row)) }
    };
    (0..rows.used()).map(value).collect()
}
