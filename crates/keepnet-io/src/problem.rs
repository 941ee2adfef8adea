//! Target, weights, offset and covariates, joined to the rows of the input.

use keepnet::{Error, LossKind, Problem, Result, Task};

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
    let _ = (dataset, spec, options);
    Err(Error::Unsupported("no format is read yet".into()))
}
