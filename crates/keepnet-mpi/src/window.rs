//! A worker's way to the centre by one-sided operations on a window: for ranks on one node.
//!
//! ```text
//! window of rank 0:   updates, stop, epoch, 0, u        f64 each
//! read:  Get_accumulate of the whole with zeros          every value atomic
//! add:   Accumulate on u,  Fetch_and_op on updates
//! ```
//!
//! In shared memory nobody has to answer, so a round is several times faster than messages.
//! Over TCP the centre must be inside MPI for anything to happen, and messages are faster;
//! `Window::new` refuses ranks on several nodes.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keepnet::select::substitution::asy_os::{Centre, Seen};
use keepnet::{Error, Result};
use mpi::ffi;
use mpi::traits::*;

use crate::messages::{HEAD, Wishes};
use crate::wire;

/// A window on rank 0's memory; the owner frees it, together with all other ranks.
pub struct Window {
    handle: ffi::MPI_Win,
    length: usize,
    closed: AtomicBool,
}

// SAFETY: the handle is a name for a window and owns no memory of this thread. A rank asks MPI for
// calls from any thread, one at a time (`main.rs`), and its centre is used by one thread.
unsafe impl Send for Window {}
// SAFETY: as above; what `&Window` reaches is changed by MPI alone, atomically for each value.
unsafe impl Sync for Window {}

impl Window {
    /// Opens a window for a prediction of `length` values on one node; every rank must call this.
    pub fn new(length: usize) -> Result<Self> {
        let world = wire::world();
        let node = world.split_shared(world.rank());
        if node.size() != world.size() {
            let got = "window with ranks on several nodes";
            return Err(Error::param("centre", got, "messages, or ranks on one node"));
        }
        Self::anywhere(length)
    }

    /// The same for ranks wherever they are, slow as it is over a network: for measuring that.
    pub fn anywhere(length: usize) -> Result<Self> {
        let world = wire::world();
        let length = HEAD + length;
        if i32::try_from(length).is_err() {
            return Err(Error::param("centre", "window with too many rows", "messages"));
        }
        let bytes = if world.rank() == 0 { 8 * length } else { 0 };
        let mut base: *mut f64 = ptr::null_mut();
        // SAFETY: a constant that the library sets before `main` and never changes.
        let mut handle = unsafe { ffi::RSMPI_WIN_NULL };
        // SAFETY: MPI is started, as `wire::world` gave its communicator, and every rank comes
        // here. Errors of MPI end the program (its default, which is kept), so after the call
        // `handle` is a window and, on rank 0, `base` points to `8 * length` bytes of it, aligned
        // for doubles, which nobody else reaches before the barrier below.
        unsafe {
            ffi::MPI_Win_allocate(
                bytes as ffi::MPI_Aint,
                8,
                ffi::RSMPI_INFO_NULL,
                ffi::RSMPI_COMM_WORLD,
                ptr::from_mut(&mut base).cast(),
                &mut handle,
            );
            if world.rank() == 0 {
                std::slice::from_raw_parts_mut(base, length).fill(0.0);
            }
            ffi::MPI_Win_lock_all(0, handle);
            ffi::MPI_Win_sync(handle);
        }
        world.barrier();
        Ok(Self { handle, length, closed: AtomicBool::new(false) })
    }

    /// The handle, for `count` values from place `at` on.
    ///
    /// # Panics
    ///
    /// Where the window is closed, or the values go beyond its end.
    fn at(&self, at: usize, count: usize) -> (ffi::MPI_Win, i32) {
        assert!(!self.closed.load(Ordering::Acquire), "a window is used before it is closed");
        let fits = at.checked_add(count).is_some_and(|end| end <= self.length);
        assert!(fits, "{count} values from {at} on are in a window of {}", self.length);
        // The length fits an i32, as `anywhere` checked.
        (self.handle, count as i32)
    }

    /// Copies values from place `at` on, each of them whole.
    pub fn get(&self, at: usize, zeros: &[f64], out: &mut [f64]) {
        let (handle, count) = self.at(at, out.len().min(zeros.len()));
        // SAFETY: the window is open and has `count` values from `at` on; both slices are that
        // long and live until the flush, after which MPI no longer touches them.
        unsafe {
            ffi::MPI_Get_accumulate(
                zeros.as_ptr().cast(),
                count,
                ffi::RSMPI_DOUBLE,
                out.as_mut_ptr().cast(),
                count,
                ffi::RSMPI_DOUBLE,
                0,
                at as ffi::MPI_Aint,
                count,
                ffi::RSMPI_DOUBLE,
                ffi::RSMPI_SUM,
                handle,
            );
            ffi::MPI_Win_flush(0, handle);
        }
    }

    /// Adds values from place `at` on.
    pub fn add(&self, at: usize, values: &[f64]) {
        let (handle, count) = self.at(at, values.len());
        // SAFETY: the window is open and has `count` values from `at` on; `values` lives until
        // the flush, after which MPI no longer reads it.
        unsafe {
            ffi::MPI_Accumulate(
                values.as_ptr().cast(),
                count,
                ffi::RSMPI_DOUBLE,
                0,
                at as ffi::MPI_Aint,
                count,
                ffi::RSMPI_DOUBLE,
                ffi::RSMPI_SUM,
                handle,
            );
            ffi::MPI_Win_flush(0, handle);
        }
    }

    /// Counts one update and returns how many there were before.
    fn count(&self) -> u64 {
        let (one, mut before) = (1.0f64, 0.0f64);
        let (handle, _) = self.at(0, 1);
        // SAFETY: the window is open and has a value at place 0; both numbers live until the
        // flush, after which MPI no longer touches them.
        unsafe {
            ffi::MPI_Fetch_and_op(
                ptr::from_ref(&one).cast(),
                ptr::from_mut(&mut before).cast(),
                ffi::RSMPI_DOUBLE,
                0,
                0,
                ffi::RSMPI_SUM,
                handle,
            );
            ffi::MPI_Win_flush(0, handle);
        }
        before as u64
    }

    /// Closes the window; every rank must call this.
    pub fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut handle = self.handle;
        // SAFETY: the window is open, locked by `anywhere`, and closed once only; every rank
        // comes here, and no operation is under way, as each ends with its flush.
        unsafe {
            ffi::MPI_Win_unlock_all(handle);
            ffi::MPI_Win_free(&mut handle);
        }
    }

    /// Values in the window.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }
}

/// The centre as a worker sees it.
pub struct WindowCentre {
    window: Arc<Window>,
    zeros: Vec<f64>,
    all: Vec<f64>,
    tau: Option<u64>,
    wishes: Arc<Wishes>,
}

impl WindowCentre {
    /// A way to the prediction in `window`.
    #[must_use]
    pub fn new(window: Arc<Window>, wishes: Arc<Wishes>) -> Self {
        let (zeros, all) = (vec![0.0; window.length], vec![0.0; window.length]);
        Self { window, zeros, all, tau: None, wishes }
    }
}

impl Centre for WindowCentre {
    fn read(&mut self, u: &mut [f64]) -> Seen {
        self.window.get(0, &self.zeros, &mut self.all);
        u.copy_from_slice(&self.all[HEAD..]);
        self.wishes.set(self.all[1], self.all[2]);
        Seen { updates: self.all[0] as u64, tau: self.tau.take() }
    }

    fn add(&mut self, delta: &[f64], seen: u64) {
        self.window.add(HEAD, delta);
        self.tau = Some((self.window.count() + 1).saturating_sub(seen));
    }
}
