//! What the program is doing, and which temporary files must not survive an end at once.
//!
//! The end at once is decided and done under one lock, so that no phase begins and no file is
//! made in the meantime. Both are of the process: a signal ends all of it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use keepnet::Result;

/// What the program is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Opening files: there is no result yet.
    Opening,
    /// Selecting: there is a current result between any two blocks.
    Selecting,
    /// Writing temporary files.
    Writing,
    /// Renaming them.
    Renaming,
}

/// The phase, and the temporary files that are there.
pub struct State {
    /// What the program is doing.
    pub phase: Phase,
    /// Files that an end at once removes.
    pub temporary: Vec<PathBuf>,
}

static STATE: Mutex<State> = Mutex::new(State { phase: Phase::Opening, temporary: Vec::new() });

/// The state, held until what is returned is dropped.
pub fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says what the program is doing now.
pub fn enter(phase: Phase) {
    state().phase = phase;
}

/// Makes a file that must not survive an end at once.
pub fn guarded<T, P: AsRef<Path>, E>(
    make: impl FnOnce() -> Result<(T, P), E>,
) -> Result<(T, P), E> {
    let mut state = state();
    let (made, path) = make()?;
    state.temporary.push(path.as_ref().to_path_buf());
    Ok((made, path))
}

/// Gives a temporary file its name, or removes it; it needs no guard any more.
pub fn settle<T>(path: &Path, settle: impl FnOnce() -> T) -> T {
    let mut state = state();
    state.temporary.retain(|known| known != path);
    settle()
}
