//! Target, weights, offset and covariates, joined to the rows of the input.

use keepnet::{Covariate, Error, LossKind, Problem, Result, RowMap, Task};

use crate::input::find::{Finder, Found};
use crate::input::series::SeriesValues;
use crate::input::task::{decide, target};
use crate::{Dataset, OpenOptions};

/// What is asked of the rows, as the user writes it.
#[derive(Clone, Debug, Default)]
pub struct ProblemSpec {
    /// A column of the input, a file, or `FILE:COLUMN`; empty for the label of a svm file.
    pub target: String,
    /// Regression or classification; `None` decides by the loss and the target.
    pub task: Option<Task>,
    /// The loss, where one was chosen.
    pub loss: Option<LossKind>,
    /// Sample weights, written as the target is.
    pub weight: Option<String>,
    /// An offset of the prediction, written as the target is.
    pub offset: Option<String>,
    /// `FILE` or `FILE:COL,COL`: unpenalised columns.
    pub covar: Option<String>,
    /// Whether every class is to weigh the same.
    pub balanced: bool,
    /// Columns that identify a row; empty joins by position.
    pub key: Vec<String>,
}

/// A problem and how its rows came together.
#[derive(Clone, Debug)]
pub struct Joined {
    /// What is asked of the rows.
    pub problem: Problem,
    /// Columns of the input that are no features: target, weights, offset and keys.
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
    pub task_reason: String,
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
    let mut finder = Finder::new(dataset, &spec.key, options)?;
    let y = finder.find(&spec.target, "the target")?;
    let mut optional = |spec: &Option<String>, what: &str| {
        spec.as_ref().map(|spec| finder.find(spec, what)).transpose()
    };
    let weight = optional(&spec.weight, "the sample weight")?;
    let offset = optional(&spec.offset, "the offset")?;
    let covariates = match &spec.covar {
        Some(covar) => finder.covariates(covar)?,
        None => Vec::new(),
    };
    let (unmatched, mut notes) = (finder.unmatched, finder.notes);

    let matched = |row: &usize| !unmatched[*row];
    let has_target = |row: &usize| !y.series.is_missing(*row);
    let take: Vec<u32> =
        (0..input).filter(|r| matched(r) && has_target(r)).map(|row| row as u32).collect();
    let masked_target = (0..input).filter(|r| matched(r) && !has_target(r)).count();
    let missing = unmatched.iter().filter(|u| **u).count();
    if take.is_empty() {
        return Err(Error::Data(format!(
            "no row can be used: {missing} of {input} rows have no match by key and \
             {masked_target} have no target"
        )));
    }
    let rows = RowMap::new(input, take)?;
    let used = rows.used();

    let (task, task_reason) = decide(spec.task, spec.loss, &y.series, &rows);
    let mut problem = Problem::new(target(&y.series, &rows, task)?);
    problem.weight = weight.as_ref().map(|w| values(w, &rows)).transpose()?;
    problem.offset = offset.as_ref().map(|o| values(o, &rows)).transpose()?;
    for found in &covariates {
        let name = found.series.name.clone();
        problem.covariates.push(Covariate { name, values: values(found, &rows)? });
    }
    if spec.balanced {
        problem.balance()?;
    }
    problem.rows = rows;
    let found = [Some(&y), weight.as_ref(), offset.as_ref()];
    let columns = found.into_iter().flatten().chain(&covariates);
    let columns = columns.filter_map(|found| found.column.clone());
    let not_features: Vec<String> = columns.chain(spec.key.iter().cloned()).collect();
    if masked_target > 0 {
        notes.push(format!("{masked_target} rows have no target and are left out"));
    }
    if missing > 0 {
        notes.push(format!("{missing} rows have no match by key and are left out"));
    }
    Ok(Joined {
        problem,
        not_features,
        matched_by: match spec.key.is_empty() {
            true => "position".into(),
            false => format!("key {}", spec.key.join(",")),
        },
        input,
        used,
        masked_target,
        unmatched: missing,
        task_reason,
        notes,
    })
}

/// The numbers of the rows that count; an error where one is missing.
fn values(found: &Found, rows: &RowMap) -> Result<Vec<f64>> {
    let SeriesValues::Numbers { values, .. } = &found.series.values else {
        let name = &found.series.name;
        return Err(Error::Data(format!("{} {name:?} is text, expected numbers", found.what)));
    };
    (0..rows.used())
        .map(|row| {
            let row = rows.source_row(row);
            match values[row] {
                v if v.is_finite() => Ok(v),
                _ => Err(Error::Data(format!(
                    "{} {:?} has a missing or infinite value at row {row}",
                    found.what, found.series.name
                ))),
            }
        })
        .collect()
}
