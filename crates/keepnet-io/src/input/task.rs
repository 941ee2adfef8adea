//! Regression or classification: one rule for a whole column and for a stream.

use std::fmt;

use keepnet::{LossKind, Result, Task};

/// Most distinct whole numbers that are taken for classes.
const CLASSES: usize = 20;

/// The different values of a target of numbers, as far as the task depends on them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distinct {
    values: Vec<f64>,
    fractions: bool,
}

impl Distinct {
    /// Takes up a value; whether more values can still change the task.
    pub(crate) fn see(&mut self, value: f64) -> bool {
        if !self.values.contains(&value) && self.values.len() <= CLASSES {
            self.values.push(value);
            self.fractions |= value.fract() != 0.0;
        }
        !self.settled()
    }

    /// The values as classes.
    pub(crate) fn names(self) -> Vec<String> {
        class_names(self.values)
    }

    fn settled(&self) -> bool {
        self.values.len() > CLASSES || (self.fractions && self.values.len() > 2)
    }
}

/// Numbers as names of classes, in order; negative zero is the same class as zero.
pub(crate) fn class_names(mut numbers: Vec<f64>) -> Vec<String> {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.iter().map(|v| (v + 0.0).to_string()).collect()
}

/// What the values of a target are.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    Text,
    Boolean,
    Numbers(Distinct),
}

/// Why a run is a regression or a classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskReason {
    /// It was asked for.
    Asked,
    /// The loss is for one task only.
    Loss(LossKind),
    /// The target is text.
    Text,
    /// The target is boolean.
    Boolean,
    /// The target has one value only.
    OneValue,
    /// The target has two distinct values.
    TwoValues,
    /// The target has this many distinct whole numbers, from 3 to 20.
    WholeNumbers(usize),
    /// The target has three or more distinct values, fractions among them.
    Fractions,
    /// The target has more than 20 distinct values.
    ManyValues,
}

impl TaskReason {
    /// How to say otherwise, where the values decided and another task is possible.
    #[must_use]
    pub fn advice(self) -> Option<&'static str> {
        match self {
            Self::Asked | Self::Loss(_) | Self::Text | Self::OneValue => None,
            Self::Boolean | Self::TwoValues | Self::WholeNumbers(_) => {
                Some("`task=regression` takes them as numbers")
            }
            Self::Fractions | Self::ManyValues => {
                Some("`task=classification` takes them for classes")
            }
        }
    }

    /// What the user should be told of a target that others take for numbers.
    #[must_use]
    pub fn warning(self) -> Option<String> {
        let advice = self.advice().filter(|_| matches!(self, Self::WholeNumbers(_)))?;
        Some(format!("{self}, which are taken for classes; {advice}"))
    }
}

impl fmt::Display for TaskReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("as asked for"),
            Self::Loss(loss) => write!(f, "by the {} loss", loss.name()),
            Self::Text => f.write_str("the target is text"),
            Self::Boolean => f.write_str("the target is boolean"),
            Self::OneValue => f.write_str("the target has one value only"),
            Self::TwoValues => f.write_str("the target has two distinct values"),
            Self::WholeNumbers(n) => write!(f, "the target has {n} distinct whole numbers"),
            Self::Fractions => f.write_str("the target has fractions"),
            Self::ManyValues => write!(f, "the target has more than {CLASSES} distinct values"),
        }
    }
}

/// The task and why: asked for, implied by the loss, or by the values of the target.
pub(crate) fn decide(
    task: Option<Task>,
    loss: Option<LossKind>,
    seen: impl FnOnce() -> Result<Seen>,
) -> Result<(Task, TaskReason)> {
    if let Some(task) = task {
        return Ok((task, TaskReason::Asked));
    }
    if let Some(loss) = loss
        && let Some(task) = loss.task()
    {
        return Ok((task, TaskReason::Loss(loss)));
    }
    Ok(match seen()? {
        Seen::Text => (Task::Classification, TaskReason::Text),
        Seen::Boolean => (Task::Classification, TaskReason::Boolean),
        Seen::Numbers(Distinct { values, fractions }) => match values.len() {
            0 | 1 => (Task::Regression, TaskReason::OneValue),
            2 => (Task::Classification, TaskReason::TwoValues),
            n if n > CLASSES => (Task::Regression, TaskReason::ManyValues),
            _ if fractions => (Task::Regression, TaskReason::Fractions),
            n => (Task::Classification, TaskReason::WholeNumbers(n)),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(values: impl IntoIterator<Item = f64>) -> (Task, TaskReason) {
        let mut distinct = Distinct::default();
        let _ = values.into_iter().all(|value| distinct.see(value));
        decide(None, None, || Ok(Seen::Numbers(distinct))).unwrap()
    }

    #[test]
    fn three_to_twenty_whole_numbers_are_classes() {
        let up_to = |n: i32| by((0..n).chain(0..n).map(f64::from));
        assert_eq!(up_to(1), (Task::Regression, TaskReason::OneValue));
        assert_eq!(up_to(2), (Task::Classification, TaskReason::TwoValues));
        assert_eq!(up_to(3), (Task::Classification, TaskReason::WholeNumbers(3)));
        assert_eq!(up_to(20), (Task::Classification, TaskReason::WholeNumbers(20)));
        assert_eq!(up_to(21), (Task::Regression, TaskReason::ManyValues));
        assert_eq!(by([1.0, 2.0, 3.0, -0.5]), (Task::Regression, TaskReason::Fractions));
        assert_eq!(by([0.5, 1.5]), (Task::Classification, TaskReason::TwoValues));
        // Zero with a sign is zero.
        assert_eq!(by([0.0, -0.0, 1.0]), (Task::Classification, TaskReason::TwoValues));
    }

    #[test]
    fn no_more_values_are_looked_at_than_the_task_depends_on() {
        let mut looked = 0;
        by((0..1000).map(|v| {
            looked += 1;
            f64::from(v)
        }));
        assert_eq!(looked, CLASSES + 1);
    }
}
