//! What the columns of files are, and how several files become one table: the same decision for
//! columns and for rows.

use std::collections::{HashMap, HashSet};

use keepnet::{Error, Result};

use crate::formats::table::Schema;
use crate::{OpenOptions, Stack};

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
    /// Place of its file among the files of the input.
    pub file: u32,
}

impl ColumnInfo {
    /// A column of a file by itself.
    pub(crate) fn of((name, kind): (String, ColumnKind)) -> Self {
        Self { name, kind, file: 0 }
    }

    /// An error where its values are neither numbers nor text.
    pub(crate) fn readable(&self) -> Result<()> {
        let ColumnKind::Other(kind) = &self.kind else { return Ok(()) };
        Err(Error::Unsupported(format!(
            "column {:?} is of type {kind}, which is neither a number nor text",
            self.name
        )))
    }
}

/// What the input is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Columns,
    Rows,
}

/// How files become one table: as asked, or by their columns, which are the same everywhere or
/// nowhere twice. Rows are a stream, in which files cannot be side by side.
pub(crate) fn how(files: &[(&str, &dyn Schema)], options: &OpenOptions, way: Way) -> Result<Stack> {
    let ((first, head), others) = files.split_first().expect("there is a file");
    let different = others.iter().find(|(_, other)| !same_columns(*head, *other));
    let stack = match (options.stack, different) {
        (Some(Stack::Columns), _) => Stack::Columns,
        (_, None) => Stack::Rows,
        (Some(Stack::Rows), Some((file, _))) => {
            return Err(mismatch(first, file, "do not have the same columns"));
        }
        (None, Some(_)) => {
            disjoint(files, &options.key)?;
            Stack::Columns
        }
    };
    match (stack, way) {
        (Stack::Columns, Way::Rows) if options.stack.is_some() => Err(Error::param(
            "stack",
            "columns",
            "rows with a method on rows: a stream of rows cannot join files side by side",
        )),
        (Stack::Columns, Way::Rows) => Err(Error::Data(format!(
            "{first} and {} have other columns; a stream of rows cannot join files side by side: \
             join them first, or use a method on features",
            different.map_or("", |(file, _)| file)
        ))),
        _ => Ok(stack),
    }
}

/// The names of the columns.
pub(crate) fn names(of: &dyn Schema) -> impl ExactSizeIterator<Item = &str> {
    of.columns().iter().map(|c| c.name.as_str())
}

fn same_columns(a: &dyn Schema, b: &dyn Schema) -> bool {
    (a.open_ended() && b.open_ended())
        || names(a).eq(names(b))
        || (names(a).len() == names(b).len()
            && names(a).collect::<HashSet<_>>() == names(b).collect::<HashSet<_>>())
}

/// Refuses files of which two have a column, other than the key, of the same name.
fn disjoint(files: &[(&str, &dyn Schema)], key: &[String]) -> Result<()> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (at, (file, schema)) in files.iter().enumerate().filter(|(_, f)| !f.1.unnamed()) {
        for column in schema.columns().iter().filter(|c| !key.contains(&c.name)) {
            if let Some(first) = seen.insert(&column.name, at)
                && first != at
            {
                let some = format!("share some columns ({:?}) but not all", column.name);
                return Err(mismatch(files[first].0, file, &some));
            }
        }
    }
    Ok(())
}

fn mismatch(a: &str, b: &str, how: &str) -> Error {
    Error::Data(format!(
        "{a} and {b} {how}; files with the same columns stack as rows and files with disjoint \
         columns join side by side (--stack rows or columns decides)"
    ))
}

/// No file.
const NONE: u32 = u32::MAX;

/// The columns of files that stack as rows: those of the first, in its order.
pub(crate) struct StackedColumns {
    columns: Vec<ColumnInfo>,
    // The file that said what each column holds, `NONE` while no file had a value.
    said: Vec<u32>,
    files: Vec<String>,
    labels: Vec<usize>,
    unnamed: bool,
    open_ended: bool,
}

impl StackedColumns {
    /// The columns of the first file.
    pub(crate) fn new(file: &str, schema: &dyn Schema) -> Self {
        let columns = schema.columns().to_vec();
        let said = (0..columns.len()).map(|c| if schema.blank(c) { NONE } else { 0 });
        Self {
            said: said.collect(),
            columns,
            files: vec![file.into()],
            labels: schema.labels(),
            unnamed: schema.unnamed(),
            open_ended: schema.open_ended(),
        }
    }

    /// Takes the columns of another file: a column is of one kind in all files, and a file in
    /// which it has no value says nothing of it. svm files have all their indices together.
    pub(crate) fn add(&mut self, file: &str, schema: &dyn Schema) -> Result<()> {
        if self.open_ended {
            self.widen(schema);
        }
        self.unnamed &= schema.unnamed();
        self.files.push(file.into());
        let places = self.places(schema);
        for (c, at) in places.into_iter().enumerate() {
            let Some(at) = at.filter(|at| !schema.blank(*at)) else { continue };
            let kind = &schema.columns()[at].kind;
            if self.said[c] == NONE {
                self.columns[c].kind = kind.clone();
                self.said[c] = self.files.len() as u32 - 1;
                continue;
            }
            self.columns[c].kind = self.common(c, kind, file)?;
        }
        Ok(())
    }

    /// Refuses a file whose columns are of other kinds: text cannot come where numbers are
    /// expected, or the other way round.
    pub(crate) fn check(&self, file: &str, schema: &dyn Schema) -> Result<()> {
        for (c, at) in self.places(schema).into_iter().enumerate() {
            if let Some(at) = at.filter(|at| !schema.blank(*at)) {
                self.common(c, &schema.columns()[at].kind, file)?;
            }
        }
        Ok(())
    }

    /// The kind that a column has when a file says that it is `kind`.
    fn common(&self, c: usize, kind: &ColumnKind, file: &str) -> Result<ColumnKind> {
        let ColumnInfo { name, kind: known, .. } = &self.columns[c];
        common(known, kind).ok_or_else(|| {
            let other = self.files.get(self.said[c] as usize).unwrap_or(&self.files[0]);
            let (was, is) = (word(known), word(kind));
            Error::Data(format!(
                "column {name:?} is {was} in {other} and {is} in {file}; make them one type"
            ))
        })
    }

    /// Adds the indices that a svm file has more, in ascending order.
    fn widen(&mut self, schema: &dyn Schema) {
        let known: HashSet<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
        let new = schema.columns().iter().filter(|c| !known.contains(c.name.as_str()));
        let new: Vec<ColumnInfo> = new.cloned().collect();
        if new.is_empty() {
            return;
        }
        self.said.resize(self.said.len() + new.len(), NONE);
        let (columns, said) = (std::mem::take(&mut self.columns), std::mem::take(&mut self.said));
        let mut all: Vec<_> = columns.into_iter().chain(new).zip(said).collect();
        all[1..].sort_by_key(|(column, _)| column.name.parse().unwrap_or(u64::MAX));
        (self.columns, self.said) = all.into_iter().unzip();
    }

    /// Where a file has each of the columns, `None` where it ends before it.
    pub(crate) fn places(&self, schema: &dyn Schema) -> Vec<Option<usize>> {
        let by_name: HashMap<&str, usize> =
            schema.columns().iter().enumerate().map(|(at, c)| (c.name.as_str(), at)).collect();
        self.columns.iter().map(|c| by_name.get(c.name.as_str()).copied()).collect()
    }
}

impl Schema for StackedColumns {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn blank(&self, at: usize) -> bool {
        self.said[at] == NONE
    }

    fn fingerprint(&self) -> u64 {
        0
    }

    fn labels(&self) -> Vec<usize> {
        self.labels.clone()
    }

    fn unnamed(&self) -> bool {
        self.unnamed
    }

    fn open_ended(&self) -> bool {
        self.open_ended
    }
}

fn word(kind: &ColumnKind) -> &str {
    match kind {
        ColumnKind::Bool => "boolean",
        ColumnKind::Int | ColumnKind::Float => "a number",
        ColumnKind::Text => "text",
        ColumnKind::Other(name) => name,
    }
}

fn common(a: &ColumnKind, b: &ColumnKind) -> Option<ColumnKind> {
    use ColumnKind::{Bool, Float, Int};
    match (a, b) {
        (a, b) if a == b => Some(a.clone()),
        (Bool | Int, Bool | Int) => Some(Int),
        (Bool | Int | Float, Bool | Int | Float) => Some(Float),
        _ => None,
    }
}
