//! What is asked of the rows: target, weights, offset, covariates.

use clap::Args;
use keepnet::{Error, LossKind, Result, Task};
use keepnet_io::ProblemSpec;

use super::parse::list;

/// What is asked of the rows.
#[derive(Args)]
#[command(next_help_heading = "Rows")]
pub struct RowFlags {
    /// What to predict: a column, a file, or FILE:COLUMN; a svm file carries its own [example: y.csv:score]
    #[arg(long, value_name = "SPEC")]
    pub target: Option<String>,
    /// auto, regression or classification [default: auto, by the loss, then the target]
    #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true)]
    pub task: String,
    /// Weight of each row, given as --target is [default: 1 each] [example: w.csv:weight]
    #[arg(long, value_name = "SPEC")]
    pub sample_weight: Option<String>,
    /// Added to the prediction, given as --target is [default: 0] [example: exposure]
    #[arg(long, value_name = "SPEC")]
    pub offset: Option<String>,
    /// Unpenalised columns that are no features and not counted in k [default: none] [example: age.csv:age,sex]
    #[arg(long, value_name = "FILE[:COLS]")]
    pub covar: Option<String>,
    /// balanced: every class weighs the same [default: every row weighs the same]
    #[arg(long, value_name = "balanced")]
    pub class_weight: Option<String>,
}

impl RowFlags {
    /// The same for the join.
    pub fn spec(&self, loss: Option<LossKind>, key: &[String]) -> Result<ProblemSpec> {
        let task = match self.task.as_str() {
            "auto" => None,
            "regression" => Some(Task::Regression),
            "classification" => Some(Task::Classification),
            other => {
                return Err(Error::param("task", other, "auto, regression or classification"));
            }
        };
        let balanced = match self.class_weight.as_deref() {
            None => false,
            Some("balanced") => true,
            Some(other) => return Err(Error::param("class-weight", other, "balanced")),
        };
        Ok(ProblemSpec {
            target: self.target.clone().unwrap_or_default(),
            task,
            loss,
            weight: self.sample_weight.clone(),
            offset: self.offset.clone(),
            covar: self.covar.clone(),
            balanced,
            key: list(key),
            drop_row: false,
        })
    }
}
