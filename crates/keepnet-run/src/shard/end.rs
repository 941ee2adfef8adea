//! How a run over parts ended, and the result of its driver.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use keepnet::run::verdict::{self, Constant};
use keepnet::run::{Dropped, LaneReport, TracePoint};
use keepnet::{ColumnSelector, Result, RunReport, Selection, Value};

use super::{Seen, Shard};
use crate::lanes::{Concluded, Found};
use crate::result::{Context, Outcome, Rows};

/// How a run over parts ended.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// A name for each part, as `source` shows it.
    pub sources: Vec<String>,
    /// Place of the first feature of each part.
    pub firsts: Vec<u64>,
    /// What the last pass saw, over all parts.
    pub seen: Seen,
    /// Passes over the features.
    pub scans: u32,
    /// Rounds of tests.
    pub rounds: u32,
    /// Exchanges in the rounds.
    pub exchanges: u64,
    /// Whether the last round found no exchange.
    pub certificate: bool,
    /// Loss after each round.
    pub trace: Vec<TracePoint>,
    /// Time in the sources and in the parts' methods, over all tasks.
    pub read: Duration,
    /// See [`End::read`].
    pub select: Duration,
}

impl End {
    fn source_of(&self, place: u64) -> u32 {
        (self.firsts.partition_point(|first| *first <= place) as u32).saturating_sub(1)
    }
}

impl Shard {
    /// The result of a driver, whose parts have `sources` and saw `seen` in the last round.
    pub fn outcome(&self, end: &End, command: &str) -> Result<Outcome> {
        let mut selection = self.selector.selection()?;
        let constant = Constant::default();
        self.selector
            .fitted(&mut |fitted| verdict::check(&self.problem, &selection, fitted, &constant))?;
        selection.warnings.extend(self.lost(&selection));
        selection.metrics.extend([
            ("rounds", Value::from(u64::from(end.rounds))),
            ("exchanges", end.exchanges.into()),
            ("certificate", end.certificate.into()),
            ("certificate_kind", self.kind().into()),
        ]);
        for feature in selection.selected.iter_mut().chain(&mut selection.pinned) {
            feature.source = end.source_of(feature.id.index);
        }
        let kept = (selection.selected.len() + selection.pinned.len()) as u64;
        let Seen { features, constant, missing } = end.seen;
        let weak = features.saturating_sub(kept + constant + missing);
        let dropped = Dropped { weak, constant, missing, ..Dropped::default() };
        let mut report = RunReport {
            lanes: vec![LaneReport {
                selection,
                dropped,
                trace: end.trace.clone(),
                scans: end.scans,
                complete: true,
            }],
            features_seen: features,
            groups: None,
            scans: end.scans,
            complete: true,
            read: end.read,
            select: end.select,
            cut_short: false,
            scan_bytes: None,
            checked: features * u64::from(end.scans),
        };
        let rows = Rows::in_memory(&self.problem);
        let (request, start) = (&self.request, self.start);
        let context = Context { request, notes: &[], start, command };
        let told = (&rows, false);
        let concluded = Concluded {
            lane: report.lanes.swap_remove(0),
            problem: Arc::new(self.problem.clone()),
            k: request.method.one_k(),
            found: Found::default(),
        };
        Outcome::features(&context, &report, concluded, &end.sources, told)
    }

    /// A line for each pinned name that is not in the selection.
    fn lost(&self, selection: &Selection) -> Vec<String> {
        let found: HashSet<&str> = selection.pinned.iter().map(|f| f.name.as_str()).collect();
        let held = |name: &str| self.selector.held().iter().any(|kept| kept.name == name);
        let mut lost: Vec<&String> =
            self.pinned.iter().filter(|name| !found.contains(name.as_str())).collect();
        lost.sort_unstable();
        let line = |name: &String| {
            let why = match held(name) {
                true => "says nothing beside the others and is left out",
                false => "has not come",
            };
            format!("{name:?} is always kept, but {why}")
        };
        lost.into_iter().map(line).collect()
    }
}
