//! Where a selection runs once everything is opened: in this process, or over ranks.

use keepnet::learn::SavedAverages;
use keepnet::registry::{self, MethodInfo, MethodSpec};
use keepnet::run::RowReport;
use keepnet::{
    Budget, ColumnSelector, Driver, Groups, Lane, Problem, Result, RunOptions, RunReport,
};
use keepnet_io::InputSource;

use crate::request::Request;
use crate::watch::Watch;

/// A selection that is ready to run.
pub struct Job<'a, 'h> {
    /// The features.
    pub source: &'a mut InputSource,
    /// Problem, policy and method of each lane; one read feeds them all.
    pub lanes: Vec<Lane>,
    /// Scans and order.
    pub options: RunOptions,
    /// Groups, where there are any.
    pub groups: Option<Groups>,
    /// Progress, checkpoints, signals.
    pub watch: &'a mut Watch<'h>,
}

impl Job<'_, '_> {
    /// Runs it in this process, from a checkpoint where there is one.
    pub fn here(self) -> Result<RunReport> {
        let mut driver = Driver::new(self.source, self.lanes, self.options)?;
        if let Some(groups) = self.groups {
            driver = driver.with_groups(groups);
        }
        if let Some(state) = self.watch.saved()? {
            driver.restore(&state)?;
        }
        driver.run(self.watch)
    }
}

/// What was learnt from a share of the rows.
pub struct Learnt {
    /// The averages.
    pub averages: SavedAverages,
    /// Rows and times.
    pub report: RowReport,
}

/// Runs selections; the program over MPI ranks has one of its own.
pub trait Runner: Sync {
    /// Whether this process shows progress and writes outputs.
    fn leads(&self) -> bool {
        true
    }

    /// Whether what was asked can be run here.
    fn check(&self, request: &Request, method: &MethodInfo) -> Result<()> {
        let _ = (request, method);
        Ok(())
    }

    /// Whether a run may have several targets.
    fn several(&self) -> bool {
        true
    }

    /// What a checkpoint depends on beside the settings.
    fn identity(&self) -> String {
        String::new()
    }

    /// Makes the method.
    fn selector(
        &self,
        method: &MethodInfo,
        spec: &MethodSpec,
        problem: &Problem,
        budget: Budget,
    ) -> Result<Box<dyn ColumnSelector>> {
        registry::make(method, spec, problem, budget)
    }

    /// Which share of how many of the rows this process learns from; `None` is all of them.
    fn rows(&self) -> Option<(usize, usize)> {
        None
    }

    /// Adds up what the shares learnt; `None` where another process has the sum.
    fn reduce(&self, share: Learnt) -> Result<Option<Learnt>> {
        Ok(Some(share))
    }

    /// Runs a selection; `None` where another process has the result.
    fn run(&self, job: Job<'_, '_>) -> Result<Option<RunReport>> {
        job.here().map(Some)
    }
}

/// This process, and nothing beside it.
pub struct Here;

impl Runner for Here {}
