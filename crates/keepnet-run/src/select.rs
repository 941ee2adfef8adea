//! A selection from files: the one path of features and rows.
//!
//! Everything that can be wrong is found in this order: request, outputs, files, join, memory;
//! only then does the run start.

use keepnet::Result;

use crate::host::Host;
use crate::identity::{self, identity};
use crate::outputs::atomic::{self, Pending};
use crate::outputs::{self, phase};
use crate::preview::Preview;
use crate::request::{Asked, Request, Way, extension};
use crate::result::{self, Context, Outcome, csv, score};
use crate::runner::Runner;
use crate::watch::{Clock, Watch};
use crate::{columns, rows, targets};

/// How a request ended.
#[derive(Debug)]
pub enum Done {
    /// With a result of each target; its files are written.
    Selected(Vec<Outcome>),
    /// With what a run would do, as `--dry-run` asks.
    Previewed(Preview),
    /// Another process has the result.
    Elsewhere,
}

/// Runs a request and writes its outputs. Threads are those of the pool that it is called on;
/// [`crate::system::with_threads`] makes one.
pub fn select(request: &Request, runner: &dyn Runner, host: &mut dyn Host) -> Result<Done> {
    let clock = Clock::start(request.run.time.map(|time| time.0));
    let asked = Asked::new(request, runner)?;
    if runner.leads() {
        host.begin()?;
    }
    phase::enter(phase::Phase::Opening);
    let writes = !request.output.dry_run && runner.leads();
    let _lock = if writes { outputs::ready_for(request)? } else { None };
    let job = Selecting { asked: &asked, runner, clock };
    match &asked.way {
        Way::Columns(policy) => columns::select(&job, policy, host),
        Way::Rows(missing) => rows::select(&job, *missing, host),
    }
}

/// A request on its way.
pub(crate) struct Selecting<'a> {
    pub(crate) asked: &'a Asked<'a>,
    pub(crate) runner: &'a dyn Runner,
    pub(crate) clock: Clock,
}

impl Selecting<'_> {
    /// The observer of the run, with the checkpoint that belongs to it.
    pub(crate) fn watch<'h>(
        &self,
        host: &'h mut dyn Host,
        prints: (u64, u64),
        params: Vec<(&'static str, keepnet::Value)>,
        more: &str,
    ) -> Watch<'h> {
        let mut watch = Watch::new(host, self.clock.clone());
        let run = &self.asked.request.run;
        if let Some(path) = &run.checkpoint {
            let method = identity::in_force(&self.asked.spec, params);
            let identity = identity(
                self.asked,
                prints,
                &method,
                &(more.to_string() + &self.runner.identity()),
            );
            watch.checkpoint =
                Some(crate::checkpoint::Checkpoint::new(path, identity, run.checkpoint_every));
        }
        self.clock.opened();
        phase::enter(phase::Phase::Selecting);
        watch
    }

    /// What a result says beside the report.
    pub(crate) fn context<'c>(&'c self, notes: &'c [String], command: &'c str) -> Context<'c> {
        Context { request: self.asked.request, notes, start: self.clock.start, command }
    }

    /// Writes every output: all temporary files first, then all names.
    pub(crate) fn finish(
        &self,
        mut watch: Watch<'_>,
        mut outcomes: Vec<Outcome>,
        mut pending: Vec<Pending>,
    ) -> Result<Done> {
        let output = &self.asked.request.output;
        if let Some(decisions) = watch.decisions.take() {
            pending.push(decisions.finish()?);
        }
        for outcome in &mut outcomes {
            outcome.stopped = watch.stopped;
            outcome.reword(watch.host);
        }
        match (output.folder(), output.output.as_ref().filter(|_| !output.to_stdout())) {
            (Some(folder), _) => {
                let paths = targets::files(folder, outcomes.iter().map(Outcome::target_name))?;
                for (path, outcome) in paths.iter().zip(&outcomes) {
                    pending.push(Pending::whole(path, &outcome.json()?)?);
                }
            }
            (None, Some(path)) => pending.push(write(path, &outcomes)?),
            (None, None) => {}
        }
        if let Some(path) = &output.report {
            pending.push(Pending::whole(path, &watch.host.page(&outcomes)?)?);
        }
        atomic::publish(pending)?;
        watch.host.finished(&outcomes)?;
        let complete = outcomes.iter().all(|outcome| outcome.complete);
        if let Some(checkpoint) = watch.checkpoint.filter(|_| complete) {
            checkpoint.remove()?;
        }
        Ok(Done::Selected(outcomes))
    }
}

/// The results in a file, CSV, JSON or scores by its extension; it still waits for its name.
pub(crate) fn write(path: &std::path::Path, outcomes: &[Outcome]) -> Result<Pending> {
    let text = match extension(path).as_str() {
        "csv" => csv::csv(outcomes)?,
        "score" => score::score(outcomes)?,
        _ => result::json(outcomes)?,
    };
    Pending::whole(path, &text)
}
