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
}

// SAFETY: ranks start MPI for calls from one thread at a time, and each centre is used by one.
unsafe impl Send for Window {}
// SAFETY: as for `Send`; the window itself is changed by MPI alone, which adds value by value.
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
        // SAFETY: a constant of the library, set before any rank gets here.
        let mut handle = unsafe { ffi::RSMPI_WIN_NULL };
        // SAFETY: MPI runs, every rank makes this call, and `base` and `handle` outlive it. Errors
        // of MPI itself end the program: its default, which is kept.
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
        Ok(Self { handle, length })
    }

    /// `count` values from place `at` on, as MPI counts them.
    fn inside(&self, at: usize, count: usize) -> i32 {
        assert!(at + count <= self.length, "{count} values at {at} of {}", self.length);
        count as i32
    }

    /// Copies values from place `at` on, each of them whole.
    pub fn get(&self, at: usize, zeros: &[f64], out: &mut [f64]) {
        let count = self.inside(at, out.len().min(zeros.len()));
        // SAFETY: both slices have `count` values, the window has them from `at` on, and the flush
        // ends the call before the slices are let go.
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
                self.handle,
            );
            ffi::MPI_Win_flush(0, self.handle);
        }
    }

    /// Adds values from place `at` on.
    pub fn add(&self, at: usize, values: &[f64]) {
        let count = self.inside(at, values.len());
        // SAFETY: as in `get`.
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
                self.handle,
            );
            ffi::MPI_Win_flush(0, self.handle);
        }
    }

    /// Counts one update and returns how many there were before.
    fn count(&self) -> u64 {
        let (one, mut before) = (1.0f64, 0.0f64);
        // SAFETY: the window has a value at 0, and both numbers live until the flush is through.
        unsafe {
            ffi::MPI_Fetch_and_op(
                ptr::from_ref(&one).cast(),
                ptr::from_mut(&mut before).cast(),
                ffi::RSMPI_DOUBLE,
                0,
                0,
                ffi::RSMPI_SUM,
                self.handle,
            );
            ffi::MPI_Win_flush(0, self.handle);
        }
        before as u64
    }

    /// Closes the window; every rank must call this.
    pub fn close(&self) {
        let mut handle = self.handle;
        // SAFETY: every rank closes the window, once, after its last use.
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
