//! The files of a request, opened and joined: the only calls of `keepnet-io`'s front.

use keepnet::run::RowMissing;
use keepnet::{Error, FeatureSource, Result, RowProblem};
use keepnet_io::{
    ColumnInfo, ColumnKind, InputSource, Joined, OpenOptions, ProblemSpec, RowStream, TaskReason,
    open_rows,
};

use crate::lanes::Whole;
use crate::request::{Asked, Request, Scans, Size};
use crate::result::Rows;
use crate::state::Days;
use crate::watch::Clock;

/// Files opened and joined to the target, column by column.
pub(crate) struct Columns {
    pub(crate) source: InputSource,
    /// At least one.
    pub(crate) targets: Vec<Aim>,
    pub(crate) files: Vec<String>,
    /// How many columns there are of each type.
    pub(crate) kinds: String,
    /// Bytes that a scan reads.
    pub(crate) bytes: u64,
}

/// One target: its rows, its task, and what the user should know of it.
pub(crate) struct Aim {
    pub(crate) name: String,
    pub(crate) whole: Whole,
    pub(crate) rows: Rows,
    pub(crate) task_reason: TaskReason,
    pub(crate) notes: Vec<String>,
}

impl Columns {
    /// The name of a target before an error, where there are several.
    pub(crate) fn named(&self, target: &Aim, error: Error) -> Error {
        match self.targets.len() {
            1 => error,
            _ => error.at(format!("target {:?}", target.name)),
        }
    }

    /// Adds what the user should know of every target.
    pub(crate) fn note(&mut self, note: &str) {
        self.targets.iter_mut().for_each(|target| target.notes.push(note.into()));
    }
}

/// Opens the files of a method on features.
pub(crate) fn columns(asked: &Asked<'_>, clock: &Clock, stream: Option<&Days>) -> Result<Columns> {
    let options = OpenOptions { check: clock.check(), ..asked.open.clone() };
    let inputs = &asked.request.input.inputs;
    let (mut dataset, features) = match keepnet_io::open_features(inputs, &options)? {
        Some((dataset, features)) => (dataset, Some(features)),
        None => (keepnet_io::open(inputs, &options)?, None),
    };
    let teller = asked.groups.as_ref().and_then(keepnet::Groups::teller);
    if teller.is_some() && features.is_none() {
        return Err(Error::param("groups", "stream", "--format arrow-columns with it"));
    }
    // What is learnt from rows is learnt by each lane from its own; a stream over days has one
    // lane, and knows its rows by their weights.
    let later = asked.problem.balanced && stream.is_none();
    let balanced = asked.problem.balanced && !later;
    let spec = ProblemSpec { balanced, ..asked.problem.clone() };
    let mut joined = keepnet_io::build_problems(&mut dataset, &spec, &options)?;
    let not_features = std::mem::take(&mut joined[0].not_features);
    let (files, bytes) = (dataset.files().to_vec(), dataset.bytes());
    let kinds = kinds(dataset.columns());
    // Those of earlier days need not be in today's files.
    let mut always = asked.always.clone();
    for name in stream.into_iter().flat_map(Days::always) {
        always.remove(name);
    }
    let source = match features {
        // Which features come is known at the end.
        Some(mut features) => {
            teller.map_or(Ok(()), |groups| features.tell(groups))?;
            once(asked.request)?;
            InputSource::Stream(Box::new(features))
        }
        None => {
            dataset.knows(&always, &not_features)?;
            InputSource::Table(dataset.source(&not_features)?)
        }
    };
    let bytes = source.scan_bytes().unwrap_or(bytes);
    let targets = joined.into_iter().map(|joined| aim(joined, later)).collect();
    Ok(Columns { source, targets, files, kinds, bytes })
}

fn aim(joined: Joined, balanced: bool) -> Aim {
    let Joined { target: name, problem, task_reason, notes, .. } = joined;
    let Joined { matched_by, input, used, masked_target, unmatched, .. } = joined;
    let (masked_target, unmatched) = (Some(masked_target), Some(unmatched));
    let rows = Rows { input, used, matched_by, masked_target, unmatched };
    let whole = Whole { problem: problem.into(), balanced };
    Aim { name, whole, rows, task_reason, notes }
}

/// Refuses what needs features that can be read again.
fn once(request: &Request) -> Result<()> {
    let given = [
        ("scans", request.run.scans.is_some_and(|scans| scans != Scans::Number(1))),
        ("checkpoint", request.run.checkpoint.is_some()),
        ("reduced", request.output.reduced.is_some()),
        ("k", request.method.k.as_ref().is_some_and(Size::chosen)),
    ];
    // What goes beyond one selection reads the columns of its features once more.
    match given.into_iter().chain(request.trust.given()).find(|(_, given)| *given) {
        Some((name, _)) => {
            let want = "no such flag with arrow-columns, whose features come once";
            Err(Error::param(name, "given", want))
        }
        None => Ok(()),
    }
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
