//! The program around a run: a terminal, a Python interpreter, or nobody.

use keepnet::run::RowCounts;
use keepnet::{Error, Progress, Result, Status};

use crate::result::Outcome;
use crate::system;

/// What a run tells the program around it, and what it asks of it. Every method has a default,
/// so that a host says only what it cares for.
pub trait Host: Send {
    /// The run begins: files are about to be opened.
    fn begin(&mut self) -> Result<()> {
        Ok(())
    }

    /// What the result names as the command that made it.
    fn command(&self) -> String {
        system::command_line()
    }

    /// A text of the engine in the words of this host: arguments stand in backquotes, which a
    /// command line writes as flags.
    fn wording(&self, text: &str) -> String {
        text.into()
    }

    /// Whether [`Host::progress`] does anything with what it is told.
    fn shows(&self) -> bool {
        true
    }

    /// Where the run stands, between two blocks.
    fn progress(&mut self, seen: &Seen) {
        let _ = seen;
    }

    /// The stream is at its end; where rows flowed past, this is where.
    fn end(&mut self, seen: Option<&Seen>) {
        let _ = seen;
    }

    /// Why the run should end now with the result so far, where it should.
    fn stop(&mut self) -> Option<&'static str> {
        None
    }

    /// A line of `--every`, as JSON.
    fn every(&mut self, line: &str) -> Result<()> {
        let _ = line;
        Err(Error::Unsupported("nobody takes the lines of --every here".into()))
    }

    /// The page of `--report`, of the result of each target.
    fn page(&mut self, outcomes: &[Outcome]) -> Result<Vec<u8>> {
        let _ = outcomes;
        Err(Error::Unsupported("there is no --report here".into()))
    }

    /// The result of each target, once its files have their names and before the checkpoint is
    /// removed.
    fn finished(&mut self, outcomes: &[Outcome]) -> Result<()> {
        let _ = outcomes;
        Ok(())
    }
}

/// A host that shows nothing and never ends a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Host for Silent {}

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Whether rows flow past, and not features.
    pub rows: bool,
    /// The scan, from 0.
    pub scan: u32,
    /// Scans at most; 0 where there are as many as it takes.
    pub scans: u32,
    /// Features of all scans, or rows, that have arrived.
    pub arrived: u64,
    /// How many will arrive, where that is known.
    pub total: Option<u64>,
    /// Features of a scan, where known; none of rows.
    pub features: Option<u64>,
    /// Rows that were learnt from.
    pub used: u64,
    /// The method; that of the first target where there are several.
    pub status: Status,
    /// Targets of the run; 0 of rows.
    pub targets: usize,
}

impl Seen {
    /// A run on features.
    #[must_use]
    pub fn of(progress: &Progress) -> Self {
        let Progress { scan, scans, arrived, features, status } = *progress;
        let known = features.filter(|_| scans > 0);
        let total = known.map(|features| features * u64::from(scans));
        let targets = 1;
        Self { rows: false, scan, scans, arrived, total, features, used: 0, status, targets }
    }

    /// A run on rows, of which there are `total`, where that is known.
    #[must_use]
    pub fn of_rows(counts: &RowCounts, total: Option<u64>, status: Status) -> Self {
        let RowCounts { input: arrived, used, .. } = *counts;
        let (scan, scans, features, targets) = (0, 1, None, 0);
        Self { rows: true, scan, scans, arrived, total, features, used, status, targets }
    }
}
