//! SIGINT, SIGTERM and SIGHUP.
//!
//! | phase | first signal | second SIGINT |
//! | --- | --- | --- |
//! | opening files | the process ends at once, nothing is written | |
//! | selecting | the run ends after the block with the whole current result | ends at once |
//! | writing | outputs are finished | ends at once, temporary files removed |
//! | renaming | outputs are finished | outputs are finished |
//!
//! A thread waits for signals, so a slow read cannot keep one waiting. SIGHUP stays ignored where
//! the program was started so, as by nohup.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use keepnet::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::output::say::say;

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

/// Starts to listen, once.
pub fn listen() -> Result<()> {
    static LISTENING: AtomicBool = AtomicBool::new(false);
    if LISTENING.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let hangup = (!ignored(SIGHUP)).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))
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
                say("ended by a signal; nothing was written");
                signal_hook::low_level::exit(1);
            }
        }
    });
    Ok(())
}

/// Whether the process was started with this signal ignored.
fn ignored(signal: i32) -> bool {
    // SAFETY: an action of zeros is a valid one to be overwritten; with no new action the call
    // only reads the present one into it.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        let read = libc::sigaction(signal, std::ptr::null(), &raw mut now);
        read == 0 && now.sa_sigaction == libc::SIG_IGN
    }
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
