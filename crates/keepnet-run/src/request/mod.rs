//! What the user asked for, typed; a group a file.
//!
//! Each group is one struct: its fields are the flags of the command line (feature `terminal`),
//! the JSON that Python sends, and what a caller in Rust fills in. A new flag is a new field here.

mod apply;
mod asked;
mod input;
mod method;
mod output;
mod problem;
mod run;
mod size;
pub mod text;
mod trust;

pub use apply::ApplyRequest;
pub use asked::{Asked, Way};
pub use input::InputRequest;
pub use method::{GroupSpec, MethodRequest};
pub use output::{OutputRequest, ProgressKind, extension, need_extension};
pub use problem::{Balanced, ProblemRequest, TaskChoice};
pub use run::{Every, OrderSpec, RunRequest, Scans, Time};
pub use size::Size;
pub use trust::{Choose, InferenceKind, Inferring, Pairs, TrustRequest};

use keepnet::{CheckPolicy, Error, Result};
use serde::Deserialize;

/// The level of inference unless another is asked for.
const LEVEL: f64 = 0.05;

/// A selection, as the user asks for it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "terminal", derive(clap::Args))]
pub struct Request {
    /// What to read.
    #[cfg_attr(feature = "terminal", command(flatten))]
    pub input: InputRequest,
    /// What is asked of the rows.
    #[cfg_attr(feature = "terminal", command(flatten))]
    pub problem: ProblemRequest,
    /// Which method, and its settings.
    #[cfg_attr(feature = "terminal", command(flatten))]
    pub method: MethodRequest,
    /// How far it can be trusted.
    #[cfg_attr(feature = "terminal", command(flatten))]
    pub trust: TrustRequest,
    /// How to run.
    #[cfg_attr(feature = "terminal", command(flatten))]
    pub run: RunRequest,
    /// What to write.
    #[cfg_attr(feature = "terminal", command(flatten))]
    pub output: OutputRequest,
    /// What the caller knows and the result should say among its warnings.
    #[cfg_attr(feature = "terminal", arg(skip))]
    pub notes: Vec<String>,
}

impl Request {
    /// The level of inference.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.method.level.unwrap_or(LEVEL)
    }

    /// Reads a request from JSON; a field that there is not is an error.
    pub fn from_json(json: &str) -> Result<Self> {
        // By way of a value, so that an error of ours has no line and column after it.
        serde_json::from_str::<serde_json::Value>(json)
            .and_then(serde_json::from_value)
            .map_err(|error| Error::Data(error.to_string()))
    }

    /// What becomes of missing values, by name: as asked, the mean for genotypes, else an error.
    #[must_use]
    pub fn missing(&self) -> &str {
        match &self.method.missing {
            None if self.input.genotypes() => "mean",
            _ => self.method.missing(),
        }
    }

    /// Which columns are fit to be offered.
    pub fn policy(&self) -> Result<CheckPolicy> {
        self.method.policy(self.missing())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_fills_every_group_and_its_errors_are_those_of_the_flags() {
        let request = Request::from_json(
            r#"{"input": {"inputs": ["x.csv"], "columns": ["a,b"], "categorical": "codes"},
                "problem": {"target": "y", "task": "classification", "class_weight": "balanced"},
                "method": {"name": "saola", "k": 3, "settings": {"alpha": "0.05"}, "loss": null},
                "run": {"order": [2, 0], "time": "2h", "memory": 1000},
                "output": {"progress": "none"}, "notes": ["said before"]}"#,
        )
        .unwrap();
        assert_eq!(text::list(&request.input.columns), ["a,b"]);
        assert_eq!(request.problem.task, TaskChoice(Some(keepnet::Task::Classification)));
        assert_eq!(request.run.order, OrderSpec::Places(vec![2, 0]));
        assert_eq!(request.run.time.unwrap().0.as_secs(), 7200);
        assert_eq!(request.method.settings, [("alpha".to_string(), "0.05".into())]);
        let error = |json| Request::from_json(json).unwrap_err().to_string();
        assert_eq!(
            error(r#"{"problem": {"task": "sorting"}}"#),
            "task is sorting, expected auto, regression or classification"
        );
        assert!(error(r#"{"run": {"scan": 1}}"#).contains("unknown field `scan`"));
    }
}
