//! Settings of `ogfs` and its entry in the registry.

use super::{Ogfs, OgfsParams};
use crate::data::target::Problem;
use crate::error::Result;
use crate::registry::setting::Bounds;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::statistical::rules;

pub(super) const EPSILON: Setting = Setting::number(
    "epsilon",
    Bounds::at_least(0.0).or_infinity(),
    0.001,
    "least gain of the trace ratio",
);
pub(super) const LEVEL: Setting =
    Setting::number("level", Bounds::between(0.0, 1.0), 0.05, "level of the test on a score");
pub(super) const LAMBDA: Setting = Setting::number(
    "lambda",
    Bounds::at_least(0.0).or_infinity(),
    0.001,
    "L1 weight between groups",
);

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    rules::no_model(problem, "ogfs")?;
    let params = OgfsParams {
        k: spec.k,
        epsilon: spec.number(&EPSILON)?,
        level: spec.number(&LEVEL)?,
        lambda: spec.number(&LAMBDA)?,
    };
    Ok(Box::new(Ogfs::new(params, problem, budget)?))
}

/// The registry's entry.
pub const OGFS: MethodInfo = MethodInfo {
    name: "ogfs",
    stream: Stream::Groups,
    summary: "class scatter within a group, a lasso between groups",
    tasks: "classification",
    cost: "one pass a feature; a product a pair of accepted and kept, a lasso a group",
    memory: "the kept columns as stored, one group, m^2/2 numbers",
    paper: "Wang, Zhao, Hu, Cheung, Wang, Wu, IJCAI 2013",
    scans: 1,
    needs_k: false,
    has_loss: false,
    settings: &[EPSILON, LEVEL, LAMBDA],
    promises: Promises::SCATTER,
    make: Maker::Columns(make),
};
