//! The coefficients of variants as `plink2 --score FILE 1 2 3` reads them: id, A1, coefficient.
//!
//! The intercept, covariates and features that are no variants have no place there: the sum of the
//! scores and the intercept is the prediction of a model of variants alone.

use std::fmt::Write as _;

use keepnet::{Error, Result};

use super::Outcome;

/// A line a variant, best first.
pub fn score(outcome: &Outcome) -> Result<Vec<u8>> {
    let mut text = String::new();
    let selection = &outcome.selection;
    for feature in selection.selected.iter().chain(&selection.pinned) {
        let [coefficient] = feature.coefficient[..] else {
            return Err(Error::Unsupported(format!(
                "a .score file has one coefficient a variant, and {:?} has {}; write .json or .csv",
                feature.name,
                feature.coefficient.len()
            )));
        };
        if let Some(variant) =
            outcome.variants.get(&feature.id).filter(|_| feature.id == feature.id.base())
        {
            let _ = writeln!(text, "{} {} {coefficient}", feature.name, variant.a1);
        }
    }
    Ok(text.into_bytes())
}
