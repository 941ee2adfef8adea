//! The problem of a table: target, weights, offset and covariates, joined to its rows.

use std::collections::HashMap;

use keepnet::{Covariate, Error, Problem, Result, RowMap, Target, Task};

use crate::input::join::{by_key, reorder, row_keys};
use crate::input::schema::ColumnKind;
use crate::input::series::SeriesValues;
use crate::input::target::{Asked, Found, Location, ProblemSpec};
use crate::input::task::{Distinct, Seen, TaskReason, decide};
use crate::{Categorical, Dataset, OpenOptions, Series};

/// A problem and how its rows came together.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The target's name.
    pub target: String,
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
    let mut joined = build_problems(dataset, spec, options)?;
    match joined.len() {
        1 => Ok(joined.remove(0)),
        several => {
            let got = format!("{several} columns");
            Err(Error::param("target", got, "one target: several go with `select` only"))
        }
    }
}

/// The same for every target of one read: each has rows, a task and notes of its own, as if it
/// were the only one, except that no target is a feature of another.
pub fn build_problems(
    dataset: &mut Dataset,
    spec: &ProblemSpec,
    options: &OpenOptions,
) -> Result<Vec<Joined>> {
    let asked = Asked::find(&*dataset.table, &dataset.files, spec, options)?;
    let keys = input_keys(dataset, &asked.key(&spec.key))?;
    let joining = Joining::new(dataset, &asked, &keys)?;
    let several = !asked.more.is_empty();
    let named = |found: &Found, error: Error| match several {
        true => error.at(format!("target {:?}", found.name)),
        false => error,
    };
    let one = |found: &Found| joining.join(found, spec).map_err(|error| named(found, error));
    let joined: Vec<Joined> = asked.targets().map(one).collect::<Result<_>>()?;
    let Joined { problem: first, .. } = &joined[0];
    let same =
        |other: &Joined| other.problem.rows == first.rows && other.problem.weight == first.weight;
    if options.categorical == Categorical::OneHot && !joined.iter().all(same) {
        return Err(Error::Unsupported(
            "the reference level of a category goes by the rows of a target, and these targets \
             have different rows; select for each target in a run of its own, or choose \
             --categorical codes or skip"
                .into(),
        ));
    }
    let first = first.clone();
    dataset.side_covariates = asked.side_covariates().map(String::from).collect();
    dataset.weigh(&first);
    Ok(joined)
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
}

impl<'a> Joining<'a> {
    fn new(dataset: &'a Dataset, asked: &'a Asked, keys: &[Option<String>]) -> Result<Self> {
        let mut takes = Vec::new();
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
            takes.push(Some(take));
        }
        Ok(Self { dataset, asked, takes })
    }

    /// Rows without a match in the files that a target needs, and what there is to say of these.
    fn unmatched(&self, found: &Found) -> (Vec<bool>, Vec<String>) {
        let Dataset { unmatched, notes, .. } = self.dataset;
        let (mut unmatched, mut notes) = (unmatched.clone(), notes.clone());
        unmatched.resize(self.dataset.rows(), false);
        for file in self.asked.sides_of(found) {
            let Some(take) = &self.takes[file] else { continue };
            unmatched.iter_mut().zip(take).for_each(|(u, row)| *u |= *row == u32::MAX);
            let matched = take.iter().filter(|row| **row != u32::MAX).count();
            notes.extend(self.asked.sides[file].note(matched));
        }
        (unmatched, notes)
    }

    /// The problem of one target.
    fn join(&self, found: &Found, spec: &ProblemSpec) -> Result<Joined> {
        let (asked, input) = (self.asked, self.dataset.rows());
        let y = self.series(found)?;
        let (no_match, mut notes) = self.unmatched(found);
        let matched = |row: &usize| !no_match[*row];
        let has_target = |row: &usize| !y.is_missing(*row);
        let take: Vec<u32> =
            (0..input).filter(|r| matched(r) && has_target(r)).map(|row| row as u32).collect();
        let masked_target = (0..input).filter(|r| matched(r) && !has_target(r)).count();
        let unmatched = no_match.iter().filter(|u| **u).count();
        if take.is_empty() {
            return Err(Error::Data(format!(
                "no row can be used: {unmatched} of {input} rows have no match by key and \
                 {masked_target} have no target"
            )));
        }
        let rows = RowMap::new(input, take)?;
        let used = rows.used();
        let (task, task_reason) = decide(spec.task, spec.loss, || Ok(seen(found, &y, &rows)))?;
        let mut problem = Problem::new(target(found, &y, &rows, task)?);
        let numbers = |found: &Found| numbers(found, &self.series(found)?, &rows);
        problem.weight = asked.weight.as_ref().map(numbers).transpose()?;
        problem.offset = asked.offset.as_ref().map(numbers).transpose()?;
        for one in &asked.covariates {
            problem.covariates.push(Covariate { name: one.name.clone(), values: numbers(one)? });
        }
        if spec.balanced {
            if task == Task::Regression {
                return Err(no_classes());
            }
            problem.balance()?;
        }
        problem.rows = rows;
        notes.extend(task_reason.warning());
        if masked_target > 0 {
            notes.push(format!("{masked_target} rows have no target and are left out"));
        }
        if unmatched > 0 {
            notes.push(format!("{unmatched} rows have no match by key and are left out"));
        }
        let table = &self.dataset.table;
        let columns = asked.taken().into_iter().map(|c| table.columns()[c].name.clone());
        Ok(Joined {
            target: found.name.clone(),
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
