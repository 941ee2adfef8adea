//! What is asked of the rows: target, weights, offset, covariates.

use keepnet::{Error, LossKind, Result, Task};
use keepnet_io::{ProblemSpec, TargetSpec};
use serde::{Deserialize, Deserializer};

use super::text::{self, FromText};

/// What is asked of the rows.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "terminal", derive(clap::Args), command(next_help_heading = "Rows"))]
pub struct ProblemRequest {
    /// What to predict: a column, a file, or FILE:COLUMN; several in one read as COL,COL, FILE:COL,COL or FILE:*; a svm file carries its own [example: y.csv:score]
    #[serde(deserialize_with = "targets")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SPEC", value_parser = text::read::<TargetSpec>))]
    pub target: Option<TargetSpec>,
    /// auto, regression or classification [default: auto, by the loss, then the target]
    #[serde(deserialize_with = "text::or_default")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAME", value_parser = text::read::<TaskChoice>))]
    #[cfg_attr(feature = "terminal", arg(default_value = "auto", hide_default_value = true))]
    pub task: TaskChoice,
    /// Weight of each row: a column, a file, or FILE:COLUMN [default: 1 each] [example: w.csv:weight]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SPEC"))]
    pub sample_weight: Option<String>,
    /// Added to the prediction, given as the weight is [default: 0] [example: exposure]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SPEC"))]
    pub offset: Option<String>,
    /// Unpenalised columns that are no features and not counted in k [default: none] [example: age.csv:age,sex]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "FILE[:COLS]"))]
    pub covar: Option<String>,
    /// balanced: every class weighs the same [default: every row weighs the same]
    #[serde(deserialize_with = "text::optional")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "balanced", value_parser = text::read::<Balanced>))]
    pub class_weight: Option<Balanced>,
}

impl FromText for TargetSpec {
    fn from_text(text: &str) -> Result<Self> {
        Ok(text.into())
    }
}

/// One text, or a list of them.
fn targets<'de, D: Deserializer<'de>>(
    json: D,
) -> std::result::Result<Option<TargetSpec>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(String),
        Several(Vec<String>),
    }
    Ok(Option::<Written>::deserialize(json)?.map(|written| match written {
        Written::One(text) => text.into(),
        Written::Several(texts) => TargetSpec(texts),
    }))
}

/// The task, where it was named; `None` is decided by the loss, then the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskChoice(pub Option<Task>);

impl FromText for TaskChoice {
    fn from_text(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self(None)),
            "regression" => Ok(Self(Some(Task::Regression))),
            "classification" => Ok(Self(Some(Task::Classification))),
            other => Err(Error::param("task", other, "auto, regression or classification")),
        }
    }
}

/// Every class weighs the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balanced;

impl FromText for Balanced {
    fn from_text(text: &str) -> Result<Self> {
        match text {
            "balanced" => Ok(Self),
            other => Err(Error::param("class-weight", other, "balanced")),
        }
    }
}

impl ProblemRequest {
    /// The same for the join by `key`; a `loss` can decide the task.
    #[must_use]
    pub fn spec(&self, loss: Option<LossKind>, key: Vec<String>) -> ProblemSpec {
        ProblemSpec {
            target: self.target.clone().unwrap_or_default(),
            task: self.task.0,
            loss,
            weight: self.sample_weight.clone(),
            offset: self.offset.clone(),
            covar: self.covar.clone(),
            balanced: self.class_weight.is_some(),
            key,
            // Decided with the way of missing values, on rows.
            drop_row: false,
        }
    }
}
