//! One stream of rows out of one or several files, or standard input.

use std::collections::BTreeSet;

use keepnet::{Error, LossKind, Result, Row, RowBlock, RowProblem, SampleSource, Task};

use super::asked::{Label, RowSpec, TargetAt, features, find_target};
use super::{Chunk, ChunkReader, ChunkValues, open_one};
use crate::dataset::ColumnKind;
use crate::names::no_column_or_file;
use crate::series::SeriesValues;
use crate::{Format, OpenOptions};

/// A stream of rows: a [`SampleSource`] with its problem.
pub struct RowStream {
    files: Vec<(String, Format)>,
    file: usize,
    reader: Box<dyn ChunkReader>,
    columns: Vec<(String, ColumnKind)>,
    chunk: Option<Chunk>,
    at: usize,
    row: u64,
    target: TargetAt,
    weight: Option<usize>,
    offset: Option<usize>,
    /// What a row of each class weighs; empty where every row weighs the same.
    balance: Vec<f64>,
    features: Vec<usize>,
    problem: RowProblem,
    task_reason: String,
    fingerprint: u64,
}

impl RowStream {
    pub(crate) fn open(
        files: Vec<(String, Format)>,
        spec: &RowSpec,
        options: &OpenOptions,
    ) -> Result<Self> {
        let (path, format) = files
            .first()
            .ok_or_else(|| Error::param("input", "nothing", "files, or - for standard input"))?;
        let reader = open_one(path, *format)?;
        let columns = reader.columns().to_vec();
        let target = find_target(spec, &columns, *format, options)?;
        let column = |name: &str, what: &str| {
            columns.iter().position(|c| c.0 == name).ok_or_else(|| {
                no_column_or_file(name, columns.iter().map(|c| c.0.as_str())).at(what)
            })
        };
        let weight = spec.weight.as_deref().map(|w| column(w, "--sample-weight")).transpose()?;
        let offset = spec.offset.as_deref().map(|o| column(o, "--offset")).transpose()?;
        let taken = |c: usize| {
            [weight, offset].contains(&Some(c)) || matches!(target, TargetAt::Column(t) if t == c)
        };
        let sparse = *format == Format::Svm;
        let features = match sparse {
            true if weight.or(offset).is_some() => {
                let what = "svm text has no column of weights or offsets";
                return Err(Error::Unsupported(what.into()));
            }
            true => (0..columns.len() - 1).collect(),
            false => features(&columns, taken, options)?,
        };
        let label = usize::from(sparse);
        let names = features.iter().map(|c| columns[c + label].0.clone()).collect();
        let fingerprint = reader.fingerprint();
        let mut stream = Self {
            files,
            file: 0,
            reader,
            columns,
            chunk: None,
            at: 0,
            row: 0,
            target,
            weight,
            offset,
            balance: Vec::new(),
            features,
            problem: RowProblem { names, classes: Vec::new() },
            task_reason: String::new(),
            fingerprint,
        };
        stream.decide(spec)?;
        if stream.offset.is_some() && !stream.problem.classes.is_empty() {
            return Err(Error::Unsupported(
                "an offset of rows is taken from the target, which classes do not allow; leave \
                 --offset out or choose --task regression"
                    .into(),
            ));
        }
        if spec.balanced {
            stream.balance()?;
        }
        Ok(stream)
    }

    /// Features and classes.
    #[must_use]
    pub fn problem(&self) -> &RowProblem {
        &self.problem
    }

    /// Why it is this task.
    #[must_use]
    pub fn task_reason(&self) -> &str {
        &self.task_reason
    }

    /// The files that are read.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(path, _)| path.as_str())
    }

    fn piped(&self) -> bool {
        self.files.iter().any(|(path, _)| path == "-")
    }

    /// Settles the task, and the classes by looking through the target.
    fn decide(&mut self, spec: &RowSpec) -> Result<()> {
        let text = match &self.target {
            TargetAt::Column(c) => self.columns[*c].1 == ColumnKind::Text,
            TargetAt::Label => false,
            TargetAt::Aside(values) => matches!(values, SeriesValues::Text(_)),
        };
        let boolean = match &self.target {
            TargetAt::Column(c) => self.columns[*c].1 == ColumnKind::Bool,
            TargetAt::Aside(SeriesValues::Numbers { boolean, .. }) => *boolean,
            _ => false,
        };
        let (asked, why) = match (spec.task, spec.loss.and_then(LossKind::task)) {
            (Some(task), _) => (Some(task), "as asked for"),
            (None, Some(task)) => (Some(task), "by the loss"),
            _ if text => (Some(Task::Classification), "the target is text"),
            _ if boolean => (Some(Task::Classification), "the target is boolean"),
            _ => (None, ""),
        };
        if asked == Some(Task::Regression) {
            if text {
                return Err(Error::Data(
                    "the target is text, which regression cannot use; choose --task classification"
                        .into(),
                ));
            }
            self.task_reason = why.into();
            return Ok(());
        }
        let most = if asked.is_some() { 1000 } else { 2 };
        let labels = self.labels(most)?;
        let many = labels.len() > most;
        if asked.is_some() && many {
            return Err(Error::Data(format!(
                "the target has more than {most} classes; choose --task regression"
            )));
        }
        (self.task_reason, self.problem.classes) = match asked {
            Some(_) => (why.into(), labels),
            None if many => ("the target has more than two values".into(), Vec::new()),
            None if labels.len() == 2 => ("the target has two distinct values".into(), labels),
            None => ("the target has one value only".into(), Vec::new()),
        };
        Ok(())
    }

    /// Weighs classes alike: a row of a class of `m` rows weighs `n / (classes m)`.
    fn balance(&mut self) -> Result<()> {
        let classes = self.problem.classes.len();
        if classes == 0 {
            return Err(Error::param("class-weight", "balanced", "a target of classes"));
        }
        if self.piped() {
            return Err(Error::Unsupported(
                "--class-weight balanced counts the classes first, which standard input does not \
                 allow; give the rows as a file, or weigh them with --sample-weight"
                    .into(),
            ));
        }
        let mut counts = vec![0.0; classes];
        while self.turn()? {
            let chunk = self.chunk.take().expect("turned to above");
            for at in 0..chunk.rows {
                let label = self.label(&chunk, at, self.row)?;
                let code = self.coded(label, self.row)?;
                if !code.is_nan() {
                    counts[code as usize] += 1.0;
                }
                self.row += 1;
            }
        }
        let all: f64 = counts.iter().sum();
        self.balance = counts.iter().map(|count| all / (classes as f64 * count)).collect();
        self.rewind()
    }

    /// The different targets in order, one more than `most` where there are more.
    fn labels(&mut self, most: usize) -> Result<Vec<String>> {
        let mut texts = BTreeSet::new();
        let mut numbers: Vec<f64> = Vec::new();
        let pipe = self.piped();
        'all: loop {
            while self.chunk.as_ref().is_none_or(|chunk| self.at >= chunk.rows) {
                if !self.turn()? {
                    break 'all;
                }
                self.at = 0;
            }
            let chunk = self.chunk.as_ref().expect("turned to above");
            for at in 0..chunk.rows {
                match self.label(chunk, at, self.row + at as u64)? {
                    None => {}
                    Some(Label::Text(text)) => {
                        texts.insert(text);
                    }
                    Some(Label::Number(v)) if numbers.contains(&v) => {}
                    Some(Label::Number(v)) => numbers.push(v),
                }
                if texts.len().max(numbers.len()) > most {
                    break 'all;
                }
            }
            if pipe && chunk.rows > 0 {
                // The first rows must do; they are kept and come again.
                break 'all;
            }
            self.row += chunk.rows as u64;
            self.chunk = None;
        }
        if pipe {
            self.at = 0;
        } else {
            self.rewind()?;
        }
        numbers.sort_unstable_by(f64::total_cmp);
        let text = texts.into_iter().map(String::from);
        Ok(text.chain(numbers.iter().map(|v| (v + 0.0).to_string())).collect())
    }

    /// The target of one row as it stands; `None` where it is missing.
    fn label(&self, chunk: &Chunk, at: usize, row: u64) -> Result<Option<Label>> {
        let number = |v: f64| (!v.is_nan()).then_some(Label::Number(v + 0.0));
        Ok(match (&self.target, &chunk.values) {
            (TargetAt::Label, ChunkValues::Sparse { labels, .. }) => number(labels[at]),
            (TargetAt::Column(c), values) => {
                let v = match values {
                    ChunkValues::F32(v) => f64::from(v[at * self.columns.len() + c]),
                    ChunkValues::F64(v) => v[at * self.columns.len() + c],
                    ChunkValues::Sparse { .. } => f64::NAN,
                };
                match self.columns[*c].1 {
                    ColumnKind::Text if v.is_nan() => None,
                    ColumnKind::Text => Some(Label::Text(chunk.texts[*c][v as usize].clone())),
                    _ => number(v),
                }
            }
            (TargetAt::Aside(values), _) => {
                let short =
                    || Error::Data(format!("the target file ends before row {row} of the input"));
                match values {
                    SeriesValues::Numbers { values, .. } => {
                        number(*values.get(row as usize).ok_or_else(short)?)
                    }
                    SeriesValues::Text(values) => {
                        let text = values.get(row as usize).ok_or_else(short)?;
                        text.as_deref().map(|text| Label::Text(text.into()))
                    }
                }
            }
            (TargetAt::Label, _) => None,
        })
    }

    /// The target as learners want it: a number, or the code of a class; NaN is missing.
    fn coded(&self, label: Option<Label>, row: u64) -> Result<f64> {
        let classes = &self.problem.classes;
        match label {
            None => Ok(f64::NAN),
            Some(Label::Number(v)) if classes.is_empty() => Ok(v),
            Some(label) => {
                let name = match &label {
                    Label::Number(v) => v.to_string(),
                    Label::Text(text) => text.to_string(),
                };
                let code = classes.iter().position(|class| *class == name);
                code.map(|code| code as f64).ok_or_else(|| {
                    Error::Data(format!(
                        "class {name:?} at row {row} was not among the first rows ({}); put a row \
                         of each class first, or give the rows as a file",
                        classes.join(", ")
                    ))
                })
            }
        }
    }

    /// Reads the next chunk, of the next file where one ends; `false` at the end of all.
    fn turn(&mut self) -> Result<bool> {
        loop {
            if let Some(chunk) = self.reader.next().map_err(|e| self.here(e))? {
                self.chunk = Some(chunk);
                self.at = 0;
                return Ok(true);
            }
            let Some((path, format)) = self.files.get(self.file + 1) else { return Ok(false) };
            let reader = open_one(path, *format)?;
            if reader.columns() != self.columns {
                let first = &self.files[0].0;
                return Err(Error::Data(format!(
                    "{first} and {path} have other columns; a row stream stacks files with the same"
                )));
            }
            self.reader = reader;
            self.file += 1;
        }
    }

    fn here(&self, error: Error) -> Error {
        let path = &self.files[self.file].0;
        error.at(if path == "-" { "standard input" } else { path })
    }

    fn push(&self, chunk: &Chunk, at: usize, out: &mut RowBlock, y: f64) -> Result<()> {
        let width = self.columns.len();
        let class = self.balance.get(y as usize).copied().unwrap_or(1.0);
        match &chunk.values {
            ChunkValues::Sparse { ends, index, value, .. } => {
                let from = if at == 0 { 0 } else { ends[at - 1] };
                let part = from..ends[at];
                let row = Row::Sparse { index: &index[part.clone()], value: &value[part] };
                out.push(row, y, class)
            }
            ChunkValues::F32(v) => {
                let line = &v[at * width..(at + 1) * width];
                let weight = class * self.weight.map_or(1.0, |c| f64::from(line[c]));
                let y = y - self.offset.map_or(0.0, |c| f64::from(line[c]));
                if self.features.len() == width {
                    return out.push(Row::F32(line), y, weight);
                }
                let row: Vec<f32> = self.features.iter().map(|c| line[*c]).collect();
                out.push(Row::F32(&row), y, weight)
            }
            ChunkValues::F64(v) => {
                let line = &v[at * width..(at + 1) * width];
                let weight = class * self.weight.map_or(1.0, |c| line[c]);
                let y = y - self.offset.map_or(0.0, |c| line[c]);
                let row: Vec<f64> = self.features.iter().map(|c| line[*c]).collect();
                out.push(Row::F64(&row), y, weight)
            }
        }
    }
}

impl SampleSource for RowStream {
    fn names(&self) -> &[String] {
        &self.problem.names
    }

    fn rows(&self) -> Option<u64> {
        if self.files.len() == 1 { self.reader.rows() } else { None }
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn next_block(&mut self, out: &mut RowBlock) -> Result<bool> {
        while out.room() > 0 {
            let Some(chunk) = self.chunk.take() else {
                if !self.turn()? {
                    return Ok(false);
                }
                if self.chunk.as_ref().is_some_and(|chunk| chunk.rows == 0) {
                    // A pipe has nothing just now: the caller may look at the clock.
                    self.chunk = None;
                    return Ok(true);
                }
                continue;
            };
            let mut failed = None;
            while self.at < chunk.rows && out.room() > 0 && failed.is_none() {
                let y = self.label(&chunk, self.at, self.row);
                let pushed = y
                    .and_then(|label| self.coded(label, self.row))
                    .and_then(|y| self.push(&chunk, self.at, out, y));
                failed = pushed.err();
                self.at += 1;
                self.row += 1;
            }
            if let Some(error) = failed {
                return Err(self.here(error));
            }
            if self.at < chunk.rows {
                self.chunk = Some(chunk);
            }
        }
        Ok(true)
    }

    fn rewind(&mut self) -> Result<()> {
        if self.piped() {
            return Err(Error::Unsupported("standard input cannot be read twice".into()));
        }
        let (path, format) = &self.files[0];
        self.reader = open_one(path, *format)?;
        (self.file, self.chunk, self.at, self.row) = (0, None, 0, 0);
        Ok(())
    }
}
