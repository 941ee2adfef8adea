//! The files of a request, opened and joined: the only calls of `keepnet-io`'s front.

use keepnet::run::RowMissing;
use keepnet::{FeatureSource, Problem, Result, RowProblem};
use keepnet_io::{
    ColumnInfo, ColumnKind, Joined, OpenOptions, ProblemSpec, RowStream, TableSource, open_rows,
};

use crate::request::Asked;
use crate::result::Rows;
use crate::watch::Clock;

/// Files opened and joined to the target, column by column.
pub(crate) struct Columns {
    pub(crate) source: TableSource,
    pub(crate) problem: Problem,
    pub(crate) rows: Rows,
    pub(crate) task_reason: String,
    pub(crate) notes: Vec<String>,
    pub(crate) files: Vec<String>,
    /// How many columns there are of each type.
    pub(crate) kinds: String,
    /// Bytes that a scan reads.
    pub(crate) bytes: u64,
}

/// Opens the files of a method on features.
pub(crate) fn columns(asked: &Asked<'_>, clock: &Clock) -> Result<Columns> {
    let options = OpenOptions { check: clock.check(), ..asked.open.clone() };
    let mut dataset = keepnet_io::open(&asked.request.input.inputs, &options)?;
    let joined = keepnet_io::build_problem(&mut dataset, &asked.problem, &options)?;
    let (files, bytes) = (dataset.files().to_vec(), dataset.bytes());
    let kinds = kinds(dataset.columns());
    dataset.knows(&asked.always, &joined.not_features)?;
    let source = dataset.source(&joined.not_features)?;
    let bytes = source.scan_bytes().unwrap_or(bytes);
    let Joined { problem, matched_by, input, used, masked_target, unmatched, .. } = joined;
    let (masked_target, unmatched) = (Some(masked_target), Some(unmatched));
    let rows = Rows { input, used, matched_by, masked_target, unmatched };
    let (task_reason, notes) = (joined.task_reason, joined.notes);
    Ok(Columns { source, problem, rows, task_reason, notes, files, kinds, bytes })
}

fn kinds(columns: &[ColumnInfo]) -> String {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
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

/// Opens the files of a method on rows, with the features that are always kept.
pub(crate) fn rows(
    asked: &Asked<'_>,
    missing: RowMissing,
    clock: &Clock,
) -> Result<(RowStream, RowProblem)> {
    let options = OpenOptions { check: clock.check(), ..asked.open.clone() };
    let drop_row = missing == RowMissing::DropRow;
    let spec = ProblemSpec { drop_row, ..asked.problem.clone() };
    let source = open_rows(&asked.request.input.inputs, &spec, &options)?;
    source.knows(&asked.always)?;
    let problem = source.problem().clone().pinning(&asked.always)?;
    Ok((source, problem))
}
