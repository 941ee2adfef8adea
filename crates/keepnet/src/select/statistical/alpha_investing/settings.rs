//! Settings of `alpha-investing` and its entry in the registry.

use super::{AlphaInvesting, AlphaInvestingParams};
use crate::data::target::Problem;
use crate::error::Result;
use crate::registry::setting::Bounds;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::statistical::rules::{self, Rules};
use crate::selection::ErrorControl;

/// Level of the marginal false discovery rate by default, and with `rules=lofs`.
pub(super) const USUAL: f64 = 0.1;
const LOFS: f64 = 0.5;

const LEVEL: Setting = Setting::number(
    "level",
    Bounds::between(0.0, 1.0),
    USUAL,
    "level of the marginal false discovery rate: wealth and payout, unless they are given",
)
.derived("0.1; with rules=lofs 0.5");
pub(super) const WEALTH: Setting =
    Setting::number("wealth", Bounds::between(0.0, 1.0), USUAL, "wealth at the start")
        .derived("the level");
pub(super) const PAYOUT: Setting =
    Setting::number("payout", Bounds::between(0.0, 1.0), USUAL, "what an acceptance earns")
        .derived("the level");

/// What the run may say of its errors, with the wealth left after some tests.
pub(super) fn error_control(
    params: &AlphaInvestingParams,
    (left, tested, accepted): (f64, u64, u64),
) -> Option<ErrorControl> {
    let AlphaInvestingParams { wealth, payout, rules, .. } = params;
    if *rules == Rules::Lofs {
        return None;
    }
    let eta = wealth / payout;
    Some(ErrorControl {
        procedure: "alpha-investing",
        rate: "mfdr",
        level: *payout,
        tested,
        held: None,
        rejected: accepted,
        assumes: "each test is valid given the past".into(),
        line: format!(
            "alpha-investing: mFDR level {payout}: expected false <= {payout} x (expected accepted \
             + {eta}), if each test is valid given the past; wealth left {left:.4} after {tested} \
             tests"
        ),
    })
}

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    let rules = Rules::of(spec)?;
    let usual = if rules == Rules::Lofs { LOFS } else { USUAL };
    let level = spec.optional_number(&LEVEL)?.unwrap_or(usual);
    let params = AlphaInvestingParams {
        k: spec.k,
        wealth: spec.optional_number(&WEALTH)?.unwrap_or(level),
        payout: spec.optional_number(&PAYOUT)?.unwrap_or(level),
        rules,
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
    settings: &[LEVEL, WEALTH, PAYOUT, rules::RULES],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
