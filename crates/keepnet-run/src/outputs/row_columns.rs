//! `--reduced` of a run on rows: the chosen columns and the target, from another pass.

use std::path::Path;

use keepnet::run::snapshot::Snapshot;
use keepnet::run::{RowCounts, RowDriver, RowObserver, RowOptions};
use keepnet::{
    ColumnData, Error, Flow, Result, Row, RowBlock, RowLearner, RowProblem, SampleSource,
    Selection, Status, Target,
};
use keepnet_io::RowStream;
use keepnet_io::sink::Cells;

use super::atomic::Pending;
use super::reduced;

/// Reads the rows again and writes the chosen columns; the file still waits for its name.
pub fn write(
    path: &Path,
    source: &mut RowStream,
    selection: &Selection,
    options: RowOptions,
    used: u64,
) -> Result<Pending> {
    source.rewind().map_err(|error| error.at("--reduced reads the rows again"))?;
    let problem = source.problem().clone();
    let kept = || selection.pinned.iter().chain(&selection.selected);
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
