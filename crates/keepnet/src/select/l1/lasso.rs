//! The lasso: a model with an L1 penalty over all features at once, in memory.
//!
//! ```text
//! minimise over w, b   L(X w + b) / W + lambda sum_j |w_j|
//! ```
//!
//! With `lambda=auto` lambda falls from the largest useful one until at least `k` coefficients are
//! not 0. A bisection then finds the smallest such model, and its `k` largest coefficients are kept
//! and refitted. The loss is squared by default (classes as -1 and 1); `loss` takes the others, such
//! as L1 logistic regression. Every solution is checked against the KKT conditions over all
//! columns, and the residual is in the result. With `standardise=false` the problem and its lambda
//! are those of scikit-learn's `Lasso` (`alpha`).
//!
//! Cost: coordinate descent on a working set, one pass over all columns for each check; memory:
//! every column. Source: Tibshirani, JRSS-B 58 (1996); the paper's LASSO rival.

use super::batch::{Answer, Batch, Solver};
use super::settings::{EPSILON, INTERCEPT, LAMBDA, STANDARDISE};
use super::working_set::solve_l1;
use super::{Columns, L1Params};
use crate::data::target::Problem;
use crate::error::Result;
use crate::loss::LossKind;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::selection::Value;

/// The L1 problem as a method of this name.
pub(super) struct L1Solver {
    pub(super) name: &'static str,
    pub(super) params: L1Params,
}

impl Solver for L1Solver {
    fn name(&self) -> &'static str {
        self.name
    }

    fn params(&self, columns: &Columns) -> Vec<(&'static str, Value)> {
        self.params.shown(columns.outputs.kind)
    }

    fn solve(&self, columns: &Columns) -> Result<Answer> {
        solve_l1(columns, &self.params)
    }
}

/// The registry's entry.
pub const INFO: MethodInfo = MethodInfo {
    name: "lasso",
    stream: Stream::Batch,
    summary: "the L1 penalised model of all features at once, its k largest weights",
    tasks: "regression, classification (several classes one against the rest)",
    cost: "coordinate descent on a working set; a pass over all columns a check",
    memory: "every column, and O(k^2)",
    paper: "Tibshirani, JRSS-B 58 (1996)",
    scans: 1,
    needs_k: false,
    has_loss: true,
    settings: &[LAMBDA, STANDARDISE, EPSILON, INTERCEPT],
    promises: Promises::ALL,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    let mut params = L1Params::read(spec)?;
    params.loss = params.loss.or(Some(LossKind::Squared));
    let solver = L1Solver { name: INFO.name, params: params.clone() };
    Ok(Box::new(Batch::new(solver, &params, problem, budget)?))
}
