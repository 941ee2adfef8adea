//! The locks, atomics and threads that workers share.
//!
//! `shared.rs` and `pool.rs` import them only from here, so that `tests/loom` can replace them by
//! loom's, which try every order.

pub(super) use std::sync::atomic::{AtomicU64, Ordering};
pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
pub(super) use std::thread;

/// Runs parallel loops of this thread on this thread alone: the workers already use the cores.
pub(super) fn use_one_thread() -> Result<(), String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    pool.map(drop).map_err(|error| error.to_string())
}
