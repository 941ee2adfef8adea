//! Settings of `ogfs` and its entry in the registry.

use super::{Ogfs, OgfsParams};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, SettingInfo, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::statistical::rules;

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    rules::no_model(problem, "ogfs")?;
    let params = OgfsParams {
        k: spec.k,
        epsilon: spec.get("epsilon", 0.001, "a number, at least 0")?,
        level: spec.get("level", 0.05, "a number between 0 and 1")?,
        lambda: spec.get("lambda", 0.001, "a number, at least 0")?,
    };
    let out_of_range = [
        ("k", params.k == Some(0), "at least 1"),
        ("epsilon", params.epsilon.is_nan() || params.epsilon < 0.0, "at least 0"),
        ("level", !(params.level > 0.0 && params.level < 1.0), "between 0 and 1"),
        ("lambda", params.lambda.is_nan() || params.lambda < 0.0, "at least 0"),
    ];
    for (name, wrong, want) in out_of_range {
        if wrong {
            let got = spec.settings.get(name).cloned().unwrap_or_else(|| "0".into());
            return Err(Error::param(name, got, want));
        }
    }
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
    settings: &[
        SettingInfo { name: "epsilon", default: "0.001", help: "least gain of the trace ratio" },
        SettingInfo { name: "level", default: "0.05", help: "level of the test on a score" },
        SettingInfo { name: "lambda", default: "0.001", help: "L1 weight between groups" },
    ],
    promises: Promises::SCATTER,
    make: Maker::Columns(make),
};
