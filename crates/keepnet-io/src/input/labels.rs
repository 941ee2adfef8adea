//! The targets of a row stream: the task, the classes, and what each row has.

use std::collections::BTreeSet;

use keepnet::{Error, LossKind, Result, RowBlock, SampleSource, Task};

use crate::formats::chunk::{Chunk, ChunkValues};
use crate::input::asked::{Label, RowSpec, TargetAt};
use crate::input::dataset::ColumnKind;
use crate::input::series::SeriesValues;
use crate::input::stream::RowStream;

impl RowStream {
    /// Settles the task, and the classes by looking through the target.
    pub(super) fn decide(&mut self, spec: &RowSpec) -> Result<()> {
        let text = match &self.target {
            TargetAt::Column(c) => self.columns[*c].1 == ColumnKind::Text,
            TargetAt::Label => false,
            TargetAt::Aside(beside) => matches!(beside.columns[0], SeriesValues::Text(_)),
        };
        let boolean = match &self.target {
            TargetAt::Column(c) => self.columns[*c].1 == ColumnKind::Bool,
            TargetAt::Aside(beside) => {
                matches!(beside.columns[0], SeriesValues::Numbers { boolean: true, .. })
            }
            TargetAt::Label => false,
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

    /// Weighs classes alike: a row of a class of `m` rows weighs `n / (classes m)`, where `n`, `m`
    /// and the classes are of the rows that are used; with `drop_row` those with a missing value
    /// are not.
    pub(super) fn balance(&mut self, drop_row: bool) -> Result<()> {
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
        let mut one = RowBlock::new(self.problem.features(), 1);
        while self.turn()? {
            let chunk = self.chunk.take().expect("turned to above");
            for at in 0..chunk.rows {
                let label = self.label(&chunk, at, self.row)?;
                let code = self.coded(label, self.row)?;
                let mut used = !code.is_nan();
                if used && drop_row {
                    one.reset(1);
                    self.push(&chunk, at, &mut one, code).map_err(|e| self.here(e))?;
                    used = one.rows().all(|row| row.beyond(f64::MAX).is_none());
                }
                if used {
                    counts[code as usize] += 1.0;
                }
                self.row += 1;
            }
        }
        let all: f64 = counts.iter().sum();
        let there = counts.iter().filter(|count| **count > 0.0).count() as f64;
        // A class of which no row is used has no weight to give.
        let weigh = |count: &f64| if *count > 0.0 { all / (there * count) } else { 1.0 };
        self.balance = counts.iter().map(weigh).collect();
        self.rewind()
    }

    /// The different targets in order, one more than `most` where there are more.
    pub(super) fn labels(&mut self, most: usize) -> Result<Vec<String>> {
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

    /// The target of one row as it stands; `None` where it is missing, or where the row's key has
    /// no match.
    pub(super) fn label(&self, chunk: &Chunk, at: usize, row: u64) -> Result<Option<Label>> {
        if !self.matched(chunk, at, row)? {
            return Ok(None);
        }
        let number = |v: f64| (!v.is_nan()).then_some(Label::Number(v + 0.0));
        Ok(match (&self.target, &chunk.values) {
            (TargetAt::Label, ChunkValues::Sparse { labels, .. }) => number(labels[at]),
            (TargetAt::Column(c), _) => {
                let v = chunk.number(at, *c, self.columns.len());
                match self.columns[*c].1 {
                    ColumnKind::Text if v.is_nan() => None,
                    ColumnKind::Text => {
                        let text = chunk.text(*c, v, row).map_err(|e| e.at("the target"))?;
                        Some(Label::Text(text.into()))
                    }
                    _ => number(v),
                }
            }
            (TargetAt::Aside(beside), _) => {
                let place = beside.matching.place(&self.key, (chunk, at), row)?;
                match (&beside.columns[0], place) {
                    (_, None) => None,
                    (SeriesValues::Numbers { values, .. }, Some(row)) => number(values[row]),
                    (SeriesValues::Text(values), Some(row)) => {
                        values[row].as_deref().map(|text| Label::Text(text.into()))
                    }
                }
            }
            (TargetAt::Label, _) => None,
        })
    }

    /// The target as learners want it: a number, or the code of a class; NaN is missing.
    pub(super) fn coded(&self, label: Option<Label>, row: u64) -> Result<f64> {
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
}
