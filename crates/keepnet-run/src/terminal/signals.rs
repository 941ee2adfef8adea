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

use std::sync::atomic::{AtomicBool, Ordering};

use keepnet::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::say::say;
use crate::outputs::phase::{self, Phase};

static STOP: AtomicBool = AtomicBool::new(false);

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
            let state = phase::state();
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

/// Whether a signal asked for the end.
pub fn stop_asked() -> bool {
    STOP.load(Ordering::SeqCst)
}
