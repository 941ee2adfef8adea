//! SIGINT, SIGTERM and SIGHUP; and SIGBUS, of a mapped file that becomes shorter.
//!
//! | phase | first signal | second SIGINT |
//! | --- | --- | --- |
//! | opening files | the process ends at once, nothing is written | |
//! | selecting | the run ends after the block with the whole current result | ends at once |
//! | writing | outputs are finished | ends at once, temporary files removed |
//! | renaming | outputs are finished | outputs are finished |
//!
//! A thread waits for signals, so a slow read cannot keep one waiting. Where there are no signals
//! (`plain`), Ctrl-C ends the process at once: outputs appear whole or not at all there too, and
//! the next run removes the temporary files.

#[cfg(any(not(unix), test))]
mod plain;
#[cfg(unix)]
mod unix;

use std::sync::atomic::{AtomicBool, Ordering};

use keepnet::Result;

#[cfg(not(unix))]
use plain as here;
#[cfg(unix)]
use unix as here;

use super::FAILED;
use super::say::say;
use crate::outputs::phase::{self, Phase};

pub use here::watch_maps;

static STOP: AtomicBool = AtomicBool::new(false);

/// Starts to listen, once.
pub fn listen() -> Result<()> {
    static LISTENING: AtomicBool = AtomicBool::new(false);
    if LISTENING.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    here::listen(asked)
}

/// A signal asks for the end; `interrupt` is that of Ctrl-C.
fn asked(interrupt: bool) {
    let before = STOP.swap(true, Ordering::SeqCst);
    let state = phase::state();
    let again = before && interrupt && state.phase != Phase::Renaming;
    if state.phase == Phase::Opening || again {
        for path in &state.temporary {
            // Whether or not it is still there, the process ends now.
            let _ = std::fs::remove_file(path);
        }
        say("ended by a signal; nothing was written");
        here::exit(FAILED);
    }
}

/// Whether a signal asked for the end.
pub fn stop_asked() -> bool {
    STOP.load(Ordering::SeqCst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_signals_has_nothing_to_listen_to() {
        plain::watch_maps().unwrap();
        plain::listen(|_| unreachable!("nobody sends a signal")).unwrap();
        assert!(!stop_asked());
    }
}
