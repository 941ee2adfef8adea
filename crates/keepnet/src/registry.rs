//! Every method by name: what it is, what it takes, and how to make it.
//!
//! The command line and the Python package know methods through this table alone, so a method
//! is one file, one struct and one entry here.

mod describe;
mod promises;
pub mod setting;
mod spec;
#[cfg(test)]
mod tests;

use crate::data::row::RowProblem;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::learn::averages::{
    annealed_ridge, oalasso, oelnet, ofsa, olasso, ols, olsth, omcp, oscad,
};
use crate::learn::streaming::{
    ofs, opg, opg_sadmm, rda, rda_sadmm, sgd, siht, sofs, truncated_gradient, tsgd,
};
use crate::learn::{MakeRows, RowLearner};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::l1::{grafting, grafting_light, l0_cd, l1_cd, l1_hinge, lasso, proj_gd};
use crate::select::statistical::{alpha_investing, group_saola, ogfs, osfs, saola};
use crate::select::substitution::{asy_os, os, os_plus};

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
    /// Scans made unless another number is asked for.
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

    /// The setting of that name, or an error that lists those there are.
    pub fn setting(&self, name: &str) -> Result<&'static Setting> {
        self.settings.iter().find(|setting| setting.name == name).ok_or_else(|| {
            let known: Vec<_> = self.settings.iter().map(|setting| setting.name).collect();
            let got = format!("{name} ({} knows {})", self.name, known.join(", "));
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

/// Every method, defaults first.
#[must_use]
pub fn methods() -> &'static [&'static MethodInfo] {
    &[
        &os_plus::INFO,
        &os::INFO,
        &asy_os::INFO,
        &saola::SAOLA,
        &saola::SAOLA_MAX,
        &group_saola::GROUP_SAOLA,
        &alpha_investing::ALPHA_INVESTING,
        &osfs::OSFS,
        &osfs::FAST_OSFS,
        &ogfs::OGFS,
        &grafting::INFO,
        &grafting_light::INFO,
        &l1_cd::INFO,
        &l0_cd::INFO,
        &lasso::INFO,
        &l1_hinge::INFO,
        &proj_gd::INFO,
        &annealed_ridge::INFO,
        &ols::INFO,
        &olsth::INFO,
        &ofsa::INFO,
        &olasso::INFO,
        &oalasso::INFO,
        &oelnet::INFO,
        &omcp::INFO,
        &oscad::INFO,
        &sgd::INFO,
        &tsgd::INFO,
        &siht::INFO,
        &truncated_gradient::INFO,
        &opg::INFO,
        &rda::INFO,
        &opg_sadmm::INFO,
        &rda_sadmm::INFO,
        &ofs::INFO,
        &sofs::INFO,
    ]
}

/// The method of that name.
pub fn find(name: &str) -> Result<&'static MethodInfo> {
    methods().iter().copied().find(|method| method.name == name).ok_or_else(|| {
        let near = methods().iter().map(|m| m.name).find(|m| m.contains(name) || name.contains(m));
        let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
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
/// right kind and within its bounds.
pub fn check_settings(method: &MethodInfo, spec: &MethodSpec) -> Result<()> {
    spec.settings.iter().try_for_each(|(name, value)| method.setting(name)?.read(value).map(|_| ()))
}
