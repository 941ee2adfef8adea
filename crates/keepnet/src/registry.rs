//! Every method by name: what it is, what it takes, and how to make it.
//!
//! The command line and the Python package know methods through this table alone. Each family
//! lists its methods in `METHODS`, so a method is one file and one entry in its folder's `mod.rs`.

mod describe;
pub(crate) mod effect;
mod promises;
pub mod setting;
mod spec;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use crate::data::row::RowProblem;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::learn::{MakeRows, RowLearner, averages, streaming};
use crate::near;
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::{filters, l1, statistical, substitution};

pub use effect::check_thresholds;
pub use promises::{Promises, Relation};
pub use setting::Setting;
pub use spec::MethodSpec;

/// What flows past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Columns.
    Features,
    /// Columns, in groups.
    Groups,
    /// Rows.
    Samples,
    /// Columns, all of which are held until the end.
    Batch,
}

impl Stream {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Features => "features",
            Self::Groups => "groups",
            Self::Samples => "samples",
            Self::Batch => "batch",
        }
    }
}

/// One method: an entry of `keepnet methods`.
#[derive(Clone, Copy, Debug)]
pub struct MethodInfo {
    /// Its name.
    pub name: &'static str,
    /// What flows past.
    pub stream: Stream,
    /// One line.
    pub summary: &'static str,
    /// Tasks it can do.
    pub tasks: &'static str,
    /// Time for one feature or row.
    pub cost: &'static str,
    /// Memory.
    pub memory: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Scans made unless another number is asked for; 0 is as many as the method takes.
    pub scans: u32,
    /// Whether it cannot work without `k`.
    pub needs_k: bool,
    /// Whether a loss can be chosen.
    pub has_loss: bool,
    /// Its settings.
    pub settings: &'static [Setting],
    /// What it promises of its answers on any table, and why not the rest.
    pub promises: Promises,
    /// Makes one.
    pub make: Maker,
}

impl MethodInfo {
    /// The same with other promises than its family's.
    pub(crate) const fn promising(self, promises: Promises) -> Self {
        Self { promises, ..self }
    }

    /// The same for a method that takes two classes at most.
    pub(crate) const fn of_two_classes(self) -> Self {
        Self { tasks: "regression, binary classification", ..self }
    }

    /// Whether its loss is the mean over rows of the loss before each was learnt from, and not that
    /// of the final model on the rows that it was fitted on.
    #[must_use]
    pub fn progressive(&self) -> bool {
        streaming::METHODS.iter().any(|method| method.name == self.name)
    }

    /// Whether it can be told how many features to keep.
    #[must_use]
    pub fn takes_k(&self) -> bool {
        // One keeps whole groups, the other keeps every feature.
        !["group-saola", "ols"].contains(&self.name)
    }

    /// Whether it can go on until no exchange is left; see [`ColumnSelector::certify`].
    #[must_use]
    pub fn certifies(&self) -> bool {
        self.name == substitution::os_plus::INFO.name
    }

    /// The setting of that name, or an error that lists those there are.
    pub fn setting(&self, name: &str) -> Result<&'static Setting> {
        self.settings.iter().find(|setting| setting.name == name).ok_or_else(|| {
            let known: Vec<_> = self.settings.iter().map(|setting| setting.name).collect();
            let hint = near::hint(&near::near(name, known.iter().copied()));
            let got = format!("{name}{hint} ({} knows {})", self.name, known.join(", "));
            Error::param("setting", got, "a setting of the method")
        })
    }

    /// Whether it has a setting of that name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.settings.iter().any(|setting| setting.name == name)
    }
}

/// Makes a selector of columns from what the user asked for.
pub type MakeColumns = fn(&MethodSpec, &Problem, Budget) -> Result<Box<dyn ColumnSelector>>;

/// How a method is made: by what flows past it.
#[derive(Clone, Copy, Debug)]
pub enum Maker {
    /// Features, with the target of all rows known beforehand.
    Columns(MakeColumns),
    /// Rows, each with its own target.
    Rows(MakeRows),
}

/// Every method, family by family, defaults first.
#[must_use]
pub fn methods() -> &'static [&'static MethodInfo] {
    static ALL: LazyLock<Vec<&'static MethodInfo>> = LazyLock::new(|| {
        [
            substitution::METHODS,
            statistical::METHODS,
            l1::METHODS,
            filters::METHODS,
            averages::METHODS,
            streaming::METHODS,
        ]
        .concat()
    });
    &ALL
}

/// The method of that name.
pub fn find(name: &str) -> Result<&'static MethodInfo> {
    methods().iter().copied().find(|method| method.name == name).ok_or_else(|| {
        let names = || methods().iter().map(|m| m.name);
        let mut near = near::near(name, names());
        if near.is_empty() && name.len() > 2 {
            near.extend(names().filter(|known| known.contains(name)).take(3));
        }
        let hint = near::hint(&near);
        Error::param("method", format!("{name:?}{hint}"), "a name from `keepnet methods`")
    })
}

/// Makes a method on features after checking that it knows every setting it was given.
pub fn make(
    method: &MethodInfo,
    spec: &MethodSpec,
    problem: &Problem,
    budget: Budget,
) -> Result<Box<dyn ColumnSelector>> {
    check_settings(method, spec)?;
    match method.make {
        Maker::Columns(make) => make(spec, problem, budget),
        Maker::Rows(_) => Err(Error::Unsupported(format!(
            "{} works on a stream of rows, not of features",
            method.name
        ))),
    }
}

/// Makes a method on rows after checking that it knows every setting it was given.
pub fn make_rows(
    method: &MethodInfo,
    spec: &MethodSpec,
    problem: &RowProblem,
    budget: Budget,
) -> Result<Box<dyn RowLearner>> {
    check_settings(method, spec)?;
    match method.make {
        Maker::Rows(make) => make(spec, problem, budget),
        Maker::Columns(_) => Err(Error::Unsupported(format!(
            "{} works on a stream of features, not of rows",
            method.name
        ))),
    }
}

/// Checks all that can be wrong with settings without data: each is known to the method, of the
/// right kind and within its bounds, and has an effect under the others.
pub fn check_settings(method: &MethodInfo, spec: &MethodSpec) -> Result<()> {
    for (name, value) in &spec.settings {
        method.setting(name)?.read(value)?;
    }
    effect::check(method, spec)
}
