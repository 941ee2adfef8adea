//! The squared hinge with an L1 penalty over all features at once, in memory: a sparse linear SVM.
//!
//! ```text
//! minimise over w, b   sum_i v_i max(0, 1 - y_i (x_i'w + b))^2 / (2 W) + lambda sum_j |w_j|
//! ```
//!
//! The same as `lasso` with the squared hinge, for classes only. With `standardise=false` and
//! `intercept=false` it is scikit-learn's `LinearSVC(penalty="l1", loss="squared_hinge")` at
//! `C = 1 / (2 n lambda)`. Solved by proximal Newton steps on a working set and checked against
//! the KKT conditions over all columns. Memory: every column.
//! Source: the paper's L1 hinge rival; Fan, Chang, Hsieh, Wang, Lin, JMLR 9 (2008).

use super::L1Params;
use super::batch::Batch;
use super::lasso::L1Solver;
use super::settings::{INTERCEPT, LAMBDA, STANDARDISE};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;

/// The registry's entry.
pub const INFO: MethodInfo = MethodInfo {
    name: "l1-hinge",
    stream: Stream::Batch,
    summary: "the L1 penalised squared hinge of all features at once, its k largest weights",
    tasks: "classification (several classes one against the rest)",
    cost: "proximal Newton on a working set; a pass over all columns a check",
    memory: "every column, and O(k^2)",
    paper: "Fan, Chang, Hsieh, Wang, Lin, JMLR 9 (2008)",
    scans: 1,
    needs_k: false,
    has_loss: false,
    settings: &[LAMBDA, STANDARDISE, INTERCEPT],
    promises: Promises::CLASSES,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    let mut params = L1Params::read(spec)?;
    if let Some(loss) = params.loss.filter(|loss| *loss != LossKind::SquaredHinge) {
        let want = "squared-hinge; lasso takes the other losses";
        return Err(Error::param("loss", loss.name(), want));
    }
    params.loss = Some(LossKind::SquaredHinge);
    let solver = L1Solver { name: INFO.name, params: params.clone() };
    Ok(Box::new(Batch::new(solver, &params, problem, budget)?))
}
