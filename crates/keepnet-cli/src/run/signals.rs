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
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use keepnet::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What the program is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Opening files: there is no result yet.
    Opening = 0,
    /// Selecting: there is a current result between any two blocks.
    Selecting = 1,
    /// Writing temporary files.
    Writing = 2,
    /// Renaming them.
    Renaming = 3,
}

static PHASE: AtomicU8 = AtomicU8::new(Phase::Opening as u8);
static STOP: AtomicBool = AtomicBool::new(false);
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Starts to listen; call once.
pub fn listen() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])
        .map_err(|error| Error::io("cannot listen for signals", error))?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let before = STOP.swap(true, Ordering::SeqCst);
            let phase = PHASE.load(Ordering::SeqCst);
            let again = before && signal == SIGINT;
            if phase == Phase::Opening as u8 || (again && phase != Phase::Renaming as u8) {
                let paths = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
                for path in paths.iter() {
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
    PHASE.store(phase as u8, Ordering::SeqCst);
}

/// Whether a signal asked for the end.
pub fn stop_asked() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// A temporary file that must not survive an end at once.
pub fn guard(path: &Path) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
}

/// A temporary file that is gone or has its name now.
pub fn release(path: &Path) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| known != path);
}
