//! What `keepnet select` says before and writes after a run on rows.

use std::fmt::Write as _;
use std::path::Path;

use keepnet::registry::{MethodInfo, MethodSpec};
use keepnet::run::snapshot::Snapshot;
use keepnet::run::{RowCounts, RowDriver, RowObserver, RowOptions, RowReport};
use keepnet::{
    Bytes, ColumnData, Error, Flow, Result, Row, RowBlock, RowLearner, RowProblem, SampleSource,
    Selection, Status, Target,
};
use keepnet_io::RowStream;
use keepnet_io::sink::Cells;

use crate::output::atomic::Pending;
use crate::output::say::visible;
use crate::output::{print, reduced};

/// Whether a run that came to its end learnt from any row.
pub fn some_used(report: &RowReport) -> Result<()> {
    let RowCounts { input, used, dropped, without_target, .. } = report.counts;
    if used > 0 || input == 0 || !report.complete {
        return Ok(());
    }
    Err(Error::Data(format!(
        "no row can be used: {without_target} of {input} rows have no target and {dropped} have a \
         missing value; choose another --missing"
    )))
}

/// `--dry-run`: files, features, rows, task, method and memory; no row is learnt from.
pub fn dry_run(
    source: &RowStream,
    method: &MethodInfo,
    spec: &MethodSpec,
    need: u64,
    limit: Option<u64>,
) -> Result<()> {
    let problem = source.problem();
    let task = match problem.classes.is_empty() {
        true => "regression".to_string(),
        false => format!("classification into {}", problem.classes.join(", ")),
    };
    let k = spec.k.map_or("chosen on the path".into(), |k| k.to_string());
    let set: Vec<_> = spec.settings.iter().map(|(n, v)| format!(" {n}={v}")).collect();
    let limit = limit.map_or("no limit".into(), |limit| format!("limit {}", Bytes(limit)));
    let mut out = String::new();
    for (what, line) in [
        ("files", source.files().collect::<Vec<_>>().join(", ")),
        ("features", problem.candidates().to_string()),
        ("covariates", problem.covariates.to_string()),
        ("rows", source.rows().map_or("known at the end".into(), |n| n.to_string())),
        ("task", format!("{task} ({})", source.task_reason())),
        ("method", format!("{} k={k}{}", method.name, set.concat())),
        ("memory", format!("{}, {limit}", Bytes(need))),
    ] {
        let _ = writeln!(out, "{what:<10}{}", visible(&line));
    }
    print(&out)
}

/// `--reduced`: the chosen columns and the target, from another pass over the rows.
pub fn reduced(
    path: &Path,
    source: &mut RowStream,
    selection: &Selection,
    options: RowOptions,
    used: u64,
) -> Result<Pending> {
    source.rewind().map_err(|error| error.at("--reduced reads the rows again"))?;
    let problem = source.problem().clone();
    let kept = || selection.always.iter().chain(&selection.selected);
    let index: Vec<usize> = kept().map(|f| f.id.index as usize).collect();
    let columns = vec![Vec::new(); index.len()];
    let mut collect = Collect { index, columns, y: Vec::new(), most: used as usize };
    let options = RowOptions { every: None, ..options };
    RowDriver::new(source, &mut collect, options).run(&mut Until(used))?;
    let names = kept().map(|feature| feature.name.clone());
    let cells = collect.columns.into_iter().map(|v| Cells::Numbers(ColumnData::dense(v)));
    let target = reduced::target_cells(&target(&problem, collect.y));
    reduced::save(path, reduced::Table::new(names.zip(cells).collect(), target, used as usize))
}

fn target(problem: &RowProblem, y: Vec<f64>) -> Target {
    match problem.classes.is_empty() {
        true => Target::Numbers(y),
        false => Target::Classes {
            names: problem.classes.clone(),
            codes: y.iter().map(|code| *code as u32).collect(),
        },
    }
}

/// Ends a run after so many rows.
struct Until(u64);

impl RowObserver for Until {
    fn progress(&mut self, counts: &RowCounts, _: &dyn RowLearner) -> Result<Flow> {
        Ok(Flow { save: false, stop: counts.used >= self.0 })
    }
}

/// Takes some columns of the rows that a learner would see.
struct Collect {
    index: Vec<usize>,
    columns: Vec<Vec<f64>>,
    y: Vec<f64>,
    most: usize,
}

impl RowLearner for Collect {
    fn learn_block(&mut self, rows: &RowBlock) -> Result<()> {
        for (i, row) in rows.rows().enumerate() {
            if self.y.len() == self.most {
                break;
            }
            self.y.push(rows.y()[i]);
            for (j, column) in self.index.iter().zip(&mut self.columns) {
                column.push(row.get(*j));
            }
        }
        Ok(())
    }

    fn predict(&self, _: Row<'_>, _: &mut [f64]) -> Result<()> {
        Err(nothing())
    }

    fn selection(&self) -> Result<Selection> {
        Err(nothing())
    }

    fn status(&self) -> Status {
        Status { kept: self.index.len(), loss: None, substitutions: 0, bytes: 0 }
    }

    fn memory(&self) -> u64 {
        8 * (self.most * (self.index.len() + 1)) as u64
    }
}

impl Snapshot for Collect {
    fn save(&self) -> Result<Vec<u8>> {
        Err(nothing())
    }

    fn restore(&mut self, _: &[u8]) -> Result<()> {
        Err(nothing())
    }
}

fn nothing() -> Error {
    Error::Unsupported("columns are collected here, and nothing is learnt".into())
}
