//! The `keepnet` program: flags in, one line of error or a whole result out.
//!
//! It is a library with a program of three lines, so that tests and mutated inputs call it in
//! their own process. What it shares with the program over MPI ranks is in `keepnet-run`.

pub mod commands;
pub mod flags;

use std::process::ExitCode;

use clap::Parser;
use keepnet_run::Here;
use keepnet_run::terminal::{complain, status, usage, watch_maps};

/// Reads the command line and runs it.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match flags::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match watch_maps().and_then(|()| commands::dispatch(cli.command, &Here)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(status(&error))
        }
    }
}
