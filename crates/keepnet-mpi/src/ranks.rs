//! How a selection runs over ranks: rank 0 is the centre and leads, the others are workers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keepnet::learn::SavedAverages;
use keepnet::registry::setting::Given;
use keepnet::registry::{self, MethodInfo, MethodSpec, Setting, Stream};
use keepnet::run::RowFilter;
use keepnet::run::snapshot::{decode, encode};
use keepnet::select::substitution::asy_os::{AsyOsParams, Centre, Seen, Share, Worker};
use keepnet::select::substitution::os::OsParams;
use keepnet::{
    Budget, CheckedBlock, ColumnSelector, Driver, Error, FeatureSource, Flow, Memory, Observer,
    Order, Outcome, Problem, Progress, Result, RunOptions, RunReport, Selection, Snapshot, Status,
};
use keepnet_run::Request;
use keepnet_run::request::Size;
use keepnet_run::runner::{Job, Learnt, Runner};
use mpi::traits::*;

use crate::centre::Desk;
use crate::messages::{Messages, Wishes};
use crate::reports::{self, Report};
use crate::window::{Window, WindowCentre};
use crate::wire::{self, PART, REPORT, START, STATE};

/// Where the shared prediction is, over ranks.
const CENTRE: Setting = Setting::choice(
    "centre",
    &["messages", "window"],
    "how ranks share the prediction: messages, or a window of shared memory",
);

/// All ranks of this run, seen from one of them.
pub struct Ranks {
    rank: usize,
    workers: usize,
    set: Mutex<Option<Set>>,
}

/// What was made for the run.
struct Set {
    params: OsParams,
    length: usize,
    window: Option<Arc<Window>>,
    worker: Option<Arc<Mutex<Worker>>>,
    wishes: Arc<Wishes>,
}

impl Ranks {
    /// The ranks that `mpirun` started.
    #[must_use]
    pub fn new() -> Self {
        let world = wire::world();
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        Self { rank, workers: size.saturating_sub(1), set: Mutex::new(None) }
    }

    fn lead(&self, set: &Set, job: Job<'_, '_>) -> Result<RunReport> {
        let saved = job.watch.saved()?;
        let mut desk = Desk::new(self.workers, set.length, set.window.clone());
        desk.start(saved)?;
        let features = job.source.features();
        let (reports, u) = desk.serve(job.watch, (features, job.options.scans))?;
        let name = if set.window.is_some() { "mpi window" } else { "mpi messages" };
        reports::together(&set.params, &job.lanes[0].problem, name, reports, &u)
    }

    fn work(&self, set: &Set, worker: &Mutex<Worker>, job: Job<'_, '_>) -> Result<()> {
        let at = self.rank - 1;
        let options = share_order(job.options, job.source, at)?;
        let mut share = job.source.shard(at, self.workers)?;
        let mut driver = Driver::new(share.as_mut(), job.lanes, options)?;
        let state = wire::receive(0, START)?;
        if !state.is_empty() {
            driver.restore(&state)?;
            let mut part = vec![0.0; set.length];
            lock(worker).add_prediction(&mut part);
            wire::world().process_at_rank(0).send_with_tag(&part[..], PART);
        }
        wire::world().barrier();
        let mut listener = Listener { wishes: Arc::clone(&set.wishes), epoch: 0 };
        let run = driver.run(&mut listener)?;
        let report = Report::new(&lock(worker), &run, set.length);
        wire::send(0, REPORT, &encode(&report)?);
        Ok(())
    }
}

impl Default for Ranks {
    fn default() -> Self {
        Self::new()
    }
}

/// The order of one worker's share. A list is taken before the features are shared out, so that
/// each has one owner for the whole run; a shuffle is of the share's own features.
fn share_order(
    options: RunOptions,
    source: &mut dyn FeatureSource,
    worker: usize,
) -> Result<RunOptions> {
    let seed = options.seed.wrapping_add(worker as u64);
    Ok(match options.order {
        Order::Fixed(list) => {
            source.reorder(list)?;
            RunOptions { order: Order::Given, ..options }
        }
        Order::Given | Order::Shuffled => RunOptions { seed, ..options },
    })
}

impl Runner for Ranks {
    fn leads(&self) -> bool {
        self.rank == 0
    }

    fn check(&self, request: &Request, method: &MethodInfo) -> Result<()> {
        let Request { output, run, .. } = request;
        let rows = method.stream == Stream::Samples;
        let given = [
            ("decisions", output.decisions.is_some()),
            ("groups", request.method.groups.is_some()),
            ("state", run.state.is_some()),
            ("checkpoint", rows && run.checkpoint.is_some()),
            ("every", rows && output.every.is_some()),
            ("missing", rows && request.missing() == "mean"),
            ("k", !rows && request.method.k.as_ref().is_some_and(Size::chosen)),
        ];
        let given = given.into_iter().chain(request.trust.given());
        if let Some((name, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(Error::param(name, "given", "no such flag over MPI ranks"));
        }
        if !rows && method.name != "asy-os" {
            let got = format!("{} over MPI ranks", method.name);
            return Err(Error::param("method", got, "asy-os, or the program keepnet"));
        }
        if !rows && self.workers == 0 {
            return Err(Error::param("ranks", 1, "a centre and at least one worker: mpirun -n 2"));
        }
        Ok(())
    }

    fn several(&self) -> bool {
        false
    }

    fn rows(&self) -> Option<(usize, usize)> {
        Some((self.rank, self.workers + 1))
    }

    fn reduce(&self, mut share: Learnt) -> Result<Option<Learnt>> {
        if !self.leads() {
            let report = &share.report;
            let times = (report.read.as_secs_f64(), report.learn.as_secs_f64());
            let part = (share.averages.to_bytes()?, &report.filter, report.complete, times);
            wire::send(0, REPORT, &encode(&part)?);
            return Ok(None);
        }
        // In the order of the ranks, so that every run adds up in the same order.
        for rank in 1..=self.workers {
            let bytes = wire::receive(rank as i32, REPORT)?;
            type Part = (Vec<u8>, RowFilter, bool, (f64, f64));
            let (averages, filter, complete, (read, learn)): Part = decode(&bytes)?;
            share.averages.merge(&SavedAverages::from_bytes(&averages)?)?;
            let report = &mut share.report;
            report.filter.add(&filter);
            report.counts = report.filter.counts();
            report.complete &= complete;
            report.read = report.read.max(Duration::from_secs_f64(read));
            report.learn = report.learn.max(Duration::from_secs_f64(learn));
        }
        Ok(Some(share))
    }

    fn identity(&self) -> String {
        format!(" workers={}", self.workers)
    }

    fn selector(
        &self,
        method: &MethodInfo,
        spec: &MethodSpec,
        problem: &Problem,
        budget: Budget,
    ) -> Result<Box<dyn ColumnSelector>> {
        let mut spec = spec.clone();
        // Its centres are other ones than those of threads.
        let window = spec.value(&CENTRE)? == Some(Given::Word("window"));
        spec.settings.remove(CENTRE.name);
        for name in ["workers", "tau"] {
            if spec.settings.contains_key(name) {
                return Err(Error::param(name, "given", "as many workers as mpirun starts"));
            }
        }
        registry::check_settings(method, &spec)?;
        let params = AsyOsParams::from_spec(&spec)?.os;
        let length = problem.n() * problem.target.outputs().len();
        let window = match window {
            true => Some(Arc::new(Window::new(length)?)),
            false => None,
        };
        let wishes = Arc::new(Wishes::default());
        if self.leads() {
            // Never offered anything: it says which settings are in force.
            let share = Share { worker: 0, workers: self.workers };
            let stand_in = Worker::new(&params, share, problem, &budget, Nobody)?;
            let worker = None;
            *lock(&self.set) = Some(Set { params, length, window, worker, wishes });
            return Ok(Box::new(stand_in));
        }
        let share = Share { worker: self.rank - 1, workers: self.workers };
        let worker = match &window {
            Some(window) => {
                let centre = WindowCentre::new(Arc::clone(window), Arc::clone(&wishes));
                Worker::new(&params, share, problem, &budget, centre)?
            }
            None => {
                let centre = Messages::new(length, Arc::clone(&wishes));
                Worker::new(&params, share, problem, &budget, centre)?
            }
        };
        let worker = Arc::new(Mutex::new(worker));
        let own = Some(Arc::clone(&worker));
        *lock(&self.set) = Some(Set { params, length, window, worker: own, wishes });
        Ok(Box::new(Own(worker)))
    }

    fn run(&self, job: Job<'_, '_>) -> Result<Option<RunReport>> {
        let set = lock(&self.set).take();
        let set = set.ok_or_else(|| Error::Unsupported("there is no method to run".into()))?;
        let report = match &set.worker {
            None => Some(self.lead(&set, job)?),
            Some(worker) => {
                self.work(&set, worker, job)?;
                None
            }
        };
        if let Some(window) = &set.window {
            window.close();
        }
        Ok(report)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hears from the centre when to save and when to stop.
struct Listener {
    wishes: Arc<Wishes>,
    epoch: u64,
}

impl Observer for Listener {
    fn progress(&mut self, _: &Progress) -> Result<Flow> {
        let save = self.wishes.epoch() > self.epoch;
        self.epoch = self.wishes.epoch();
        Ok(Flow { save, stop: self.wishes.stop() })
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        wire::send(0, STATE, &state);
        Ok(())
    }
}

/// The centre of a worker that is never at work.
struct Nobody;

impl Centre for Nobody {
    fn read(&mut self, u: &mut [f64]) -> Seen {
        u.fill(0.0);
        Seen { updates: 0, tau: None }
    }

    fn add(&mut self, _: &[f64], _: u64) {}
}

/// The worker of this rank, which the driver works with and the report is made of.
struct Own(Arc<Mutex<Worker>>);

impl ColumnSelector for Own {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        lock(&self.0).offer_block(block, out)
    }

    fn end_scan(&mut self) -> Result<bool> {
        lock(&self.0).end_scan()
    }

    fn finish(&mut self) -> Result<()> {
        lock(&self.0).finish()
    }

    fn selection(&self) -> Result<Selection> {
        lock(&self.0).selection()
    }

    fn fitted(
        &self,
        see: &mut dyn FnMut(&keepnet::run::verdict::Fitted<'_>) -> Result<()>,
    ) -> Result<()> {
        lock(&self.0).fitted(see)
    }

    fn centres(&self) -> bool {
        lock(&self.0).centres()
    }

    fn status(&self) -> Status {
        lock(&self.0).status()
    }

    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        lock(&self.0).memory(column, features)
    }
}

impl Snapshot for Own {
    fn save(&self) -> Result<Vec<u8>> {
        lock(&self.0).save()
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        lock(&self.0).restore(state)
    }
}
