//! The targets of a row stream: the task, the classes, and what each row has.

use std::collections::BTreeSet;

use keepnet::{Error, Result, RowBlock, SampleSource, Task};

use crate::input::problem::no_classes;
use crate::input::rows::{Here, RowStream};
use crate::input::schema::ColumnKind;
use crate::input::target::ProblemSpec;
use crate::input::task::{Distinct, Seen, class_names, decide};

/// Most classes of a stream; they are looked for in every row.
const MOST: usize = 1000;

/// One class or number as it stands in the data.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Label {
    Number(f64),
    Text(Box<str>),
}

impl RowStream {
    /// Settles the task, and the classes by looking through the target.
    pub(super) fn decide(&mut self, spec: &ProblemSpec) -> Result<()> {
        let kind = self.asked.target.kind.clone();
        let mut found = None;
        let (task, why) = decide(spec.task, spec.loss, || match kind {
            ColumnKind::Text => Ok(Seen::Text),
            ColumnKind::Bool => Ok(Seen::Boolean),
            _ if self.files.piped() => Err(self.ask_for_the_task()),
            _ => Ok(Seen::Numbers(found.insert(self.distinct()?).clone())),
        })?;
        self.task_reason = why;
        if task == Task::Regression {
            return match kind {
                ColumnKind::Text => Err(self.asked.target.text_target()),
                _ => Ok(()),
            };
        }
        let labels = found.map_or_else(|| self.labels(MOST), |found| Ok(found.names()))?;
        if labels.len() > MOST {
            return Err(Error::Data(format!(
                "the target has more than {MOST} classes; choose --task regression"
            )));
        }
        self.problem.classes = labels;
        Ok(())
    }

    /// Weighs classes alike: a row of a class of `m` rows weighs `n / (classes m)`, where `n`, `m`
    /// and the classes are of the rows that are used; with `drop_row` those with a missing value
    /// are not.
    pub(super) fn balance(&mut self, drop_row: bool) -> Result<()> {
        let classes = self.problem.classes.len();
        if classes == 0 {
            return Err(no_classes());
        }
        if self.files.piped() {
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
                let here = self.row_at(&chunk, at, self.row)?;
                let code = self.coded(self.label(&here)?, self.row)?;
                let mut used = !code.is_nan();
                if used && drop_row {
                    one.reset(1);
                    self.push(&here, &mut one, code)?;
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

    /// The error of numbers on standard input, all of which would have to be seen first.
    fn ask_for_the_task(&self) -> Error {
        let advice = "is read from standard input, so its values are not known beforehand; choose \
                      `task=regression`, or `task=classification` if they are classes";
        Error::Data(format!("the target {:?} {advice}", self.asked.target.name))
    }

    /// The different numbers of the target, as far as the task depends on them.
    fn distinct(&mut self) -> Result<Distinct> {
        let mut distinct = Distinct::default();
        self.each_label(|label| match label {
            Label::Number(value) => distinct.see(value),
            Label::Text(_) => true,
        })?;
        Ok(distinct)
    }

    /// The different targets in order, one more than `most` where there are more.
    fn labels(&mut self, most: usize) -> Result<Vec<String>> {
        let mut texts = BTreeSet::new();
        let mut numbers: Vec<f64> = Vec::new();
        self.each_label(|label| {
            match label {
                Label::Text(text) => {
                    texts.insert(text);
                }
                Label::Number(v) if numbers.contains(&v) => {}
                Label::Number(v) => numbers.push(v),
            }
            texts.len().max(numbers.len()) <= most
        })?;
        Ok(texts.into_iter().map(String::from).chain(class_names(numbers)).collect())
    }

    /// Shows every target that is there to `look` for as long as that asks for more; on standard
    /// input those of the first rows, which are kept and come again.
    fn each_label(&mut self, mut look: impl FnMut(Label) -> bool) -> Result<()> {
        let pipe = self.files.piped();
        'all: loop {
            while self.chunk.as_ref().is_none_or(|chunk| self.at >= chunk.rows) {
                if !self.turn()? {
                    break 'all;
                }
            }
            let chunk = self.chunk.as_ref().expect("turned to above");
            for at in 0..chunk.rows {
                let here = self.row_at(chunk, at, self.row + at as u64)?;
                if self.label(&here)?.is_some_and(|label| !look(label)) {
                    break 'all;
                }
            }
            if pipe && chunk.rows > 0 {
                break 'all;
            }
            self.row += chunk.rows as u64;
            self.chunk = None;
        }
        if pipe {
            self.at = 0;
            return Ok(());
        }
        self.rewind()
    }

    /// The target of one row as it stands; `None` where it is missing, or where the row's key has
    /// no match.
    pub(super) fn label(&self, here: &Here<'_>) -> Result<Option<Label>> {
        let target = &self.asked.target;
        if !here.matched {
            return Ok(None);
        }
        if target.kind == ColumnKind::Text {
            return Ok(self.text(target, here)?.map(|text| Label::Text(text.into())));
        }
        let v = self.number(target, here);
        Ok((!v.is_nan()).then_some(Label::Number(v + 0.0)))
    }

    /// The target as learners want it: a number, or the code of a class; NaN is missing.
    pub(super) fn coded(&self, label: Option<Label>, row: u64) -> Result<f64> {
        let classes = &self.problem.classes;
        let name = match label {
            None => return Ok(f64::NAN),
            Some(Label::Number(v)) if classes.is_empty() => return Ok(v),
            Some(Label::Number(v)) => v.to_string(),
            Some(Label::Text(text)) => text.into(),
        };
        let code = classes.iter().position(|class| *class == name);
        code.map(|code| code as f64).ok_or_else(|| {
            self.files.here(Error::Data(format!(
                "class {name:?} at row {row} was not among the first rows ({}); put a row of each \
                 class first, or give the rows as a file",
                classes.join(", ")
            )))
        })
    }
}
