//! The short table at the end of a run.

use std::fmt::Write;

use keepnet::{Bytes, Task};

use super::Outcome;
use crate::text::visible;

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

/// The best features and a few sentences on the run.
pub fn table(outcome: &Outcome) -> String {
    let selection = &outcome.selection;
    let mut rows = vec![["rank", "feature", "index", "weight", "score"].map(String::from).to_vec()];
    let weight = |weights: &[f64]| match weights {
        [] => "-".into(),
        [one] => short(*one),
        many => many.iter().map(|w| short(*w)).collect::<Vec<_>>().join(" "),
    };
    for (rank, feature) in selection.selected.iter().take(SHOWN).enumerate() {
        rows.push(vec![
            (rank + 1).to_string(),
            feature.name.clone(),
            feature.id.index.to_string(),
            weight(&feature.coefficient),
            short(feature.score),
        ]);
    }
    let mut out = aligned(&rows);
    let more = selection.selected.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(out, "... and {more} more (--output FILE has them all)");
    }
    for feature in &selection.pinned {
        let (name, weight) = (visible(&feature.name), weight(&feature.coefficient));
        let _ = writeln!(out, "always: {name} {weight}");
    }
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
    let loss = selection.loss.map_or(String::new(), |loss| format!("loss {}, ", short(loss)));
    let peak = outcome.run.peak_bytes.map_or(String::new(), |b| format!(", peak {}", Bytes(b)));
    let _ = writeln!(
        out,
        "{loss}{} substitutions, {} scans{} in {:.2} s{peak}",
        selection.substitutions,
        outcome.scans,
        if outcome.complete { "" } else { " (not complete)" },
        outcome.run.seconds.total,
    );
    out
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
