//! Settings that the streaming rivals share, and the registry's entry of one.

use crate::data::row::RowProblem;
use crate::data::target::Task;
use crate::error::{Error, Result};
use crate::learn::averages::settings;
use crate::loss::LossKind;
use crate::registry::setting::Usual;
use crate::registry::{MethodInfo, MethodSpec, Promises, Setting};

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
pub(crate) const PRESET: Setting = Setting::choice(
    "preset",
    &["tuned", PUBLISHED],
    "settings not given: tuned, or published as the compared papers appear to have used",
);
/// The preset of the compared papers.
pub(crate) const PUBLISHED: &str = "published";
/// The regret's setting.
pub(crate) const REGRET: Setting = Setting::flag(
    "regret",
    false,
    "also report the regret against the best k features in hindsight; takes p^2 memory",
);
/// Whether rows are standardised.
pub(crate) const STANDARDISE: Setting = Setting::flag(
    "standardise",
    true,
    "by running mean and deviation; false takes rows as they are, in O(nnz), as published",
);

/// Which preset was asked for.
pub(crate) fn preset(spec: &MethodSpec) -> Result<&'static str> {
    spec.choice(&PRESET, PRESET.words, |word| word)
}

/// A number with a default by preset.
pub(crate) fn number(spec: &MethodSpec, setting: &Setting) -> Result<f64> {
    match setting.usual {
        Usual::Preset { published, .. }
            if spec.given(setting)?.is_none() && preset(spec)? == PUBLISHED =>
        {
            Ok(published)
        }
        _ => spec.number(setting),
    }
}

/// The registry's entry of a rival.
pub(crate) const fn info(
    name: &'static str,
    summary: &'static str,
    tasks: &'static str,
    cost: &'static str,
    paper: &'static str,
    own: &'static [Setting],
    make: crate::learn::MakeRows,
) -> MethodInfo {
    let averaged = settings::info(name, summary, cost, paper, own, make);
    let promises = Promises::STREAMING;
    MethodInfo { tasks, memory: "O(p)", needs_k: true, promises, ..averaged }
}
