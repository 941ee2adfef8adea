//! Running averages as a file, so that machines can accumulate separately and merge.
//!
//! The file is a sealed state (`snapshot`): versioned, checksummed, with the names of features,
//! classes and target inside. Two files merge when these are equal. Averages that forget cannot be
//! merged.

use serde::{Deserialize, Serialize};

use super::running::RunningAverages;
use super::validity::refuse_unless;
use crate::data::row::RowProblem;
use crate::error::{Error, Result};
use crate::run::snapshot::{self, Identity};

/// Running averages with the names of what they average.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedAverages {
    /// Features, covariates, classes and target. Which features are pinned is asked when a model is
    /// extracted.
    pub problem: RowProblem,
    /// The averages.
    pub averages: RunningAverages,
}

#[derive(Serialize, Deserialize)]
struct Body {
    names: Vec<String>,
    classes: Vec<String>,
    /// Number of covariates, which are the last names.
    covariates: usize,
    target: String,
    averages: RunningAverages,
}

fn identity() -> Identity {
    let version = env!("CARGO_PKG_VERSION").into();
    Identity { version, data: 0, problem: 0, settings: "running averages, format 2".into() }
}

impl SavedAverages {
    /// The bytes of a file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let RowProblem { names, classes, covariates, target, .. } = self.problem.clone();
        let body = Body { names, classes, covariates, target, averages: self.averages.clone() };
        snapshot::seal(&identity(), &snapshot::encode(&body)?)
    }

    /// Reads what [`SavedAverages::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let Body { names, classes, covariates, target, averages } =
            snapshot::decode(snapshot::open(&identity(), bytes)?)?;
        let problem = RowProblem { names, classes, covariates, target, pinned: Vec::new() };
        let fits = averages.features() == problem.features()
            && covariates <= problem.features()
            && averages.classes() == problem.classes.len();
        refuse_unless(fits && averages.sound())?;
        problem.check()?;
        Ok(Self { problem, averages })
    }

    /// Adds the rows of another file. Features and classes must be equal and in the same order, and
    /// the targets equal where both files name one.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let differ = |what: &str, a: &[String], b: &[String]| {
            let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
            let name =
                |list: &[String]| list.get(at).map_or("nothing".into(), |n| format!("{n:?}"));
            Error::Data(format!(
                "{what} {at} is {} in one file and {} in the other; only averages of the same \
                 columns can be merged",
                name(a),
                name(b)
            ))
        };
        let (a, b) = (&self.problem, &other.problem);
        if a.names != b.names {
            return Err(differ("feature", &a.names, &b.names));
        }
        if a.covariates != b.covariates {
            return Err(Error::Data(format!(
                "one file has {} covariates and the other {}; only averages of the same columns \
                 can be merged",
                a.covariates, b.covariates
            )));
        }
        if a.classes != b.classes {
            return Err(differ("class", &a.classes, &b.classes));
        }
        let both_named = !a.target.is_empty() && !b.target.is_empty();
        if both_named && a.target != b.target {
            return Err(Error::Data(format!(
                "one file has averages of target {:?} and the other of {:?}; only averages of the \
                 same target can be merged",
                a.target, b.target
            )));
        }
        self.averages.merge(&other.averages)?;
        if self.problem.target.is_empty() {
            self.problem.target.clone_from(&other.problem.target);
        }
        Ok(())
    }
}
