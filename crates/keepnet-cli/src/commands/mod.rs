//! The commands, one a file.

mod averages;
mod compare;
mod compare_data;
mod compare_outputs;
mod compare_resume;
mod demo;
mod files;
mod generate;
mod methods;
mod reproduce;
mod rows_outputs;
mod select;
mod select_outputs;
mod select_rows;

use std::path::Path;

use clap::CommandFactory;
use keepnet::{Error, Result};

use crate::flags::{Cli, Command};
use crate::output;
use crate::run::runner::Runner;

/// Runs a command.
pub fn dispatch(command: Command, runner: &dyn Runner) -> Result<()> {
    match command {
        Command::Select(args) => select::run(&args, runner),
        Command::Compare(args) => compare::run(&args),
        Command::Merge(args) => averages::merge(&args),
        Command::Extract(args) => averages::extract(&args),
        Command::Methods(args) => methods::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "keepnet", &mut text);
            output::print(&String::from_utf8_lossy(&text))
        }
        Command::Man { directory } => man(directory.as_deref()),
    }
}

fn man(directory: Option<&Path>) -> Result<()> {
    let failed = |error| Error::io("cannot write the man page", error);
    match directory {
        Some(directory) => clap_mangen::generate_to(Cli::command(), directory).map_err(failed),
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text).map_err(failed)?;
            output::print(&String::from_utf8_lossy(&text))
        }
    }
}
