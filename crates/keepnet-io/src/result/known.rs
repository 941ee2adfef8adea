//! What a result says besides the selection: warnings, rows by their fate, a run on rows.

use std::time::Duration;

use keepnet::learn::averages::{ols, olsth};
use keepnet::registry::MethodSpec;
use keepnet::run::{Dropped, LaneReport, RowCounts, RowFilter, TracePoint};
use keepnet::selection::{Selection, Value};
use keepnet::{RowProblem, RunReport, Target};

use super::{Rows, Seconds};

/// What the user should know of a run on features; `notes` are those of the join.
#[must_use]
pub fn warnings(
    notes: &[String],
    spec: &MethodSpec,
    integral: bool,
    report: &RunReport,
) -> Vec<String> {
    let mut warnings = notes.to_vec();
    let selection = &report.lanes[0].selection;
    if let Some(k) = spec.k.filter(|k| *k as u64 > report.features_seen) {
        let seen = report.features_seen;
        warnings
            .push(format!("k is {k} but only {seen} features were seen; all are kept that can be"));
    }
    let chosen = selection.params.iter().find(|(name, _)| *name == "measure");
    if let (None, Some((_, Value::Text(measure)))) = (spec.settings.get("measure"), chosen) {
        let why = match integral {
            true => "every column is an integer, bool or code",
            false => "not every column is an integer, bool or code",
        };
        warnings.push(format!("measure {measure}, as {why}; --measure chooses another"));
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
        "{all} keeps every feature, so k = {k} has no effect; --method {some} keeps the {k} of \
         the largest weights"
    ))
}

/// What the user should know of a run on rows that was asked for `k` features.
#[must_use]
pub fn row_warnings(selection: &Selection, counts: &RowCounts, k: Option<usize>) -> Vec<String> {
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

impl Rows {
    /// Rows of a stream that were matched by position, by their fate.
    #[must_use]
    pub fn of(counts: &RowCounts) -> Self {
        Self::joined(counts, "position", 0)
    }

    /// Rows of a stream, of which some had no match by key.
    #[must_use]
    pub fn joined(counts: &RowCounts, matched_by: &str, unmatched: u64) -> Self {
        Self {
            input: counts.input as usize,
            used: counts.used as usize,
            matched_by: matched_by.into(),
            masked_target: Some(counts.without_target.saturating_sub(unmatched) as usize),
            unmatched: Some(unmatched as usize),
            classes: None,
        }
    }

    /// The same with the rows of each class that a run counted.
    #[must_use]
    pub fn counted(self, filter: &RowFilter) -> Self {
        Self { classes: filter.class_counts().map(<[u64]>::to_vec), ..self }
    }

    /// What the user should know of rows that were left out.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let note = |count: Option<usize>, what: &str| {
            let count = count.filter(|count| *count > 0)?;
            Some(format!("{count} rows have no {what} and are left out"))
        };
        let masked = note(self.masked_target, "target");
        masked.into_iter().chain(note(self.unmatched, "match by key")).collect()
    }
}

/// The target of a stream of rows, whose values are gone.
#[must_use]
pub fn row_target(problem: &RowProblem) -> Target {
    match problem.classes.is_empty() {
        true => Target::Numbers(Vec::new()),
        false => Target::Classes { names: problem.classes.clone(), codes: Vec::new() },
    }
}

/// A run on rows in the shape of a run on features.
#[must_use]
pub fn row_report(
    problem: &RowProblem,
    selection: Selection,
    complete: bool,
    seconds: Seconds,
    trace: Vec<TracePoint>,
) -> RunReport {
    let lane = LaneReport { selection, dropped: Dropped::default(), trace };
    RunReport {
        lanes: vec![lane],
        features_seen: problem.candidates() as u64,
        scans: 1,
        complete,
        read: Duration::from_secs_f64(seconds.read),
        select: Duration::from_secs_f64(seconds.select),
        groups: None,
        checked: 0,
    }
}
