//! Every method by name: what it is, what it takes, and how to make it.
//!
//! The command line and the Python package know methods through this table alone, so a method
//! is one file, one struct and one entry here.

mod promises;

use std::collections::BTreeMap;
use std::str::FromStr;

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
use crate::loss::LossKind;
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::l1::{grafting, grafting_light, l0_cd, l1_cd, l1_hinge, lasso, proj_gd};
use crate::select::statistical::{alpha_investing, group_saola, ogfs, osfs, saola};
use crate::select::substitution::{asy_os, os, os_plus};

pub use promises::{Promises, Relation};

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

/// One setting of a method, given as `--set name=value`.
#[derive(Clone, Copy, Debug)]
pub struct SettingInfo {
    /// Its name.
    pub name: &'static str,
    /// Its default, as the user would write it.
    pub default: &'static str,
    /// What it does and which values it takes.
    pub help: &'static str,
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
    /// Scans made unless `--scans` says otherwise.
    pub scans: u32,
    /// Whether it cannot work without `-k`.
    pub needs_k: bool,
    /// Whether `--loss` means something to it.
    pub has_loss: bool,
    /// Its settings.
    pub settings: &'static [SettingInfo],
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

/// What the user asked of a method.
#[derive(Clone, Debug, Default)]
pub struct MethodSpec {
    /// Most features to keep.
    pub k: Option<usize>,
    /// The loss, where one was named.
    pub loss: Option<LossKind>,
    /// Seed of whatever is random in it.
    pub seed: u64,
    /// Bytes of one dense column, where known, for a budget that is checked beforehand.
    pub column_bytes: Option<u64>,
    /// Whether the schema says that every column holds integers, booleans or codes.
    pub integral: bool,
    /// `--set` pairs.
    pub settings: BTreeMap<String, String>,
}

impl MethodSpec {
    /// A method that keeps `k` features, with its defaults.
    #[must_use]
    pub fn k(k: usize) -> Self {
        Self { k: Some(k), ..Self::default() }
    }

    /// The same with one more setting.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl ToString) -> Self {
        self.settings.insert(name.into(), value.to_string());
        self
    }

    /// The value of a setting, or `default`.
    pub fn get<T: FromStr>(&self, name: &'static str, default: T, want: &'static str) -> Result<T> {
        match self.settings.get(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| Error::param(name, text, want)),
        }
    }

    /// `k`, or the advice that it is needed.
    pub fn need_k(&self) -> Result<usize> {
        match self.k {
            Some(0) => Err(Error::param("k", 0, "at least 1")),
            Some(k) => Ok(k),
            None => Err(Error::param("k", "not given", "-k K, the number of features to keep")),
        }
    }
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

/// Whether the method knows every setting it was given.
pub fn check_settings(method: &MethodInfo, spec: &MethodSpec) -> Result<()> {
    for name in spec.settings.keys() {
        if !method.settings.iter().any(|setting| setting.name == name) {
            let known: Vec<_> = method.settings.iter().map(|s| s.name).collect();
            let got = format!("{name} ({} knows {})", method.name, known.join(", "));
            return Err(Error::param("--set", got, "a setting of the method"));
        }
    }
    Ok(())
}
