//! Work without the interpreter's lock: on a pool of threads, watched from the caller's.
//!
//! ```text
//! caller:  start the work, then every tick: signals, callback, is it done?
//! worker:  the engine; leaves its progress and looks whether it should stop
//! ```
//!
//! Callbacks run in the caller's thread. Ctrl-C ends the work between two blocks; work that does
//! not end in time is left behind, with all it owns, so the caller is free within a second.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use keepnet::Result;
use keepnet_run::watch::{Clock, Watch};
use keepnet_run::{Host, Seen};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raise;
use crate::request::COMMAND;

/// Time between two looks at signals and progress.
const TICK: Duration = Duration::from_millis(40);
/// How long work may take to end once it was told to.
const PATIENCE: Duration = Duration::from_millis(400);

type Pools = Vec<(u32, usize, Arc<rayon::ThreadPool>)>;
static POOLS: Mutex<Pools> = Mutex::new(Vec::new());

/// The pool of this process with so many threads, 0 for all cores.
///
/// Threads do not survive a fork, so a pool belongs to the process that made it.
fn pool(threads: usize) -> PyResult<Arc<rayon::ThreadPool>> {
    let process = std::process::id();
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., pool)) = pools.iter().find(|(p, t, _)| (*p, *t) == (process, threads)) {
        return Ok(Arc::clone(pool));
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| PyRuntimeError::new_err(format!("cannot start threads: {e}")))?;
    let pool = Arc::new(pool);
    pools.push((process, threads, Arc::clone(&pool)));
    Ok(pool)
}

/// Gives a pool up whose thread is still busy with work that nobody wants.
fn forget(gone: &Arc<rayon::ThreadPool>) {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = pools.iter().position(|(.., pool)| Arc::ptr_eq(pool, gone)) {
        // Dropping the last handle would wait for nothing but would end its threads under the
        // work; the allocation is small and this is rare.
        std::mem::forget(pools.swap_remove(at));
    }
}

/// Where the work stands and whether it should go on.
#[derive(Default)]
pub struct Caller {
    stop: AtomicBool,
    latest: Mutex<Option<Seen>>,
}

impl Caller {
    /// Whether the work was told to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn take(&self) -> Option<Seen> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The run's view of a [`Caller`].
pub struct Eye<'a>(pub &'a Caller);

impl Eye<'_> {
    /// An observer of a run that shows progress and ends when it is told to.
    pub fn watch(&mut self) -> Watch<'_> {
        Watch::new(self, Clock::start(None))
    }
}

impl Host for Eye<'_> {
    fn command(&self) -> String {
        COMMAND.into()
    }

    fn progress(&mut self, seen: &Seen) {
        *self.0.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(*seen);
    }

    fn stop(&mut self) -> Option<&'static str> {
        self.0.stopped().then_some("the caller")
    }
}

/// Tells Python where the work stands; `true` where the callback wants it to end.
fn tell(py: Python<'_>, callback: &Bound<'_, PyAny>, seen: &Seen) -> PyResult<bool> {
    let progress = PyDict::new(py);
    progress.set_item("scan", seen.scan)?;
    progress.set_item("scans", Some(seen.scans).filter(|scans| *scans > 0))?;
    progress.set_item("arrived", seen.arrived)?;
    progress.set_item("total", seen.total)?;
    if seen.targets > 1 {
        progress.set_item("targets", seen.targets)?;
    }
    progress.set_item("kept", seen.status.kept)?;
    progress.set_item("loss", seen.status.loss)?;
    progress.set_item("substitutions", seen.status.substitutions)?;
    progress.set_item("bytes", seen.status.bytes)?;
    callback.call1((progress,))?.is_truthy()
}

/// Runs `work` on `threads` threads (`None` for all cores) and waits for it.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Caller) -> T + Send + 'static,
) -> PyResult<T> {
    let pool = pool(threads.unwrap_or(0))?;
    let caller = Arc::new(Caller::default());
    let (send, mut receive) = channel();
    let theirs = Arc::clone(&caller);
    pool.spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| work(&theirs)));
        // Nobody listens where the caller was interrupted.
        let _ = send.send(done);
    });
    let mut trouble: Option<PyErr> = None;
    loop {
        let wait = if trouble.is_some() { PATIENCE } else { TICK };
        let got;
        (receive, got) = py.detach(move || {
            let got = receive.recv_timeout(wait);
            (receive, got)
        });
        let told = match (callback, caller.take()) {
            (Some(callback), Some(seen)) if trouble.is_none() => tell(py, callback, &seen),
            _ => Ok(false),
        };
        match (got, trouble.take()) {
            (Ok(_), Some(error)) => return Err(error),
            (Err(RecvTimeoutError::Timeout), Some(error)) => {
                forget(&pool);
                return Err(error);
            }
            (Ok(Ok(value)), None) => {
                told?;
                return Ok(value);
            }
            (Ok(Err(_)) | Err(RecvTimeoutError::Disconnected), _) => {
                return Err(PyRuntimeError::new_err("the engine failed; please report this"));
            }
            (Err(RecvTimeoutError::Timeout), None) => {
                trouble = told
                    .and_then(|stop| {
                        if stop {
                            caller.stop.store(true, Ordering::Relaxed);
                        }
                        py.check_signals()
                    })
                    .err();
                if trouble.is_some() {
                    caller.stop.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}

/// A run that is kept between calls: away while a call works on it, gone where one was
/// interrupted.
pub struct Held<T>(Mutex<Option<T>>);

impl<T: Send + 'static> Held<T> {
    /// Keeps a run.
    pub fn new(run: T) -> Self {
        Self(Mutex::new(Some(run)))
    }

    fn gone() -> PyErr {
        PyRuntimeError::new_err("the stream was interrupted and cannot go on; start it again")
    }

    /// Puts another run in its place.
    pub fn put(&self, run: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
    }

    /// Looks at the run.
    pub fn look<R>(&self, look: impl FnOnce(&T) -> Result<R>) -> PyResult<R> {
        let run = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        look(run.as_ref().ok_or_else(Self::gone)?).map_err(|error| raise(&error))
    }

    /// Works on the run without the interpreter's lock.
    pub fn work<R: Send + 'static>(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        callback: Option<&Bound<'_, PyAny>>,
        step: impl FnOnce(&mut T, &Caller) -> Result<R> + Send + 'static,
    ) -> PyResult<R> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut held = taken.ok_or_else(Self::gone)?;
        let whole = move |caller: &Caller| {
            let done = step(&mut held, caller);
            (held, done)
        };
        let (held, done) = run(py, threads, callback, whole)?;
        self.put(held);
        done.map_err(|error| raise(&error))
    }
}
