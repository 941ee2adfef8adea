//! Regression or classification, and the target in the form that it needs.

use std::collections::HashMap;

use keepnet::{Error, LossKind, Result, RowMap, Target, Task};

use crate::input::series::{Series, SeriesValues};

/// The task and why: asked for, implied by the loss, or by the values of the target.
pub(crate) fn decide(
    task: Option<Task>,
    loss: Option<LossKind>,
    y: &Series,
    rows: &RowMap,
) -> (Task, String) {
    if let Some(task) = task {
        return (task, "as asked for".into());
    }
    if let Some(loss) = loss
        && let Some(task) = loss.task()
    {
        return (task, format!("by the {} loss", loss.name()));
    }
    match &y.values {
        SeriesValues::Text(_) => (Task::Classification, "the target is text".into()),
        SeriesValues::Numbers { boolean: true, .. } => {
            (Task::Classification, "the target is boolean".into())
        }
        SeriesValues::Numbers { values, .. } => {
            let mut distinct: Vec<f64> = Vec::new();
            for row in 0..rows.used() {
                let v = values[rows.source_row(row)];
                if !distinct.contains(&v) {
                    distinct.push(v);
                }
                if distinct.len() > 2 {
                    return (Task::Regression, "the target has more than two values".into());
                }
            }
            match distinct.len() {
                2 => (Task::Classification, "the target has two distinct values".into()),
                _ => (Task::Regression, "the target has one value only".into()),
            }
        }
    }
}

/// The target of the rows that count.
pub(crate) fn target(y: &Series, rows: &RowMap, task: Task) -> Result<Target> {
    let used = || (0..rows.used()).map(|row| rows.source_row(row));
    match (&y.values, task) {
        (SeriesValues::Numbers { values, .. }, Task::Regression) => {
            Ok(Target::Numbers(used().map(|row| values[row]).collect()))
        }
        (SeriesValues::Text(values), Task::Regression) => {
            let row = used().next().unwrap_or(0);
            Err(Error::Data(format!(
                "the target {:?} is text ({:?} at row {row}), which regression cannot use; \
                 choose --task classification",
                y.name,
                values[row].as_deref().unwrap_or("")
            )))
        }
        (SeriesValues::Numbers { values, .. }, Task::Classification) => {
            // Negative zero is the same class as zero.
            let value = |row: usize| values[row] + 0.0;
            let mut levels: Vec<f64> = used().map(value).collect();
            levels.sort_unstable_by(f64::total_cmp);
            levels.dedup();
            let codes: HashMap<u64, u32> =
                levels.iter().enumerate().map(|(code, v)| (v.to_bits(), code as u32)).collect();
            let codes = used().map(|row| codes[&value(row).to_bits()]).collect();
            let names = levels.iter().map(f64::to_string).collect();
            Ok(Target::Classes { names, codes })
        }
        (SeriesValues::Text(values), Task::Classification) => {
            let value = |row: usize| values[row].as_deref().unwrap_or("");
            let mut names: Vec<&str> = used().map(value).collect();
            names.sort_unstable();
            names.dedup();
            let codes: HashMap<&str, u32> =
                names.iter().enumerate().map(|(code, name)| (*name, code as u32)).collect();
            let codes = used().map(|row| codes[value(row)]).collect();
            Ok(Target::Classes { names: names.into_iter().map(String::from).collect(), codes })
        }
    }
}
