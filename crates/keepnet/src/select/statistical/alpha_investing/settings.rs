//! Settings of `alpha-investing` and its entry in the registry.

use super::{AlphaInvesting, AlphaInvestingParams};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, SettingInfo, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::statistical::rules::{self, Rules};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    let params = AlphaInvestingParams {
        k: spec.k,
        wealth: spec.get("wealth", 0.5, "a number between 0 and 1")?,
        payout: spec.get("payout", 0.5, "a number between 0 and 1")?,
        rules: Rules::parse(spec)?,
    };
    if params.k == Some(0) {
        return Err(Error::param("k", 0, "at least 1"));
    }
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
    settings: &[
        SettingInfo { name: "wealth", default: "0.5", help: "wealth at the start" },
        SettingInfo { name: "payout", default: "0.5", help: "what an acceptance earns" },
        rules::RULES,
    ],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
