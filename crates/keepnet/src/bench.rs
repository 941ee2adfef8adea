//! What the benchmarks measure the methods against: not for users, and without promises.

use crate::data::column::Column;
use crate::data::kept::{Kept, KeptSet};
use crate::data::target::Problem;
use crate::error::Result;
use crate::loss::LossKind;
use crate::numeric::inner_product::Frame;
use crate::run::budget::Budget;
use crate::select::refit;

/// `out += sum_j w_j x_j`, by the kernel that the methods use.
pub fn combine(columns: &[Column<'_>], w: &[f64], out: &mut [f64]) {
    crate::numeric::products::combine(columns, w, out);
}

/// Every product of columns with vectors, by the kernel that the methods use.
pub fn cross(columns: &[Column<'_>], vectors: &[&[f64]], out: &mut [f64]) {
    crate::numeric::products::cross(columns, vectors, out);
}

/// The fit on some columns without an intercept, as a method ends.
pub fn refit(problem: &Problem, kind: LossKind, columns: &[Column<'_>]) -> Result<()> {
    let frame = Frame::new(problem, false);
    let mut kept = KeptSet::new(Budget::unlimited());
    for (place, column) in columns.iter().enumerate() {
        let values: Vec<f64> = (0..problem.n()).map(|i| column.get(i)).collect();
        let (data, stats) = frame.column(&values);
        kept.push_covariate(&place.to_string(), data, stats)?;
    }
    let kept: Vec<&Kept> = kept.slots().iter().collect();
    refit::refit(&frame, &kept, &refit::Outputs::new(problem, kind, None, &frame)?).map(|_| ())
}
