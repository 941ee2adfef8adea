//! SIGINT and SIGTERM.
//!
//! | phase | first signal | second SIGINT |
//! | --- | --- | --- |
//! | opening files | the process ends at once, nothing is written | |
//! | selecting | the run ends after the block with the whole current result | ends at once |
//! | writing | outputs are finished | ends at once, temporary files removed |
//! | renaming | outputs are finished | outputs are finished |
//!
//! A thread waits for signals, so a slow read cannot keep one waiting.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use keepnet::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tempfile::TempPath;

/// What the program is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
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

/// The end at once is decided and done under this lock, so that no phase begins and no file is
/// made in the meantime.
struct State {
    phase: Phase,
    temporary: Vec<PathBuf>,
}

static STOP: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<State> = Mutex::new(State { phase: Phase::Opening, temporary: Vec::new() });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to listen; call once.
pub fn listen() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])
        .map_err(|error| Error::io("cannot listen for signals", error))?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let before = STOP.swap(true, Ordering::SeqCst);
            let state = state();
            let again = before && signal == SIGINT && state.phase != Phase::Renaming;
            if state.phase == Phase::Opening || again {
                for path in &state.temporary {
                    // Whether or not it is still there, the process ends now.
                    let _ = std::fs::remove_file(path);
                }
                eprintln!("keepnet: ended by a signal; nothing was written");
                signal_hook::low_level::exit(1);
            }
        }
    });
    Ok(())
}

/// Says what the program is doing now.
pub fn enter(phase: Phase) {
    state().phase = phase;
}

/// Whether files are still being opened.
pub fn opening() -> bool {
    state().phase == Phase::Opening
}

/// Whether a signal asked for the end.
pub fn stop_asked() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// Makes a temporary file that must not survive an end at once.
pub fn guarded<T, E>(make: impl FnOnce() -> Result<(T, TempPath), E>) -> Result<(T, TempPath), E> {
    let mut state = state();
    let (made, path) = make()?;
    state.temporary.push(path.to_path_buf());
    Ok((made, path))
}

/// Gives a temporary file its name, or removes it; it needs no guard any more.
pub fn settle<T>(path: &Path, settle: impl FnOnce() -> T) -> T {
    let mut state = state();
    state.temporary.retain(|known| known != path);
    settle()
}
