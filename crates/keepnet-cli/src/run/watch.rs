//! Looks on between blocks: progress, checkpoints, signals and the clock, decisions.

use std::time::{Duration, Instant};

use keepnet::run::Decision;
use keepnet::{Flow, Observer, Progress, Result};

use super::checkpoint::Checkpoint;
use super::progress::Reporter;
use super::signals;
use crate::output::decisions::Decisions;

/// The observer of every run of the command line.
pub struct Watch {
    /// Shows where the run stands.
    pub reporter: Reporter,
    /// Where the state goes now and then.
    pub checkpoint: Option<Checkpoint>,
    /// Where decisions go.
    pub decisions: Option<Decisions>,
    // When the command started and how long it may take.
    limit: Option<(Instant, Duration)>,
    /// Why the run ended early.
    pub stopped: Option<&'static str>,
}

impl Watch {
    /// An observer that only shows progress.
    pub fn new(reporter: Reporter, limit: Option<(Instant, Duration)>) -> Self {
        Self { reporter, checkpoint: None, decisions: None, limit, stopped: None }
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress) -> Result<Flow> {
        self.reporter.show(progress);
        if signals::stop_asked() {
            self.stopped = Some("a signal");
        } else if self.limit.is_some_and(|(start, limit)| start.elapsed() >= limit) {
            self.stopped = Some("--time");
        }
        let stop = self.stopped.is_some();
        let save = self.checkpoint.as_mut().is_some_and(|checkpoint| checkpoint.due() || stop);
        Ok(Flow { save, stop })
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        match &mut self.checkpoint {
            Some(checkpoint) => checkpoint.save(&state),
            None => Ok(()),
        }
    }

    fn decision(&mut self, decision: &Decision<'_>) -> Result<()> {
        match &mut self.decisions {
            Some(decisions) => decisions.record(decision),
            None => Ok(()),
        }
    }
}
