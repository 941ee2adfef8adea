//! The centre in shared memory: one vector in pieces, one lock per piece.
//!
//! A delta is added piece by piece, so two workers wait for each other only at the same piece, and
//! every worker starts at a piece of its own. Adding single numbers by compare-and-swap needs no
//! lock, but one atomic operation per row, where a piece is added with vector instructions:
//! `benches/src/bin/asy.rs` measures both.
//!
//! A worker that reads while others add gets some pieces with a delta and some without, as in any
//! asynchronous descent. No delta is lost or counted twice. All updates counted in `updates` are in
//! every piece that is read after it. `tests/loom` tries every order of the locks.

use super::sync::{Arc, AtomicU64, Mutex, Ordering, PoisonError};
use super::{Centre, Seen};
use crate::numeric::kernel;

/// Values in a piece. 8 KiB, so that a lock is held for less than a microsecond.
const PIECE: usize = 1024;

struct Shared {
    pieces: Vec<Mutex<Vec<f64>>>,
    updates: AtomicU64,
}

/// A worker's access to a prediction in shared memory.
pub struct SharedCentre {
    shared: Arc<Shared>,
    first: usize,
    tau: Option<u64>,
}

impl SharedCentre {
    /// A prediction of `length` zeros.
    #[must_use]
    pub fn new(length: usize) -> Self {
        let sizes = (0..length).step_by(PIECE).map(|at| PIECE.min(length - at));
        let pieces = sizes.map(|size| Mutex::new(vec![0.0; size])).collect();
        Self {
            shared: Arc::new(Shared { pieces, updates: AtomicU64::new(0) }),
            first: 0,
            tau: None,
        }
    }

    /// The same prediction for another worker.
    #[must_use]
    pub fn worker(&self, worker: usize) -> Self {
        let pieces = self.shared.pieces.len().max(1);
        Self { shared: Arc::clone(&self.shared), first: worker % pieces, tau: None }
    }

    /// Replaces the prediction after a restore; no worker may be active.
    pub fn set(&self, u: &[f64]) {
        for (piece, u) in self.shared.pieces.iter().zip(u.chunks(PIECE)) {
            piece.lock().unwrap_or_else(PoisonError::into_inner).copy_from_slice(u);
        }
    }

    /// Calls `with` once for every piece, from this worker's first one on.
    fn each(&self, mut with: impl FnMut(std::ops::Range<usize>, &mut [f64])) {
        let pieces = &self.shared.pieces;
        for turn in 0..pieces.len() {
            let at = (self.first + turn) % pieces.len();
            // A worker that panicked ends the run, so a half-added piece does no harm.
            let mut piece = pieces[at].lock().unwrap_or_else(PoisonError::into_inner);
            with(at * PIECE..at * PIECE + piece.len(), &mut piece);
        }
    }
}

impl Centre for SharedCentre {
    fn read(&mut self, u: &mut [f64]) -> Seen {
        let updates = self.shared.updates.load(Ordering::Acquire);
        self.each(|rows, piece| u[rows].copy_from_slice(piece));
        Seen { updates, tau: self.tau.take() }
    }

    fn add(&mut self, delta: &[f64], updates_read: u64) {
        self.each(|rows, piece| kernel::axpy(1.0, &delta[rows], piece));
        let before = self.shared.updates.fetch_add(1, Ordering::AcqRel);
        self.tau = Some((before + 1).saturating_sub(updates_read));
    }
}
