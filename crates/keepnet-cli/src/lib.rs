//! The `keepnet` program: flags in, one line of error or a whole result out.
//!
//! It is a library with a program of three lines, so that tests and mutated inputs call it in
//! their own process, and the wheel of the Python package has the program in its one library.
//! What it shares with the program over MPI ranks is in `keepnet-run`.

pub mod commands;
pub mod flags;

use std::ffi::OsString;

use clap::Parser;
use keepnet_run::terminal::{complain, status, usage, watch_maps};
use keepnet_run::{Here, system};

/// Runs a command line, whose first word is the program, and gives the exit status.
#[must_use]
pub fn run(words: Vec<OsString>) -> u8 {
    let cli = match flags::Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    system::called_as(words);
    match watch_maps().and_then(|()| commands::dispatch(cli.command, &Here)) {
        Ok(()) => 0,
        Err(error) => {
            complain(&error);
            status(&error)
        }
    }
}
