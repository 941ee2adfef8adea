//! What the user should know of a run beside its numbers.

use keepnet::learn::averages::{ols, olsth};
use keepnet::registry::MethodSpec;
use keepnet::run::RowCounts;
use keepnet::selection::{Selection, Value};

use super::Rows;

/// Of a run on features, of which `seen` arrived; `notes` are those of the join.
pub(super) fn of_columns(
    notes: &[String],
    spec: &MethodSpec,
    (integral, seen): (bool, u64),
    selection: &Selection,
) -> Vec<String> {
    let mut warnings = notes.to_vec();
    if let Some(k) = spec.k.filter(|k| *k as u64 > seen) {
        warnings
            .push(format!("k is {k} but only {seen} features were seen; all are kept that can be"));
    }
    let chosen = selection.params.iter().find(|(name, _)| *name == "measure");
    if let (None, Some((_, Value::Text(measure)))) = (spec.settings.get("measure"), chosen) {
        let why = match integral {
            true => "every column is an integer, bool or code",
            false => "not every column is an integer, bool or code",
        };
        warnings.push(format!("measure {measure}, as {why}; `measure` chooses another"));
    }
    for warning in &selection.warnings {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    warnings
}

/// What to say of a `k` that was given to a method that keeps every feature.
#[must_use]
pub fn keeps_all(selection: &Selection, k: Option<usize>) -> Option<String> {
    let (all, some) = (ols::INFO.name, olsth::INFO.name);
    let k = k.filter(|k| selection.method == all && *k < selection.selected.len())?;
    Some(format!(
        "{all} keeps every feature, so k = {k} has no effect; `method={some}` keeps the {k} of \
         the largest weights"
    ))
}

/// Of a run on rows that was asked for `k` features.
pub(super) fn of_rows(selection: &Selection, counts: &RowCounts, k: Option<usize>) -> Vec<String> {
    let mut warnings = selection.warnings.clone();
    warnings.extend(keeps_all(selection, k));
    if counts.dropped > 0 {
        warnings.push(format!("{} rows had a missing value and were left out", counts.dropped));
    }
    if counts.filled > 0 {
        warnings.push(format!("{} missing values were filled", counts.filled));
    }
    warnings
}

/// Of rows of a stream that were left out.
pub(super) fn left_out(rows: &Rows) -> Vec<String> {
    let note = |count: Option<usize>, what: &str| {
        let count = count.filter(|count| *count > 0)?;
        Some(format!("{count} rows have no {what} and are left out"))
    };
    let masked = note(rows.masked_target, "target");
    masked.into_iter().chain(note(rows.unmatched, "match by key")).collect()
}
