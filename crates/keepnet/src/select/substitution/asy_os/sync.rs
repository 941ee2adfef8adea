//! The locks, atomics and threads that workers share.
//!
//! `shared.rs` and `pool.rs` take them from here and nowhere else, so that a test can put loom's
//! in their place, which try every order of them (`tests/loom`).

pub(super) use std::sync::atomic::{AtomicU64, Ordering};
pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
pub(super) use std::thread;

/// Keeps the loops of this thread on it: workers share the cores already.
pub(super) fn use_one_thread() -> Result<(), String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    pool.map(drop).map_err(|error| error.to_string())
}
