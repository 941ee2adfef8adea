//! What is asked of a row stream: which column or file is the target, and which are features.

use keepnet::{Error, LossKind, Result, Task};

use super::beside::Beside;
use crate::dataset::ColumnKind;
use crate::find::split;
use crate::names::{NameSet, no_column_or_file};
use crate::svm::LABEL;
use crate::{Categorical, Format, OpenOptions};

/// What is asked of the rows.
#[derive(Clone, Debug, Default)]
pub struct RowSpec {
    /// A column, a file, or `FILE:COLUMN`; empty for the label of svm text.
    pub target: String,
    /// The task, where it was named.
    pub task: Option<Task>,
    /// The loss, where it was named; it can decide the task.
    pub loss: Option<LossKind>,
    /// A column of weights.
    pub weight: Option<String>,
    /// A column that the prediction is added to; for numbers only.
    pub offset: Option<String>,
    /// Every class weighs the same; needs files, as the classes are counted beforehand.
    pub balanced: bool,
    /// `FILE`, `FILE:COL,COL`, or columns of the input: values that are no features.
    pub covar: Option<String>,
    /// Columns by which target and covariates of other files are joined; empty is by position.
    pub key: Vec<String>,
}

/// Where the target of a row is.
pub(crate) enum TargetAt {
    Column(usize),
    Label,
    Aside(Beside),
}

/// One class or number as it stands in the data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Label {
    Number(f64),
    Text(Box<str>),
}

/// Columns that are features, by the flags and their kinds.
pub(crate) fn features(
    columns: &[(String, ColumnKind)],
    taken: impl Fn(usize) -> bool,
    options: &OpenOptions,
) -> Result<Vec<usize>> {
    let only = NameSet::new(&options.columns, "columns")?;
    let not = NameSet::new(&options.exclude, "exclude")?;
    let mut features = Vec::new();
    for (c, (name, kind)) in columns.iter().enumerate() {
        if taken(c) || options.key.contains(name) || not.contains(name) {
            continue;
        }
        if !only.is_empty() && !only.contains(name) {
            continue;
        }
        let what = match kind {
            ColumnKind::Text => "text",
            ColumnKind::Other(kind) => kind,
            _ => {
                features.push(c);
                continue;
            }
        };
        match options.categorical {
            Categorical::Skip => {}
            _ => {
                return Err(Error::Data(format!(
                    "column {name:?} is {what}, which a row stream cannot use; \
                     leave it out with --categorical skip or --exclude"
                )));
            }
        }
    }
    if features.is_empty() {
        return Err(Error::Data("no column is left as a feature".into()));
    }
    Ok(features)
}

/// Where the target that was asked for is.
pub(crate) fn find_target(
    spec: &RowSpec,
    columns: &[(String, ColumnKind)],
    format: Format,
    options: &OpenOptions,
) -> Result<TargetAt> {
    if format == Format::Svm && (spec.target.is_empty() || spec.target == LABEL) {
        return Ok(TargetAt::Label);
    }
    if spec.target.is_empty() {
        return Err(Error::param("target", "not given", "--target COLUMN or FILE"));
    }
    if format != Format::Svm
        && let Some(c) = columns.iter().position(|c| c.0 == spec.target)
    {
        return Ok(TargetAt::Column(c));
    }
    let Some((path, column)) = split(&spec.target) else {
        let names = columns.iter().map(|c| c.0.as_str());
        return Err(no_column_or_file(&spec.target, names).at("the target"));
    };
    let names = column.map(|column| vec![column.to_string()]);
    let beside = Beside::open(path, names, &spec.key, options)?;
    if beside.names.len() != 1 {
        let count = beside.names.len();
        let what = format!("the file has {count} columns; say which with {path}:COLUMN");
        return Err(Error::Data(what).at(path));
    }
    Ok(TargetAt::Aside(beside))
}
