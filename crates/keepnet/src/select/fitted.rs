//! What the methods with a model share: the limit on `k`, and the selection of a refitted model.

use super::refit::{Outputs, refit};
use crate::data::kept::{Kept, KeptSet};
use crate::error::{Error, Result};
use crate::loss::squared_epsilon::TUBE;
use crate::numeric::inner_product::Frame;
use crate::registry::Setting;
use crate::selection::{CovariateCoefficient, Selected, Selection};

/// Half-width of the tube of the insensitive loss.
pub(super) const EPSILON: Setting =
    Setting::number("epsilon", TUBE, 0.0, "half-width of the tube of squared-epsilon")
        .derived("0.1 sd(y)");

/// Whether there is an intercept.
pub(super) const INTERCEPT: Setting = Setting::flag(
    "intercept",
    true,
    "false leaves columns and target uncentred, as the paper does",
);

/// Refuses `k` of at least the number of rows: with the squared loss `k` columns fit any `k` rows.
pub(super) fn check_k(k: usize, n: usize) -> Result<()> {
    if k < n {
        return Ok(());
    }
    let got = format!("{k} with {n} rows");
    Err(Error::param("k", got, "below the number of rows for the squared loss"))
}

/// Refits the slots of the model and gives the selection.
pub(super) fn selection(
    frame: &Frame,
    kept: &KeptSet,
    model: &[usize],
    outputs: &Outputs,
) -> Result<Selection> {
    let columns: Vec<&Kept> = model.iter().map(|slot| &kept.slots()[*slot]).collect();
    of_columns(frame, &columns, outputs)
}

/// Refits these columns and gives the selection.
pub(super) fn of_columns(frame: &Frame, columns: &[&Kept], outputs: &Outputs) -> Result<Selection> {
    let fit = refit(frame, columns, outputs)?;
    let mut out = Selection { score_kind: "loss increase if removed", ..Selection::default() };
    for (j, column) in columns.iter().enumerate() {
        let coefficient = fit.coefficients[j * outputs.y.len()..(j + 1) * outputs.y.len()].to_vec();
        match Selected::from_kept(column, j) {
            None => {
                let name = column.name.clone();
                out.covariates.push(CovariateCoefficient { name, coefficient });
            }
            Some(selected) => {
                let selected = Selected { coefficient, score: fit.score[j], ..selected };
                if column.pinned { out.pinned.push(selected) } else { out.selected.push(selected) }
            }
        }
    }
    out.intercept = fit.intercept;
    out.loss = Some(fit.loss);
    out.sort();
    Ok(out)
}
