//! The short table at the end of a run.

use std::fmt::Write;

use keepnet::{Bytes, Task};
use keepnet_eval::trust::bounds::Bounds;

use super::Outcome;
use crate::lanes::{Evidence, Holdout, Null, PathPoint, Stability};
use crate::text::visible;
use crate::wording::with_flags;

/// Most features shown.
const SHOWN: usize = 20;

/// Lines of text with the columns under each other; text to the left, numbers to the right.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let shown = |row: &Vec<String>| row.iter().map(|cell| visible(cell)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(shown).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|at| rows.iter().filter_map(|row| row.get(at)).map(|c| c.chars().count()).max())
        .map(|width| width.unwrap_or(0))
        .collect();
    let numeric = |at: usize| {
        rows.iter().skip(1).filter_map(|row| row.get(at)).all(|c| c.parse::<f64>().is_ok())
    };
    let right: Vec<bool> = (0..columns).map(|at| rows.len() > 1 && numeric(at)).collect();
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let fill = " ".repeat(widths[at] - cell.chars().count());
            let (before, after) = if right[at] { (fill.as_str(), "") } else { ("", fill.as_str()) };
            line += &format!("{before}{cell}{after}  ");
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

/// Most features of a target shown, where there are several.
const FEW: usize = 5;

/// The best features and a few sentences on the run; a line a target where there are several.
pub fn table(outcomes: &[Outcome]) -> String {
    let first = match outcomes {
        [one] => return single(one),
        [first, ..] => first,
        [] => return String::new(),
    };
    let heading = ["target", "task", "rows", "kept", "loss", "best features"].map(String::from);
    let mut rows = vec![heading.to_vec()];
    for outcome in outcomes {
        let selection = &outcome.selection;
        let task = match outcome.classes.as_deref() {
            None => "regression".into(),
            Some(classes) => format!("{} classes", classes.len()),
        };
        let mut best: Vec<&str> =
            selection.selected.iter().take(FEW).map(|f| f.name.as_str()).collect();
        if selection.selected.len() > FEW {
            best.push("...");
        }
        rows.push(vec![
            outcome.target_name().to_string(),
            task,
            outcome.rows.used.to_string(),
            selection.selected.len().to_string(),
            selection.loss.map_or("-".into(), short),
            best.join(", "),
        ]);
    }
    let mut out = aligned(&rows);
    let _ = writeln!(
        out,
        "\n{} features by {} for {} targets, {} different ones are kept, rows matched by {}",
        first.features_seen,
        first.selection.method,
        outcomes.len(),
        super::distinct_kept(outcomes),
        visible(&first.rows.matched_by),
    );
    let scans = outcomes.iter().map(|outcome| outcome.scans).max().unwrap_or(0);
    let complete = outcomes.iter().all(|outcome| outcome.complete);
    let complete = if complete { "" } else { " (not complete)" };
    let peak = first.run.peak_bytes.map_or(String::new(), |b| format!(", peak {}", Bytes(b)));
    let _ = writeln!(out, "{scans} scans{complete} in {:.2} s{peak}", first.run.seconds.total);
    out
}

/// The best features of one target.
fn single(outcome: &Outcome) -> String {
    let selection = &outcome.selection;
    let mut rows = vec![["rank", "feature", "index", "weight", "score"].map(String::from).to_vec()];
    let tested = outcome.found.inference.as_ref().is_some_and(|one| one.kind == "split");
    if tested {
        rows[0].extend(["estimate", "interval", "p", "adjusted p"].map(String::from));
    }
    let weight = |weights: &[f64]| match weights {
        [] => "-".into(),
        [one] => short(*one),
        many => many.iter().map(|w| short(*w)).collect::<Vec<_>>().join(" "),
    };
    for (rank, feature) in selection.selected.iter().take(SHOWN).enumerate() {
        let mut row = vec![
            (rank + 1).to_string(),
            feature.name.clone(),
            feature.id.index.to_string(),
            weight(&feature.coefficient),
            short(feature.score),
        ];
        if let Some(evidence) = outcome.found.features.get(&feature.id).filter(|_| tested) {
            row.extend(tests(evidence));
        }
        rows.push(row);
    }
    let mut out = task_line(outcome) + &aligned(&rows);
    let more = selection.selected.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(out, "... and {more} more (--output FILE has them all)");
    }
    for feature in &selection.pinned {
        let (name, weight) = (visible(&feature.name), weight(&feature.coefficient));
        let _ = writeln!(out, "always: {name} {weight}");
    }
    out += &found(outcome);
    let task = match outcome.task {
        Task::Regression => "regression".to_string(),
        Task::Classification => {
            let names = outcome.classes.as_deref().unwrap_or_default();
            format!("classification ({})", visible(&names.join(", ")))
        }
    };
    let _ = writeln!(
        out,
        "\n{} of {} features by {}, {task}, {} rows matched by {}",
        selection.selected.len(),
        outcome.features_seen,
        selection.method,
        outcome.rows.used,
        visible(&outcome.rows.matched_by),
    );
    let loss = match (selection.loss, outcome.loss_kind()) {
        (Some(loss), Some(kind)) => format!("{kind} loss {}, ", short(loss)),
        _ => String::new(),
    };
    let peak = outcome.run.peak_bytes.map_or(String::new(), |b| format!(", peak {}", Bytes(b)));
    let _ = writeln!(
        out,
        "{loss}{} substitutions, {} scans{} in {:.2} s{peak}",
        selection.substitutions,
        outcome.scans,
        if outcome.complete { "" } else { " (not complete)" },
        outcome.run.seconds.total,
    );
    if let Some(control) = &selection.error_control {
        let _ = writeln!(out, "{}", control.line);
    }
    out
}

/// The task, where the values of the target decided it, and how to say otherwise.
fn task_line(outcome: &Outcome) -> String {
    let Some((why, advice)) = outcome.task_reason.and_then(|why| Some((why, why.advice()?))) else {
        return String::new();
    };
    let task = match (outcome.task, outcome.classes.as_deref().unwrap_or_default().len()) {
        (Task::Regression, _) => "regression".to_string(),
        (Task::Classification, n) => format!("classification into {n} classes"),
    };
    format!("{task}, as {why}; {}\n", with_flags(advice))
}

/// What other lanes of the run say of the selection.
fn found(outcome: &Outcome) -> String {
    let mut out = String::new();
    let found = &outcome.found;
    if let Some(path) = &found.path {
        let _ = write!(out, "\n{}", aligned(&path_cells(path)));
    }
    if let Some(Stability { pairs, share, mean_size, expected_false }) = &found.stability {
        let bound = |bound: Option<f64>| bound.map_or("none".into(), short);
        let Bounds { mb, unimodal, r_concave } = expected_false;
        let _ = writeln!(
            out,
            "\nfrequency of {share} or more in {} halves of the rows, {} features a half\n\
             expected false at most {} (any shape), {} (unimodal), {} (r-concave); estimates",
            2 * pairs,
            short(*mean_size),
            bound(*mb),
            bound(*unimodal),
            bound(*r_concave)
        );
    }
    if let Some(one) = &found.inference {
        let what = match one.correction {
            Some(correction) => {
                format!("p-values by {correction}, intervals at {}", 1.0 - one.level)
            }
            None => format!("knockoffs of {} features", one.screened.unwrap_or(0)),
        };
        let _ = writeln!(
            out,
            "\nselected on {} rows, tested on {} others: {what}",
            one.rows_selection, one.rows_inference
        );
    }
    if let Some(control) = &found.error_control {
        let _ = writeln!(out, "{}", control.line);
    }
    if let Some(Null { lanes, least, mean }) = &found.null {
        let (least, mean) = (short(*least), short(*mean));
        let _ = writeln!(
            out,
            "\nin-sample loss on {lanes} permuted targets: least {least}, mean {mean}"
        );
    }
    if let Some(Holdout { rows, loss, error }) = &found.holdout {
        let error = error.map_or(String::new(), |error| format!(", error rate {}", short(error)));
        let _ = writeln!(out, "\nloss on {rows} rows set aside {}{error}", short(*loss));
    }
    out
}

/// Estimate, interval and p-values as cells; one a class where there are several.
pub fn tests(evidence: &Evidence) -> [String; 4] {
    let list = |values: &[f64]| values.iter().map(|v| short(*v)).collect::<Vec<_>>().join(" ");
    let ends = evidence.ci_low.iter().zip(&evidence.ci_high);
    let ends: Vec<_> =
        ends.map(|(low, high)| format!("{} to {}", short(*low), short(*high))).collect();
    let [estimate, p, adjusted] =
        [&evidence.estimate, &evidence.p_value, &evidence.p_adjusted].map(|values| list(values));
    [estimate, ends.join(", "), p, adjusted]
}

/// The sizes that were looked at, as cells of a table with its heading; the chosen one is marked.
pub fn path_cells(path: &[PathPoint]) -> Vec<Vec<String>> {
    type Number = fn(&PathPoint) -> Option<f64>;
    let columns: [(&str, Number); 5] = [
        ("cv loss", |point| point.cv_mean),
        ("s.e.", |point| point.cv_se),
        ("cv error", |point| point.cv_error),
        ("in-sample loss", |point| point.in_sample),
        ("ebic", |point| point.ebic),
    ];
    let has = |(_, number): &(&str, Number)| path.iter().any(|point| number(point).is_some());
    let shown: Vec<_> = columns.into_iter().filter(has).collect();
    let heading = ["k"].into_iter().chain(shown.iter().map(|(name, _)| *name)).chain(["chosen"]);
    let mut rows = vec![heading.map(String::from).collect::<Vec<_>>()];
    for point in path {
        let mut row = vec![point.k.to_string()];
        row.extend(shown.iter().map(|(_, number)| number(point).map_or("-".into(), short)));
        row.push(if point.chosen { "*".into() } else { String::new() });
        rows.push(row);
    }
    rows
}

/// Five digits, with an exponent where they would not be seen.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}");
    }
    let digits = (4 - size.max(1e-4).log10().floor() as i32).clamp(0, 8) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_five_digits() {
        assert_eq!(
            [short(1.0), short(-0.0123456), short(98765.4)],
            ["1.0000", "-0.012346", "98765"]
        );
        assert_eq!([short(0.0), short(1e-9)], ["0.00000000", "1.000e-9"]);
    }

    #[test]
    fn columns_stand_under_each_other() {
        let rows = [["a", "n"], ["long", "1"], ["b", "22"]];
        let rows: Vec<Vec<String>> = rows.iter().map(|r| r.map(String::from).to_vec()).collect();
        assert_eq!(aligned(&rows), "a      n\nlong   1\nb     22\n");
    }
}
