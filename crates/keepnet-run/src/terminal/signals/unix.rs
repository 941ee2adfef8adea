//! Signals of a Unix.

use keepnet::{Error, Result};
use signal_hook::consts::{SIGBUS, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::FAILED;

/// What is said of a mapped file that another process shortened.
const SHRUNK: &[u8] =
    b"keepnet: an input file became shorter while it was read; run again when it is complete\n";

fn failed(error: std::io::Error) -> Error {
    Error::io("cannot listen for signals", error)
}

/// Calls `asked` at each signal, in a thread of its own, and says whether it was SIGINT. SIGHUP
/// stays ignored where the program was started so, as by nohup.
pub fn listen(asked: fn(bool)) -> Result<()> {
    let hangup = (!ignored(SIGHUP)).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup)).map_err(failed)?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            asked(signal == SIGINT);
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

/// Ends the process without another word.
pub fn exit(status: u8) -> ! {
    signal_hook::low_level::exit(status.into())
}

/// Answers SIGBUS, which reading a map past the end of its file raises, with one line and exit
/// status 1; call once.
pub fn watch_maps() -> Result<()> {
    let answer = || {
        // SAFETY: `write` and `_exit` are async-signal-safe, and the line is a constant.
        unsafe {
            libc::write(libc::STDERR_FILENO, SHRUNK.as_ptr().cast(), SHRUNK.len());
            libc::_exit(i32::from(FAILED));
        }
    };
    // SAFETY: the action calls nothing that a signal handler must not call.
    let watched = unsafe { signal_hook::low_level::register(SIGBUS, answer) };
    watched.map(|_| ()).map_err(failed)
}
