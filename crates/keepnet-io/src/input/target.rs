//! Where target, weight, offset and covariates are: one finder for columns and for rows.
//!
//! Each is a column of the input or of a side file ([`Location`]); the label of svm text is a
//! column of the input. [`Asked`] holds what was found, and the side files.
//!
//! Several targets of one read (`FILE:Y1,Y2`, `FILE:*`, `Y1,Y2`) are found as covariates are; each
//! makes a problem of its own on the same source (`problem`).

use keepnet::{Error, LossKind, Result, Task};

use crate::OpenOptions;
use crate::formats::table::{Fingerprint, Schema};
use crate::input::ids::{self, has_people};
use crate::input::join::{key_places, matched_by};
use crate::input::names::no_column_or_file;
use crate::input::resolve::split;
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::input::side_file::SideFile;

/// Where the target is, as the user writes it: a column of the input, a file, `FILE:COLUMN`, or
/// several targets as `COL,COL`, `FILE:COL,COL` and `FILE:*`. Empty is the label of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetSpec(pub Vec<String>);

impl<T: Into<String>> From<T> for TargetSpec {
    fn from(text: T) -> Self {
        Self(vec![text.into()])
    }
}

/// What is asked of the rows, as the user writes it.
#[derive(Clone, Debug, Default)]
pub struct ProblemSpec {
    /// What to predict.
    pub target: TargetSpec,
    /// Regression or classification; `None` decides by the loss and the target.
    pub task: Option<Task>,
    /// The loss, where one was chosen; it can decide the task.
    pub loss: Option<LossKind>,
    /// Sample weights: a column of the input, a file, or `FILE:COLUMN`.
    pub weight: Option<String>,
    /// An offset of the prediction, written as the weights are; for numbers only.
    pub offset: Option<String>,
    /// `FILE`, `FILE:COL,COL`, or columns of the input: unpenalised, and no features.
    pub covar: Option<String>,
    /// Whether every class is to weigh the same; rows must then come from files.
    pub balanced: bool,
    /// Columns that identify a row; empty joins by position.
    pub key: Vec<String>,
    /// On a stream of rows: whether rows with a missing value are left out later, and do not count
    /// in balanced classes.
    pub drop_row: bool,
}

/// Where the values of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A column of the input.
    Column(usize),
    /// A column of a side file.
    SideFile { file: usize, column: usize },
}

/// A column that was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// What it is for, as in "the target".
    pub(crate) what: &'static str,
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
    pub(crate) at: Location,
}

impl Found {
    /// The error of a row whose value is no number.
    pub(crate) fn missing(&self, row: impl std::fmt::Display) -> Error {
        let Self { what, name, .. } = self;
        Error::Data(format!("{what} {name:?} has a missing or infinite value at row {row}"))
    }

    /// The error of a target of text in a regression.
    pub(crate) fn text_target(&self) -> Error {
        let Self { what, name, .. } = self;
        Error::Data(format!(
            "{what} {name:?} is text, which regression cannot use; choose --task classification"
        ))
    }
}

/// What is asked of the rows, found.
pub(crate) struct Asked {
    pub(crate) target: Found,
    /// Further targets of the same read.
    pub(crate) more: Vec<Found>,
    pub(crate) weight: Option<Found>,
    pub(crate) offset: Option<Found>,
    pub(crate) covariates: Vec<Found>,
    pub(crate) sides: Vec<SideFile>,
}

impl Asked {
    /// Finds everything that `spec` asks for.
    pub(crate) fn find(
        input: &dyn Schema,
        files: &[String],
        spec: &ProblemSpec,
        options: &OpenOptions,
    ) -> Result<Self> {
        let columns = input.columns();
        key_places(columns, &spec.key).map_err(|e| e.at(&files[0]))?;
        let labels = input.labels();
        let mut finder =
            Finder { columns, labels, files, key: &spec.key, options, sides: Vec::new() };
        let mut more = finder.targets(&spec.target)?;
        let target = more.remove(0);
        let mut number = |spec: &Option<String>, what: &'static str| {
            spec.as_ref().map(|spec| finder.number(spec, what)).transpose()
        };
        let weight = number(&spec.weight, "the sample weight")?;
        let offset = number(&spec.offset, "the offset")?;
        let covariates = match &spec.covar {
            Some(covar) => finder.covariates(covar)?,
            None => Vec::new(),
        };
        let mut sides = finder.sides;
        sides.iter_mut().for_each(SideFile::close);
        Ok(Self { target, more, weight, offset, covariates, sides })
    }

    /// The key of the input's rows: as asked, or the ids of people where a side file has them.
    pub(crate) fn key(&self, asked: &[String]) -> Vec<String> {
        match asked.is_empty() && self.sides.iter().any(SideFile::by_ids) {
            true => ids::key(),
            false => asked.to_vec(),
        }
    }

    /// How rows are matched, as the result says it.
    pub(crate) fn matched_by(&self, asked: &[String]) -> String {
        matched_by(&self.key(asked))
    }

    /// The targets, at least one.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Found> {
        std::iter::once(&self.target).chain(&self.more)
    }

    /// What belongs to every target.
    fn common(&self) -> impl Iterator<Item = &Found> {
        self.weight.iter().chain(&self.offset).chain(&self.covariates)
    }

    /// The places of the side files that a target needs.
    pub(crate) fn sides_of(&self, target: &Found) -> Vec<usize> {
        let file = |found: &Found| match found.at {
            Location::Column(_) => None,
            Location::SideFile { file, .. } => Some(file),
        };
        let mut files: Vec<usize> =
            std::iter::once(target).chain(self.common()).filter_map(file).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Columns of the input that are no features for what was asked.
    pub(crate) fn taken(&self) -> Vec<usize> {
        let column = |found: &Found| match found.at {
            Location::Column(c) => Some(c),
            Location::SideFile { .. } => None,
        };
        self.targets().chain(self.common()).filter_map(column).collect()
    }

    /// Covariates of side files, by name.
    pub(crate) fn side_covariates(&self) -> impl Iterator<Item = &str> {
        let of_side = |found: &&Found| matches!(found.at, Location::SideFile { .. });
        self.covariates.iter().filter(of_side).map(|found| found.name.as_str())
    }

    /// Mixes the side files into a fingerprint.
    pub(crate) fn fingerprint(&self, print: &mut Fingerprint) {
        self.sides.iter().for_each(|side| print.number(side.fingerprint));
    }

    /// What a run's target is, in words that are the same for every part of the rows.
    pub(crate) fn described(&self, balanced: bool) -> String {
        let mut text = self.target.name.clone();
        for (found, how) in [(&self.offset, "less"), (&self.weight, "weighed by")] {
            found.iter().for_each(|found| text += &format!(" {how} {}", found.name));
        }
        if balanced {
            text += " in balanced classes";
        }
        text
    }
}

/// Finds columns by what the user wrote: a column of the input, a file, or `FILE:COLUMN`.
struct Finder<'a> {
    columns: &'a [ColumnInfo],
    labels: Vec<usize>,
    files: &'a [String],
    key: &'a [String],
    options: &'a OpenOptions,
    sides: Vec<SideFile>,
}

/// What every target is called in an error.
const TARGET: &str = "the target";

/// Names with commas between.
fn list(text: &str) -> Vec<String> {
    text.split(',').map(|name| name.trim().to_string()).collect()
}

impl Finder<'_> {
    /// Every target, at least one; no two have the same name.
    fn targets(&mut self, spec: &TargetSpec) -> Result<Vec<Found>> {
        let mut found: Vec<Found> = Vec::new();
        for text in &spec.0 {
            found.extend(self.target(text)?);
        }
        if found.is_empty() {
            found = self.target("")?;
        }
        for (at, one) in found.iter().enumerate() {
            if found[..at].iter().any(|other| other.name == one.name) {
                let got = format!("{:?} twice", one.name);
                return Err(Error::param("target", got, "targets of different names"));
            }
        }
        Ok(found)
    }

    /// What one text stands for: the label, a column, or several columns. A column that is called
    /// as the text is, commas and all, comes before a list.
    fn target(&mut self, spec: &str) -> Result<Vec<Found>> {
        if spec.is_empty() {
            return match self.labels.first() {
                Some(label) => Ok(vec![self.column(*label, TARGET)?]),
                None => {
                    let got = format!("not given ({} has {})", self.files[0], self.some_columns());
                    Err(Error::param("target", got, "--target COLUMN, FILE or FILE:COLUMN"))
                }
            };
        }
        let several = |names: &str| names == "*" || names.contains(',');
        match split(spec) {
            _ if self.position(spec).is_some() => {}
            // A column of the input may have a name like a list of names.
            Some((path, Some(names)))
                if several(names) && self.is_input(path) && self.position(names).is_some() => {}
            Some((path, Some(names))) if several(names) && self.is_input(path) => {
                return self.own_targets(path, names);
            }
            Some((path, Some(names))) if several(names) => {
                let file = self.side(path, TARGET)?;
                if !self.sides[file].has(names) {
                    let names = match names {
                        "*" => self.sides[file].names(self.key),
                        names => list(names),
                    };
                    if names.is_empty() {
                        let what = "it has no column beside those that identify a row".into();
                        return Err(Error::Data(what).at(path));
                    }
                    return names.iter().map(|n| self.side_column(file, n, TARGET)).collect();
                }
            }
            None if spec.contains(',') => return self.own_targets(spec, spec),
            _ => {}
        }
        Ok(vec![self.find(spec, TARGET)?])
    }

    /// Several columns of the input.
    fn own_targets(&self, spec: &str, names: &str) -> Result<Vec<Found>> {
        if names == "*" {
            let got = format!("{spec}:*, every column of the input");
            return Err(Error::param(
                "target",
                got,
                "some of its columns, COL,COL: the others are features",
            ));
        }
        let one = |name: &String| {
            let at = self.position(name).ok_or_else(|| self.nothing(name).at(TARGET))?;
            self.column(at, TARGET)
        };
        list(names).iter().map(one).collect()
    }

    /// The one column that `spec` stands for.
    fn find(&mut self, spec: &str, what: &'static str) -> Result<Found> {
        if let Some(at) = self.position(spec) {
            return self.column(at, what);
        }
        let Some((path, column)) = split(spec) else {
            return Err(self.nothing(spec).at(what));
        };
        if self.is_input(path) {
            let column = column.ok_or_else(|| which(path))?;
            let at = self.position(column).ok_or_else(|| self.nothing(column).at(what))?;
            return self.column(at, what);
        }
        let file = self.side(path, what)?;
        let name = match column {
            Some(column) => column.to_string(),
            None => self.sides[file].only_column(self.key)?,
        };
        self.side_column(file, &name, what)
    }

    /// The same, of numbers.
    fn number(&mut self, spec: &str, what: &'static str) -> Result<Found> {
        let found = self.find(spec, what)?;
        self.is_number(&found)?;
        Ok(found)
    }

    /// Every column of `FILE`, those of `FILE:COL,COL`, or columns of the input.
    fn covariates(&mut self, spec: &str) -> Result<Vec<Found>> {
        let what = "covariate";
        let found: Vec<Found> = match split(spec) {
            Some((path, names)) if !self.is_input(path) => {
                let file = self.side(path, "the covariate file")?;
                let names = names.map_or_else(|| self.sides[file].names(self.key), list);
                let one = |name: &String| self.side_column(file, name, what);
                names.iter().map(one).collect::<Result<_>>()?
            }
            other => {
                let names = match other {
                    Some((path, names)) => list(names.ok_or_else(|| which(path))?),
                    None => list(spec),
                };
                let one = |name: &String| {
                    let at = self.position(name);
                    self.column(at.ok_or_else(|| self.nothing(name).at("--covar"))?, what)
                };
                names.iter().map(one).collect::<Result<_>>()?
            }
        };
        found.iter().try_for_each(|found| self.is_number(found))?;
        Ok(found)
    }

    /// The columns of the input, or the first and the last of them.
    fn some_columns(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
        match names.as_slice() {
            [a, b, _, .., y, z] if names.len() > 6 => {
                format!("{} columns: {a}, {b} ... {y}, {z}", names.len())
            }
            few => format!("the columns {}", few.join(", ")),
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    fn is_input(&self, path: &str) -> bool {
        self.files.iter().any(|file| file == path)
    }

    fn nothing(&self, spec: &str) -> Error {
        no_column_or_file(spec, self.columns.iter().map(|c| c.name.as_str()))
    }

    fn column(&self, at: usize, what: &'static str) -> Result<Found> {
        let column = &self.columns[at];
        column.readable().map_err(|e| e.at(&self.files[column.file as usize]))?;
        let (name, kind) = (column.name.clone(), column.kind.clone());
        Ok(Found { what, name, kind, at: Location::Column(at) })
    }

    /// The side file of that path, opened once whatever is asked of it.
    fn side(&mut self, path: &str, what: &'static str) -> Result<usize> {
        if let Some(file) = self.sides.iter().position(|side| side.path == path) {
            return Ok(file);
        }
        let people = has_people(self.columns, &self.labels);
        self.sides.push(SideFile::open(path, what, self.key, people, self.options)?);
        Ok(self.sides.len() - 1)
    }

    fn side_column(&mut self, file: usize, name: &str, what: &'static str) -> Result<Found> {
        let (column, kind) = self.sides[file].column(name)?;
        Ok(Found { what, name: name.into(), kind, at: Location::SideFile { file, column } })
    }

    fn is_number(&self, found: &Found) -> Result<()> {
        if found.kind != ColumnKind::Text {
            return Ok(());
        }
        let text =
            Error::Data(format!("{} {:?} is text, expected numbers", found.what, found.name));
        Err(match found.at {
            Location::Column(_) => text,
            Location::SideFile { file, .. } => text.at(&self.sides[file].path),
        })
    }
}

/// The error for the input itself where a column of it must be named.
fn which(path: &str) -> Error {
    Error::Data(format!("it is the input itself; say which column with {path}:COLUMN")).at(path)
}
