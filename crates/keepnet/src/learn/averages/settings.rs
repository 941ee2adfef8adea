//! What methods on running averages share: their settings, and which learner suits the budget.

use super::active_set::{ActiveSet, ActiveSetParams};
use super::averaged::{Averaged, AveragedParams};
use super::extract::Extract;
use super::irls::Irls;
use super::logistic::{Logistic, RegressionLearner};
use super::loss_choice::LossChoice;
use super::path::Choose;
use super::running::AveragesParams;
use crate::data::row::RowProblem;
use crate::error::{Error, Result};
use crate::learn::RowLearner;
use crate::loss::LossKind;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, SettingInfo, Stream};
use crate::run::budget::Budget;

/// The settings shared by every method on running averages.
pub(crate) const SHARED: [SettingInfo; 5] = [
    SettingInfo {
        name: "choose",
        default: "bic",
        help: "how many features when k is not given: bic, ebic or holdout",
    },
    SettingInfo {
        name: "forget",
        default: "0",
        help: "share of the past that each row lets go, 0 to below 1; 0.01 follows a drift",
    },
    SettingInfo {
        name: "products",
        default: "f32",
        help: "width of block products: f32, or f64 at half the speed",
    },
    SettingInfo {
        name: "active",
        default: "by --memory",
        help: "features in the Gram when p^2 is too much; all of them where the memory allows",
    },
    SettingInfo {
        name: "storage",
        default: "f64",
        help: "width of the averages: f64, or f32 at half the memory and near 1e-6",
    },
];

/// Reads the shared settings.
pub(crate) fn shared(spec: &MethodSpec) -> Result<AveragedParams> {
    if spec.k == Some(0) {
        return Err(Error::param("k", 0, "at least 1"));
    }
    let wide = |name, default: &str| {
        let width: String = spec.get(name, default.into(), "f32 or f64")?;
        match width.as_str() {
            "f32" => Ok(false),
            "f64" => Ok(true),
            _ => Err(Error::param(name, width, "f32 or f64")),
        }
    };
    Ok(AveragedParams {
        k: spec.k,
        choose: spec.get("choose", Choose::Bic, "bic, ebic or holdout")?,
        averages: AveragesParams {
            forget: spec.get("forget", 0.0, "a number from 0 to below 1")?,
            f64_products: wide("products", "f32")?,
            f32_storage: !wide("storage", "f64")?,
        },
        logistic: match spec.loss {
            None | Some(LossKind::Squared) => false,
            Some(LossKind::Logistic) => true,
            Some(other) => {
                return Err(Error::Unsupported(format!(
                    "running averages have no {} loss; use --loss squared or logistic",
                    other.name()
                )));
            }
        },
    })
}

/// The learner of a method: on the Gram of all features where it fits the budget, else on an
/// active set.
pub(crate) fn build(
    spec: &MethodSpec,
    problem: &RowProblem,
    extract: impl Extract + Copy + 'static,
    budget: Budget,
) -> Result<Box<dyn RowLearner>> {
    let params = shared(spec)?;
    if params.logistic && params.choose == Choose::Holdout {
        if spec.settings.contains_key("active") {
            return Err(Error::Unsupported(
                "choose=holdout with the logistic loss compares two losses on the Gram of all \
                 features; leave active or choose=holdout out"
                    .into(),
            ));
        }
        let parts = (Box::new(extract) as Box<dyn Extract>, Box::new(extract) as Box<dyn Extract>);
        return Ok(Box::new(LossChoice::new(problem, params, parts, budget)?));
    }
    build_from(spec, params, problem, Box::new(extract), budget)
}

fn build_from(
    spec: &MethodSpec,
    params: AveragedParams,
    problem: &RowProblem,
    extract: Box<dyn Extract>,
    mut budget: Budget,
) -> Result<Box<dyn RowLearner>> {
    problem.check()?;
    let numbers = if params.logistic { Some(Logistic::numbers(problem)?) } else { None };
    let working = if params.logistic { Irls::bytes_for(problem.features()) } else { 0 };
    budget.take(working, "the rows of the logistic loss")?;
    let need = Averaged::need(problem, &params) + working;
    let tight = budget.limit().filter(|limit| need > *limit);
    let asked: usize = spec.get("active", 0, "a whole number of features")?;
    let active = match (asked, tight) {
        (0, None) => None,
        (0, Some(limit)) => Some(ActiveSetParams::fitting(limit.saturating_sub(working), problem)),
        (asked, _) => Some(asked),
    };
    let active = active.map(|active| ActiveSetParams { active, seed: spec.seed });
    let forget = params.averages.forget;
    Ok(match (numbers, active) {
        (None, None) => Box::new(Averaged::new(problem.clone(), params, extract, budget)?),
        (None, Some(active)) => {
            Box::new(ActiveSet::new(problem.clone(), params, active, extract, budget)?)
        }
        (Some(numbers), active) => {
            let inner: Box<dyn RegressionLearner> = match active {
                None => Box::new(Averaged::new(numbers, params, extract, budget)?),
                Some(active) => Box::new(ActiveSet::new(numbers, params, active, extract, budget)?),
            };
            Box::new(Logistic::new(problem.clone(), inner, forget))
        }
    })
}

/// A setting that may be left to the method.
pub(crate) fn optional(spec: &MethodSpec, name: &'static str) -> Result<Option<f64>> {
    match spec.settings.get(name) {
        None => Ok(None),
        Some(_) => spec.get(name, 0.0, "a number").map(Some),
    }
}

/// The registry's entry of a method on running averages.
pub(crate) const fn info(
    name: &'static str,
    summary: &'static str,
    cost: &'static str,
    paper: &'static str,
    settings: &'static [SettingInfo],
    make: crate::learn::MakeRows,
) -> MethodInfo {
    MethodInfo {
        name,
        stream: Stream::Samples,
        summary,
        tasks: "regression, classification",
        cost,
        memory: "4 p^2 bytes, and 16 p^2 while extracting",
        paper,
        scans: 1,
        needs_k: false,
        has_loss: true,
        settings,
        promises: Promises::AVERAGED,
        make: Maker::Rows(make),
    }
}
