//! What methods on running averages share: their settings, and which learner suits the budget.

use super::active_set::{ActiveSet, ActiveSetParams};
use super::averaged::{Averaged, AveragedParams};
use super::extract::Extract;
use super::irls::Irls;
use super::logistic::{Logistic, RegressionLearner};
use super::loss_choice::LossChoice;
use super::path::Choose;
use super::running::{AveragesParams, FORGETTING};
use crate::data::row::RowProblem;
use crate::error::{Error, Result};
use crate::learn::RowLearner;
use crate::loss::LossKind;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;

const CHOOSE: Setting = Setting::choice(
    "choose",
    &[Choose::Bic.name(), Choose::Ebic.name(), Choose::Holdout.name()],
    "how many features when k is not given: bic, ebic or holdout",
);
const FORGET: Setting = Setting::number(
    "forget",
    FORGETTING,
    0.0,
    "share of the past that each row lets go, 0 to below 1; 0.01 follows a drift",
);
const PRODUCTS: Setting = Setting::choice(
    "products",
    &["f32", "f64"],
    "width of block products: f32, or f64 at half the speed",
);
const ACTIVE: Setting = Setting::whole(
    "active",
    (0, u64::MAX),
    0,
    "features in the Gram when p^2 is too much; all of them where the memory allows",
)
.derived("by `memory`");
const STORAGE: Setting = Setting::choice(
    "storage",
    &["f64", "f32"],
    "width of the averages: f64, or f32 at half the memory and near 1e-6",
);

/// The settings shared by every method on running averages.
pub(crate) const SHARED: [Setting; 5] = [CHOOSE, FORGET, PRODUCTS, ACTIVE, STORAGE];

/// A table of the method's own settings and then the shared ones; `N` is their sum.
pub(crate) const fn with_shared<const OWN: usize, const N: usize>(
    own: [Setting; OWN],
) -> [Setting; N] {
    let mut all = [SHARED[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < OWN { own[at] } else { SHARED[at - OWN] };
        at += 1;
    }
    all
}

/// Reads the shared settings.
pub(crate) fn shared(spec: &MethodSpec) -> Result<AveragedParams> {
    if spec.k == Some(0) {
        return Err(Error::param("k", 0, "at least 1"));
    }
    let wide =
        |setting| spec.choice(setting, &[false, true], |wide| ["f32", "f64"][usize::from(wide)]);
    Ok(AveragedParams {
        k: spec.k,
        choose: spec.choice(&CHOOSE, &Choose::ALL, Choose::name)?,
        averages: AveragesParams {
            forget: spec.number(&FORGET)?,
            f64_products: wide(&PRODUCTS)?,
            f32_storage: !wide(&STORAGE)?,
        },
        logistic: match spec.loss {
            None | Some(LossKind::Squared) => false,
            Some(LossKind::Logistic) => true,
            Some(other) => {
                return Err(Error::Unsupported(format!(
                    "running averages have no {} loss; use `loss=squared` or logistic",
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
        if spec.optional_whole(&ACTIVE)?.is_some() {
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
    let asked = spec.optional_whole(&ACTIVE)?.unwrap_or(0);
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

/// The registry's entry of a method on running averages.
pub(crate) const fn info(
    name: &'static str,
    summary: &'static str,
    cost: &'static str,
    paper: &'static str,
    settings: &'static [Setting],
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
