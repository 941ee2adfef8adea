//! The coefficients of variants as `plink2 --score` reads them.
//!
//! ```text
//! one target       ID A1 COEFFICIENT             --score FILE 1 2 3
//! several          #ID A1 Y1 Y2 ... and a line   --score FILE 1 2 header-read --score-col-nums 3-
//!                  for each variant of any of them, 0 where a target does not keep it
//! ```
//!
//! The intercept, covariates and features that are no variants have no place there: the sum of the
//! scores and the intercept is the prediction of a model of variants alone.

use std::collections::HashMap;
use std::fmt::Write as _;

use keepnet::{Error, FeatureId, Result};

use super::Outcome;

/// A line a variant: those of the first target, best first, then those that further ones add.
pub fn score(outcomes: &[Outcome]) -> Result<Vec<u8>> {
    let mut lines: Vec<(&str, &str, Vec<f64>)> = Vec::new();
    let mut places: HashMap<FeatureId, usize> = HashMap::new();
    for (at, outcome) in outcomes.iter().enumerate() {
        let selection = &outcome.selection;
        for feature in selection.selected.iter().chain(&selection.pinned) {
            let [coefficient] = feature.coefficient[..] else {
                return Err(Error::Unsupported(format!(
                    "a .score file has one coefficient a variant, and {:?} has {}; write .json or \
                     .csv",
                    feature.name,
                    feature.coefficient.len()
                )));
            };
            let variant = outcome.variants.get(&feature.id);
            let Some(variant) = variant.filter(|_| feature.id == feature.id.base()) else {
                continue;
            };
            let place = *places.entry(feature.id).or_insert_with(|| {
                lines.push((&feature.name, &variant.a1, vec![0.0; outcomes.len()]));
                lines.len() - 1
            });
            lines[place].2[at] = coefficient;
        }
    }
    let mut text = String::new();
    if outcomes.len() > 1 {
        text += "#ID A1";
        for outcome in outcomes {
            // A blank would end the name.
            let name = outcome.target_name().replace(char::is_whitespace, "_");
            let _ = write!(text, " {name}");
        }
        text.push('\n');
    }
    for (name, a1, coefficients) in lines {
        let _ = write!(text, "{name} {a1}");
        coefficients.iter().for_each(|coefficient| {
            let _ = write!(text, " {coefficient}");
        });
        text.push('\n');
    }
    Ok(text.into_bytes())
}
