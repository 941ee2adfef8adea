//! `--dry-run`: what would be read and how much memory it takes.

use std::fmt::Write as _;

use keepnet::selection::Value;
use keepnet::{Bytes, FeatureSource, RowProblem, SampleSource, Task};
use keepnet_io::{RowStream, TaskReason};

use crate::input::Columns;
use crate::plan::Plan;
use crate::request::Asked;
use crate::result::Rows;
use crate::text::visible;

/// What a run would do, a line each, with its name.
#[derive(Clone, Debug)]
pub struct Preview(Vec<(&'static str, String)>);

impl Preview {
    /// Adds what the lanes of the run are for.
    pub(crate) fn lanes(&mut self, purposes: impl Iterator<Item = String>) {
        let lines: Vec<_> = purposes.map(|purpose| ("lanes", purpose)).collect();
        let at = self.0.iter().position(|(name, _)| *name == "memory").unwrap_or(self.0.len());
        self.0.splice(at..at, lines);
    }
}

impl std::fmt::Display for Preview {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        for (what, line) in &self.0 {
            let _ = writeln!(out, "{what:<10}{}", visible(line));
        }
        f.write_str(&out)
    }
}

fn task(task: Task, classes: &[String], reason: TaskReason) -> String {
    match task {
        Task::Regression => format!("regression ({reason})"),
        Task::Classification => {
            format!("classification into {} ({reason})", classes.join(", "))
        }
    }
}

fn limit(limit: Option<u64>) -> String {
    limit.map_or("no limit".into(), |limit| format!("limit {}", Bytes(limit)))
}

/// Of a method on features with these settings in force.
pub(crate) fn columns(
    asked: &Asked<'_>,
    opened: &Columns,
    plan: &Plan,
    params: &[Vec<(&'static str, Value)>],
    scans: u32,
) -> Preview {
    let several = opened.targets.len() > 1;
    let features = opened.source.features().map_or("unknown".into(), |n| n.to_string());
    let each = match plan.each {
        0 => String::new(),
        each => format!(" and {} for each feature it keeps", Bytes(each)),
    };
    let most = if several { "at most " } else { "" };
    let memory = format!(
        "{most}{} (resident {}, block of {} columns {}, method {}{each}), {}",
        Bytes(plan.need()),
        Bytes(plan.resident),
        plan.width,
        Bytes(plan.block),
        Bytes(plan.kept),
        limit(plan.limit)
    );
    let scans = match scans {
        0 => "each scan, and as many scans as it takes".into(),
        scans => format!("each of {scans} scans"),
    };
    let mut lines = vec![
        ("files", opened.files.join(", ")),
        ("columns", opened.kinds.clone()),
        ("features", features),
    ];
    for (target, params) in opened.targets.iter().zip(params) {
        let y = &target.whole.problem.target;
        let classes = y.classes().unwrap_or_default();
        let params: Vec<_> = params.iter().map(|(n, v)| format!("{n}={v}")).collect();
        if several {
            lines.push(("target", target.name.clone()));
        }
        lines.extend([
            ("rows", rows_of(&target.rows)),
            ("task", task(y.task(), classes, target.task_reason)),
            ("method", format!("{} {}", asked.method.name, params.join(" "))),
        ]);
    }
    lines.extend([
        ("memory", memory),
        (
            "read",
            match opened.source.comes_once() {
                true => "the stream, once".into(),
                false => format!("{} in {scans}", Bytes(opened.bytes)),
            },
        ),
    ]);
    if asked.request.input.genotypes() {
        lines.push((
            "missing",
            format!("{}, the default for genotypes is mean", asked.request.missing()),
        ));
    }
    for target in &opened.targets {
        let of = if several { format!("{}: ", target.name) } else { String::new() };
        lines.extend(target.notes.iter().map(|note| ("note", format!("{of}{note}"))));
    }
    Preview(lines)
}

fn rows_of(rows: &Rows) -> String {
    format!(
        "{} in the input, {} used, {} without target, {} unmatched; matched by {}",
        rows.input,
        rows.used,
        rows.masked_target.unwrap_or(0),
        rows.unmatched.unwrap_or(0),
        rows.matched_by
    )
}

/// Of a method on rows that needs this many bytes.
pub(crate) fn rows(
    asked: &Asked<'_>,
    source: &RowStream,
    problem: &RowProblem,
    need: u64,
) -> Preview {
    let (spec, classes) = (&asked.spec, &problem.classes);
    let kind = if classes.is_empty() { Task::Regression } else { Task::Classification };
    let k = spec.k.map_or("chosen on the path".into(), |k| k.to_string());
    let set: Vec<_> = spec.settings.iter().map(|(n, v)| format!(" {n}={v}")).collect();
    Preview(vec![
        ("files", source.files().collect::<Vec<_>>().join(", ")),
        ("features", problem.candidates().to_string()),
        ("covar", problem.covariates.to_string()),
        ("rows", source.rows().map_or("known at the end".into(), |n| n.to_string())),
        ("task", task(kind, classes, source.task_reason())),
        ("method", format!("{} k={k}{}", asked.method.name, set.concat())),
        ("memory", format!("{}, {}", Bytes(need), limit(asked.request.run.memory))),
    ])
}
