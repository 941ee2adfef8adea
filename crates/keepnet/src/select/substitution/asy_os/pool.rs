//! Workers on threads, and the pool of features that they take from.
//!
//! The reader puts features into a queue and goes on reading. Each worker takes the next feature
//! when it is ready for it, so a slow worker does not delay the others and no worker waits at the
//! end of a block. The reader waits only where the queue is long, so that memory is bounded, and at
//! the end of a scan. Until every share is full, features go to the workers whose share is not
//! full, so that few features also fill `k` slots.

use std::any::Any;
use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, thread, use_one_thread};
use super::worker::Worker;
use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::error::{Error, Result};
use crate::select::{Late, Outcome, Status, Verdict};

/// Features in the queue for each worker when the reader is asked for more.
pub(super) const LOW: usize = 4;

type Job = Feature<'static>;

/// State that reader and workers share.
struct Shared {
    state: Mutex<State>,
    /// Signals workers: there are features in the queue, or the pool is closed.
    work: Condvar,
    /// Signals the reader: the queue is short or empty, or a worker failed.
    reader: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    /// Number of workers that are deciding on a feature.
    busy: usize,
    /// Whether the share of each worker is full.
    full: Vec<bool>,
    /// Features that a worker keeps or is deciding on.
    held: HashSet<FeatureId>,
    late: Vec<Late>,
    failed: Option<String>,
    closed: bool,
    /// Status of each worker after its last feature.
    statuses: Vec<Status>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Workers on threads of their own.
pub(super) struct Pool {
    shared: Arc<Shared>,
    workers: Vec<Arc<Mutex<Worker>>>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Pool {
    /// Starts one thread per worker.
    pub(super) fn new(workers: Vec<Worker>) -> Result<Self> {
        let statuses = workers.iter().map(Worker::status_without_loss).collect();
        let state = State { full: vec![false; workers.len()], statuses, ..State::default() };
        let (work, reader) = (Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { state: Mutex::new(state), work, reader });
        let workers: Vec<_> = workers.into_iter().map(|w| Arc::new(Mutex::new(w))).collect();
        let mut pool = Self { shared, workers, threads: Vec::new() };
        for (at, worker) in pool.workers.iter().enumerate() {
            let (shared, worker) = (Arc::clone(&pool.shared), Arc::clone(worker));
            let thread = thread::Builder::new()
                .name(format!("worker {at}"))
                .spawn(move || worker_loop(at, &shared, &worker))
                .map_err(|error| Error::io("cannot start a worker's thread", error))?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    /// The workers, each locked for as long as its guard lives.
    pub(super) fn workers(&self) -> impl Iterator<Item = MutexGuard<'_, Worker>> {
        self.workers.iter().map(|w| w.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds features to the queue, once it is short.
    pub(super) fn offer(&self, features: &[Feature<'_>]) -> Result<()> {
        let mut state = self.shared.lock();
        let low = LOW * state.full.len();
        while state.queue.len() > low && state.failed.is_none() {
            state = self.wait(state);
        }
        check(&state)?;
        drop(state);
        // Copied without the lock, so that the workers go on meanwhile.
        let jobs: Vec<Job> = features.iter().map(Feature::owned).collect();
        self.shared.lock().queue.extend(jobs);
        self.shared.work.notify_all();
        Ok(())
    }

    /// Takes the outcomes so far; with `wait` also those of the features under way.
    pub(super) fn settle(&self, wait: bool, out: &mut Vec<Late>) -> Result<()> {
        let mut state = self.shared.lock();
        while wait && (state.busy > 0 || !state.queue.is_empty()) && state.failed.is_none() {
            state = self.wait(state);
        }
        check(&state)?;
        out.append(&mut state.late);
        Ok(())
    }

    /// Status of each worker, without locking any of them.
    pub(super) fn statuses(&self) -> Vec<Status> {
        self.shared.lock().statuses.clone()
    }

    /// Updates the shared state after the workers were restored.
    pub(super) fn restored(&self) {
        let mut held = HashSet::new();
        let full = self.workers().map(|worker| worker.full()).collect();
        let statuses = self.workers().map(|worker| worker.status_without_loss()).collect();
        for worker in self.workers() {
            held.extend(worker.kept().iter().filter_map(|kept| kept.id));
        }
        let mut state = self.shared.lock();
        (state.full, state.held, state.statuses) = (full, held, statuses);
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.shared.reader.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.queue.clear();
        drop(state);
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // A panic was caught in the thread and reported.
            let _ = thread.join();
        }
    }
}

fn check(state: &State) -> Result<()> {
    match &state.failed {
        Some(why) => Err(Error::Data(why.clone())),
        None => Ok(()),
    }
}

/// The thread of one worker: takes features until the pool is closed or a worker failed.
fn worker_loop(at: usize, shared: &Shared, worker: &Mutex<Worker>) {
    if let Err(error) = use_one_thread() {
        return fail(shared, format!("worker {at} cannot start: {error}"));
    }
    while let Some((feature, idle)) = take(shared, at) {
        let mut worker = worker.lock().unwrap_or_else(PoisonError::into_inner);
        worker.add_idle(idle);
        let outcome = catch_unwind(AssertUnwindSafe(|| worker.offer(&feature)));
        let (full, status) = (worker.full(), worker.status_without_loss());
        drop(worker);
        match outcome {
            Ok(Ok(outcome)) => done(shared, feature, outcome, full, (at, status)),
            Ok(Err(error)) => return fail(shared, error.to_string()),
            Err(panic) => {
                return fail(shared, format!("worker {at} panicked: {}", panic_message(&*panic)));
            }
        }
    }
}

/// The next feature that no worker holds, and the seconds waited for it; `None` at the end.
fn take(shared: &Shared, at: usize) -> Option<(Job, f64)> {
    let start = Instant::now();
    let mut state = shared.lock();
    loop {
        if state.closed || state.failed.is_some() {
            return None;
        }
        let mine = !state.full[at] || state.full.iter().all(|full| *full);
        if let Some(feature) = if mine { state.queue.pop_front() } else { None } {
            let low = LOW * state.full.len();
            if state.queue.len() == low || state.queue.is_empty() {
                shared.reader.notify_one();
            }
            if state.held.insert(feature.id) {
                state.busy += 1;
                return Some((feature, start.elapsed().as_secs_f64()));
            }
            let outcome = Outcome::new(Verdict::Held);
            state.late.push(Late { id: feature.id, name: feature.name.into_owned(), outcome });
            continue;
        }
        state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

fn done(
    shared: &Shared,
    feature: Job,
    outcome: Outcome,
    full: bool,
    (at, status): (usize, Status),
) {
    let mut state = shared.lock();
    state.statuses[at] = status;
    if matches!(outcome.verdict, Verdict::Dropped(_)) {
        state.held.remove(&feature.id);
    }
    for evicted in &outcome.evicted {
        state.held.remove(evicted);
    }
    state.late.push(Late { id: feature.id, name: feature.name.into_owned(), outcome });
    state.busy -= 1;
    if full && !state.full[at] {
        state.full[at] = true;
        shared.work.notify_all();
    }
    if state.busy == 0 && state.queue.is_empty() {
        shared.reader.notify_one();
    }
}

fn fail(shared: &Shared, why: String) {
    let mut state = shared.lock();
    state.failed.get_or_insert(why);
    drop(state);
    shared.work.notify_all();
    shared.reader.notify_all();
}

/// The message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
