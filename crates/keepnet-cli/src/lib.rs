//! The `keepnet` program: flags in, one line of error or a whole result out.
//!
//! It is a library with a program of three lines, so that the program over MPI ranks takes the
//! same flags and writes the same results.

pub mod commands;
pub mod flags;
pub mod output;
pub mod run;
pub mod wording;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use keepnet::Error;
use output::say::{nobody_reads, print, say};

/// Exit status of a call that was wrong.
pub const USAGE: u8 = 2;
/// Exit status of a run that failed.
pub const FAILED: u8 = 1;

/// Reads the command line and runs it.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match flags::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let done = run::opening::watch_maps()
        .and_then(|()| commands::dispatch(cli.command, &run::runner::Here));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(status(&error))
        }
    }
}

/// The exit status of an error.
#[must_use]
pub fn status(error: &Error) -> u8 {
    if error.is_usage() { USAGE } else { FAILED }
}

/// Help and version go to standard output as they are; everything else becomes one line.
#[must_use]
pub fn usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let shown = match std::io::stdout().is_terminal() {
                true => error.render().ansi().to_string(),
                false => error.render().to_string(),
            };
            match print(&shown) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    complain(&error);
                    ExitCode::from(FAILED)
                }
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            say("what to do? `keepnet --help` lists the commands");
            ExitCode::from(USAGE)
        }
        _ => {
            let text = error.to_string();
            let said = ["\n\nUsage:", "\n\n  tip:"]
                .iter()
                .fold(text.as_str(), |said, end| said.split(end).next().unwrap_or(said));
            let said = said.strip_prefix("error: ").unwrap_or(said);
            let line: Vec<_> = said.split_whitespace().collect();
            say(&format!("{}; --help says more", line.join(" ")));
            ExitCode::from(USAGE)
        }
    }
}

/// The error as one line on standard error.
pub fn complain(error: &Error) {
    if !nobody_reads(error) {
        say(&wording::with_flags(&error.to_string()));
    }
}
