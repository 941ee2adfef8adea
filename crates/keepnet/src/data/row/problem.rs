//! What is asked of a row stream, and how its target is coded.

use std::collections::{BTreeSet, HashSet};

use crate::data::target::Task;
use crate::error::{Error, Result};

/// What is asked of a row stream: the features' names and the classes, where there are any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowProblem {
    /// A name a feature.
    pub names: Vec<String>,
    /// Class names in ascending order; empty for regression. The last of two is positive.
    pub classes: Vec<String>,
    /// Features that are kept whatever happens, ascending, and are not counted in `k`.
    pub pinned: Vec<u32>,
    /// How many of the last names are unpenalised covariates and no features.
    pub covariates: usize,
    /// What the target is, in the reader's words (a column, a file); empty where it is not known.
    /// States of different targets are never joined.
    pub target: String,
}

impl RowProblem {
    /// Regression on `features` features named `f0`, `f1`, ...
    #[must_use]
    pub fn regression(features: usize) -> Self {
        Self { names: (0..features).map(|j| format!("f{j}")).collect(), ..Self::default() }
    }

    /// Two classes, coded 0 and 1, of features named `f0`, `f1`, ...
    #[must_use]
    pub fn binary(features: usize) -> Self {
        Self { classes: vec!["-1".into(), "1".into()], ..Self::regression(features) }
    }

    /// Values of a row: features, then covariates.
    #[must_use]
    pub fn features(&self) -> usize {
        self.names.len()
    }

    /// Values of a row that are features.
    #[must_use]
    pub fn candidates(&self) -> usize {
        self.names.len() - self.covariates.min(self.names.len())
    }

    /// Whether value `j` of a row is a covariate.
    #[must_use]
    pub fn is_covariate(&self, j: u32) -> bool {
        j as usize >= self.candidates()
    }

    /// What every model has: the features always kept, then the covariates.
    pub fn pinned(&self) -> impl Iterator<Item = u32> + '_ {
        self.pinned.iter().copied().chain(self.candidates() as u32..self.names.len() as u32)
    }

    /// The same with features of these names always kept; one that is not known is an error.
    pub fn pinning<'a>(mut self, names: impl IntoIterator<Item = &'a String>) -> Result<Self> {
        let mut wanted: BTreeSet<&String> = names.into_iter().collect();
        let features = self.names[..self.candidates()].iter().zip(0..);
        self.pinned = features.filter(|(name, _)| wanted.remove(name)).map(|(_, j)| j).collect();
        if let Some(name) = wanted.first() {
            return Err(Error::Data(format!(
                "`always` names {name:?}, which is no feature of the rows"
            )));
        }
        Ok(self)
    }

    /// Which task this is.
    #[must_use]
    pub fn task(&self) -> Task {
        if self.classes.is_empty() { Task::Regression } else { Task::Classification }
    }

    /// Margins to fit: one for numbers and for two classes, else one a class.
    #[must_use]
    pub fn outputs(&self) -> usize {
        outputs(self.classes.len())
    }

    /// A feature, at least one class pair, names that differ.
    pub fn check(&self) -> Result<()> {
        if self.candidates() == 0 {
            return Err(Error::Data("the rows have no feature".into()));
        }
        if self.classes.len() == 1 {
            return Err(Error::Data(format!(
                "the target has one class only ({:?}); two or more are needed",
                self.classes[0]
            )));
        }
        let mut seen = HashSet::new();
        match self.names.iter().find(|name| !seen.insert(name.as_str())) {
            Some(name) => Err(Error::Duplicate { name: name.clone() }),
            None => Ok(()),
        }
    }
}

/// Margins of a target with that many classes.
pub(crate) fn outputs(classes: usize) -> usize {
    if classes > 2 { classes } else { 1 }
}

/// Margin `output` of a target: the number, or 1 for its class and -1 for another.
pub(crate) fn margin(classes: usize, y: f64, output: usize) -> f64 {
    match classes {
        0 => y,
        2 => 2.0 * y - 1.0,
        _ => {
            if y as usize == output {
                1.0
            } else {
                -1.0
            }
        }
    }
}
