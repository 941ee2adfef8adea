//! What is asked of a row stream: which column or file is the target, and which are features.

use std::collections::HashSet;

use keepnet::{Error, LossKind, Result, Task};

use crate::formats::chunk::ChunkReader;
use crate::formats::svm::table::LABEL;
use crate::input::dataset::ColumnKind;
use crate::input::find::split;
use crate::input::names::{NameSet, no_column_or_file};
use crate::input::rows::open_one;
use crate::input::series::SeriesValues;
use crate::input::side_file::Beside;
use crate::store::Place;
use crate::{Categorical, Format, OpenOptions, ProblemSpec};

/// What is asked of the rows.
#[derive(Clone, Debug, Default)]
pub struct RowSpec {
    /// A column, a file, or `FILE:COLUMN`; empty for the label of svm text.
    pub target: String,
    /// The task, where it was named.
    pub task: Option<Task>,
    /// The loss, where it was named; it can decide the task.
    pub loss: Option<LossKind>,
    /// Weights, written as the target is.
    pub weight: Option<String>,
    /// What the prediction is added to, written as the target is; for numbers only.
    pub offset: Option<String>,
    /// Every class weighs the same; needs files, as the classes are counted beforehand.
    pub balanced: bool,
    /// Rows with a missing value are left out later, and do not count in balanced classes.
    pub drop_row: bool,
    /// `FILE`, `FILE:COL,COL`, or columns of the input: values that are no features.
    pub covar: Option<String>,
    /// Columns by which target and covariates of other files are joined; empty is by position.
    pub key: Vec<String>,
}

impl From<ProblemSpec> for RowSpec {
    fn from(asked: ProblemSpec) -> Self {
        let ProblemSpec { target, task, loss, weight, offset, covar, balanced, key } = asked;
        Self { target, task, loss, weight, offset, balanced, drop_row: false, covar, key }
    }
}

/// Where the target of a row is.
pub(crate) enum TargetAt {
    Column(usize),
    Label,
    Aside(Beside),
}

/// Where a number of each row is: in the stream, or in a file.
pub(crate) enum NumberAt {
    Column(usize),
    Aside(Beside),
}

/// A number of each row that is no feature: its weight, or its offset.
pub(crate) struct Extra {
    /// What it is for, as in "the sample weight".
    pub(crate) what: &'static str,
    pub(crate) name: String,
    pub(crate) at: NumberAt,
}

impl Extra {
    /// Finds what was asked for: a column, a file, or `FILE:COLUMN`.
    pub(crate) fn find(
        asked: Option<&str>,
        what: &'static str,
        key: &[String],
        columns: &[(String, ColumnKind)],
        options: &OpenOptions,
    ) -> Result<Option<Self>> {
        let Some(asked) = asked else { return Ok(None) };
        let text = |name: &str| Error::Data(format!("{what} {name:?} is text, expected numbers"));
        if let Some(c) = columns.iter().position(|c| c.0 == asked) {
            return match columns[c].1 {
                ColumnKind::Text | ColumnKind::Other(_) => Err(text(asked)),
                _ => Ok(Some(Self { what, name: asked.into(), at: NumberAt::Column(c) })),
            };
        }
        let beside = one_column(asked, what, key, columns, options)?;
        let name = beside.names[0].clone();
        match beside.columns[0] {
            SeriesValues::Text(_) => Err(text(&name)),
            _ => Ok(Some(Self { what, name, at: NumberAt::Aside(beside) })),
        }
    }

    /// The column of the stream that it takes up.
    pub(crate) fn column(&self) -> Option<usize> {
        match self.at {
            NumberAt::Column(c) => Some(c),
            NumberAt::Aside(_) => None,
        }
    }

    /// The file that it is in.
    pub(crate) fn aside(&self) -> Option<&Beside> {
        match &self.at {
            NumberAt::Column(_) => None,
            NumberAt::Aside(beside) => Some(beside),
        }
    }

    /// The error of a row whose number is `value`, which is no number.
    pub(crate) fn missing(&self, row: u64) -> Error {
        let Self { what, name, .. } = self;
        Error::Data(format!("{what} {name:?} has a missing or infinite value at row {row}"))
    }
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
    files: &[(String, Format)],
    options: &OpenOptions,
) -> Result<Vec<usize>> {
    let paths = || files.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>().join(", ");
    let only = NameSet::new(&options.columns, "columns")?;
    let not = NameSet::new(&options.exclude, "exclude")?;
    if !only.is_empty() || !not.is_empty() {
        let known: HashSet<&str> = columns.iter().map(|c| c.0.as_str()).collect();
        only.check_known(&known).map_err(|e| e.at("--columns"))?;
        not.check_known(&known).map_err(|e| e.at("--exclude"))?;
    }
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
                ))
                .at(&files[0].0));
            }
        }
    }
    if features.is_empty() {
        return Err(Error::Data("no column of the input is a feature".into()).at(paths()));
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
    one_column(&spec.target, "the target", &spec.key, columns, options).map(TargetAt::Aside)
}

/// The one column that `FILE` or `FILE:COLUMN` stands for.
fn one_column(
    asked: &str,
    what: &str,
    key: &[String],
    columns: &[(String, ColumnKind)],
    options: &OpenOptions,
) -> Result<Beside> {
    let Some((path, column)) = split(asked) else {
        let names = columns.iter().map(|c| c.0.as_str());
        return Err(no_column_or_file(asked, names).at(what));
    };
    let names = column.map(|column| vec![column.to_string()]);
    let beside = Beside::open(path, names, key, options)?;
    if beside.names.len() != 1 {
        let count = beside.names.len();
        let what = format!("the file has {count} columns; say which with {path}:COLUMN");
        return Err(Error::Data(what).at(path));
    }
    Ok(beside)
}

/// The columns of the stream: those of the first file, and of svm text the widest of all files.
pub(crate) fn all_columns(
    first: &[(String, ColumnKind)],
    files: &[(String, Format)],
    place: &Place,
) -> Result<Vec<(String, ColumnKind)>> {
    let mut columns = first.to_vec();
    if files.len() == 1 || files.iter().any(|(_, format)| *format != Format::Svm) {
        return Ok(columns);
    }
    // A file whose rows are all zero names no feature, and says nothing of the others.
    let range = |columns: &[(String, ColumnKind)]| -> Option<(u32, u32)> {
        let (low, high) = (columns.get(1)?, columns.last()?);
        Some((low.0.parse().ok()?, high.0.parse().ok()?))
    };
    let mut ranges = vec![range(first)];
    for (path, format) in &files[1..] {
        ranges.push(range(open_one(path, *format, place)?.columns()));
    }
    let wider = |a: (u32, u32), b: (u32, u32)| (a.0.min(b.0), a.1.max(b.1));
    columns.truncate(1);
    if let Some((least, most)) = ranges.into_iter().flatten().reduce(wider) {
        columns.extend((least..=most).map(|j| (j.to_string(), ColumnKind::Float)));
    }
    Ok(columns)
}

/// Gives columns without a value in the first file, as far as its head shows, the kind that a later
/// one has; which are left without.
pub(crate) fn settle(
    columns: &mut [(String, ColumnKind)],
    first: &dyn ChunkReader,
    files: &[(String, Format)],
    place: &Place,
) -> Result<Vec<bool>> {
    let mut blank: Vec<bool> = (0..columns.len()).map(|c| first.blank(c)).collect();
    for (path, format) in files[1..].iter().filter(|(path, _)| path != "-") {
        if !blank.contains(&true) {
            break;
        }
        let reader = open_one(path, *format, place)?;
        for (c, (name, kind)) in reader.columns().iter().enumerate().take(columns.len()) {
            if blank[c] && columns[c].0 == *name && !reader.blank(c) {
                (columns[c].1, blank[c]) = (kind.clone(), false);
            }
        }
    }
    Ok(blank)
}

/// What a run's target is, in words that are the same for every part of the rows.
pub(crate) fn described(
    target: &TargetAt,
    columns: &[(String, ColumnKind)],
    spec: &RowSpec,
    (weight, offset): (&Option<Extra>, &Option<Extra>),
) -> String {
    let mut text = match target {
        TargetAt::Column(c) => columns[*c].0.clone(),
        TargetAt::Label => LABEL.into(),
        TargetAt::Aside(beside) => beside.names[0].clone(),
    };
    for (extra, how) in [(offset, "less"), (weight, "weighed by")] {
        extra.iter().for_each(|extra| text += &format!(" {how} {}", extra.name));
    }
    if spec.balanced {
        text += " in balanced classes";
    }
    text
}
