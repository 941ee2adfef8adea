//! Settings that the streaming rivals share, and the registry's entry of one.

use crate::data::row::RowProblem;
use crate::data::target::Task;
use crate::error::{Error, Result};
use crate::learn::averages::settings;
use crate::loss::LossKind;
use crate::registry::{MethodInfo, MethodSpec, Promises, SettingInfo};

/// The loss that was asked for, or the task's: squared for numbers, logistic for classes.
pub(crate) fn loss_of(spec: &MethodSpec, problem: &RowProblem) -> Result<LossKind> {
    let classes = problem.task() == Task::Classification;
    let kind = spec.loss.unwrap_or(if classes { LossKind::Logistic } else { LossKind::Squared });
    match kind {
        LossKind::Squared => Ok(kind),
        LossKind::Logistic | LossKind::SquaredHinge if classes => Ok(kind),
        _ => Err(Error::Unsupported(format!(
            "the {} loss does not go with this method and target; use squared, or logistic or \
             squared-hinge for classes",
            kind.name()
        ))),
    }
}

/// Settings shared by the rivals.
pub(crate) const PRESET: SettingInfo = SettingInfo {
    name: "preset",
    default: "tuned",
    help: "settings not given: tuned, or published as the compared papers appear to have used",
};
/// The regret's setting.
pub(crate) const REGRET: SettingInfo = SettingInfo {
    name: "regret",
    default: "false",
    help: "also report the regret against the best k features in hindsight; takes p^2 memory",
};

/// Whether rows are standardised.
pub(crate) const STANDARDISE: SettingInfo = SettingInfo {
    name: "standardise",
    default: "true",
    help: "by running mean and deviation; false takes rows as they are, in O(nnz), as published",
};

/// Whether rows are to be standardised.
pub(crate) fn standardised(spec: &MethodSpec) -> Result<bool> {
    spec.get("standardise", true, "true or false")
}

/// Whether the published preset was asked for.
pub(crate) fn preset(spec: &MethodSpec) -> Result<&'static str> {
    match spec.settings.get("preset").map(String::as_str) {
        None | Some("tuned") => Ok("tuned"),
        Some("published") => Ok("published"),
        Some(other) => Err(Error::param("preset", other, "tuned or published")),
    }
}

/// A number setting above 0 with a default by preset.
pub(crate) fn positive(
    spec: &MethodSpec,
    name: &'static str,
    published: f64,
    tuned: f64,
) -> Result<f64> {
    let default = if preset(spec)? == "published" { published } else { tuned };
    let value = spec.get(name, default, "a number above 0")?;
    match value > 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err(Error::param(name, value, "a number above 0")),
    }
}

/// The registry's entry of a rival.
pub(crate) const fn info(
    name: &'static str,
    summary: &'static str,
    tasks: &'static str,
    cost: &'static str,
    paper: &'static str,
    own: &'static [SettingInfo],
    make: crate::learn::MakeRows,
) -> MethodInfo {
    let averaged = settings::info(name, summary, cost, paper, own, make);
    let promises = Promises::STREAMING;
    MethodInfo { tasks, memory: "O(p)", needs_k: true, promises, ..averaged }
}
