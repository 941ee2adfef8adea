//! What `keepnet select` says and writes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

use keepnet::selection::Value;
use keepnet::{Bytes, FeatureSource, Result, RunReport, Task};
use keepnet_io::{ColumnInfo, ColumnKind};

use super::select::{Asked, Opened, extension};
use crate::output::atomic::{self, Pending};
use crate::output::say::{aside, visible};
use crate::output::{csv, print, reduced, report as html, table};
use crate::run::plan::Plan;
use crate::run::system;
use keepnet_io::result::{Outcome, Run, Seconds};

/// How many columns there are of each type.
pub fn kinds(columns: &[ColumnInfo]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for column in columns {
        let kind = match &column.kind {
            ColumnKind::Bool => "bool",
            ColumnKind::Int => "integer",
            ColumnKind::Float => "float",
            ColumnKind::Text => "text",
            ColumnKind::Other(name) => name,
        };
        *counts.entry(kind).or_default() += 1;
    }
    counts.iter().map(|(kind, n)| format!("{n} {kind}")).collect::<Vec<_>>().join(", ")
}

/// `--dry-run`: files, types, join counts, task, loss, memory, bytes to read.
pub fn dry_run(
    asked: &Asked<'_>,
    opened: &Opened,
    plan: &Plan,
    params: &[(&'static str, Value)],
    scans: u32,
) -> Result<()> {
    let rows = &opened.rows;
    let task = match opened.problem.target.task() {
        Task::Regression => "regression".to_string(),
        Task::Classification => {
            let names = opened.problem.target.classes().unwrap_or_default();
            format!("classification into {}", names.join(", "))
        }
    };
    let params: Vec<_> = params.iter().map(|(n, v)| format!("{n}={v}")).collect();
    let features = opened.source.features().map_or("unknown".into(), |n| n.to_string());
    let limit = plan.limit.map_or("no limit".into(), |limit| format!("limit {}", Bytes(limit)));
    let each = match plan.each {
        0 => String::new(),
        each => format!(" and {} for each feature it keeps", Bytes(each)),
    };
    let read = opened.source.scan_bytes().unwrap_or(opened.bytes);
    let mut out = String::new();
    for (what, line) in [
        ("files", opened.files.join(", ")),
        ("columns", opened.kinds.clone()),
        ("features", features),
        (
            "rows",
            format!(
                "{} in the input, {} used, {} without target, {} unmatched; matched by {}",
                rows.input,
                rows.used,
                rows.masked_target.unwrap_or(0),
                rows.unmatched.unwrap_or(0),
                rows.matched_by
            ),
        ),
        ("task", format!("{task} ({})", opened.task_reason)),
        ("method", format!("{} {}", asked.method.name, params.join(" "))),
        (
            "memory",
            format!(
                "{} (resident {}, block of {} columns {}, method {}{each}), {limit}",
                Bytes(plan.need()),
                Bytes(plan.resident),
                plan.width,
                Bytes(plan.block),
                Bytes(plan.kept)
            ),
        ),
        ("read", format!("{} in each of {scans} scans", Bytes(read))),
    ] {
        let _ = writeln!(out, "{what:<10}{}", visible(&line));
    }
    for note in &opened.notes {
        let _ = writeln!(out, "note      {}", visible(note));
    }
    print(&out)
}

/// What the user should know.
pub fn warnings(asked: &Asked<'_>, opened: &Opened, report: &RunReport) -> Vec<String> {
    let spec = &asked.spec;
    let integral = opened.source.integral();
    keepnet_io::result::warnings(&opened.notes, spec, integral, report)
}

/// Writes every output: all temporary files first, then all names.
pub fn write(
    asked: &Asked<'_>,
    opened: &mut Opened,
    report: &RunReport,
    warnings: &[String],
    width: usize,
    start: Instant,
    mut pending: Vec<Pending>,
) -> Result<()> {
    let (args, flags) = (asked.args, &asked.args.output);
    if let Some(path) = &flags.reduced {
        let selection = &report.lanes[0].selection;
        let (problem, policy) = (&opened.problem, &asked.policy);
        let source = &mut opened.source;
        pending.push(reduced::write(path, source, selection, problem, policy, width)?);
    }
    let run = Run {
        seconds: Seconds {
            total: start.elapsed().as_secs_f64(),
            read: report.read.as_secs_f64(),
            select: report.select.as_secs_f64(),
        },
        peak_bytes: system::peak_bytes(),
        threads: rayon::current_num_threads(),
        command: system::command_line(),
    };
    let outcome = Outcome {
        report,
        stream: super::methods::stream(asked.method.stream),
        target: &opened.problem.target,
        sources: opened.source.sources(),
        rows: &opened.rows,
        seed: args.run.seed,
        warnings,
        run: &run,
    };
    if let Some(path) = flags.output.as_ref().filter(|_| !flags.to_stdout()) {
        let text = if extension(path) == "csv" { csv::csv(&outcome)? } else { outcome.json()? };
        pending.push(Pending::whole(path, &text)?);
    }
    if let Some(path) = &flags.report {
        let text = html::html(&outcome)?;
        pending.push(Pending::whole(path, &text)?);
    }
    atomic::publish(pending)?;
    if flags.to_stdout() {
        print(&String::from_utf8_lossy(&outcome.json()?))?;
    }
    match (flags.quiet, flags.to_stdout()) {
        (true, _) => Ok(()),
        (false, true) => {
            aside(&table::table(&outcome));
            Ok(())
        }
        (false, false) => print(&table::table(&outcome)),
    }
}
