//! Settings of `alpha-investing` and its entry in the registry.

use super::{AlphaInvesting, AlphaInvestingParams};
use crate::data::target::Problem;
use crate::error::Result;
use crate::registry::setting::Bounds;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::statistical::rules::{self, Rules};

pub(super) const WEALTH: Setting =
    Setting::number("wealth", Bounds::between(0.0, 1.0), 0.5, "wealth at the start");
pub(super) const PAYOUT: Setting =
    Setting::number("payout", Bounds::between(0.0, 1.0), 0.5, "what an acceptance earns");

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    let params = AlphaInvestingParams {
        k: spec.k,
        wealth: spec.number(&WEALTH)?,
        payout: spec.number(&PAYOUT)?,
        rules: Rules::of(spec)?,
    };
    if params.rules == Rules::Lofs {
        crate::measure::lofs::plain(problem)?;
    }
    Ok(Box::new(AlphaInvesting::new(params, problem, budget)?))
}

/// The registry's entry.
pub const ALPHA_INVESTING: MethodInfo = MethodInfo {
    name: "alpha-investing",
    stream: Stream::Features,
    summary: "streamwise regression with a wealth of error that successes refill",
    tasks: "regression; classification with classes as numbers",
    cost: "O(n m) a feature with m accepted; a sparse one its non-zeros times m",
    memory: "the kept columns as stored, one residual, m^2/2 numbers",
    paper: "Zhou, Foster, Stine, Ungar, JMLR 7 (2006)",
    scans: 1,
    needs_k: false,
    has_loss: false,
    settings: &[WEALTH, PAYOUT, rules::RULES],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
