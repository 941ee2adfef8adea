//! Settings that need another one to have an effect: given alone they are refused with the reason.

use super::{MethodInfo, MethodSpec};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::select::statistical::rules::PairSettings;

/// Refuses a setting that would be without effect under the others.
pub(super) fn check(method: &MethodInfo, spec: &MethodSpec) -> Result<()> {
    // `ogfs` has an epsilon of its own, and no loss.
    let epsilon = spec.settings.contains_key("epsilon");
    if epsilon && method.has_loss && spec.loss != Some(LossKind::SquaredEpsilon) {
        return Err(without_effect("epsilon", "`loss=squared-epsilon`, whose tube it is"));
    }
    Ok(())
}

/// Refuses a threshold that the measure does not have. The measure may follow from the types of the
/// columns, so this is for a caller that knows them.
pub fn check_thresholds(method: &MethodInfo, spec: &MethodSpec) -> Result<()> {
    match method.has("measure") && method.has("alpha") && method.has("delta") {
        true => PairSettings::check_threshold(spec),
        false => Ok(()),
    }
}

/// The error of a setting that does nothing without another.
pub(crate) fn without_effect(name: &'static str, want: &'static str) -> Error {
    Error::param(name, "given, but has no effect here", want)
}
