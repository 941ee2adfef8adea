//! The observer of every run, on features and on rows: progress, checkpoints, signals and the
//! clock, decisions, lines of `--every`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use keepnet::run::{Decision, RowCounts, RowObserver};
use keepnet::{Error, Flow, Observer, Progress, Result, RowLearner, Selection};
use keepnet_io::Check;
use serde_json::json;

use crate::checkpoint::Checkpoint;
use crate::host::{Host, Seen};
use crate::outputs::decisions::{Decisions, Held};

/// The least time that files have to open, so that a short `--time` still ends with a result.
const LEAST: Duration = Duration::from_secs(1);

/// When a run began and how long it may take.
#[derive(Clone, Debug)]
pub struct Clock {
    /// When it began.
    pub start: Instant,
    limit: Option<Duration>,
    opening: Arc<AtomicBool>,
}

impl Clock {
    /// A run that begins now.
    #[must_use]
    pub fn start(limit: Option<Duration>) -> Self {
        Self { start: Instant::now(), limit, opening: Arc::new(AtomicBool::new(true)) }
    }

    /// Ends the opening of files when the time is over. From [`Clock::opened`] on the run itself
    /// looks at the clock, and ends with a result.
    #[must_use]
    pub fn check(&self) -> Option<Check> {
        let (start, limit) = (self.start, self.limit?.max(LEAST));
        let opening = Arc::clone(&self.opening);
        Some(Check::new(move || {
            match opening.load(Ordering::Relaxed) && start.elapsed() >= limit {
                true => Err(Error::Data(
                    "--time was over while files were opened; nothing was selected".into(),
                )),
                false => Ok(()),
            }
        }))
    }

    /// Files are open.
    pub fn opened(&self) {
        self.opening.store(false, Ordering::Relaxed);
    }

    fn over(&self) -> bool {
        self.limit.is_some_and(|limit| self.start.elapsed() >= limit)
    }
}

/// The observer of a run.
pub struct Watch<'h> {
    /// The program around the run.
    pub host: &'h mut dyn Host,
    /// Where the state goes now and then.
    pub checkpoint: Option<Checkpoint>,
    /// Where decisions go.
    pub decisions: Option<Decisions>,
    /// Names of what is held.
    pub held: Held,
    /// Rows of the stream, where known.
    pub rows: Option<u64>,
    /// Targets of the run.
    pub targets: usize,
    /// Why the run ended early.
    pub stopped: Option<&'static str>,
    clock: Clock,
    before: BTreeSet<String>,
}

impl<'h> Watch<'h> {
    /// An observer that only shows progress.
    pub fn new(host: &'h mut dyn Host, clock: Clock) -> Self {
        let (checkpoint, decisions, rows, stopped) = (None, None, None, None);
        let (held, before, targets) = (Held::default(), BTreeSet::new(), 1);
        Self { host, checkpoint, decisions, held, rows, targets, stopped, clock, before }
    }

    /// Whether the run goes on, and whether its state is due.
    fn flow(&mut self) -> Flow {
        if let Some(why) = self.host.stop() {
            self.stopped = Some(why);
        } else if self.clock.over() {
            self.stopped = Some("--time");
        }
        let stop = self.stopped.is_some();
        let save = self.checkpoint.as_mut().is_some_and(|checkpoint| checkpoint.due() || stop);
        Flow { save, stop }
    }

    fn keep(&mut self, state: &[u8]) -> Result<()> {
        self.checkpoint.as_mut().map_or(Ok(()), |checkpoint| checkpoint.save(state))
    }

    /// The state to start from, where there is one.
    pub fn saved(&self) -> Result<Option<Vec<u8>>> {
        self.checkpoint.as_ref().map_or(Ok(None), Checkpoint::load)
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) -> Result<Flow> {
        self.host.progress(&Seen { targets: self.targets, ..Seen::of(progress) });
        Ok(self.flow())
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        self.keep(&state)
    }

    fn decision(&mut self, decision: &Decision<'_>) -> Result<()> {
        let evicted = self.held.take(decision);
        self.decisions.as_mut().map_or(Ok(()), |decisions| decisions.record(decision, &evicted))
    }
}

impl RowObserver for Watch<'_> {
    fn progress(&mut self, counts: &RowCounts, learner: &dyn RowLearner) -> Result<Flow> {
        // The status of a learner can cost more than a look at a clock.
        if self.host.shows() {
            self.host.progress(&Seen::of_rows(counts, self.rows, learner.status()));
        }
        Ok(self.flow())
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        self.keep(&state)
    }

    fn every(&mut self, counts: &RowCounts, selection: Result<Selection>) -> Result<()> {
        let line = match selection {
            Err(why) => {
                let why = self.host.wording(&why.to_string());
                json!({"rows": counts.used, "error": why})
            }
            Ok(selection) => {
                let now = selection.selected.iter().map(|f| f.name.clone()).collect();
                let before = std::mem::replace(&mut self.before, now);
                line(counts, &selection, &before, &self.before)
            }
        };
        self.host.every(&line.to_string())
    }
}

/// One line of `--every`: the selection, and what changed since the last one.
fn line(
    counts: &RowCounts,
    selection: &Selection,
    before: &BTreeSet<String>,
    now: &BTreeSet<String>,
) -> serde_json::Value {
    let feature = |f: &keepnet::Selected| json!({"index": f.id.index, "name": f.name, "coefficient": f.coefficient, "score": f.score});
    let metrics: serde_json::Map<String, serde_json::Value> =
        selection.metrics.iter().map(|(name, value)| ((*name).into(), json!(value))).collect();
    json!({
        "rows": counts.used,
        "loss": selection.loss,
        "intercept": selection.intercept,
        "entered": now.difference(before).collect::<Vec<_>>(),
        "left": before.difference(now).collect::<Vec<_>>(),
        "metrics": metrics,
        "selected": selection.selected.iter().map(feature).collect::<Vec<_>>(),
    })
}
